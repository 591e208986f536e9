//! C28: what an insertion or a move costs a heap, by the deadline. C32, C43, C46: a heap or a
//! wheel? Starting, stopping and firing separately. Steps decide growth, instructions decide order.

use crate::StatedGrowth::{AtMost, Grows, Is};
use crate::count::{LONGEST, Order, random};
use crate::growth::Growth::{Constant, Linear, Logarithmic};
use crate::instructions::Pair;
use crate::life::moved;
use crate::{Criterion, Evidence, EvidenceKind, Experiment, Setup, Sweep, instructions};
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

const HEAPS: [&str; 2] = ["binary-heap", "heap-4"];

pub(super) const LATER: Experiment = Experiment {
    name: "heap-later-insert",
    about: "binary-heap and heap-4 of n random timers: an insertion later than all, at random, \
        earlier than all; finding the first; a cancel without an index; on both and on list-wheel, \
        a move of a random timer before or after all others",
    run: later,
};

/// Turns a random deadline into the deadline of a new timer.
type NewDeadline = fn(u64) -> Tick;

/// Insertions averaged in a sample.
const INSERTIONS: u64 = 256;

fn later(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::new("A heap takes a timer", "comparisons and moves of one insertion");
    let places: [(&str, NewDeadline); 3] =
        [("later than all", |_| 1 << 40), ("at random", |at| at), ("earlier than all", |_| 0)];
    let mut most_moves = 0;
    for name in HEAPS {
        for (place, deadline) in places {
            let curve = setup.curve(&setup.scale.sizes(), |n, seed| {
                let (mut counted, mut random) = (setup.build(name), random(seed));
                counted.fill(Order::Random.delays(n, seed));
                let mut costs = 0;
                for _ in 0..INSERTIONS {
                    let at = deadline(1 + random.random_range(0..LONGEST));
                    // Each insertion is undone, so that n stays the same.
                    let (work, id) = counted.work(|timer| timer.insert(at, 0));
                    costs += work.total();
                    if place == "later than all" {
                        most_moves = most_moves.max(work.of(Work::ElementMove));
                    }
                    counted.cancel(id);
                }
                costs as f64 / INSERTIONS as f64
            });
            sweep.add(format!("{name}, {place}"), curve);
        }
        let first = setup.curve(&setup.scale.sizes(), |n, seed| {
            let mut counted = setup.build(name);
            counted.fill(Order::Random.delays(n, seed));
            counted.work(|timer| timer.next_wakeup()).0.total() as f64
        });
        sweep.add(format!("{name}, finding the first"), first);
    }
    for name in HEAPS.into_iter().chain(["list-wheel"]) {
        for (place, to) in [("moved before all", 0), ("moved after all", 1 << 40)] {
            let curve = setup.curve(&setup.scale.sizes(), |n, seed| {
                moved(setup.build(name), &Order::Random.delays(n, seed), seed, |_| to)
            });
            sweep.add(format!("{name}, {place}"), curve);
        }
    }
    decide_heap(setup, e, &sweep, most_moves);
    e.sweeps.push(sweep);
}

/// Decides the statements of C28. `most_moves` is the most entries that a later deadline moved.
fn decide_heap(setup: &Setup, e: &mut Evidence, sweep: &Sweep, most_moves: u64) {
    let searched = setup.curve(&setup.scale.linear_sizes(), search);
    let sentence = "A heap finds its first timer in O(1).";
    e.growth("C28.1", sentence, sweep.all(&["first"]), AtMost(Constant));
    let (inversions, pairs) = out_of_order(setup);
    let number = format!("{inversions} of {pairs} neighbours in the wrong order");
    e.holds("C28.2", "A heap is ordered.", inversions == 0, number);
    let sentence = "A cancel needs an index in each task: without one it is a search, O(n).";
    e.growth("C28.3", sentence, [&searched], Is(Linear));
    let number = format!("{most_moves} entry placed, its own");
    let sentence = "A new task with a later deadline changes many indices.";
    e.holds("C28.4", sentence, most_moves > 1, number);
    let sentence = "A task with a later deadline costs more, the more tasks there are.";
    e.growth("C28.5", sentence, sweep.all(&["later than all"]), Grows);
    let sentence = "An early deadline costs a heap O(log n) at most.";
    e.growth("C28.6", sentence, sweep.all(&["earlier than all"]), AtMost(Logarithmic));
    let sentence = "Moving a task before all others costs a heap more, the more tasks there are.";
    e.growth("C28.7", sentence, sweep.of(&HEAPS, &["moved before"]), Grows);
    let sentence = "Moving it after all others is O(1). In a wheel of lists both moves are O(1).";
    let heaps = sweep.of(&HEAPS, &["moved after"]);
    let all = heaps.chain(sweep.of(&["list-wheel"], &["moved"]));
    e.growth("C28.8", sentence, all, AtMost(Constant));
}

