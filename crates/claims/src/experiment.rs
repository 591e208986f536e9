//! What an experiment is.

use crate::{Evidence, Scale};

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// The name by which claims refer to it: lower case, words joined by `-`.
    pub name: &'static str,
    /// What is done, on which structures.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&Scale) -> Evidence,
}

impl Experiment {
    /// Runs it.
    pub fn run(&self, scale: &Scale) -> Evidence {
        (self.run)(scale)
    }
}
