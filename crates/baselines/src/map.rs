//! The standard library's B-tree.

use alloc::collections::BTreeMap;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Metered, NoMeter};
use wheelhouse_core::ordered::{Key, Queue};

/// An ordered map from key to place. The keys report each comparison of the map to the meter.
/// Finding and removing the first entry makes none.
#[derive(Clone, Debug)]
pub struct Map<M = NoMeter> {
    places: BTreeMap<Metered<Key, M>, u32>,
}

impl<M: Meter> Queue<M> for Map<M> {
    const EMPTY: Self = Self { places: BTreeMap::new() };

    fn insert(&mut self, key: Key, place: u32, meter: &M) {
        let other = self.places.insert(Metered::new(key, meter), place);
        debug_assert_eq!(other, None, "no two timers have the same key");
    }

    fn remove(&mut self, key: Key, _: u32, meter: &M) {
        let removed = self.places.remove(&Metered::new(key, meter));
        debug_assert!(removed.is_some(), "the timer is in the map");
    }

    fn first(&self) -> Option<Tick> {
        self.places.first_key_value().map(|(first, _)| first.key.deadline)
    }

    fn pop(&mut self, _: &M) -> Option<u32> {
        self.places.pop_first().map(|(_, place)| place)
    }
}
