//! What all structures without order share: they look at every timer when one may be due.

use crate::store::{Entry, Store};
use alloc::collections::BTreeMap;
use core::marker::PhantomData;
use wheelhouse_core::meter::{Meter, Metered, NoMeter, Work};
use wheelhouse_core::ordered::Key;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A timer facility on a [`Store`]. See [`UnorderedList`](crate::UnorderedList) and
/// [`HashedMap`](crate::HashedMap) for the stores there are, and the [crate's page](crate) for what
/// they cost.
///
/// What a look at all timers finds due is put in order, and fires from there: so a call that fires
/// k timers takes O(n + k log k), however it is made. The order of expiries is (deadline,
/// insertion). Handles are safe to keep for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct Unordered<T, S, M = NoMeter> {
    timers: S,
    /// The timers of the store whose deadline is not after `now`.
    due: BTreeMap<Metered<Key, M>, TimerId>,
    /// No other timer is due before this tick.
    earliest: Tick,
    /// How many insertions and reschedules there were.
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
    /// An empty structure that tells a meter of its work.
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

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// The key of a timer that is inserted now, or moved.
    fn key(&mut self, deadline: Tick) -> Key {
        self.orders += 1;
        Key { deadline, order: self.orders }
    }

    /// Notes a timer that is in the store.
    fn note(&mut self, key: Key, id: TimerId) {
        self.meter.tally(Work::ElementMove, 1);
        if key.deadline > self.now {
            self.earliest = self.earliest.min(key.deadline);
        } else {
            self.due.insert(Metered::new(key, &self.meter), id);
        }
    }

    /// Forgets a timer, if it is due.
    fn forget(&mut self, key: Key) {
        self.meter.tally(Work::ElementMove, 1);
        if key.deadline <= self.now {
            self.due.remove(&Metered::new(key, &self.meter));
        }
    }

    /// Moves the clock, and looks for what is due if anything may be.
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
        self.timers.for_each(|id, &Entry { deadline, order, .. }| {
            if deadline > now {
                earliest = earliest.min(deadline);
            } else if deadline > before {
                due.insert(Metered::new(Key { deadline, order }, meter), id);
            }
        });
        self.earliest = earliest;
    }
}

/// What the methods cost is told on the [crate's page](crate).
impl<T, S: Store<T>, M: Meter> Timer<T> for Unordered<T, S, M> {
    fn now(&self) -> Tick {
        self.now
    }

    fn len(&self) -> usize {
        self.timers.len()
    }

    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let key = self.key(deadline);
        let id = self.timers.insert(Entry { deadline, order: key.order, value });
        self.note(key, id);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let Entry { deadline, order, value } = self.timers.remove(id)?;
        self.forget(Key { deadline, order });
        Some(value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let to = self.key(deadline);
        let Some(entry) = self.timers.get_mut(id) else { return false };
        let from = Key { deadline: entry.deadline, order: entry.order };
        (entry.deadline, entry.order) = (to.deadline, to.order);
        self.forget(from);
        self.note(to, id);
        true
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timers.get(id).map(|entry| entry.deadline)
    }

    /// Exact, but for the first after the earliest timer was cancelled or moved: that is the tick
    /// at which it would have been due.
    fn next_wakeup(&self) -> Option<Tick> {
        let waiting = (self.timers.len() > self.due.len()).then_some(self.earliest);
        self.due.first_key_value().map(|(first, _)| first.key.deadline).or(waiting)
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.turn(now);
        let (_, id) = self.due.pop_first()?;
        self.meter.tally(Work::ElementMove, 1);
        let Entry { deadline, value, .. } = self.timers.remove(id)?;
        Some(Expired { id, deadline, value })
    }
}
