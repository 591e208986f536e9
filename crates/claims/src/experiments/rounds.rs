//! C16: the entries that a tick of a wheel with rounds reads.
//!
//! Our round wheel stores deadlines instead of rounds, and skips a slot in which no timer is due.
//! The articles' wheel decrements round counts; a model of it decides their statements. Ours is
//! tested with one timer due at each tick.

use super::models::rounds::{RoundsModel, S4};
use crate::count::{Costs, random};
use crate::growth::Growth::Linear;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const VISITS: Experiment = Experiment {
    name: "round-wheel-visits",
    about: "round-wheel and a model of scheme 6, n timers with rounds to go: entries read by a \
        tick over a revolution; 64, 256 and 4,096 slots; all timers in one slot",
    run: visits,
};

/// The least number of rounds that the timers wait.
const ROUNDS: Tick = 1_000;

fn visits(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.scale.sizes();
    let mut sweep = Sweep::new(
        "A tick of a wheel with rounds",
        "entries read by a tick, n timers have rounds to go",
    );
    for slots in [64, 256, 4_096] {
        let busy = setup.curve(&sizes, |n, seed| entries_read(setup, n, slots, false, seed).mean());
        sweep.add(format!("round-wheel, {slots} slots, one due at each tick"), busy);
    }
    let crowded =
        setup.curve(&sizes, |n, seed| entries_read(setup, n, 256, true, seed).max() as f64);
    sweep.add("round-wheel, all others in one slot, the tick of that slot", crowded);
    let idle = setup.curve(&sizes, |n, seed| {
        let mut wheel = RoundsModel::new(S4, 256, 0);
        delays(n, 256, false, seed).for_each(|delay| wheel.add(0, delay, 1));
        (0..256).map(|_| wheel.tick().visited()).sum::<u64>() as f64 / 256.0
    });
    sweep.add("scheme 6 (model), 256 slots, none due", idle);
    let quote = "With rounds every tick scans a slot's list: O(n) at a fixed number of slots.";
    e.class("C16.1", quote, sweep.all(&["scheme 6"]), Linear);
    let quote = "So does ours, which keeps deadlines, where one is due at each tick.";
    e.class("C16.2", quote, sweep.all(&["round-wheel", "slots, one due"]).take(3), Linear);
    let quote = "Long lists are unacceptable: one tick may scan all timers.";
    e.class("C16.3", quote, sweep.all(&["all others in one slot"]), Linear);
    e.sweep(&sweep);
}

/// Delays of timers that have rounds to go. Each is a revolution shorter than the one before.
fn delays(n: u64, slots: u64, one_slot: bool, seed: u64) -> impl Iterator<Item = Tick> {
    let mut random = random(seed);
    (0..n).rev().map(move |left| {
        let slot = if one_slot { slots } else { 1 + random.random_range(0..slots) };
        (ROUNDS + left) * slots + slot
    })
}

/// Entries read by each tick of a revolution. One timer is due at each tick and is started again
/// for the next.
fn entries_read(setup: &Setup, n: u64, slots: u64, one_slot: bool, seed: u64) -> Costs {
    let mut counted = setup.build_with_slots("round-wheel", slots);
    counted.fill(delays(n, slots, one_slot, seed));
    counted.timer.insert(1, 0);
    let tick = |tick| {
        let mut read = 0;
        loop {
            let (steps, fired) = counted.work(|timer| timer.pop_expired(tick));
            read += steps.of(Work::EntryScan);
            if fired.is_none() {
                return read;
            }
            counted.timer.insert(tick + 1, 0);
        }
    };
    (1..=slots).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn a_tick_reads_a_slot_only_if_a_timer_in_it_is_due() {
        let setup = Setup::new(&Scale::REDUCED);
        // Sixteen timers in a slot, and the one that is due.
        assert_eq!(entries_read(&setup, 1_024, 64, false, 1).mean(), 17.0);
    }
}
