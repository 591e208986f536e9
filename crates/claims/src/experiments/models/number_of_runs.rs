//! How often a task of S0's wheel runs, by the number that it is given.

use super::checks::Checks;
use super::circles::{CircleWheel, Successor, WITHOUT_END};
use crate::experiment::Experiment;
use crate::{Evidence, Scale};
use std::time::Duration;
use wheelhouse_core::Tick;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "number-of-runs",
    about: "S0's code on 12 slots, a task of 5 s with the number of runs -2, -1, 0, 1 and 3: runs in 1,000 turns",
    run,
};

const PERIOD: Tick = 5;
const TICKS: Tick = 12_000;

/// Go's zero value: what a field has that is left out.
const LEFT_OUT: i64 = 0;

fn runs(times: i64) -> u64 {
    let mut wheel = CircleWheel::new(12, Successor::AfterRemoval);
    wheel.add(0, Duration::from_secs(PERIOD), times);
    wheel.run(TICKS).len() as u64
}

fn run(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Runs of a task of 5 s in 12,000 s");
    // The first tick is visited before the hand moves: each firing is a tick after a multiple of the period.
    let every = (TICKS - 1) / PERIOD;
    checks.is("runs with -1: one in each period to the end", every, runs(WITHOUT_END));
    checks.is("runs with 1", 1, runs(1));
    checks.is("runs with the number left out, which Go makes 0: as with -1", every, runs(LEFT_OUT));
    for times in [-2, 3] {
        checks.beside(format!("runs with {times}"), runs(times).to_string());
    }
    let figure = format!(
        "{} runs with -1, {} with 1, {} with the zero value",
        runs(WITHOUT_END),
        runs(1),
        runs(LEFT_OUT)
    );
    checks.evidence("C53", figure)
}
