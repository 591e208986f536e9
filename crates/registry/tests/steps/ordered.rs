//! Models that keep timers in order, or in none: a map, an array, lists, an unordered array, heaps.

use super::Model;
use super::count::{Key, pop_due, step, steps};
use std::collections::BTreeSet;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Work::{ElementMove, EntryScan, Link};

/// A library's ordered map. Its keys count all comparisons.
#[derive(Default)]
pub(crate) struct Map(BTreeSet<Key>);

impl Model for Map {
    fn insert(&mut self, key: Key) {
        self.0.insert(key);
    }

    fn remove(&mut self, key: Key) {
        self.0.remove(&key);
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        pop_due(&mut self.0, now)
    }
}

/// A sorted array, with the latest timer first.
#[derive(Default)]
pub(crate) struct Slice(Vec<Key>);

impl Model for Slice {
    fn insert(&mut self, key: Key) {
        let at = self.0.partition_point(|other| *other > key);
        self.0.insert(at, key);
        steps(ElementMove, (self.0.len() - at) as u64);
    }

    fn remove(&mut self, key: Key) {
        let at = self.0.partition_point(|other| *other > key);
        self.0.remove(at);
        steps(ElementMove, (self.0.len() - at) as u64);
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        self.0.last().filter(|first| first.0 <= now)?;
        self.0.pop().map(|first| first.1)
    }
}

/// A sorted list, searched from the head or from the rear.
pub(crate) struct List {
    timers: Vec<Key>,
    from_rear: bool,
}

impl List {
    pub(crate) fn searched(from_rear: bool) -> Self {
        Self { timers: Vec::new(), from_rear }
    }
}

impl Model for List {
    fn insert(&mut self, key: Key) {
        let timers = self.timers.iter();
        let passed = match self.from_rear {
            true => timers.rev().take_while(|other| **other > key).count(),
            false => timers.take_while(|other| **other < key).count(),
        };
        let at = if self.from_rear { self.timers.len() - passed } else { passed };
        self.timers.insert(at, key);
        steps(Link, passed as u64 + 4);
    }

    fn remove(&mut self, key: Key) {
        self.timers.retain(|other| other.pair() != key.pair());
        steps(Link, 2);
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        self.timers.first().filter(|first| first.0 <= now)?;
        steps(Link, 2);
        Some(self.timers.remove(0).1)
    }
}

/// Timers in any order. All are looked at when one may be due.
pub(crate) struct Unordered {
    places: Vec<Option<(Tick, u64)>>,
    free: Vec<usize>,
    /// `true` if the last timer moves to the place of one that is removed, as in a hash map over an
    /// array.
    is_dense: bool,
    due: BTreeSet<Key>,
    earliest: Tick,
    now: Tick,
}

impl Unordered {
    pub(crate) fn new(is_dense: bool) -> Self {
        let (places, free, due) = Default::default();
        Self { places, free, is_dense, due, earliest: Tick::MAX, now: 0 }
    }

    fn take(&mut self, number: u64) -> Key {
        let has_number = |it: &Option<(Tick, u64)>| it.is_some_and(|it| it.1 == number);
        let at = self.places.iter().position(has_number).expect("it is there");
        let (deadline, _) = if self.is_dense {
            self.places.swap_remove(at)
        } else {
            self.free.push(at);
            self.places[at].take()
        }
        .expect("it is there");
        step(ElementMove);
        Key(deadline, number)
    }

    fn add_to_due_or_earliest(&mut self, key: Key) {
        step(ElementMove);
        if key.0 > self.now {
            self.earliest = self.earliest.min(key.0);
        } else {
            self.due.insert(key);
        }
    }
}

impl Model for Unordered {
    fn insert(&mut self, key: Key) {
        let at = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[at] = Some(key.pair());
        self.add_to_due_or_earliest(key);
    }

    fn remove(&mut self, key: Key) {
        let key = self.take(key.1);
        if key.0 <= self.now {
            self.due.remove(&key);
        }
    }

    /// The timer keeps its place.
    fn reschedule(&mut self, from: Key, to: Key) {
        step(ElementMove);
        if from.0 <= self.now {
            self.due.remove(&from);
        }
        let has_number = |it: &&mut Option<(Tick, u64)>| it.is_some_and(|it| it.1 == from.1);
        *self.places.iter_mut().find(has_number).expect("it is there") = Some(to.pair());
        self.add_to_due_or_earliest(to);
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        let before = self.now;
        self.now = now.max(before);
        if self.now > before && self.now >= self.earliest {
            self.earliest = Tick::MAX;
            for place in &self.places {
                step(EntryScan);
                let Some((deadline, number)) = *place else { continue };
                if deadline > self.now {
                    self.earliest = self.earliest.min(deadline);
                } else if deadline > before {
                    self.due.insert(Key(deadline, number));
                }
            }
        }
        let first = self.due.pop_first()?;
        self.take(first.1);
        Some(first.1)
    }
}

/// The heap of the textbooks. On each level it compares each child but one, and moves a timer. The
/// timer that replaces a removed one first sinks to a leaf, and then rises from there.
#[derive(Default)]
pub(crate) struct Heap<const ARITY: usize>(Vec<Key>);

impl<const ARITY: usize> Heap<ARITY> {
    fn at(&self, key: Key) -> usize {
        self.0.iter().position(|it| it.pair() == key.pair()).expect("it is in the heap")
    }

    /// Counts one move for each swap, and one for the place where it ends.
    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.0[(at - 1) / ARITY] > self.0[at] {
            step(ElementMove);
            self.0.swap(at, (at - 1) / ARITY);
            at = (at - 1) / ARITY;
        }
        step(ElementMove);
    }

    fn first_child(&self, at: usize) -> Option<usize> {
        let children = at * ARITY + 1..self.0.len().min(at * ARITY + ARITY + 1);
        children.reduce(|first, other| if self.0[other] < self.0[first] { other } else { first })
    }

    fn take(&mut self, at: usize) -> Key {
        let key = self.0.swap_remove(at);
        if at < self.0.len() {
            let mut hole = at;
            while let Some(child) = self.first_child(hole) {
                step(ElementMove);
                self.0.swap(hole, child);
                hole = child;
            }
            self.rise(hole);
        }
        key
    }
}

impl<const ARITY: usize> Model for Heap<ARITY> {
    fn insert(&mut self, key: Key) {
        self.0.push(key);
        self.rise(self.0.len() - 1);
    }

    fn remove(&mut self, key: Key) {
        self.take(self.at(key));
    }

    fn reschedule(&mut self, from: Key, to: Key) {
        let mut at = self.at(from);
        let is_before = to < self.0[at];
        self.0[at] = to;
        if is_before {
            return self.rise(at);
        }
        while let Some(child) = self.first_child(at).filter(|child| self.0[*child] < to) {
            step(ElementMove);
            self.0.swap(at, child);
            at = child;
        }
        step(ElementMove);
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        self.0.first().filter(|first| first.0 <= now)?;
        Some(self.take(0).1)
    }
}
