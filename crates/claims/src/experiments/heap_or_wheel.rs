//! C32, C43: a heap or a wheel? Starting, stopping and firing separately.
//!
//! A later operation pays for deferred work: a wheel cascades when its hand arrives, a lazy heap
//! drops all cancelled timers at once. So each figure is a mean over n timers that all start or all
//! fire, or over half of them that are stopped before the structure is compacted. Steps decide
//! growth, instructions decide order.

use super::drive::{mean_over_copies, start_and_stop};
use crate::count::{CountedTimer, LONGEST, Order};
use crate::growth::Growth::{Constant, Logarithmic};
use crate::thresholds::Threshold::Ahead;
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup, Sweep, instruction_record};
use wheelhouse_core::Timer;

const HEAPS: [&str; 2] = ["binary-heap", "heap-4"];
const STRUCTURES: [&str; 4] = ["binary-heap", "heap-4", "lazy-heap", "list-wheel"];
/// The most timers of a sweep, since each figure is a run over all of them.
const LARGEST: u64 = 1 << 17;
/// The least number of timers in all structures of a sample together.
const ENOUGH: u64 = 1 << 14;
/// About how many timers are due in a call, unless all are due at one tick.
const DUE: u64 = 16;

pub(super) const BURST: Experiment = Experiment {
    name: "heap-vs-wheel",
    about: "steps to start, stop and fire n timers on three heaps and a wheel, in four orders",
    run: burst,
};

/// The orders of deadlines. The first one is the article's: many timers with the same delay.
const ORDERS: [Order; 4] = [Order::Equal, Order::Ascending, Order::Random, Order::Descending];

fn burst(setup: &Setup, e: &mut Evidence) {
    let most = LARGEST.min(2 * setup.scale.largest());
    let sizes: Vec<u64> = setup.ordered_sizes().into_iter().filter(|n| *n <= most).collect();
    let mut sweep = Sweep::new("Starting, stopping, firing", "steps of each, the mean of n");
    for name in STRUCTURES {
        for order in ORDERS {
            let curves = setup.curves(&sizes, |n, seed| {
                mean_over_copies(ENOUGH, n, seed, |seed| mean_costs(setup, name, order, n, seed))
            });
            sweep.add_run(&format!("{name}, {}", order.name()), ["start", "stop", "fire"], curves);
        }
    }
    start_stop_and_fire(e, &sweep);
    heap_against_wheel(e);
    e.sweep(sweep);
}

/// Decides the statements of C32, and of C43 by steps.
fn start_stop_and_fire(e: &mut Evidence, apart: &Sweep) {
    for (id, operation, quote) in [
        ("C32.1", "start", "Creating a timer in a heap is O(log n), in any order."),
        ("C32.3", "stop", "Deleting a timer from a heap is O(log n), in any order."),
    ] {
        e.at_most(id, quote, apart.of(&HEAPS, &[operation]), Logarithmic);
    }
    for (id, operation, quote) in [
        ("C32.6", "start", "Creating is O(1) in a wheel of lists, in any order."),
        ("C32.7", "stop", "Deleting is O(1) in a wheel of lists, in any order."),
    ] {
        e.at_most(id, quote, apart.all(&["list-wheel", operation]), Constant);
    }
    let quote = "Creating costs more in a heap, the more timers there are, if all are due at once.";
    e.grows("C32.2", quote, apart.of(&HEAPS, &["all equal", "start"]));
    let quote = "Firing is logarithmic in a heap, deadlines at random.";
    e.class("C32.10", quote, apart.of(&HEAPS, &["random", "fire"]), Logarithmic);
    let quote = "In a wheel of lists firing is O(1), deadlines at random.";
    e.at_most("C43.2", quote, apart.of(&["list-wheel"], &["random", "fire"]), Constant);
    let quote = "A heap that defers deletion, as Go's does, deletes in O(1), clean-up included.";
    e.at_most("C32.14", quote, apart.of(&["lazy-heap"], &["stop"]), Constant);
}

/// Decides the order of the two, by instructions.
fn heap_against_wheel(e: &mut Evidence) {
    let on = |measure| instruction_record::compared("binary-heap", "list-wheel", measure);
    let pairs: Vec<_> = ["mix", "steady", "hold"].into_iter().flat_map(on).collect();
    let ratios = || pairs.iter().map(|(heap, wheel)| heap / wheel);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let quote = "A wheel of lists is ahead of a heap in every mix and trace on record.";
    let number = format!("{least:.2} to {most:.2} times the instructions");
    e.decide_by(EvidenceKind::Instructions);
    e.decide("C43.5", quote, Criterion::Exceeds(pairs, Ahead), number);
}

fn mean_costs(setup: &Setup, name: &str, order: Order, n: u64, seed: u64) -> [f64; 3] {
    let [start, stop] = start_and_stop(setup.build(name), order, n, seed);
    let mut counted = setup.build(name);
    counted.fill(order.delays(n, seed));
    let before = counted.steps();
    fire(&mut counted, order, n);
    [start, stop, counted.steps().since(&before).total() as f64 / n as f64]
}

/// Fires all timers. Each call advances by an equal step, in which about [`DUE`] timers are due.
fn fire(counted: &mut CountedTimer, order: Order, n: u64) {
    let (every, last) = match order {
        Order::Ascending | Order::Descending => (DUE, n),
        Order::Random => (LONGEST * DUE / n, LONGEST),
        Order::Equal => (LONGEST, LONGEST),
    };
    (1..=last.div_ceil(every)).for_each(|call| _ = counted.advance(call * every, |_| ()));
}
