//! C28, C46, C58: what a heap costs by operation, what it keeps, and what its array costs.

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

pub(super) const GROWTH: Experiment = Experiment {
    name: "heap-growth",
    about: "a binary heap in an array, in one that shrinks, and in pieces: entries copied by the \
        worst insertion and on average, room held after all timers are gone",
    run: growth,
};

/// Where a heap has its entries: one array, or pieces of one size found through a table.
#[derive(Debug)]
struct Room {
    pieces: Vec<Vec<Tick>>,
    /// Entries of a piece.
    size: usize,
    shrinks: bool,
    len: usize,
    /// Entries, or places of the table, that were copied because one of them grew or shrank.
    copied: u64,
}

const PIECE: usize = 1_024;

impl Room {
    fn array(shrinks: bool) -> Self {
        Self { pieces: vec![Vec::new()], size: usize::MAX, shrinks, len: 0, copied: 0 }
    }

    fn in_pieces() -> Self {
        Self { pieces: Vec::new(), size: PIECE, shrinks: true, len: 0, copied: 0 }
    }

    fn at(&self, place: usize) -> Tick {
        self.pieces[place / self.size][place % self.size]
    }

    fn put(&mut self, place: usize, deadline: Tick) {
        self.pieces[place / self.size][place % self.size] = deadline;
    }

