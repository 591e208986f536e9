//! C28, C46: the cost of each operation of a heap.

use super::drive::{Log, by_wakeups};
use crate::count::{LONGEST, Order, Tally, random};
use crate::growth::Growth::{Constant, Linear, Logarithmic};
use crate::thresholds::Threshold;
use crate::{By, Evidence, Experiment, Lab, Sweep, recorded};
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

const HEAPS: [&str; 2] = ["binary-heap", "heap-4"];

pub(super) const LATER: Experiment = Experiment {
    name: "heap-later-insert",
    about: "binary-heap and heap-4 of n random timers: an insertion later than all, at random, \
        earlier than all; finding the first; a cancel without an index",
    run: later,
};

/// Turns a random deadline into the deadline of a new timer.
type Place = fn(u64) -> Tick;

/// Insertions averaged in a sample.
const INSERTIONS: u64 = 256;

fn later(lab: &Lab, e: &mut Evidence) {
    let mut sweep = Sweep::new("A heap takes a timer", "comparisons and moves of one insertion");
    let places: [(&str, Place); 3] =
        [("later than all", |_| 1 << 40), ("at random", |at| at), ("earlier than all", |_| 0)];
    let mut most_moves = 0;
    for name in HEAPS {
        for (place, deadline) in places {
            let curve = lab.curve(&lab.scale.sizes(), |n, seed| {
                let (mut probe, mut random) = (lab.make(name), random(seed));
                probe.fill(Order::Random.delays(n, seed));
                let mut tally = Tally::default();
                for _ in 0..INSERTIONS {
                    let at = deadline(1 + random.random_range(0..LONGEST));
                    // Each insertion is undone, so that n stays the same.
                    let (work, id) = probe.work(|timer| timer.insert(at, 0));
                    tally.add(work.total());
                    if place == "later than all" {
                        most_moves = most_moves.max(work.of(Work::ElementMove));
                    }
                    probe.timer.cancel(id);
                }
                tally.mean()
            });
            sweep.add(format!("{name}, {place}"), curve);
        }
        let first = lab.curve(&lab.scale.sizes(), |n, seed| {
            let mut probe = lab.make(name);
            probe.fill(Order::Random.delays(n, seed));
            probe.mean(1, |timer, _| assert!(timer.next_wakeup().is_some(), "n timers are live"))
        });
        sweep.beside(format!("{name}, finding the first"), first);
    }
    let searched = lab.curve(&lab.scale.linear_sizes(), search);
    e.at_most("C28.1", "A heap finds its first timer in O(1).", sweep.all(&["first"]), Constant);
    let (inversions, pairs) = out_of_order(lab);
    let number = format!("{inversions} of {pairs} neighbours the wrong way round");
    e.holds("C28.2", "A heap is ordered.", inversions == 0, number);
    let quote = "A cancel needs an index in each task: without one it is a search, O(n).";
    e.class("C28.3", quote, [&searched], Linear);
    let number = format!("{most_moves} entry placed, its own");
    let quote = "A new task with a later deadline changes many indices.";
    e.holds("C28.4", quote, most_moves > 1, number);
    let quote = "The more tasks there are, the more such a task costs.";
    e.grows("C28.5", quote, sweep.all(&["later than all"]));
    let quote = "An early deadline costs a heap O(log n) at most.";
    e.at_most("C28.6", quote, sweep.all(&["earlier than all"]), Logarithmic);
    sweep.beside("entries read by a cancel without an index", searched);
    e.sweep(&sweep);
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
    (0..256).map(read).collect::<Tally>().mean()
}

/// The number of neighbours in a heap's array whose deadlines fall, and the number of all
/// neighbours.
fn out_of_order(lab: &Lab) -> (usize, usize) {
    let timers = Order::Random.delays(1 << 10, lab.scale.seed()).into_iter().map(Reverse);
    let array = timers.collect::<BinaryHeap<_>>().into_vec();
    (array.windows(2).filter(|pair| pair[0].0 > pair[1].0).count(), array.len() - 1)
}

