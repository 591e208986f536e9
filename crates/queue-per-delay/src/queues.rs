//! The queues, the map that finds them by delay, and the order of their heads.

use crate::delay::Delay;
use alloc::collections::BTreeMap;
use indexmap::IndexMap;
use indexmap::map::Entry as Slot;
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::hash::HashNumbers;
use wheelhouse_core::linked::Entry;
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, Metered, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, fire_due};

/// A queue of timers for each delay. The [crate documentation](crate) describes the structure and
/// its costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see
/// [`TimerId`](crate::TimerId).
#[derive(Clone)]
pub struct QueuePerDelay<T, M = NoMeter> {
    /// The link of a timer names its queue.
    timers: Arena<Entry<T>, Link>,
    lists: Lists,
    /// No queue is empty between two calls.
    queues: Arena<Queue>,
    /// Clients that choose delays can make them collide. The number of distinct delays limits the
    /// cost: see the crate documentation.
    by_delay: IndexMap<Delay, u32, HashNumbers>,
    /// The queues in the order of their first timers.
    heads: BTreeMap<Metered<Head, M>, u32>,
    now: Tick,
    pub(crate) meter: M,
}

/// The timers of one delay in the order of insertion. The clock does not run back, so this is the
/// order of their deadlines, too.
#[derive(Clone, Debug)]
struct Queue {
    delay: Delay,
    timers: Ends,
}

/// The first timer of a queue, by which queues are ordered. No two are equal, because two timers
/// with the same deadline and tick of insertion have the same delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    deadline: Tick,
    inserted: Tick,
}

#[inline]
fn link_to(queue: u32) -> Link {
    Link::MIN.saturating_add(queue)
}

impl<T, M: Meter> QueuePerDelay<T, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            lists: Lists::new(),
            queues: Arena::new(),
            by_delay: IndexMap::with_hasher(HashNumbers::default()),
            heads: BTreeMap::new(),
            now: start,
            meter,
        }
    }

    /// The number of queues, which is the number of distinct delays of the live timers. O(1). If it
    /// is close to [`len`](Timer::len), another structure is faster.
    ///
    /// ```
    /// use wheelhouse_queue_per_delay::{QueuePerDelay, Timer};
    ///
    /// let mut timeouts = QueuePerDelay::new();
    /// (0..100).for_each(|connection| _ = timeouts.insert(30_000, connection));
    /// timeouts.insert(5_000, 100);
    /// assert_eq!((timeouts.queues(), timeouts.len()), (2, 101));
    /// ```
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Returns the queue for a deadline, by its delay. A new queue is added to the heads with this
    /// deadline.
    #[inline]
    fn queue_of(&mut self, deadline: Tick) -> u32 {
        let delay = Delay::between(self.now, deadline);
        match self.by_delay.entry(delay) {
            Slot::Occupied(queue) => *queue.get(),
            Slot::Vacant(slot) => {
                let queue = self.queues.insert(Queue { delay, timers: Ends::EMPTY }).index();
                slot.insert(queue);
                self.add_head(queue, delay, deadline);
                queue
            }
        }
    }

    /// Appends the timer at a place to the queue of its delay. Returns its link.
    #[inline]
    fn link(&mut self, place: u32, deadline: Tick) -> Link {
        self.meter.tally(Work::Link, LINKS_IN);
        let queue = self.queue_of(deadline);
        let timers = &mut queue_mut(&mut self.queues, queue).timers;
        let last = timers.last().and_then(|last| self.timers.at(last));
        debug_assert!(last.is_none_or(|last| last.deadline <= deadline), "a queue is sorted");
        self.lists.push_back(timers, place);
        link_to(queue)
    }

    /// Removes a timer from the queue that its link names.
    #[inline]
    fn unlink(&mut self, place: u32, link: Link, deadline: Tick) {
        let queue = link.get() - 1;
        if self.take(queue, place, deadline) {
            let delay = queue_mut(&mut self.queues, queue).delay;
            let removed = self.heads.remove(&self.head(delay, deadline));
            debug_assert_eq!(removed, Some(queue), "each queue is among the heads");
            self.renew_head(queue);
        }
    }

    /// Removes a timer from a queue. Returns `true` if the queue now begins with another deadline
    /// or is empty, so that its place among the heads is out of date.
    ///
    /// If the next timer has the same deadline, it was inserted at the same tick, and the place
    /// among the heads stays the same.
    #[inline]
    fn take(&mut self, queue: u32, place: u32, deadline: Tick) -> bool {
        self.meter.tally(Work::Link, LINKS_OUT);
        let timers = &mut queue_mut(&mut self.queues, queue).timers;
        let was_first = timers.first() == Some(place);
        self.lists.remove(timers, place);
        was_first && self.first_deadline(queue) != Some(deadline)
    }

    /// The deadline of the first timer of a queue; `None` if the queue is empty.
    #[inline]
    fn first_deadline(&self, queue: u32) -> Option<Tick> {
        let first = self.queues.at(queue)?.timers.first()?;
        self.timers.at(first).map(|timer| timer.deadline)
    }

    #[inline]
    fn head(&self, delay: Delay, deadline: Tick) -> Metered<Head, M> {
        Metered::new(Head { deadline, inserted: delay.inserted(deadline) }, &self.meter)
    }

    /// Adds a queue to the heads, which do not contain it.
    fn add_head(&mut self, queue: u32, delay: Delay, deadline: Tick) {
        let other = self.heads.insert(self.head(delay, deadline), queue);
        debug_assert_eq!(other, None, "no two queues have equal heads");
    }

    /// Adds a queue that was removed from the heads again, by its first timer. Drops the queue if
    /// it is empty.
    fn renew_head(&mut self, queue: u32) {
        let delay = queue_mut(&mut self.queues, queue).delay;
        match self.first_deadline(queue) {
            Some(deadline) => self.add_head(queue, delay, deadline),
            None => {
                self.queues.remove_at(queue);
                self.by_delay.swap_remove(&delay);
            }
        }
        debug_assert_eq!(self.queues.len(), self.heads.len());
        debug_assert_eq!(self.queues.len(), self.by_delay.len());
    }

    #[inline]
    fn earliest(&self) -> Option<Tick> {
        self.heads.first_key_value().map(|(head, _)| head.key.deadline)
    }
}

