//! C16: the entries that a tick of a wheel with rounds reads.
//!
//! Our round wheel stores deadlines instead of rounds, and skips a slot in which no timer is due.
//! The articles' wheel decrements round counts; a model of it decides their statements. Ours is
//! tested with one timer due at each tick.

use super::models::rounds::{RoundsModel, Rules};
use crate::StatedGrowth::Is;
use crate::count::random;
use crate::growth::Growth::Linear;
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
