//! The experiments, grouped by subject.
//!
//! An experiment is a function from a [`Setup`](crate::Setup) to [`Evidence`](crate::Evidence). It
//! decides the statements of one or more claims, whose ids are in the first line of its file. It
//! counts on a virtual clock, and uses only the public interface of a structure and its meter. To
//! test an article's own code, it runs a model of that code (`models`).

mod cascades;
mod clocks;
mod crossover;
mod drive;
mod drivers;
mod heap_or_wheel;
mod heaps;
mod levels;
mod lists_and_maps;
pub(crate) mod models;
mod netty;
mod rounding;
mod rounds;
mod s0;
mod space;
mod trees;
mod wheel_costs;

use crate::experiment::Experiment;
use anyhow::{Context, Result};

/// All experiments. The longest come first, so that they do not finish last.
pub const ALL: &[Experiment] = &[
    heap_or_wheel::BURST,
    wheel_costs::OPERATIONS,
    rounds::VISITS,
    trees::TREE,
    trees::SKIP,
    heaps::RETENTION,
    heaps::LATER,
    lists_and_maps::LISTS,
    lists_and_maps::MAPS,
    space::FLAT,
    space::SPAN,
    crossover::ROUNDS_OR_LEVELS,
    cascades::CASCADES,
    cascades::SLOT,
    drivers::WAKEUPS,
    drivers::QUEUE,
    netty::TRANSFER_CAP,
    clocks::QUEUE_CLOCK,
    clocks::B5,
    clocks::B12,
    rounding::DIRECTION,
    rounding::B9,
    s0::LAPS,
    s0::CHANNELS,
    s0::B1,
    s0::B2,
    levels::REACH,
    levels::IDLE,
];

/// The experiment of a name.
///
/// # Errors
///
/// If there is none.
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