/// The mean number of entries read to find one in the array, as `remove(Object)` of a queue without
/// an index does.
fn search(n: u64, seed: u64) -> f64 {
    let mut random = random(seed);
    let timers = Order::Random.delays(n, seed).into_iter().zip(0..);
    let queue: BinaryHeap<(Tick, u64)> = timers.collect();
    let read = |part: u64| {
        let wanted = queue.as_slice()[((part * n + random.random_range(0..n)) / 256) as usize];
        queue.iter().take_while(|entry| **entry != wanted).count() as u64 + 1
    };
    (0..256).map(read).sum::<u64>() as f64 / 256.0
}

/// The number of neighbours in a heap's array whose deadlines fall, and the number of all
/// neighbours.
fn out_of_order(setup: &Setup) -> (usize, usize) {
    let delays = Order::Random.delays(1 << 10, setup.scale.seeds().next().unwrap_or(1));
    let array = delays.into_iter().map(Reverse).collect::<BinaryHeap<_>>().into_vec();
    (array.windows(2).filter(|pair| pair[0].0 > pair[1].0).count(), array.len() - 1)
}

const STRUCTURES: [&str; 4] = ["binary-heap", "heap-4", "lazy-heap", "list-wheel"];
/// A few timers, for which heaps are recommended.
const FEW: u64 = 16;

pub(super) const BURST: Experiment = Experiment {
    name: "heap-vs-wheel",
    about: "steps to start, stop and fire n timers on three heaps and a wheel, in four orders; \
        instructions of workloads and traces on both, and with 16 timers",
    run: burst,
};

fn burst(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.ordered_sizes();
    let mut sweep = Sweep::new("Starting, stopping, firing", "steps of each, the mean of n");
    for name in STRUCTURES {
        for order in Order::ALL {
            let curves = setup.life(name, order, &sizes);
            sweep.add_run(&format!("{name}, {}", order.name()), ["start", "stop", "fire"], curves);
        }
    }
    by_steps(e, &sweep);
    by_instructions(e);
    e.sweeps.push(sweep);
}

fn by_steps(e: &mut Evidence, sweep: &Sweep) {
    let heap = (&HEAPS[..], AtMost(Logarithmic));
    let wheel = (&["list-wheel"][..], AtMost(Constant));
    for (id, operation, (structures, stated), sentence) in [
        ("C32.1", "start", heap, "Creating a timer in a heap is O(log n), in any order."),
        ("C32.3", "stop", heap, "Deleting a timer from a heap is O(log n), in any order."),
        ("C32.6", "start", wheel, "Creating is O(1) in a wheel of lists, in any order."),
        ("C32.7", "stop", wheel, "Deleting is O(1) in a wheel of lists, in any order."),
    ] {
        e.growth(id, sentence, sweep.of(structures, &[operation]), stated);
    }
    let sentence =
        "If all timers have one deadline, creating one in a heap costs more, the more there are.";
    e.growth("C32.2", sentence, sweep.of(&HEAPS, &["all equal", "start"]), Grows);
    let sentence = "With random deadlines, firing is logarithmic in a heap.";
    e.growth("C32.10", sentence, sweep.of(&HEAPS, &["random", "fire"]), Is(Logarithmic));
    let sentence = "Starting a task is O(log n).";
    e.growth("C46.2", sentence, sweep.of(&HEAPS, &["start"]), AtMost(Logarithmic));
    let sentence = "With random deadlines, taking the first task is logarithmic.";
    e.growth("C46.6", sentence, sweep.of(&HEAPS, &["random", "fire"]), Is(Logarithmic));
    let sentence = "With random deadlines, firing is O(1) in a wheel of lists.";
    e.growth("C43.2", sentence, sweep.of(&["list-wheel"], &["random", "fire"]), AtMost(Constant));
    let sentence = "A heap that defers deletion, as Go's does, deletes in O(1), with the clean-up.";
    e.growth("C32.14", sentence, sweep.of(&["lazy-heap"], &["stop"]), AtMost(Constant));
}

/// Decides which of the two is better, by instructions.
fn by_instructions(e: &mut Evidence) {
    let on = |measure| instructions::compared("binary-heap", "list-wheel", measure);
    let pairs: Vec<_> = ["mix", "steady", "hold"].into_iter().flat_map(on).collect();
    let ratios = || pairs.iter().map(|(heap, wheel)| heap / wheel);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let sentence = "A wheel of lists takes fewer instructions than a heap in all mixes and traces.";
    let number = format!("the heap takes {least:.2} to {most:.2} times as many");
    e.decide_by(EvidenceKind::Instructions);
    e.decide("C43.5", sentence, Criterion::Exceeds(pairs), number);
    for (id, pair, what) in [
        ("C46.7", Pair::Hold, "take the first, add one"),
        ("C46.8", Pair::StopStart, "stop one, start one"),
    ] {
        let of = |name| instructions::of_pair(name, pair, FEW);
        let sentence =
            format!("With {FEW} tasks a heap takes fewer instructions than a wheel: {what}.");
        e.exceeds(id, sentence, (of("list-wheel"), of("binary-heap")));
    }
}
