//! A repeating timer that keeps nothing but its next deadline.

use super::checks::{Checks, shown};
use super::circles::{CircleWheel, Successor, WITHOUT_END};
use super::structures::each;
use crate::count::AnyTimer;
use crate::experiment::Experiment;
use crate::{Evidence, Scale};
use std::time::Duration;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "periodic-reinsert",
    about: "every structure: timers of periods 1 to 300 and of multiples of slot counts, aligned and staggered, re-inserted from their own expiry; woken in time and late",
    run,
};

/// Multiples of the slot counts of the articles and of the structures here.
const TURNS: [Tick; 12] = [12, 24, 36, 168, 256, 512, 1_024, 4_096, 8_192, 16_384, 32_768, 65_536];
const LONGEST: Tick = 300;
/// Each fires at least so often.
const FIRINGS: u64 = 4;

/// (period, phase) of each timer: it fires at phase + k · period.
fn timers(staggered: bool) -> Vec<(Tick, Tick)> {
    let periods = (1..=LONGEST).chain(TURNS);
    periods.map(|period| (period, if staggered { period * 7 % 11 } else { 0 })).collect()
}

/// What is wrong: firings that are not the next of their timer, and timers that have missed their last.
fn faults(timer: &mut AnyTimer, staggered: bool, late: Tick) -> u64 {
    let timers = timers(staggered);
    // The short ones for a while; then each of the long ones by itself, so that not all ticks need a call.
    let (short, long) = timers.split_at(LONGEST as usize);
    let mut faults = drive(timer, short, FIRINGS * LONGEST + LONGEST, late);
    for one in long {
        faults += drive(timer, &[*one], FIRINGS * one.0 + one.1, late);
    }
    faults
}

/// Drives these timers for so many ticks, each call so many ticks late; cancels them.
fn drive(timer: &mut AnyTimer, timers: &[(Tick, Tick)], ticks: Tick, late: Tick) -> u64 {
    let start = timer.now();
    let mut ids: Vec<_> = (0..)
        .zip(timers)
        .map(|(value, (period, phase))| timer.insert(start + phase + period, value))
        .collect();
    let (mut fired, mut faults) = (vec![0; timers.len()], 0);
    while let Some(tick) = timer.next_wakeup().filter(|tick| *tick <= start + ticks) {
        while let Some((deadline, value)) = timer.pop(tick + late) {
            let value = value as usize;
            let (period, phase) = timers[value];
            fired[value] += 1;
            faults += u64::from(deadline != start + phase + fired[value] * period);
            ids[value] = timer.insert(deadline + period, value as u64);
        }
    }
    ids.into_iter().for_each(|id| _ = timer.cancel(id));
    let missed = |((period, phase), fired): (&(Tick, Tick), &u64)| {
        u64::from(*fired < (ticks - phase) / period)
    };
    faults + timers.iter().zip(&fired).map(missed).sum::<u64>()
}

fn run(_: &Scale) -> Evidence {
    let mut checks = Checks::new("Timers that are re-inserted at their deadline and their period");
    let count = timers(false).len() as u64;
    for (name, staggered) in [("aligned", false), ("staggered", true)] {
        for late in [0, 7] {
            let outcomes = each(count, |timer| faults(timer, staggered, late));
            let what =
                format!("firings off k times the period, {name}, each call {late} ticks late");
            checks.everywhere(what, 0, &outcomes);
        }
    }
    let structures = each(count, |_| ()).len();
    for period in [12, 24] {
        let mut printed = CircleWheel::new(12, Successor::AfterRemoval);
        printed.add(0, Duration::from_secs(period), WITHOUT_END);
        let ticks: Vec<_> = printed.run(80).into_iter().map(|(tick, _)| tick).collect();
        checks.beside(
            format!("S0's code, 12 slots, period {period}, fires at (see B2)"),
            shown(&ticks),
        );
    }
    let figure = format!(
        "{count} periods from 1 to {} ticks on {structures} structures: each firing at k times its period",
        TURNS[TURNS.len() - 1]
    );
    checks.evidence("C13", figure)
}
