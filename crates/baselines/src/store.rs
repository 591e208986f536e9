//! Storage of timers without an order.

use core::num::NonZeroU32;
use indexmap::IndexMap;
use wheelhouse_core::TimerId;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::hash::HashNumbers;
use wheelhouse_core::ordered::Key;

/// A timer.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    pub(crate) key: Key,
    pub(crate) value: T,
}

/// Unordered storage of timers by handle.
pub trait Store<T> {
    /// An empty store.
    const EMPTY: Self;

    /// The number of timers.
    fn len(&self) -> usize;

    /// Returns `true` if there are no timers.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of places that [`for_each`](Self::for_each) reads: the number of timers, plus
    /// that of free places.
    fn places(&self) -> usize;

    /// Inserts a timer.
    fn insert(&mut self, entry: Entry<T>) -> TimerId;

    /// The timer of a handle; `None` if it is not in the store.
    fn get(&self, id: TimerId) -> Option<&Entry<T>>;

    /// The mutable timer of a handle; `None` if it is not in the store.
    fn get_mut(&mut self, id: TimerId) -> Option<&mut Entry<T>>;

    /// Removes the timer of a handle and returns it; `None` if it is not in the store.
    fn remove(&mut self, id: TimerId) -> Option<Entry<T>>;

    /// Calls `look` for every timer.
    fn for_each(&self, look: impl FnMut(TimerId, &Entry<T>));
}

impl<T> Store<T> for Arena<Entry<T>> {
    const EMPTY: Self = Self::new();

    fn len(&self) -> usize {
        self.len()
    }

    fn places(&self) -> usize {
        self.peak()
    }

    fn insert(&mut self, entry: Entry<T>) -> TimerId {
        self.insert(entry)
    }

    fn get(&self, id: TimerId) -> Option<&Entry<T>> {
        self.get(id)
    }

    fn get_mut(&mut self, id: TimerId) -> Option<&mut Entry<T>> {
        self.get_mut(id).map(|(_, entry)| entry)
    }

    fn remove(&mut self, id: TimerId) -> Option<Entry<T>> {
        self.remove(id).map(|(_, entry)| entry)
    }

    fn for_each(&self, mut look: impl FnMut(TimerId, &Entry<T>)) {
        self.iter().for_each(|(id, _, entry)| look(id, entry));
    }
}

/// A hash map from handle to timer. Handles are numbered consecutively and never reused.
#[derive(Clone, Debug)]
pub struct Hashed<T> {
    timers: IndexMap<TimerId, Entry<T>, HashNumbers>,
    inserted: u64,
}

impl<T> Store<T> for Hashed<T> {
    const EMPTY: Self = Self { timers: IndexMap::with_hasher(HashNumbers::new()), inserted: 0 };

    fn len(&self) -> usize {
        self.timers.len()
    }

    fn places(&self) -> usize {
        self.timers.len()
    }

    fn insert(&mut self, entry: Entry<T>) -> TimerId {
        let (index, generation) = (self.inserted as u32, (self.inserted >> 32) as u32);
        let id = TimerId::from_parts(index, NonZeroU32::MIN.saturating_add(generation));
        self.inserted += 1;
        self.timers.insert(id, entry);
        id
    }

    fn get(&self, id: TimerId) -> Option<&Entry<T>> {
        self.timers.get(&id)
    }

    fn get_mut(&mut self, id: TimerId) -> Option<&mut Entry<T>> {
        self.timers.get_mut(&id)
    }

    fn remove(&mut self, id: TimerId) -> Option<Entry<T>> {
        self.timers.swap_remove(&id)
    }

    fn for_each(&self, mut look: impl FnMut(TimerId, &Entry<T>)) {
        self.timers.iter().for_each(|(id, entry)| look(*id, entry));
    }
}