pub(super) const RETENTION: Experiment = Experiment {
    name: "lazy-retention",
    about: "hold model on the heaps: insert, cancel, pop against n; 16 timers",
    run: retention,
};

const FEW: u64 = 16;

fn retention(lab: &Lab, e: &mut Evidence) {
    let mut sweep = Sweep::new("A heap's operations", "steps, in the hold model");
    for name in HEAPS {
        let [insert, cancel, pop] = lab.curves(&lab.ordered_sizes(), |n, seed| {
            let [insert, cancel, _, pop] = Log::of(|| lab.make(name), n, seed).means();
            [insert, cancel, pop]
        });
        sweep.run(name, ["insert", "cancel", "take the first"], [insert, cancel, pop]);
    }
    e.at_most("C46.2", "Starting a task is O(log n).", sweep.all(&["insert"]), Logarithmic);
    e.grows("C46.3", "The more tasks, the more a start costs, on average.", sweep.all(&["insert"]));
    let quote = "Cancelling is O(log n), where a task knows its place.";
    e.at_most("C46.4", quote, sweep.all(&["heap", ", cancel"]), Logarithmic);
    let quote = "Taking the first is logarithmic, and no less.";
    e.class("C46.6", quote, sweep.all(&["take the first"]), Logarithmic);
    e.sweep(&sweep);
    few(lab, e);
}

fn few(lab: &Lab, e: &mut Evidence) {
    e.by(By::Instructions);
    for (id, pair, what) in [
        ("C46.7", "hold", "take the first, add one"),
        ("C46.8", "stop-start", "stop one, start one"),
    ] {
        let of = |name| recorded::pair(name, pair, FEW);
        let quote = format!("With {FEW} tasks a heap is better than a wheel of lists: {what}.");
        e.exceeds(id, quote, (of("list-wheel"), of("binary-heap")), Threshold::Ahead);
    }
    e.by(By::Counts);
    let steps = |name: &str| {
        let mut steps = 0;
        for seed in lab.seeds() {
            let mut probe = lab.make(name);
            probe.fill(Order::Random.delays(FEW, seed));
            by_wakeups(&mut probe.timer);
            steps += probe.steps().total();
        }
        steps as f64 / (lab.seeds().count() as u64 * FEW) as f64
    };
    let names = ["binary-heap", "heap-4", "list-wheel", "hierarchical-wheel", "round-wheel"];
    let rows = names.map(|name| [name.to_owned(), format!("{:.2}", steps(name))]);
    e.table(format!("{FEW} timers started and fired"), ["structure", "steps a timer"], rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;
    use std::cell::Cell;
    use std::cmp::Ordering;

    thread_local! {
        static COMPARISONS: Cell<u64> = const { Cell::new(0) };
    }

    /// A deadline that counts its comparisons.
    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Counted(Tick);

    impl Ord for Counted {
        fn cmp(&self, other: &Self) -> Ordering {
            COMPARISONS.set(COMPARISONS.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    /// The comparisons that a textbook heap makes to insert these deadlines.
    fn textbook(deadlines: &[Tick]) -> u64 {
        COMPARISONS.set(0);
        let mut heap: Vec<Counted> = Vec::new();
        for deadline in deadlines {
            let mut place = heap.len();
            heap.push(Counted(*deadline));
            while place > 0 && heap[place] < heap[(place - 1) / 2] {
                heap.swap(place, (place - 1) / 2);
                place = (place - 1) / 2;
            }
        }
        COMPARISONS.get()
    }

    /// The meter agrees with keys that count their own comparisons. A heap that does not report its
    /// comparisons is noticed.
    #[test]
    fn keys_that_count_see_what_the_meter_is_told() {
        let delays = Order::Random.delays(5_000, 3);
        let of = "binary-heap";
        let silent = crate::fault::Fault::Silent { of, work: Work::Comparison };
        for (faults, agrees) in [(vec![], true), (vec![silent], false)] {
            let mut probe = Lab { faults, ..Lab::new(&Scale::REDUCED) }.make(of);
            probe.fill(delays.iter().copied());
            let told = probe.steps().of(Work::Comparison);
            assert_eq!(told == textbook(&delays), agrees, "{told}");
        }
    }
}
