//! C09, C19, V10: rounds or levels? Counts how often a timer is visited between its start and its
//! end.
//!
//! With rounds a timer of delay T is visited T/M times. With levels it is moved from level to
//! level, at most m - 1 times, and fires. Each visit counts as one in both, so that Varghese and
//! Lauck's T* = m M c7/c6 is m M.

use super::drive::wakeups;
use crate::count::random;
use crate::growth::Growth::{Linear, Logarithmic};
use crate::scale::powers;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const ROUNDS_OR_LEVELS: Experiment = Experiment {
    name: "rounds-vs-levels",
    about: "scheme 6 with 256 and 4,096 slots against list-wheel of as many in 3 levels of 64 and \
        4 of 1,024: how often a timer is met, mean delays of 2^4 to 2^18",
    run,
};

/// Timers of a sample, one after another.
const TIMERS: u64 = 256;

/// A wheel with rounds, and levels with at most as many slots in all.
#[derive(Clone, Copy, Debug)]
struct RoundsAndLevels {
    slots: u64,
    levels: u64,
    per_level: u64,
}

const PAIRS: [RoundsAndLevels; 2] = [
    RoundsAndLevels { slots: 256, levels: 3, per_level: 64 },
    RoundsAndLevels { slots: 4_096, levels: 4, per_level: 1_024 },
];

/// How often a hand that visits one slot in each tick visits a timer, including the visit that
/// fires it.
fn visits_in_rounds(slots: Tick, delay: Tick) -> u64 {
    delay.div_ceil(slots)
}

fn run(setup: &Setup, e: &mut Evidence) {
    let delays = powers(4, 18);
    let mut sweep = Sweep::over("mean delay in ticks", "Rounds or levels", "times a timer is met");
    let mut most = 0;
    for pair in PAIRS {
        let [rounds, levels] = setup.curves(&delays, |mean, seed| {
            let mut random = random(seed ^ mean << 32);
            let mut counted = setup.build_with_slots("list-wheel", pair.per_level);
            let mut met = [0; 2];
            for _ in 0..TIMERS {
                let delay = random.random_range(1..=2 * mean);
                met[0] += visits_in_rounds(pair.slots, delay);
                // Start from a random phase of the levels.
                let start = counted.timer.now() + random.random_range(1..1 << 20);
                counted.timer.advance(start, |_| ());
                counted.fill([delay]);
                let of_one =
                    wakeups(&mut counted).iter().map(|it| it.moved + it.fired).sum::<u64>();
                if delay < pair.per_level.pow(pair.levels as u32 - 1) {
                    most = most.max(of_one.saturating_sub(pair.levels));
                }
                met[1] += of_one;
            }
            met.map(|met| met as f64 / TIMERS as f64)
        });
        sweep.add(format!("rounds, {} slots", pair.slots), rounds);
        sweep.add(format!("{} levels of {}", pair.levels, pair.per_level), levels);
    }
    let [rounds, levels] = [&sweep["rounds, 256 slots"], &sweep["3 levels of 64"]];
    let pair = |at: fn(&crate::growth::Curve) -> f64| {
        PAIRS.map(|it| {
            (
                at(&sweep[&*format!("rounds, {} slots", it.slots)]),
                at(&sweep[&*format!("{} levels of {}", it.levels, it.per_level)]),
            )
        })
    };
    let (short, long) = (pair(crate::growth::Curve::first), pair(crate::growth::Curve::last));
    let describe = |[(a, b), _]: [(f64, f64); 2]| format!("{a:.1} times met against {b:.1}");
    let rounds_first = |of: [(f64, f64); 2]| of.iter().all(|(rounds, levels)| rounds <= levels);
    let quote = "Rounds are to be preferred: for short delays a timer is met less often.";
    e.holds("C09.1", quote, rounds_first(short), describe(short));
    let quote = "Layers save time: for long delays a timer is met less often.";
    e.holds("C19.1", quote, long.iter().all(|(rounds, levels)| levels < rounds), describe(long));
    let quote = "With rounds a timer of delay T is met T/M times.";
    e.class("V10.1", quote, [&rounds.from(256 * 16)], Linear);
    let quote = "With levels the times it is met are at most logarithmic in T.";
    e.at_most("V10.2", quote, [levels], Logarithmic);
    let quote = "It is met at most m times, within the range of m levels.";
    e.holds("V10.3", quote, most == 0, format!("{most} times more"));
    e.sweep(&sweep);
}

#[cfg(test)]
mod tests {
    use super::super::models::rounds::{RoundsModel, S4};
    use super::*;

    #[test]
    fn scheme_6_visits_a_timer_once_a_round() {
        for delay in [1, 63, 64, 65, 1_000] {
            let mut scheme_6 = RoundsModel::new(S4, 64, 0);
            scheme_6.add(0, delay, 1);
            let met: u64 = (0..delay).map(|_| scheme_6.tick().visited()).sum();
            assert_eq!(met, visits_in_rounds(64, delay));
        }
    }
}
