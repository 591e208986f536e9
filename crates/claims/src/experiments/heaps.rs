//! C28, C46: what a heap costs by operation, and what it keeps.

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

/// The deadline of a new timer, from one at random.
type Place = fn(u64) -> Tick;

/// Insertions of which a sample is the mean.
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
                    // Undone after each, so that n stays.
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

/// The entries read to find one in the array, which is what `remove(Object)` of a queue without an
/// index does.
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

/// Neighbours of a heap's array whose deadlines fall.
fn out_of_order(lab: &Lab) -> (usize, usize) {
    let timers = Order::Random.delays(1 << 10, lab.scale.seed()).into_iter().map(Reverse);
    let array = timers.collect::<BinaryHeap<_>>().into_vec();
    (array.windows(2).filter(|pair| pair[0].0 > pair[1].0).count(), array.len() - 1)
}

pub(super) const RETENTION: Experiment = Experiment {
    name: "lazy-retention",
    about: "hold model on the heaps: insert, cancel, pop against n; 16 timers; 100,000 far timers \
        cancelled: what is met when their time comes",
    run: retention,
};

/// So many are cancelled in the report on Java's pool.
const CANCELLED: u64 = 100_000;
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
    sweep.add("without an index, cancel by search", lab.curve(&lab.scale.linear_sizes(), search));
    let searched = [&sweep["without an index, cancel by search"]];
    e.at_most("C46.2", "Starting a task is O(log n).", sweep.all(&["insert"]), Logarithmic);
    e.grows("C46.3", "The more tasks, the more a start costs, on average.", sweep.all(&["insert"]));
    let quote = "Cancelling is O(log n), where a task knows its place.";
    e.at_most("C46.4", quote, sweep.all(&["heap", ", cancel"]), Logarithmic);
    let quote = "Cancelling is O(log n), where it does not, as in Timer and DelayQueue.";
    e.at_most("C46.5", quote, searched, Logarithmic);
    let quote = "Taking the first is logarithmic, and no less.";
    e.class("C46.6", quote, sweep.all(&["take the first"]), Logarithmic);
    e.sweep(&sweep);
    few(lab, e);
    kept(lab, e);
}

fn few(lab: &Lab, e: &mut Evidence) {
    let hold = |name| recorded::pair(name, "hold", FEW);
    e.by(By::Instructions).exceeds(
        "C46.7",
        format!("With few tasks, {FEW}, a heap is better than a wheel of lists."),
        (hold("list-wheel"), hold("binary-heap")),
        Threshold::Ahead,
    );
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

/// A queue of Java's pool by its documentation: a cancelled task is marked, and stays until it
/// comes up or somebody asks for a purge.
#[derive(Default)]
struct Marking {
    queue: BinaryHeap<Reverse<(Tick, usize)>>,
    is_cancelled: Vec<bool>,
}

impl Marking {
    fn start(&mut self, deadline: Tick) -> usize {
        self.is_cancelled.push(false);
        let task = self.is_cancelled.len() - 1;
        self.queue.push(Reverse((deadline, task)));
        task
    }

    /// Takes out all that are due: how many ran, and how many were taken out in vain.
    fn advance(&mut self, now: Tick) -> (usize, usize) {
        let (mut ran, mut vain) = (0, 0);
        while self.queue.peek().is_some_and(|Reverse((deadline, _))| *deadline <= now) {
            let task = self.queue.pop().map_or(0, |Reverse((_, task))| task);
            if self.is_cancelled[task] { vain += 1 } else { ran += 1 }
        }
        (ran, vain)
    }
}

/// Far deadlines, all before that of the timer that stays.
fn far(seed: u64) -> impl Iterator<Item = Tick> {
    Order::Random.delays(CANCELLED, seed).into_iter().map(|delay| LONGEST + delay)
}

fn kept(lab: &Lab, e: &mut Evidence) {
    let mut queue = Marking::default();
    queue.start(4 * LONGEST);
    let tasks: Vec<_> = far(lab.scale.seed()).map(|deadline| queue.start(deadline)).collect();
    tasks.into_iter().for_each(|task| queue.is_cancelled[task] = true);
    let held = queue.queue.len() - 1;
    let (_, vain) = queue.advance(4 * LONGEST);
    e.by(By::Arithmetic).holds(
        "C46.8",
        "A pool that only marks what is cancelled keeps it until its time.",
        (held, vain) == (CANCELLED as usize, CANCELLED as usize),
        format!("{held} of {CANCELLED} held"),
    );
    let met = |name: &str| {
        let mut probe = lab.make(name);
        probe.timer.insert(4 * LONGEST, 0);
        let ids = probe.fill(far(lab.scale.seed()));
        let (cancel, ()) = probe.work(|timer| ids.into_iter().for_each(|id| _ = timer.cancel(id)));
        let (met, _) = probe.work(|timer| timer.advance(4 * LONGEST, |_| ()));
        let each = cancel.total() as f64 / CANCELLED as f64;
        [name.to_owned(), format!("{each:.2}"), met.total().to_string()]
    };
    let names = ["binary-heap", "heap-4", "lazy-heap", "list-wheel", "round-wheel", "kafka-wheel"];
    let columns = ["structure", "steps of a cancel", "steps when their time comes"];
    e.by(By::Counts).table(format!("{CANCELLED} far timers cancelled"), columns, names.map(met));
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

    /// A deadline that counts how often it is compared with another.
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

    /// A heap of the textbook over keys that count: the comparisons to insert them, and to take all
    /// out.
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

    /// What the meter is told is what keys that count themselves see; a heap that keeps comparisons
    /// to itself is caught.
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

    #[test]
    fn a_queue_that_marks_keeps_all_until_their_time() {
        let mut queue = Marking::default();
        let tasks = [5, 3, 9].map(|deadline| queue.start(deadline));
        queue.is_cancelled[tasks[1]] = true;
        assert_eq!((queue.advance(5), queue.advance(9), queue.queue.len()), ((1, 1), (1, 0), 0));
    }
}
