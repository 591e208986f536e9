//! What an experiment is.

use crate::{Evidence, Lab};

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// The name by which claims refer to it: lower case, words joined by `-`.
    pub name: &'static str,
    /// What is done, on which structures.
    pub about: &'static str,
    /// Does it, and writes down what came of it.
    pub run: fn(&Lab, &mut Evidence),
}

impl Experiment {
    /// Runs it.
    pub fn run(&self, lab: &Lab) -> Evidence {
        let mut evidence = Evidence::default();
        (self.run)(lab, &mut evidence);
        evidence
    }
}
