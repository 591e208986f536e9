//! The same timers by deadline and by delay: are they interchangeable when the clock is set?
//!
//! Two clocks run side by side. One counts what has passed; the other tells the time of day, and somebody sets it an hour after the start. A
//! timer by delay is driven by the first, a timer by time of day by the second, and what is compared is when, in passed time, each fires.

use super::checks::Checks;
use super::structures::{Outcomes, each};
use crate::count::{AnyTimer, random};
use crate::experiment::Experiment;
use crate::{Evidence, Scale, Table};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "absolute-relative",
    about: "every structure: 1,000 timers by delay and by time of day, the time of day then set by seconds and by an hour; timers that fire at another moment",
    run,
};

const TIMERS: u64 = 1_000;
/// The time of day at the start, in seconds: 9 o'clock.
const NINE: Tick = 9 * 3_600;
/// When the time of day is set, after the start.
const SET_AT: Tick = 3_600;
/// The longest delay.
const LONGEST: Tick = 4 * 3_600;
/// By how much it is set: not at all, a correction, daylight saving.
const STEPS: [i64; 5] = [0, 2, -2, 3_600, -3_600];

/// What a clock reads when so many seconds have passed.
#[derive(Clone, Copy)]
struct Clock {
    start: Tick,
    step: i64,
}

impl Clock {
    fn at(self, passed: Tick) -> Tick {
        let step = if passed >= SET_AT { self.step } else { 0 };
        (self.start + passed).saturating_add_signed(step)
    }

    /// The first moment, not before `passed`, at which it reads a tick or a later one.
    fn first(self, tick: Tick, passed: Tick) -> Tick {
        let before = tick.saturating_sub(self.start).max(passed);
        let after = tick
            .saturating_add_signed(-self.step)
            .saturating_sub(self.start)
            .max(passed)
            .max(SET_AT);
        if before < SET_AT { before } else { after }
    }
}

fn run(_: &Scale) -> Evidence {
    let mut random = random(1);
    let delays: Vec<Tick> = (0..TIMERS).map(|_| random.random_range(1..=LONGEST)).collect();
    let mut table = Table::new(
        "1,000 timers by delay and by time of day, the time of day set an hour after the start",
        ["set by", "fire at another moment", "earliest, s", "latest, s"],
    );
    let mut checks = Checks::new("On every structure");
    let mut differ = Vec::new();
    for step in STEPS {
        let outcomes = shifts(&delays, step);
        let shift = outcomes.first().map_or_else(Vec::new, |(_, shift)| shift.clone());
        let others = shift.iter().filter(|by| **by != 0).count();
        let (least, most) = (shift.iter().min().unwrap_or(&0), shift.iter().max().unwrap_or(&0));
        table.row([
            format!("{step:+} s"),
            others.to_string(),
            format!("{least:+}"),
            format!("{most:+}"),
        ]);
        let what = if step == 0 {
            "timers that differ on one clock".to_owned()
        } else {
            format!("timers that differ if the time of day is set by {step:+} s")
        };
        let counts: Outcomes<usize> = outcomes
            .iter()
            .map(|(name, shift)| (*name, shift.iter().filter(|by| **by != 0).count()))
            .collect();
        checks.everywhere(what, 0, &counts);
        differ.push(others);
    }
    let figure = format!(
        "{} of {TIMERS} differ on one clock, {} when it is set by {:+} s",
        differ[0], differ[3], STEPS[3]
    );
    let (finding, every) = checks.into_parts("C12", figure);
    Evidence { findings: vec![finding], tables: vec![table, every], charts: Vec::new() }
}

/// On each structure: for each timer, by how much the one by time of day fires after the one by delay.
fn shifts(delays: &[Tick], step: i64) -> Outcomes<Vec<i64>> {
    let passed = Clock { start: 0, step: 0 };
    let of_day = Clock { start: NINE, step };
    let relative = each(TIMERS, |timer| moments(timer, passed, delays));
    let absolute = each(TIMERS, |timer| moments(timer, of_day, delays));
    let by = |relative: &[Tick], absolute: &[Tick]| {
        relative
            .iter()
            .zip(absolute)
            .map(|(relative, absolute)| *absolute as i64 - *relative as i64)
            .collect()
    };
    relative
        .iter()
        .zip(&absolute)
        .map(|((name, relative), (_, absolute))| (*name, by(relative, absolute)))
        .collect()
}

/// Drives a structure by a clock, from wake-up to wake-up: when each timer fires, in passed time.
fn moments(timer: &mut AnyTimer, clock: Clock, delays: &[Tick]) -> Vec<Tick> {
    timer.fired(clock.at(0));
    for (value, delay) in (0..).zip(delays) {
        timer.insert(clock.at(0) + delay, value);
    }
    let (mut passed, mut moments) = (0, vec![0; delays.len()]);
    while let Some(tick) = timer.next_wakeup() {
        passed = clock.first(tick, passed);
        for (_, value) in timer.fired(clock.at(passed)) {
            moments[value as usize] = passed;
        }
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_day_is_first_read_when_it_is_said_to_be() {
        for step in STEPS {
            let clock = Clock { start: NINE, step };
            for tick in (NINE + 1..NINE + 3 * LONGEST).step_by(971) {
                let by_search = (0..4 * LONGEST).find(|passed| clock.at(*passed) >= tick);
                assert_eq!(Some(clock.first(tick, 0)), by_search, "{tick} with {step}");
            }
        }
    }
}
