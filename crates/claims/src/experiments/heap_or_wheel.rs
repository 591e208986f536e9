//! C32, C43: a heap or a wheel? Starting, stopping and firing separately, and whole lives.
//!
//! A later operation pays for deferred work: a wheel cascades when its hand arrives, a lazy heap
//! drops all cancelled timers at once. So each figure is a mean over n timers that all start or all
//! fire, or over half of them that are stopped before the structure is compacted. Steps decide
//! growth, instructions decide order.

use super::drive::{mean_over_copies, start_and_stop};
use crate::count::{CountedTimer, LONGEST, Order, random};
use crate::growth::Growth::{Constant, Logarithmic};
use crate::scale::powers;
use crate::thresholds::Threshold::{self, Ahead, Much};
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup, Sweep, instruction_record};
use rand::RngExt;
use wheelhouse_core::Timer;

const HEAPS: [&str; 2] = ["binary-heap", "heap-4"];
const STRUCTURES: [&str; 5] =
    ["binary-heap", "heap-4", "lazy-heap", "list-wheel", "hierarchical-wheel"];
/// The most timers of a sweep, since each figure is a run over all of them.
const LARGEST: u64 = 1 << 17;
/// The least number of timers in all structures of a sample together.
const ENOUGH: u64 = 1 << 14;
/// About how many timers are due in a call, unless all are due at one tick.
const DUE: u64 = 16;

/// The measures on record: single operations, and mixes and traces.
const START: &[&str] = &["insert-warm", "cancel"];
const MIXES: &[&str] = &["mix", "steady", "hold"];

/// Decides the statement that the instructions of a heap exceed those of another structure by a
/// factor, in each workload on record. For start and stop, their sum is compared.
fn exceeds_in_instructions(
    e: &mut Evidence,
    id: &'static str,
    quote: &str,
    than: &str,
    on: &[&str],
    by: Threshold,
) {
    let of = |measure: &&str| instruction_record::compared("binary-heap", than, measure);
    let pairs: Vec<(f64, f64)> = if on == START {
        let sum = |name| {
            START
                .iter()
                .map(|it| instruction_record::mean_instructions(name, "uniform", 100_000, it))
                .sum()
        };
        vec![(sum("binary-heap"), sum(than))]
    } else {
        on.iter().flat_map(of).map(|(_, heap, other)| (heap, other)).collect()
    };
    let ratio = |(heap, other): &(f64, f64)| heap / other;
    let (least, most) = pairs
        .iter()
        .map(ratio)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
    let number = match pairs.as_slice() {
        [(heap, other)] => format!("{heap:.0} instructions against {other:.0}, at 10^5"),
        _ => format!("{least:.2} to {most:.2} times the instructions"),
    };
    e.decide(id, quote, Criterion::Exceeds(pairs, by), number);
}

pub(super) const BURST: Experiment = Experiment {
    name: "heap-vs-wheel",
    about: "steps to start, stop and fire n timers on three heaps and two wheels, in four orders; \
        whole lives with 0, 50 and 92 % stopped",
    run: burst_and_lives,
};

/// The orders of deadlines. The first one is the article's: many timers with the same delay.
const ORDERS: [Order; 4] = [Order::Equal, Order::Ascending, Order::Random, Order::Descending];
/// Shares of timers that are stopped before they fire, in percent.
const STOPPED: [u64; 3] = [0, 50, 92];

fn burst_and_lives(setup: &Setup, e: &mut Evidence) {
    let most = LARGEST.min(2 * setup.scale.largest());
    let sizes: Vec<u64> = setup.ordered_sizes().into_iter().filter(|n| *n <= most).collect();
    let mut apart = Sweep::new("Starting, stopping, firing", "steps of each, the mean of n");
    let mut lives = Sweep::new("A timer's life, to its end", "steps, deadlines at random");
    for name in STRUCTURES {
        for order in ORDERS {
            let curves = setup.curves(&sizes, |n, seed| {
                mean_over_copies(ENOUGH, n, seed, |seed| mean_costs(setup, name, order, n, seed))
            });
            apart.add_run(&format!("{name}, {}", order.name()), ["start", "stop", "fire"], curves);
        }
        for stopped in STOPPED {
            let curve = setup.curve(&sizes, |n, seed| {
                mean_over_copies(ENOUGH, n, seed, |seed| {
                    [cost_of_life(setup, name, stopped, n, seed)]
                })[0]
            });
            lives.add(format!("{name}, {stopped} % stopped"), curve);
        }
    }
    // Within these sizes our wheel becomes large.
    let sizes = powers(13, setup.scale.to.clamp(17, 18));
    for stopped in STOPPED {
        let curve = setup
            .curve(&sizes, |n, seed| cost_of_life(setup, "hierarchical-wheel", stopped, n, seed));
        lives.add_hidden(format!("hierarchical-wheel up to large, {stopped} % stopped"), curve);
    }
    start_stop_and_fire(e, &apart);
    whole_lives(e, &lives);
    e.sweep(&lives);
    e.tables.push(apart.table());
}

