//! C16: the entries that a tick of a wheel with rounds reads. C09, C19, V10: rounds or levels?
//!
//! Our round wheel stores deadlines instead of rounds, and skips a slot in which no timer is due.
//! The articles' wheel decrements round counts; a model of it decides their statements. Ours is
//! tested with one timer due at each tick.

use super::models::rounds::{RoundsModel, Rules};
use crate::StatedGrowth::{AtMost, Is};
use crate::count::random;
use crate::growth::Curve;
use crate::growth::Growth::{Linear, Logarithmic};
use crate::setup::powers;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const VISITS: Experiment = Experiment {
    name: "round-wheel-visits",
    about: "a model of scheme 6 and round-wheel, n timers with rounds to go on 256 slots: entries \
        read by a tick over a revolution; all timers in one slot",
    run: visits,
};

/// Slots, and the least number of rounds that the timers wait.
const SLOTS: u64 = 256;
const ROUNDS: Tick = 1_000;

fn visits(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.scale.sizes();
    let mut sweep = Sweep::new(
        "A tick of a wheel with rounds",
        "entries read by a tick, n timers have rounds to go",
    );
    let crowded = setup.curve(&sizes, |n, seed| most_entries_read(setup, n, seed) as f64);
    sweep.add("round-wheel, all others in one slot, the tick of that slot", crowded);
    let idle = setup.curve(&sizes, |n, seed| {
        let mut wheel = RoundsModel::new(Rules::S4, SLOTS);
        delays(n, false, seed).for_each(|delay| wheel.add(0, delay, 1));
        (0..SLOTS).map(|_| wheel.tick().visited).sum::<u64>() as f64 / SLOTS as f64
    });
    sweep.add("scheme 6 (model), 256 slots, none due", idle);
    let sentence = "With rounds every tick scans a slot's list: O(n) at a fixed number of slots.";
    e.growth("C16.1", sentence, sweep.all(&["scheme 6"]), Is(Linear));
    let sentence = "Long lists are unacceptable: one tick may scan all timers.";
    e.growth("C16.3", sentence, sweep.all(&["all others in one slot"]), Is(Linear));
    e.sweeps.push(sweep);
}

/// Delays of timers that have rounds to go. Each is a revolution shorter than the one before.
fn delays(n: u64, one_slot: bool, seed: u64) -> impl Iterator<Item = Tick> {
    let mut random = random(seed);
    (0..n).rev().map(move |left| {
        let slot = if one_slot { SLOTS } else { 1 + random.random_range(0..SLOTS) };
        (ROUNDS + left) * SLOTS + slot
    })
}

/// The most entries read by a tick of a revolution of our round wheel, in which all others are in
/// one slot. One timer is due at each tick and is started again for the next.
fn most_entries_read(setup: &Setup, n: u64, seed: u64) -> u64 {
    let mut counted = setup.build_with_slots("round-wheel", SLOTS);
    counted.fill(delays(n, true, seed));
    counted.insert(1, 0);
    let tick = |tick| {
        let mut read = 0;
        loop {
            let (steps, fired) = counted.work(|timer| timer.pop_expired(tick));
            read += steps.of(Work::EntryScan);
            if fired.is_none() {
                return read;
            }
            counted.insert(tick + 1, 0);
        }
    };
    (1..=SLOTS).map(tick).max().unwrap_or(0)
}

/// Counts how often a timer is visited between its start and its end. With rounds a timer of delay
/// T is visited T/M times. With levels it is moved from level to level, at most m - 1 times, and
/// fires. Each visit counts as one in both, so that Varghese and Lauck's T* = m M c7/c6 is m M.
pub(super) const ROUNDS_OR_LEVELS: Experiment = Experiment {
    name: "rounds-vs-levels",
    about: "scheme 6 with 256 and 4,096 slots against list-wheel with 3 levels of 64 and 4 levels \
        of 1,024 slots: the visits of a timer, with mean delays of 2^4 to 2^18",
    run: rounds_or_levels,
};

/// Timers of a sample, one after another.
const TIMERS: u64 = 256;

/// Slots of the wheel with rounds; levels, and slots on each of them.
const PAIRS: [(Tick, u32, u64); 2] = [(256, 3, 64), (4_096, 4, 1_024)];

fn rounds_or_levels(setup: &Setup, e: &mut Evidence) {
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
