//! No facility, but what it runs on: how long the machine keeps a thread from running.

use crate::contender::Contender;
use crate::experiments::{Experiment, play_machine};
use crate::figures::Played;
use crate::load::Load;
use anyhow::Result;

/// A thread that only reads the clock, beside a producer that makes no calls. What is late in its
/// row is late because the machine did something else, and no facility can be better.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl Machine {
    /// Its name in the tables.
    pub const NAME: &'static str = "the-machine";
}

impl Contender for Machine {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn about(&self) -> &'static str {
        "no facility: a thread that only reads the clock sees when each job would be due"
    }

    fn plays(&self) -> &'static [Experiment] {
        &[Experiment::Fires]
    }

    fn play(&self, experiment: Experiment, load: &Load) -> Result<Played> {
        if experiment == Experiment::Fires { play_machine(load) } else { Ok(Ok(Vec::new())) }
    }
}
