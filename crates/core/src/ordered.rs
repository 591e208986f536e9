//! Makes a timer facility of any priority queue that is ordered by deadline.
//!
//! A [`Queue`] stores keys and places, and removes the least. [`Ordered`] adds the timers, their
//! handles, the order of insertion, and the clock. The cost is a counter and a second key of 16
//! bytes for each timer, in addition to the one in the queue.

use crate::arena::Arena;
use crate::meter::{Meter, NoMeter, Work};
use crate::{Expired, Tick, Timer, TimerId, fire_due};

/// The sort key of a timer. No two timers have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The deadline.
    pub deadline: Tick,
    /// The number of the insertion, or of the last reschedule.
    pub order: u64,
}

/// A queue of timers, ordered by [`Key`]. A timer is identified by its place in the arena. Each
/// step is reported to the meter. `M` is a parameter of the trait so that a queue can store a meter
/// in the keys of a library's map.
pub trait Queue<M: Meter> {
    /// An empty queue. Allocates nothing.
    const EMPTY: Self;

    /// Adds a timer.
    fn insert(&mut self, key: Key, place: u32, meter: &M);

    /// Removes a timer that is in the queue.
    fn remove(&mut self, key: Key, place: u32, meter: &M);

    /// The least deadline. O(1), or O(log n).
    fn first(&self) -> Option<Tick>;

    /// Removes the timer with the least key and returns its place.
    fn pop(&mut self, meter: &M) -> Option<u32>;
}

/// A timer facility on a [`Queue`], which determines the costs: inserting, cancelling and firing
/// are one operation of the queue each, rescheduling is two.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct Ordered<T, Q, M = NoMeter> {
    timers: Arena<Waiting<T>>,
    queue: Q,
    /// The number of insertions and reschedules.
    orders: u64,
    now: Tick,
    meter: M,
}

#[derive(Clone, Debug)]
struct Waiting<T> {
    key: Key,
    value: T,
}

impl<T, Q: Queue<NoMeter>> Ordered<T, Q> {
    /// An empty structure, its clock at 0. Allocates nothing.
    pub const fn new() -> Self {
        Self::with_meter(NoMeter)
    }
}

impl<T, Q: Queue<NoMeter>> Default for Ordered<T, Q> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, Q: Queue<M>, M: Meter> Ordered<T, Q, M> {
    /// An empty structure that reports its work to a meter.
    pub const fn with_meter(meter: M) -> Self {
        Self { timers: Arena::new(), queue: Q::EMPTY, orders: 0, now: 0, meter }
    }

    /// The meter that counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    fn key(&mut self, deadline: Tick) -> Key {
        // 64 bits do not overflow: at a billion insertions a second they last for 584 years.
        self.orders += 1;
        Key { deadline, order: self.orders }
    }
}

impl<T, Q: Queue<M>, M: Meter> Timer<T> for Ordered<T, Q, M> {
    crate::now_and_len!(timers);

    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let key = self.key(deadline);
        let id = self.timers.insert(Waiting { key, value });
        self.queue.insert(key, id.index(), &self.meter);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (_, Waiting { key, value }) = self.timers.remove(id)?;
        self.queue.remove(key, id.index(), &self.meter);
        Some(value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        // A stale handle uses up a number too. Numbers need to be unique, not consecutive.
        let to = self.key(deadline);
        let Some((_, waiting)) = self.timers.get_mut(id) else { return false };
        let from = core::mem::replace(&mut waiting.key, to);
        self.queue.remove(from, id.index(), &self.meter);
        self.queue.insert(to, id.index(), &self.meter);
        true
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timers.get(id).map(|waiting| waiting.key.deadline)
    }

    /// Exact.
    fn next_wakeup(&self) -> Option<Tick> {
        self.queue.first()
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        if self.queue.first()? > self.now {
            return None;
        }
        let place = self.queue.pop(&self.meter);
        debug_assert!(place.is_some_and(|it| self.timers.at(it).is_some()), "a live timer");
        let (id, Waiting { key, value }) = self.timers.remove_at(place?)?;
        debug_assert!(key.deadline <= self.now, "the queue removed the timer that is due");
        Some(Expired { id, deadline: key.deadline, value })
    }

    /// The cost of one [`pop_expired`](Self::pop_expired) for each timer that fires; one comparison
    /// if no timer is due.
    #[inline]
    fn advance(&mut self, now: Tick, on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        if self.queue.first().is_some_and(|first| first <= self.now) {
            return fire_due(self, on_expiry);
        }
        self.meter.tally(Work::Comparison, 1);
        0
    }
}
