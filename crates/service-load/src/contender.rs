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
    /// An entry with a name, a description, the experiments that it plays, and a function that
    /// starts it with a tick.
    pub fn boxed(
        name: &'static str,
        about: &'static str,
        plays: impl Fn(Experiment) -> bool,
        start: fn(Duration) -> Result<F>,
    ) -> Box<dyn Contender<Experiment>> {
        let plays = Experiment::ALL.iter().copied().filter(|it| plays(*it)).collect();
        Box::new(Self { name, about, plays, start })
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
