//! A sorted array.

use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::ordered::{Key, Queue};

/// Keys and places in one array, the latest first, so that a timer that fires is popped off the
/// end. Inserting or removing a timer moves all timers that are due before it: none if it is due
/// first, all if it is due last.
#[derive(Clone, Debug)]
pub struct Slice {
    timers: Vec<(Key, u32)>,
}

impl Slice {
    /// The index of a key, or the index where it would be inserted.
    fn find(&self, key: Key, meter: &impl Meter) -> usize {
        self.timers.partition_point(|(other, _)| {
            meter.tally(Work::Comparison, 1);
            *other > key
        })
    }
}

impl<M: Meter> Queue<M> for Slice {
    const EMPTY: Self = Self { timers: Vec::new() };

    fn insert(&mut self, key: Key, place: u32, meter: &M) {
        let at = self.find(key, meter);
        self.timers.insert(at, (key, place));
        // The new element and all elements behind it.
        meter.tally(Work::ElementMove, (self.timers.len() - at) as u64);
    }

    fn remove(&mut self, key: Key, _: u32, meter: &M) {
        let at = self.find(key, meter);
        debug_assert!(self.timers.get(at).is_some_and(|(it, _)| *it == key), "it is in the array");
        if at < self.timers.len() {
            self.timers.remove(at);
            meter.tally(Work::ElementMove, (self.timers.len() - at) as u64);
        }
    }

    fn first(&self) -> Option<Tick> {
        self.timers.last().map(|(key, _)| key.deadline)
    }

    fn pop(&mut self, _: &M) -> Option<u32> {
        self.timers.pop().map(|(_, place)| place)
    }
}
