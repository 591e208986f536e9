//! C17, C18, C60: the price of a hierarchy's small space: timers move from level to level.

use super::models::kafka::KafkaModel;
use crate::StatedGrowth::Is;
use crate::count::random;
use crate::growth::Growth::Linear;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use std::collections::BTreeSet;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

const WHEEL: &str = "list-wheel";

pub(super) const CASCADES: Experiment = Experiment {
    name: "cascade-counts",
    about: "list-wheel of 2 to 6 levels of 8 slots: entries read in vain, and slots in \
        use; n timers in one slot of the third level: the most moves in one call",
    run: cascades,
};

/// Slots of a level, timers of a run, and timers that are started alone, to count levels.
const SLOTS: u64 = 8;
const TIMERS: u64 = 4_096;
const ALONE: u64 = 256;

fn cascades(setup: &Setup, e: &mut Evidence) {
    let (mut is_dense, mut vain) = (true, 0);
    for levels in 2..=6 {
        let (span, mut most) = (SLOTS.pow(levels), 0);
        for seed in setup.scale.seeds() {
            let mut random = random(seed);
            let mut delay = || random.random_range(1..span);
            let mut counted = setup.build_with_slots(WHEEL, SLOTS);
            counted.fill((0..TIMERS).map(|_| delay()));
            let [fired, moved, _] = counted.run_out();
            vain += counted.steps().of(Work::EntryScan).saturating_sub(fired + moved);
            let alone = (0..ALONE).map(|_| moves(setup, SLOTS, [delay()]).0);
            most = alone.fold(most, u64::max);
        }
        // The slots of all levels that timers passed through, including the one they fired from.
        is_dense &= SLOTS * (1 + most) < span;
    }
    let sentence = "Levels waste no space: fewer slots are in use than the span has ticks.";
    e.holds("C17.1", sentence, is_dense, "2 to 6 levels of 8 slots");
    let sentence = "They waste no time: each entry that is read fires or moves.";
    e.holds("C17.2", sentence, vain == 0, format!("{vain} read in vain"));
    // All timers are in one slot of the third level.
    let cascade = setup.curve(&setup.scale.sizes(), |n, seed| {
        let mut random = random(seed);
        let delays = (0..n).map(|_| (1 << 16) + random.random_range(0..1 << 16));
        moves(setup, 256, delays).1 as f64
    });
    let sentence = "In levels of lists one advance may move all timers.";
    e.growth("C17.5", sentence, [&cascade], Is(Linear));
    let mut sweep = Sweep::new("A slot with all timers cascades", "the most moves in one advance");
    sweep.add(WHEEL, cascade);
    e.sweeps.push(sweep);
}

/// Starts timers with these delays in a list wheel, and fires them. Returns how often a timer was
/// moved to a lower level, in all and at most in one call.
pub(super) fn moves(
    setup: &Setup,
    slots: u64,
    delays: impl IntoIterator<Item = Tick>,
) -> (u64, u64) {
    let mut counted = setup.build_with_slots(WHEEL, slots);
    counted.fill(delays);
    let [_, moved, most] = counted.run_out();
    (moved, most)
}

pub(super) const SLOT: Experiment = Experiment {
    name: "bottom-slot-due",
    about: "three wheels with n random timers, advanced to each wake-up: timers that fire and \
        are not due; Kafka's wheels as printed: the deadlines in a slot, by level",
    run: slots_due,
};

fn slots_due(setup: &Setup, e: &mut Evidence) {
    let (mut fired, mut wrong, mut most) = (0, 0, [0; 2]);
    for n in setup.sizes_to(1 << 16) {
        for seed in setup.scale.seeds() {
            let mut random = random(seed ^ n << 32);
            let draws: Vec<Tick> = (0..n / 2).map(|_| random.random_range(1..1 << 22)).collect();
            // Each deadline twice, so that slots of one deadline hold more than one timer.
            let draws = draws.repeat(2);
            for name in ["list-wheel", "hierarchical-wheel", "kafka-wheel"] {
                let mut counted = setup.build(name);
                counted.fill(draws.iter().copied());
                while let Some(tick) = counted.next_wakeup() {
                    let of_tick = counted.advance_to(tick);
                    fired += of_tick.len();
                    wrong += of_tick.iter().filter(|(deadline, _)| *deadline != tick).count();
                }
            }
            note_deadlines(&mut most, &draws);
        }
    }
    let sentence = "All tasks in the list that the hand reaches are due.";
    e.holds("C18.1", sentence, fired > 0 && wrong == 0, format!("{wrong} of {fired} not due"));
    let sentence = "A slot of the lowest level holds tasks of one expiry.";
    e.holds("C60.1", sentence, most[0] == 1, format!("{} deadline at most", most[0]));
    let sentence = "A slot of a higher level holds tasks of one expiry.";
    e.holds("C60.2", sentence, most[1] == 1, format!("up to {} deadlines", most[1]));
}

/// Raises `most` to the most deadlines of a slot of Kafka's wheels: on the lowest level, and on the
/// others.
fn note_deadlines(most: &mut [usize; 2], deadlines: &[Tick]) {
    let mut wheels = KafkaModel::new(1, 20);
    (0..).zip(deadlines).for_each(|(name, deadline)| _ = wheels.add(*deadline, name));
    while let Some(poll) = wheels.poll_next() {
        let moved = poll.moved.iter().map(|(deadline, ..)| *deadline);
        let all: BTreeSet<_> =
            poll.ran.iter().map(|(deadline, _)| *deadline).chain(moved).collect();
        let of_level = &mut most[usize::from(poll.from.level > 1)];
        *of_level = all.len().max(*of_level);
    }
}
