//! The code that all structures without an order share: they read all timers when one may be due.

use crate::store::{Entry, Store};
use alloc::collections::BTreeMap;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, Metered, NoMeter, Work};
use wheelhouse_core::ordered::Key;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A timer facility on a [`Store`]. [`UnorderedList`](crate::UnorderedList) and
/// [`HashedMap`](crate::HashedMap) use the two stores of this crate. The [crate
/// documentation](crate) lists their costs.
///
/// The timers that are due are put into an ordered map and fire from there. So firing k timers
/// takes O(n + k log k), by `advance` or by `pop_expired`. Timers fire in order of (deadline,
/// insertion). A handle may be kept for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct Unordered<T, S, M = NoMeter> {
    timers: S,
    /// The timers whose deadline is not after `now`.
    due: BTreeMap<Metered<Key, M>, TimerId>,
    /// No other timer is due before this tick.
    earliest: Tick,
    /// The number of insertions and reschedules.
    orders: u64,
    now: Tick,
    meter: M,
    value: PhantomData<fn() -> T>,
}

impl<T, S: Store<T>> Unordered<T, S> {
    /// An empty structure, its clock at 0. Allocates nothing.
    pub const fn new() -> Self {
        Self::with_meter(NoMeter)
    }
}

impl<T, S: Store<T>> Default for Unordered<T, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, S: Store<T>, M: Meter> Unordered<T, S, M> {
    /// An empty structure that reports its work to a meter.
    pub const fn with_meter(meter: M) -> Self {
        Self {
            timers: S::EMPTY,
            due: BTreeMap::new(),
            earliest: Tick::MAX,
            orders: 0,
            now: 0,
            meter,
            value: PhantomData,
        }
    }

    /// The meter that counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// The key of a timer that is inserted or moved now.
    fn key(&mut self, deadline: Tick) -> Key {
        self.orders += 1;
        Key { deadline, order: self.orders }
    }

    /// Adds a timer, which is in the store, to `due` or to `earliest`.
    fn note(&mut self, key: Key, id: TimerId) {
        self.meter.tally(Work::ElementMove, 1);
        if key.deadline > self.now {
            self.earliest = self.earliest.min(key.deadline);
        } else {
            self.due.insert(Metered::new(key, &self.meter), id);
        }
    }

    /// Removes a timer from `due`, if it is due.
    fn forget(&mut self, key: Key) {
        self.meter.tally(Work::ElementMove, 1);
        if key.deadline <= self.now {
            let removed = self.due.remove(&Metered::new(key, &self.meter));
            debug_assert!(removed.is_some(), "a timer that is due is in the map");
        }
    }

    /// Moves the clock. If a timer may be due, searches all timers.
    fn turn(&mut self, now: Tick) {
        self.meter.tally(Work::Comparison, 1);
        if now <= self.now {
            return;
        }
        let before = core::mem::replace(&mut self.now, now);
        if now < self.earliest {
            return;
        }
        self.meter.tally(Work::EntryScan, self.timers.places() as u64);
        let (due, meter, mut earliest) = (&mut self.due, &self.meter, Tick::MAX);
        self.timers.for_each(|id, &Entry { key, .. }| {
            if key.deadline > now {
                earliest = earliest.min(key.deadline);
            } else if key.deadline > before {
                due.insert(Metered::new(key, meter), id);
            }
        });
        self.earliest = earliest;
    }
}

/// The [crate documentation](crate) lists the costs of the methods.
impl<T, S: Store<T>, M: Meter> Timer<T> for Unordered<T, S, M> {
    wheelhouse_core::now_and_len!(timers);

    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let key = self.key(deadline);
        let id = self.timers.insert(Entry { key, value });
        self.note(key, id);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let Entry { key, value } = self.timers.remove(id)?;
        self.forget(key);
        Some(value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let to = self.key(deadline);
        let Some(entry) = self.timers.get_mut(id) else { return false };
        let from = core::mem::replace(&mut entry.key, to);
        self.forget(from);
        self.note(to, id);
        true
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timers.get(id).map(|entry| entry.key.deadline)
    }

    /// Exact, unless the earliest timer was cancelled or moved: then it is the former deadline of
    /// that timer, until a call with that tick or a later one.
    fn next_wakeup(&self) -> Option<Tick> {
        let waiting = (self.timers.len() > self.due.len()).then_some(self.earliest);
        self.due.first_key_value().map(|(first, _)| first.key.deadline).or(waiting)
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.turn(now);
        let (_, id) = self.due.pop_first()?;
        self.meter.tally(Work::ElementMove, 1);
        debug_assert!(self.timers.get(id).is_some(), "a timer that is due is live");
        let Entry { key, value } = self.timers.remove(id)?;
        Some(Expired { id, deadline: key.deadline, value })
    }
}
