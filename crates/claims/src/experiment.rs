//! The definition of an experiment.

use crate::{Evidence, Setup};

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// The name by which claims refer to it: lower case, words joined by `-`.
    pub name: &'static str,
    /// A description of what it does, on which structures.
    pub about: &'static str,
    /// Runs it and adds what it finds to the evidence.
    pub run: fn(&Setup, &mut Evidence),
}

impl Experiment {
    /// Runs it.
    pub fn run(&self, setup: &Setup) -> Evidence {
        let mut evidence = Evidence::default();
        (self.run)(setup, &mut evidence);
        evidence
    }
}