    fn push(&mut self, deadline: Tick) {
        if self.size == PIECE && self.len == self.pieces.len() * PIECE {
            if self.pieces.len() == self.pieces.capacity() {
                self.copied += self.pieces.len() as u64;
            }
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        let piece = &mut self.pieces[self.len / self.size];
        if piece.len() == piece.capacity() {
            self.copied += piece.len() as u64;
        }
        piece.push(deadline);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<Tick> {
        self.len = self.len.checked_sub(1)?;
        let at = self.len / self.size;
        let popped = self.pieces[at].pop();
        if self.size == PIECE {
            // One that is empty is kept, so that popping and pushing at a seam takes and gives back
            // nothing.
            self.pieces.truncate(self.len.div_ceil(PIECE) + 1);
        } else if self.shrinks && self.len < self.pieces[at].capacity() / 4 {
            self.copied += self.len as u64;
            let half = self.pieces[at].capacity() / 2;
            self.pieces[at].shrink_to(half);
        }
        popped
    }

    fn room(&self) -> usize {
        self.pieces.iter().map(Vec::capacity).sum()
    }
}

/// A binary heap over some room: that it is the same heap is held by a test on its steps.
#[derive(Debug)]
struct Heap {
    room: Room,
    steps: u64,
}

impl Heap {
    fn insert(&mut self, deadline: Tick) {
        let mut place = self.room.len;
        self.room.push(deadline);
        while place > 0 {
            let parent = (place - 1) / 2;
            self.steps += 1;
            if self.room.at(parent) <= deadline {
                break;
            }
            self.put(place, self.room.at(parent));
            place = parent;
        }
        self.put(place, deadline);
    }

    fn pop(&mut self) -> Option<Tick> {
        let last = self.room.pop()?;
        if self.room.len == 0 {
            return Some(last);
        }
        let (first, mut place) = (self.room.at(0), 0);
        loop {
            let children = (2 * place + 1..2 * place + 3).filter(|child| *child < self.room.len);
            let Some(child) = children.min_by_key(|child| self.room.at(*child)) else { break };
            if self.room.at(child) >= last {
                break;
            }
            self.put(place, self.room.at(child));
            place = child;
        }
        self.put(place, last);
        Some(first)
    }

    fn put(&mut self, place: usize, deadline: Tick) {
        self.steps += 1;
        self.room.put(place, deadline);
    }
}

/// Entries copied by the worst insertion and on average, by a removal on average; room when full
/// and when all are gone; steps; whether all came out in order.
struct Life {
    costs: [f64; 5],
    steps: u64,
    is_sorted: bool,
}

fn live(room: Room, n: u64) -> Life {
    let (mut heap, mut before) = (Heap { room, steps: 0 }, 0);
    let mut copied =
        |heap: &Heap| heap.room.copied - std::mem::replace(&mut before, heap.room.copied);
    let mut insertions = Tally::default();
    for deadline in Order::Random.delays(n, 1) {
        heap.insert(deadline);
        insertions.add(copied(&heap));
    }
    let (steps, full) = (heap.steps, heap.room.room() as f64);
    let (mut pops, mut out) = (Tally::default(), Vec::new());
    while let Some(deadline) = heap.pop() {
        pops.add(copied(&heap));
        out.push(deadline);
    }
    let gone = heap.room.room() as f64;
    let costs = [insertions.max() as f64, insertions.mean(), pops.mean(), full, gone];
    Life { costs, steps, is_sorted: out.is_sorted() && out.len() as u64 == n }
}

type Build = fn() -> Room;

fn growth(lab: &Lab, e: &mut Evidence) {
    let mut sweep =
        Sweep::new("What growing costs a heap", "entries copied by one of n insertions");
    let rooms: [(&str, Build); 3] = [
        ("array", || Room::array(false)),
        ("array that shrinks", || Room::array(true)),
        ("pieces", Room::in_pieces),
    ];
    let (mut lives, mut is_sorted) = (Vec::new(), true);
    for (name, room) in rooms {
        // What is copied does not depend on the deadlines, so that one run at each size stands for
        // all seeds.
        let runs: Vec<Life> = lab.scale.sizes().into_iter().map(|n| live(room(), n)).collect();
        is_sorted &= runs.iter().all(|life| life.is_sorted);
        let sizes = lab.scale.sizes();
        let at = |n: u64| sizes.iter().position(|size| *size == n).unwrap_or(0);
        let [worst, mean, pop] = lab.curves(&sizes, |n, _| {
            let [worst, mean, pop, ..] = runs[at(n)].costs;
            [worst, mean, pop]
        });
        sweep.run(name, ["worst insertion", "mean insertion", "mean removal"], [worst, mean, pop]);
        lives.push(runs);
    }
    let [array, shrinking, pieces] = lives.as_slice() else { return };
    let last = |runs: &[Life]| runs.last().map_or([f64::NAN; 5], |life| life.costs);
    let same = array.iter().zip(pieces).all(|(one, other)| one.steps == other.steps);
    let number = "in pieces the same order and the same steps";
    let quote = "A heap has to be contiguous in memory.";
    e.holds("C58.1", quote, !(same && is_sorted), number);
    let quote = "Growing in one array, the worst insertion copies all timers, O(n).";
    e.class("C58.2", quote, [&sweep["array, worst insertion"]], Linear);
    let quote = "On average an insertion then copies more, the more timers there are.";
    e.grows("C58.3", quote, [&sweep["array, mean insertion"]]);
    let [.., full, gone] = last(array);
    let number = format!("room for {gone:.0} of {full:.0} kept");
    e.holds("C58.4", "An array keeps its room when all timers are gone.", gone >= full, number);
    let left = last(shrinking)[4];
    let quote = "The room cannot be given back at constant cost.";
    let number = format!("room for {left:.0} left in one that shrinks");
    e.holds("C58.5", quote, left > PIECE as f64, number);
    let quote = "To shrink costs more a removal, the more timers there are.";
    e.grows("C58.6", quote, [&sweep["array that shrinks, mean removal"]]);
    e.sweep(&sweep);
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
    fn the_heap_over_any_room_takes_the_steps_of_binary_heap() {
        let delays = Order::Random.delays(3_000, 7);
        let mut probe = Lab::new(&Scale::REDUCED).make("binary-heap");
        probe.fill(delays.iter().copied());
        for room in [Room::array(false), Room::array(true), Room::in_pieces()] {
            let mut heap = Heap { room, steps: 0 };
            delays.iter().for_each(|deadline| heap.insert(*deadline));
            assert_eq!(heap.steps, probe.steps().total());
        }
    }

    #[test]
    fn an_array_doubles_and_keeps_its_room_and_pieces_give_it_back() {
        let Life { costs: [worst, mean, pop, full, gone], is_sorted, .. } =
            live(Room::array(false), 1 << 12);
        assert!(is_sorted && mean < 1.0);
        assert_eq!((worst, pop, full, gone), (2_048.0, 0.0, 4_096.0, 4_096.0));
        assert_eq!(live(Room::in_pieces(), 1 << 12).costs[3..], [4_096.0, 1_024.0]);
        assert!(live(Room::array(true), 1 << 12).costs[4] < 16.0);
    }

    #[test]
    fn a_queue_that_marks_keeps_all_until_their_time() {
        let mut queue = Marking::default();
        let tasks = [5, 3, 9].map(|deadline| queue.start(deadline));
        queue.is_cancelled[tasks[1]] = true;
        assert_eq!((queue.advance(5), queue.advance(9), queue.queue.len()), ((1, 1), (1, 0), 0));
    }
}