/// The queue with this index, which must exist.
#[inline]
fn queue_mut(queues: &mut Arena<Queue>, queue: u32) -> &mut Queue {
    queues.at_mut(queue).expect("links and heads name queues that exist").1
}

impl<T, M: Meter> Timer<T> for QueuePerDelay<T, M> {
    wheelhouse_core::linked_timers! {
        /// O(1) expected if a live timer has the same delay, otherwise O(log d) with d queues.
        #[inline]
        insert;
        /// O(1); O(log d) if the timer was the first of its queue and the next one has a later
        /// deadline.
        #[inline]
        cancel;
        /// The cost of [`cancel`](Timer::cancel) plus [`insert`](Timer::insert).
        #[inline]
        reschedule;
    }

    /// O(log d). Exact.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.earliest()
    }

    /// O(log d) with d queues.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        let (head, queue) = self.heads.first_key_value()?;
        let (deadline, queue) = (head.key.deadline, *queue);
        if deadline > self.now {
            return None;
        }
        let place = queue_mut(&mut self.queues, queue).timers.first();
        let place = place.expect("a queue among the heads has a timer");
        if self.take(queue, place, deadline) {
            self.heads.pop_first();
            self.renew_head(queue);
        }
        self.timers.expire(place)
    }

    /// The cost of one [`pop_expired`](Self::pop_expired) for each timer that fires; O(log d) if
    /// none is due.
    #[inline]
    fn advance(&mut self, now: Tick, on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        if self.earliest().is_some_and(|earliest| earliest <= self.now) {
            return fire_due(self, on_expiry);
        }
        self.meter.tally(Work::Comparison, 1);
        0
    }
}

#[cfg(test)]
mod tests;
