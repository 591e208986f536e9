//! The experiments, by what they look at.
//!
//! Each is a function from a [`Lab`](crate::Lab) to [`Evidence`](crate::Evidence) that decides the
//! statements of one claim or several; the first line of a file names them. It counts, on a virtual
//! clock, and asks a structure only what any program may ask: the public interface, and the meter.
//! Where an article's own code is on trial, a model of it stands beside ours (`models`).

mod calendar;
mod cascades;
mod clocks;
mod crossover;
mod drive;
mod drivers;
mod heap_or_wheel;
mod heap_room;
mod heaps;
mod kafka_arithmetic;
mod levels;
mod linux;
mod lists_and_maps;
mod manager;
pub(crate) mod models;
mod netty;
mod overflow;
mod purgatory;
mod rounding;
mod rounds;
mod s0;
mod scenarios;
mod schemes;
mod sessions;
mod sorted_insertion;
mod space;
mod stores;
mod trees;
mod wheel_costs;

use crate::experiment::Experiment;
use anyhow::{Context, Result};

/// All experiments. Those that take longest come first, so that they are not the last to end.
pub const ALL: &[Experiment] = &[
    sessions::SESSIONS,
    heap_or_wheel::BURST,
    wheel_costs::OPERATIONS,
    schemes::COSTS,
    heap_or_wheel::START_STOP,
    purgatory::PURGATORY,
    rounds::VISITS,
    trees::TREE,
    trees::SKIP,
    heaps::RETENTION,
    heaps::LATER,
    heap_room::GROWTH,
    lists_and_maps::LISTS,
    lists_and_maps::MAPS,
    space::FLAT,
    space::SPAN,
    crossover::ROUNDS_OR_LEVELS,
    cascades::CASCADES,
    cascades::MOVES,
    cascades::SLOT,
    drivers::WAKEUPS,
    drivers::QUEUE,
    overflow::OVERFLOW,
    rounds::PER_TICK,
    rounds::HASH,
    sorted_insertion::INSERTION,
    netty::TRANSFER_CAP,
    linux::LATENESS,
    linux::E16,
    clocks::CLOCKS,
    clocks::QUEUE_CLOCK,
    clocks::DRIFT,
    clocks::B5,
    clocks::B12,
    rounding::DIRECTION,
    rounding::B3,
    rounding::B9,
    scenarios::PERIODS,
    scenarios::FAILING,
    scenarios::CALLBACKS,
    manager::MANAGER,
    scenarios::E8,
    s0::LAPS,
    s0::CHANNELS,
    s0::CONDITIONS,
    s0::B1,
    s0::B2,
    s0::EXAMPLES,
    calendar::WHEELS,
    calendar::EXAMPLES,
    levels::REACH,
    kafka_arithmetic::KAFKA,
    levels::EXAMPLES,
    stores::STORES,
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
