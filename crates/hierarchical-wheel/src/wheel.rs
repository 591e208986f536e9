//! The wheel itself: where timers go, how they cascade, how they fire.

use crate::builder::{Builder, DEFAULT_SLOTS};
use crate::levels::{Change, Entries, Entry, Levels, MOVING};
use wheelhouse_core::arena::Link;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::overdue::Overdue;
use wheelhouse_core::{Expired, SlotCount, Tick, Timer, TimerId};

/// A wheel that never had more timers than this is in the caches of most processors. To move one of these, nothing is to be waited for, and it
/// is done at once. After a peak the places of the timers lie far apart, so that it is the peak that counts.
/// (Hardly any in the unit tests, so that they see the other way with few timers.)
const CACHED: usize = if cfg!(test) { 1 } else { 1 << 16 };

/// A hierarchical timing wheel. See the [crate's page](crate) for what it is and what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see [`TimerId`].
#[derive(Clone, Debug)]
pub struct HierarchicalWheel<T, M = NoMeter> {
    entries: Entries<T>,
    /// Timers whose deadline is not before the hand. The hand is never after `now`, and behind it only while timers are due.
    levels: Levels,
    /// Timers whose deadline was before the hand when they were inserted.
    overdue: Overdue,
    now: Tick,
    meter: M,
}

impl<T> HierarchicalWheel<T> {
    /// An empty wheel with 256 slots a level, its clock at 0.
    pub fn new() -> Self {
        Self::with_meter(NoMeter)
    }

    /// Chooses the number of slots, the first tick, the capacity or a meter.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }
}

impl<T> Default for HierarchicalWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, M: Meter> HierarchicalWheel<T, M> {
    pub(crate) fn with_meter(meter: M) -> Self {
        const DEFAULT: SlotCount = match SlotCount::new(DEFAULT_SLOTS) {
            Ok(slots) => slots,
            Err(_) => panic!("the default is valid"),
        };
        Self::with_parts(DEFAULT, 0, 0, meter)
    }

    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            entries: Entries::with_capacity(capacity),
            levels: Levels::new(slots, start),
            overdue: Overdue::new(),
            now: start,
            meter,
        }
    }

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// Puts the timer at a place of the arena where its deadline belongs; returns its link.
    #[inline(always)]
    fn link(&mut self, index: u32, deadline: Tick) -> Link {
        if deadline < self.levels.hand() {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            return self.overdue.insert(&mut self.entries, deadline, index);
        }
        self.levels.link(&mut self.entries, index, deadline, &self.meter)
    }

    /// Takes a timer out of where its deadline put it.
    #[inline(always)]
    fn unlink(&mut self, link: Link, deadline: Tick) {
        if deadline < self.levels.hand() {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            return self.overdue.remove(deadline, link);
        }
        self.levels.unlink(&mut self.entries, link, deadline, &self.meter);
    }

    /// The place of the earliest timer that is due, taken out of its slot. What is left is whole, so that a caller may do
    /// anything before the next.
    #[inline]
    fn take_due(&mut self) -> Option<u32> {
        if !self.overdue.is_empty() {
            self.meter.tally(Work::Comparison, self.overdue.depth());
            return self.overdue.pop();
        }
        while let Some(next) = self.levels.next().filter(|next| next.start <= self.now) {
            self.levels.settle(&mut self.entries, &self.meter);
            if next.is_exact() {
                return self.levels.pop(next, &self.meter);
            }
            self.levels.cascade(&mut self.entries, next, &self.meter);
        }
        // No occupied slot starts at or before `now`: the hand may follow.
        self.meter.tally(Work::Comparison, 1);
        self.levels.set_hand(self.now);
        None
    }
}

// What starts, stops and moves timers is always inlined: at a million timers a call waits for memory, and the fewer instructions there are from one
// to the next, the more calls wait side by side. Saving and restoring registers alone is a tenth of them (see DECISIONS.md).
/// [`advance`](Timer::advance): O(1) amortised for each timer that fires and for each call; at worst a limited number of moves a level for each tick with
/// something due, whether it fires or not.
impl<T, M: Meter> Timer<T> for HierarchicalWheel<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.entries.len()
    }

    /// O(1), and a move to come for each level between the hand and the deadline. Now and then splits a slot of some thousand timers, see the
    /// [costs](crate#cost).
    ///
    /// # Panics
    ///
    /// If slots would take 2^27 chunks or more, 16 GiB: with four billion timers in long queues, never with fewer than a hundred million.
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        if self.levels.is_moving() {
            self.levels.settle(&mut self.entries, &self.meter);
        }
        let index = self.entries.next_id().index();
        let link = self.link(index, deadline);
        self.entries.insert_linked(link, Entry { deadline, value })
    }

    /// O(m) amortised for m levels; at worst the slots of 32 timers are tidied up, each in limited time, see the [costs](crate#cost).
    #[inline(always)]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (link, entry) = self.entries.remove(id)?;
        if link == MOVING {
            self.levels.forget(id.index());
        } else {
            self.unlink(link, entry.deadline);
        }
        Some(entry.value)
    }

    /// O(m) amortised for m levels; at worst as [`cancel`](Timer::cancel) and [`insert`](Timer::insert) together.
    #[inline(always)]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let hand = self.levels.hand();
        let is_cached = self.entries.peak() < CACHED;
        let Some((link, entry)) = self.entries.get_mut(id) else { return false };
        let at_once = is_cached || entry.deadline < hand || deadline < hand;
        if *link == MOVING || (at_once && self.levels.is_moving()) {
            // This one, or others that it must not overtake, have yet to arrive. None is on its way then.
            self.levels.settle(&mut self.entries, &self.meter);
            return self.reschedule(id, deadline);
        }
        let from = core::mem::replace(&mut entry.deadline, deadline);
        if at_once {
            let link = *link;
            self.unlink(link, from);
            let to = self.link(id.index(), deadline);
            self.entries.set_link(id.index(), to);
        } else {
            let link = core::mem::replace(link, MOVING);
            self.levels.relink(&mut self.entries, Change { from, link, index: id.index(), to: deadline }, &self.meter);
        }
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.entries.get(id).map(|entry| entry.deadline)
    }

    /// O(1). Exact for the timers of level 0, else the first tick of the slot that the earliest timer is in.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.overdue.earliest().or(self.levels.next().map(|next| next.start))
    }

    /// O(1) amortised; at worst a limited number of moves a level, whether anything fires or not.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        let index = self.take_due()?;
        let (id, entry) = self.entries.remove_at(index)?;
        Some(Expired { id, deadline: entry.deadline, value: entry.value })
    }

    /// O(n + r), with r rings of slots.
    fn compact(&mut self) {
        self.levels.compact(&mut self.entries, &self.meter);
    }
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
