//! A callback that panics: what becomes of the other timers under a driver that lets it through, and under one that catches it.
//!
//! java.util.Timer runs tasks in a loop without a guard, which the first failure ends. ScheduledThreadPoolExecutor catches what a task throws and goes on. Both are drivers
//! around a structure, modelled here on every structure of ours; these must only have lost nothing when the driver goes on (clause 9 of the contract).

use super::checks::Checks;
use super::structures::{Outcomes, each};
use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::{Evidence, Scale};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "failing-callbacks",
    about: "27 timers, three a tick, one of which panics, on every structure: what fires if the driver's loop ends with it, and if the driver catches it and goes on",
    run,
};

const TICKS: Tick = 9;
const EACH: u64 = 3;
const TIMERS: u64 = TICKS * EACH;

/// The one that panics: between two others of its tick.
const FAILS: u64 = 13;

/// Goes through the ticks and lets a panic of a callback through.
fn go_on(timer: &mut AnyTimer, from: Tick, fired: &mut Vec<u64>) {
    for tick in from..=TICKS {
        timer.advance(tick, |expired| {
            if expired.value == FAILS {
                // As a panic does, but for the message.
                resume_unwind(Box::new("a task fails"));
            }
            fired.push(expired.value);
        });
    }
}

/// What fires under a driver that comes back after so many panics.
fn fired(timer: &mut AnyTimer, comes_back: u64) -> Vec<u64> {
    let mut fired = Vec::new();
    (0..TIMERS).for_each(|value| _ = timer.insert(1 + value / EACH, value));
    for _ in 0..=comes_back {
        let from = timer.now().max(1);
        if catch_unwind(AssertUnwindSafe(|| go_on(timer, from, &mut fired))).is_ok() {
            break;
        }
    }
    fired
}

fn run(_: &Scale) -> Evidence {
    let mut checks = Checks::new("27 timers, three a tick, the second of tick 5 panics");
    let others: Vec<u64> = (0..TIMERS).filter(|value| *value != FAILS).collect();
    let (before, _) = others.split_at(FAILS as usize);
    let ends = each(TIMERS, |timer| fired(timer, 0));
    let goes_on = each(TIMERS, |timer| fired(timer, 1));
    checks.everywhere(
        format!(
            "a loop without a guard ends with the failing task: the {} before it run and no other",
            before.len()
        ),
        true,
        &are(&ends, before),
    );
    checks.everywhere(
        format!(
            "a loop that catches the failure runs all {} others, each once and in order",
            others.len()
        ),
        true,
        &are(&goes_on, &others),
    );
    let least = |outcomes: &Outcomes<Vec<u64>>| {
        outcomes.iter().map(|(_, fired)| fired.len()).min().unwrap_or(0)
    };
    let (ended, went_on) = (least(&ends), least(&goes_on));
    checks.evidence(
        "C47",
        format!(
            "of {} others {ended} run where the loop ends, {went_on} where it goes on",
            others.len()
        ),
    )
}

/// Whether it is these that fired, in this order.
fn are(outcomes: &Outcomes<Vec<u64>>, expected: &[u64]) -> Outcomes<bool> {
    outcomes.iter().map(|(name, fired)| (*name, fired == expected)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::Probe;

    #[test]
    fn a_driver_that_does_not_come_back_loses_what_is_later() {
        let mut timer = Probe::of::<wheelhouse_binary_heap::Definition<2>>().timer;
        assert_eq!(fired(&mut timer, 0).last(), Some(&(FAILS - 1)));
        assert_eq!(
            timer.len() as u64,
            TIMERS - FAILS - 1,
            "the failing one is gone, the others wait"
        );
    }
}
