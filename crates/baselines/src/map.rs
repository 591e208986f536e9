//! The standard library's B-tree.

use alloc::collections::BTreeMap;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work, bisection};
use wheelhouse_core::ordered::{Key, Queue};

/// An ordered map from key to place. Comparisons are not the map's to tell: each operation is
/// counted as the lg n + 1 of a bisection.
#[derive(Clone, Debug)]
pub struct Map {
    places: BTreeMap<Key, u32>,
}

impl Map {
    fn tally(&self, meter: &impl Meter) {
        meter.tally(Work::Comparison, bisection(self.places.len()));
    }
}

impl Queue for Map {
    const EMPTY: Self = Self { places: BTreeMap::new() };

    fn insert(&mut self, key: Key, place: u32, meter: &impl Meter) {
        self.tally(meter);
        self.places.insert(key, place);
    }

    fn remove(&mut self, key: Key, _: u32, meter: &impl Meter) {
        self.tally(meter);
        self.places.remove(&key);
    }

    fn first(&self) -> Option<Tick> {
        self.places.first_key_value().map(|(key, _)| key.deadline)
    }

    fn pop(&mut self, meter: &impl Meter) -> Option<u32> {
        self.tally(meter);
        self.places.pop_first().map(|(_, place)| place)
    }
}
