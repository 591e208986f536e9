//! C36, C44: the cost of Kafka's queue of slots.

use super::models::kafka::KafkaModel;
use crate::StatedGrowth::AtMost;
use crate::count::random;
use crate::growth::Growth::Constant;
use crate::{Evidence, Experiment, Setup, Sweep};
use rand::RngExt;
use wheelhouse_core::Tick;

pub(super) const QUEUE: Experiment = Experiment {
    name: "bucket-queue-ops",
    about: "Kafka's wheels as printed, 8, 20 and 64 slots: offers and polls of the queue for each \
        timer, if timers are dense, sparse, or cancelled; the length of the queue",
    run: queue,
};

/// Wheel sizes; the longest delay of the dense load, that of Kafka's own timeouts; ticks for each
/// timer of the sparse load.
const SIZES: [u64; 3] = [8, 20, 64];
const DENSE: Tick = 200;
const SPARSE: Tick = 1_000;

fn queue(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.sizes_to(1 << 16);
    let mut sweep = Sweep::new("The queue of slots", "offers and polls for each timer");
    // The operations for all timers of the dense load.
    let (mut is_within, mut in_all) = (true, Vec::new());
    // The polls and ticks of the sparse load; the polls of the cancelled load, and those in vain.
    let [mut sparse, mut cancelled] = [[0_u64; 2]; 2];
    for size in SIZES {
        for load in ["dense", "sparse", "cancelled"] {
            let [each, all] = setup.curves(&sizes, |n, seed| {
                let mut wheels = loaded(load, size, n, seed);
                let polls = wheels.drain();
                let vain = polls.iter().filter(|it| it.ran.is_empty() && it.moved.is_empty());
                let (vain, count) = (vain.count() as u64, polls.len() as u64);
                match load {
                    "sparse" => sparse = [sparse[0] + count, sparse[1] + wheels.levels[0].current],
                    "cancelled" => cancelled = [cancelled[0] + count, cancelled[1] + vain],
                    _ => (),
                }
                is_within &= wheels.longest_queue as u64 <= wheels.levels.len() as u64 * size;
                let operations = (wheels.offers + count) as f64;
                [operations / n as f64, operations]
            });
            sweep.add(format!("{size} slots, {load}"), each);
            if load == "dense" {
                // From this size on each slot has many timers.
                in_all.push(all.from(1 << 10));
            }
        }
    }
    let sentence = "The queue is never longer than the number of slots.";
    e.holds("C36.1", sentence, is_within, "in wheels of 8, 20 and 64 slots");
    let sentence = "If slots have many tasks, more tasks do not make Kafka's queue cost more.";
    e.growth("C36.2", sentence, &in_all, AtMost(Constant));
    let sentence = "Kafka's queue of slots makes fewer advances than there are ticks.";
    let [polls, ticks] = sparse;
    e.holds("C44.1", sentence, polls < ticks, format!("{polls} of {ticks} ticks"));
    let sentence = "After a mass cancel, no advance finds only cancelled tasks.";
    let [polls, vain] = cancelled;
    e.holds("C44.3", sentence, vain == 0, format!("{vain} of {polls} do"));
    e.sweeps.push(sweep);
}

/// Wheels of this size with n timers of a load.
fn loaded(load: &str, size: u64, n: u64, seed: u64) -> KafkaModel {
    let (mut wheels, mut random) = (KafkaModel::new(1, size as usize), random(seed));
    let longest = if load == "dense" { DENSE } else { SPARSE * n };
    for name in 0..n {
        wheels.add(random.random_range(1..=longest), name);
        if load == "cancelled" && !name.is_multiple_of(n / 16) {
            wheels.cancel(name);
        }
    }
    wheels
}
