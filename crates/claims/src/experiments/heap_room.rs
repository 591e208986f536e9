//! C58: what growing costs a heap in one array, in one that shrinks, and in pieces.

use crate::count::{Order, Tally};
use crate::growth::Growth::Linear;
use crate::{Evidence, Experiment, Lab, Sweep};
use wheelhouse_core::Tick;

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
    let (mut lives, mut left, mut is_sorted) = (Vec::new(), Vec::new(), true);
    for (name, room) in rooms {
        // What is copied does not depend on the deadlines, so that one run at each size stands for
        // all seeds.
        let runs: Vec<Life> = lab.scale.sizes().into_iter().map(|n| live(room(), n)).collect();
        is_sorted &= runs.iter().all(|life| life.is_sorted);
        let sizes = lab.scale.sizes();
        let at = |n: u64| sizes.iter().position(|size| *size == n).unwrap_or(0);
        let [worst, mean, pop, _, gone] = lab.curves(&sizes, |n, _| runs[at(n)].costs);
        sweep.run(name, ["worst insertion", "mean insertion", "mean removal"], [worst, mean, pop]);
        lives.push(runs);
        left.push(gone);
    }
    let ([array, _, pieces], [_, in_shrinking, _]) = (&lives[..], &left[..]) else { return };
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
    let quote = "It keeps more of it, the more there were, if it shrinks with them.";
    e.grows("C58.5", quote, [in_shrinking]);
    let quote = "To shrink costs more a removal, the more timers there are.";
    e.grows("C58.6", quote, [&sweep["array that shrinks, mean removal"]]);
    e.sweep(&sweep);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

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
}
