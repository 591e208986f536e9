//! A facility among others: started anew for each play.

use crate::experiments::Experiment;
use crate::facility::Facility;
use crate::figures::Played;
use crate::load::Load;
use anyhow::Result;
use std::time::Duration;

/// Who takes part.
pub trait Contender: Send + Sync {
    /// Its name in the tables.
    fn name(&self) -> &'static str;

    /// What it is, in a line.
    fn about(&self) -> &'static str;

    /// What it plays unless it is asked for by its name: that in which it differs from another.
    fn plays(&self) -> &'static [Experiment];

    /// Plays an experiment on a new facility.
    ///
    /// # Errors
    ///
    /// If it cannot be started or hangs. Wrong answers are no error here, but what was [`Played`].
    fn play(&self, experiment: Experiment, load: &Load) -> Result<Played>;
}

/// A facility that can be started.
#[derive(Debug)]
pub struct Entry<F> {
    name: &'static str,
    about: &'static str,
    plays: &'static [Experiment],
    start: fn(Duration) -> Result<F>,
}

impl<F: Facility + 'static> Entry<F> {
    /// Name, description, and how to start it with a tick. It plays everything.
    pub fn boxed(
        name: &'static str,
        about: &'static str,
        start: fn(Duration) -> Result<F>,
    ) -> Box<dyn Contender> {
        Self::of_some(name, about, &Experiment::ALL, start)
    }

    /// The same, where some experiments show all that is special about it.
    pub fn of_some(
        name: &'static str,
        about: &'static str,
        plays: &'static [Experiment],
        start: fn(Duration) -> Result<F>,
    ) -> Box<dyn Contender> {
        Box::new(Self { name, about, plays, start })
    }
}

impl<F: Facility> Contender for Entry<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn plays(&self) -> &'static [Experiment] {
        self.plays
    }

    fn play(&self, experiment: Experiment, load: &Load) -> Result<Played> {
        experiment.play(&|| (self.start)(load.tick), load)
    }
}
