//! The experiments, grouped by subject.
//!
//! An experiment is a function from a [`Setup`] to [`Evidence`]. It decides the statements of one
//! or more claims, whose ids are in the header of its file. It counts on a virtual clock, and
//! uses only the public interface of a structure and its meter. To test an article's own code, it
//! runs a model of that code (`models`).

mod cascades;
mod drivers;
mod heaps;
mod operations;
mod rounds;
mod structures;
mod trees;

/// Models of the articles' printed code. `rounds` is a wheel with rounds, by the rules of each
/// article; `kafka` is the wheel of levels that S3 ports to Go.
pub(crate) mod models {
    pub(crate) mod kafka;
    pub(crate) mod rounds;
}

use crate::{Evidence, Setup};
use anyhow::{Context, Result};

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

/// All experiments. The longest come first, so that they do not finish last.
pub const ALL: &[Experiment] = &[
    heaps::BURST,
    operations::WHEELS,
    rounds::VISITS,
    trees::TREES,
    heaps::LATER,
    operations::LISTS,
    rounds::ROUNDS_OR_LEVELS,
    cascades::CASCADES,
    cascades::SLOT,
    structures::EVERY,
    drivers::QUEUE,
];

/// The experiment of a name. Fails if there is none.
pub fn find(name: &str) -> Result<Experiment> {
    let found = ALL.iter().find(|experiment| experiment.name == name);
    found.copied().with_context(|| format!("there is no experiment '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_claim_finds_its_experiment() -> Result<()> {
        let names: BTreeSet<_> = ALL.iter().map(|experiment| experiment.name).collect();
        assert_eq!(names.len(), ALL.len());
        let mut used = BTreeSet::new();
        for claim in claims()? {
            used.extend(claim.experiment.as_deref().map(find).transpose()?.map(|it| it.name));
        }
        assert_eq!(used, names, "an experiment that no claim names decides nothing");
        Ok(())
    }
}
