//! Ordered maps by (deadline, number), as in a program without a timer crate: `BTreeMap` of the
//! standard library, and `SkipMap` of crossbeam-skiplist. The latter is a concurrent map, used by
//! one thread here, and also pays for the threads that it supports.

use crate::peer::Peer;
use crossbeam_skiplist::SkipMap;
use std::collections::BTreeMap;
use wheelhouse_core::Tick;

/// The deadline and number of a timer.
type Key = (Tick, u64);

pub(crate) trait Map: Default {
    const NAME: &'static str;
    const PACKAGE: &'static str;
    fn insert(&mut self, key: Key, value: u64);
    fn remove(&mut self, key: &Key) -> Option<u64>;
    /// Removes the first entry if it is due, and returns its value.
    fn pop_due(&mut self, now: Tick) -> Option<u64>;
    fn first(&self) -> Option<Tick>;
}

impl Map for BTreeMap<Key, u64> {
    const NAME: &'static str = "std-btree-map";
    const PACKAGE: &'static str = "std";

    #[inline]
    fn insert(&mut self, key: Key, value: u64) {
        BTreeMap::insert(self, key, value);
    }

    #[inline]
    fn remove(&mut self, key: &Key) -> Option<u64> {
        BTreeMap::remove(self, key)
    }

    #[inline]
    fn pop_due(&mut self, now: Tick) -> Option<u64> {
        Some(self.first_entry().filter(|first| first.key().0 <= now)?.remove())
    }

    #[inline]
    fn first(&self) -> Option<Tick> {
        self.first_key_value().map(|((deadline, _), _)| *deadline)
    }
}

impl Map for SkipMap<Key, u64> {
    const NAME: &'static str = "crossbeam-skiplist";
    const PACKAGE: &'static str = "crossbeam-skiplist";

    #[inline]
    fn insert(&mut self, key: Key, value: u64) {
        SkipMap::insert(self, key, value);
    }

    #[inline]
    fn remove(&mut self, key: &Key) -> Option<u64> {
        SkipMap::remove(self, key).map(|entry| *entry.value())
    }

    #[inline]
    fn pop_due(&mut self, now: Tick) -> Option<u64> {
        let first = self.front().filter(|first| first.key().0 <= now)?;
        first.remove();
        Some(*first.value())
    }

    #[inline]
    fn first(&self) -> Option<Tick> {
        self.front().map(|first| first.key().0)
    }
}

/// Timers in a map. The key is the handle.
#[derive(Default)]
pub(crate) struct Keyed<M> {
    timers: M,
    started: u64,
}

impl<M: Map> Peer for Keyed<M> {
    const NAME: &'static str = M::NAME;
    const PACKAGE: Option<&'static str> = Some(M::PACKAGE);
    type Handle = Key;

    fn new(_: usize) -> Self {
        Self::default()
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> Key {
        self.started += 1;
        self.timers.insert((deadline, self.started), value);
        (deadline, self.started)
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<Key>) -> Option<u64> {
        self.timers.remove(kept.as_ref()?)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<Key>, deadline: Tick) -> bool {
        let value = self.cancel(kept);
        *kept = value.map(|value| self.insert(deadline, value));
        kept.is_some()
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while let Some(value) = self.timers.pop_due(now) {
            fire(value);
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        self.timers.first()
    }
}
