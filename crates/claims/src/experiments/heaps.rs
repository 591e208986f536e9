//! C28: what an insertion or a move costs a heap, by the deadline.

use crate::StatedGrowth::{AtMost, Grows, Is};
use crate::count::{LONGEST, Order, random};
use crate::growth::Growth::{Constant, Linear, Logarithmic};
use crate::life::moved;
use crate::{Evidence, Experiment, Setup, Sweep};
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