/// Decides the statements of C32.
fn start_stop_and_fire(e: &mut Evidence, apart: &Sweep) {
    let quote = "Creating a timer in a heap is O(log n), in any order.";
    e.at_most("C32.1", quote, apart.of(&HEAPS, &["start"]), Logarithmic);
    let quote = "It costs more, the more timers there are, where all are due half an hour on.";
    e.grows("C32.2", quote, apart.of(&HEAPS, &["all equal", "start"]));
    let quote = "Deleting a timer from a heap is O(log n), in any order.";
    e.at_most("C32.3", quote, apart.of(&HEAPS, &["stop"]), Logarithmic);
    let quote = "It costs more, the more timers there are, in such a burst.";
    e.grows("C32.4", quote, apart.of(&HEAPS, &["all equal", "stop"]));
    let quote = "Only where each is due before all others does creating grow, in a heap.";
    e.grows("C32.5", quote, apart.of(&HEAPS, &["descending", "start"]));
    for (id, name, operation, quote) in [
        ("C32.6", "list-wheel", "start", "Creating is O(1) in a wheel of lists, in any order."),
        ("C32.7", "list-wheel", "stop", "Deleting is O(1) in a wheel of lists, in any order."),
        ("C32.8", "hierarchical-wheel", "start", "Creating is O(1) in our wheel, too."),
        ("C32.9", "hierarchical-wheel", "stop", "Deleting is O(1) in our wheel, too."),
    ] {
        e.at_most(id, quote, apart.all(&[name, operation]), Constant);
    }
    let quote = "Firing is logarithmic in a heap, deadlines at random.";
    e.class("C32.10", quote, apart.of(&HEAPS, &["random", "fire"]), Logarithmic);
    let quote = "A heap that defers deletion, as Go's does, deletes in O(1), clean-up included.";
    e.at_most("C32.14", quote, apart.of(&["lazy-heap"], &["stop"]), Constant);
    e.decide_by(EvidenceKind::Instructions);
    let quote = "At random deadlines our wheel takes half the heap's instructions, start and stop.";
    exceeds_in_instructions(e, "C32.12", quote, "list-wheel", START, Much);
    let quote = "It takes half of them to fire, too.";
    exceeds_in_instructions(e, "C32.13", quote, "list-wheel", &["fire-ticks"], Much);
    e.decide_by(EvidenceKind::Counts);
}

/// Decides the statements of C43.
fn whole_lives(e: &mut Evidence, lives: &Sweep) {
    let quote = "In a heap a timer's life costs more, the more there are, if all fire.";
    e.grows("C43.1", quote, lives.of(&HEAPS, &[", 0 %"]));
    let quote = "In a wheel of lists it does not grow, however many are cancelled.";
    e.at_most("C43.2", quote, lives.all(&["list-wheel"]), Constant);
    let quote = "It does not grow in our wheel either.";
    e.at_most("C43.3", quote, lives.all(&["up to large"]), Constant);
    e.decide_by(EvidenceKind::Instructions);
    let quote = "A wheel of lists is ahead of a heap in every mix and trace on record.";
    exceeds_in_instructions(e, "C43.5", quote, "list-wheel", MIXES, Ahead);
    let quote = "Our wheel is, too.";
    exceeds_in_instructions(e, "C43.6", quote, "hierarchical-wheel", MIXES, Ahead);
    let quote = "So is a wheel with rounds.";
    exceeds_in_instructions(e, "C43.7", quote, "round-wheel", MIXES, Ahead);
    e.decide_by(EvidenceKind::Counts);
}

fn mean_costs(setup: &Setup, name: &str, order: Order, n: u64, seed: u64) -> [f64; 3] {
    let [start, stop] = start_and_stop(setup.build(name), order, n, seed);
    let mut counted = setup.build(name);
    counted.fill(order.delays(n, seed));
    let before = counted.steps();
    fire(&mut counted, order, n);
    [start, stop, counted.steps().since(&before).total() as f64 / n as f64]
}

fn cost_of_life(setup: &Setup, name: &str, stopped: u64, n: u64, seed: u64) -> f64 {
    let (mut counted, mut random) = (setup.build(name), random(seed));
    for id in counted.fill(Order::Random.delays(n, seed)) {
        if random.random_range(0..100) < stopped {
            counted.timer.cancel(id);
        }
    }
    fire(&mut counted, Order::Random, n);
    counted.steps().total() as f64 / n as f64
}

/// Fires all timers. Each call advances by an equal step, in which about [`DUE`] timers are due.
fn fire<T: Timer<u64>>(counted: &mut CountedTimer<T>, order: Order, n: u64) {
    let (every, last) = match order {
        Order::Ascending | Order::Descending => (DUE, n),
        Order::Random => (LONGEST * DUE / n, LONGEST),
        Order::Equal | Order::SameSlot(_) => (LONGEST, LONGEST),
    };
    (1..=last.div_ceil(every)).for_each(|call| _ = counted.timer.advance(call * every, |_| ()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn ascending_inserts_move_nothing_and_a_burst_fires_in_one_call() {
        let setup = Setup::new(&Scale::REDUCED);
        let [start, ..] = mean_costs(&setup, "binary-heap", Order::Ascending, 1 << 12, 1);
        assert!((start - 2.0).abs() < 0.01, "{start}");
        let mut counted = setup.build("list-wheel");
        counted.fill(Order::Equal.delays(5_000, 1));
        fire(&mut counted, Order::Equal, 5_000);
        assert!(counted.timer.is_empty() && counted.timer.now() == LONGEST);
    }

    #[test]
    fn a_life_is_counted_from_start_to_end() {
        let setup = Setup::new(&Scale::REDUCED);
        let [fired, stopped] =
            [0, 100].map(|share| cost_of_life(&setup, "binary-heap", share, 1 << 12, 1));
        assert!(fired > 20.0 && stopped < 12.0, "{fired} {stopped}");
    }
}
