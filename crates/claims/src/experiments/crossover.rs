//! C09, C19, V10: rounds or levels? Counts how often a timer is visited between its start and its
//! end.
//!
//! With rounds a timer of delay T is visited T/M times. With levels it is moved from level to
//! level, at most m - 1 times, and fires. Each visit counts as one in both, so that Varghese and
//! Lauck's T* = m M c7/c6 is m M.

use crate::StatedGrowth::{AtMost, Is};
use crate::count::random;
use crate::growth::Curve;
use crate::growth::Growth::{Linear, Logarithmic};
use crate::setup::powers;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use wheelhouse_core::{Tick, Timer};

pub(super) const ROUNDS_OR_LEVELS: Experiment = Experiment {
    name: "rounds-vs-levels",
    about: "scheme 6 with 256 and 4,096 slots against list-wheel with 3 levels of 64 and 4 levels \
        of 1,024 slots: the visits of a timer, with mean delays of 2^4 to 2^18",
    run,
};

/// Timers of a sample, one after another.
const TIMERS: u64 = 256;

/// Slots of the wheel with rounds; levels, and slots on each of them.
const PAIRS: [(Tick, u32, u64); 2] = [(256, 3, 64), (4_096, 4, 1_024)];

fn run(setup: &Setup, e: &mut Evidence) {
    let delays = powers(4, 18);
    let mut sweep = Sweep::over("mean delay in ticks", "Rounds or levels", "visits of a timer");
    let mut most = 0;
    let curves = PAIRS.map(|(slots, levels, per_level)| {
        let curves = setup.curves(&delays, |mean, seed| {
            let mut random = random(seed ^ mean << 32);
            let mut counted = setup.build_with_slots("list-wheel", per_level);
            let mut met = [0; 2];
            for _ in 0..TIMERS {
                let delay = random.random_range(1..=2 * mean);
                // The hand visits a slot in each tick, and the last visit fires the timer.
                met[0] += delay.div_ceil(slots);
                // Start from a random phase of the levels.
                let start = counted.now() + random.random_range(1..1 << 20);
                counted.advance(start, |_| ());
                counted.fill([delay]);
                let [fired, moved, _] = counted.run_out();
                let of_one = fired + moved;
                if delay < per_level.pow(levels - 1) {
                    most = most.max(of_one.saturating_sub(u64::from(levels)));
                }
                met[1] += of_one;
            }
            met.map(|met| met as f64 / TIMERS as f64)
        });
        sweep.add(format!("rounds, {slots} slots"), curves[0].clone());
        sweep.add(format!("{levels} levels of {per_level}"), curves[1].clone());
        curves
    });
    shorter_and_longer(e, &curves);
    let [rounds, levels] = &curves[0];
    let sentence = "With rounds a timer of delay T is visited T/M times.";
    e.growth("V10.1", sentence, [&rounds.from(256 * 16)], Is(Linear));
    let sentence = "With levels the number of its visits is at most logarithmic in T.";
    e.growth("V10.2", sentence, [levels], AtMost(Logarithmic));
    let sentence = "A timer within the range of m levels is visited at most m times.";
    e.holds("V10.3", sentence, most == 0, format!("{most} visits more"));
    e.sweeps.push(sweep);
}

/// Decides which of the two meets a timer less often, with the shortest and the longest delays.
fn shorter_and_longer(e: &mut Evidence, curves: &[[Curve; 2]; 2]) {
    let met = |at: fn(&Curve) -> f64| curves.each_ref().map(|of_pair| of_pair.each_ref().map(at));
    let describe = |[[rounds, levels], _]: [[f64; 2]; 2]| {
        format!("{rounds:.1} visits with rounds, {levels:.1} with levels")
    };
    let (short, long) = (met(Curve::first), met(Curve::last));
    let sentence = "Rounds are preferable: with short delays a timer is visited less often.";
    let is_less = short.iter().all(|[rounds, levels]| rounds <= levels);
    e.holds("C09.1", sentence, is_less, describe(short));
    let sentence = "Layers save time: with long delays a timer is visited less often.";
    let is_less = long.iter().all(|[rounds, levels]| levels < rounds);
    e.holds("C19.1", sentence, is_less, describe(long));
}
