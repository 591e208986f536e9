//! A facility among others, started afresh for each play.

use crate::experiments::Experiment;
use crate::facility::Facility;
use crate::load::Load;
use anyhow::Result;
use std::time::Duration;
use wheelhouse_frame::{Contender, Experiment as _, Played};

/// A facility that can be started.
#[derive(Debug)]
pub struct Entry<F> {
    name: &'static str,
    about: &'static str,
    plays: Vec<Experiment>,
    start: fn(Duration) -> Result<F>,
}

impl<F: Facility + 'static> Entry<F> {
    /// An entry that plays all experiments. It has a name, a description, and a function that
    /// starts it with a tick.
    pub fn boxed(
        name: &'static str,
        about: &'static str,
        start: fn(Duration) -> Result<F>,
    ) -> Box<dyn Contender<Experiment>> {
        Self::of_some(name, about, Experiment::ALL, start)
    }

    /// The same without these experiments, which need an operation that it does not have.
    pub fn of_all_but(
        name: &'static str,
        about: &'static str,
        without: &[Experiment],
        start: fn(Duration) -> Result<F>,
    ) -> Box<dyn Contender<Experiment>> {
        let all = Experiment::ALL.iter().copied();
        let plays: Vec<_> = all.filter(|it| !without.contains(it)).collect();
        Self::of_some(name, about, &plays, start)
    }

    /// The same with these experiments only, if they show everything that is special about it.
    pub fn of_some(
        name: &'static str,
        about: &'static str,
        plays: &[Experiment],
        start: fn(Duration) -> Result<F>,
    ) -> Box<dyn Contender<Experiment>> {
        Box::new(Self { name, about, plays: plays.to_vec(), start })
    }
}

impl<F: Facility> Contender<Experiment> for Entry<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn plays(&self) -> &[Experiment] {
        &self.plays
    }

    fn play(&self, experiment: Experiment, load: &Load) -> Result<Played> {
        experiment.play(&|| (self.start)(load.tick), load)
    }
}
