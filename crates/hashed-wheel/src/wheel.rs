//! The wheel: sorted slots, and the hand that goes from one to the next.

use alloc::vec::Vec;
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::linked::Entry;
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::occupied::SlotBitmap;
use wheelhouse_core::overdue::Overdue;
use wheelhouse_core::{SlotCount, Tick, Timer};

/// The link of a timer in a slot. The link of an overdue timer is its arrival; its deadline, which
/// is before the hand, shows that it is overdue.
const IN_SLOT: Link = Link::MIN;

/// One timing wheel with sorted slots. The [crate documentation](crate) describes the structure and
/// its costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see
/// [`TimerId`](wheelhouse_core::TimerId).
#[derive(Clone)]
pub struct HashedWheel<T, M = NoMeter> {
    timers: Arena<Entry<T>, Link>,
    lists: Lists,
    /// The timers of each slot, in order of (deadline, insertion).
    slots: Vec<Ends>,
    occupied: SlotBitmap,
    /// No timer in a slot is due before this tick.
    next: Tick,
    /// Timers whose deadline was before the hand when they were inserted or rescheduled.
    overdue: Overdue<M>,
    /// No timer in a slot is due before it. Never after `now`.
    hand: Tick,
    now: Tick,
    pub(crate) meter: M,
}

impl<T, M: Meter> HashedWheel<T, M> {
    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            lists: Lists::new(),
            slots: alloc::vec![Ends::EMPTY; slots.get()],
            occupied: SlotBitmap::new(slots),
            next: Tick::MAX,
            overdue: Overdue::new(),
            hand: start,
            now: start,
            meter,
        }
    }

    fn slot_of(&self, deadline: Tick) -> usize {
        deadline as usize & (self.slots.len() - 1)
    }

    fn deadline_at(&self, place: u32) -> Tick {
        let timer = self.timers.at(place);
        debug_assert!(timer.is_some(), "a timer in a list is live");
        timer.map_or(Tick::MAX, |entry| entry.deadline)
    }

    fn link(&mut self, place: u32, deadline: Tick) -> Link {
        if deadline < self.hand {
            return self.overdue.insert(&mut self.timers, deadline, place, &self.meter);
        }
        let at = self.slot_of(deadline);
        self.meter.tally(Work::SlotVisit, 1);
        let is_before = |other: &u32| {
            self.meter.tally(Work::Comparison, 1);
            self.deadline_at(*other) <= deadline
        };
        // First compares with the last timer: if the new timer is not earlier, it is appended
        // without a search. This is so for timers with equal deadlines or equal delays.
        let last = self.slots[at].last().filter(&is_before);
        let passed = |_: &u32| {
            self.meter.tally(Work::Link, 1);
        };
        let before = last.or_else(|| {
            self.lists.iter(&self.slots[at]).take_while(&is_before).inspect(passed).last()
        });
        self.meter.tally(Work::Link, LINKS_IN);
        self.lists.insert_behind(&mut self.slots[at], before, place);
        self.occupied.set(at);
        self.next = self.next.min(deadline);
        IN_SLOT
    }

    fn unlink(&mut self, place: u32, link: Link, deadline: Tick) {
        if deadline < self.hand {
            return self.overdue.remove(deadline, link, &self.meter);
        }
        self.meter.tally(Work::Link, LINKS_OUT);
        let at = self.slot_of(deadline);
        self.lists.remove(&mut self.slots[at], place);
        self.vacate(at);
    }

    fn vacate(&mut self, at: usize) {
        if self.slots[at].is_empty() {
            self.occupied.clear(at);
        }
    }

    /// The earliest deadline in the slots, and its slot. It is in the first slot, seen from the
    /// hand, whose first timer is due in this turn. If no slot has such a timer, it is the minimum
    /// of the first timers of all slots.
    fn find(&self) -> Option<(Tick, usize)> {
        let (from, count) = (self.slot_of(self.hand), self.slots.len());
        let (mut best, mut distance) = (None, 0);
        while let Some(passed) =
            self.occupied.next((from + distance) & (count - 1), count - distance, &self.meter)
        {
            distance += passed;
            let at = (from + distance) & (count - 1);
            self.meter.tally(Work::SlotVisit, 1);
            debug_assert!(!self.slots[at].is_empty(), "an occupied slot has a timer");
            let first = self.slots[at].first().map_or(Tick::MAX, |place| self.deadline_at(place));
            debug_assert!(first >= self.hand, "no timer in a slot is due before the hand");
            if best.is_none_or(|(earliest, _)| first < earliest) {
                best = Some((first, at));
            }
            // From this slot on, no deadline is before the tick at which the hand gets here.
            if best.is_some_and(|(earliest, _)| earliest - self.hand <= distance as Tick) {
                break;
            }
            distance += 1;
        }
        best
    }

    fn take_due(&mut self) -> Option<u32> {
        if self.next <= self.now {
            let next = self.find();
            self.next = next.map_or(Tick::MAX, |(tick, _)| tick);
            if let Some((tick, at)) = next.filter(|(tick, _)| *tick <= self.now) {
                self.hand = tick;
                self.meter.tally(Work::Link, LINKS_OUT);
                let place = self.lists.pop_front(&mut self.slots[at]);
                debug_assert!(place.is_some(), "an occupied slot has a timer");
                self.vacate(at);
                return place;
            }
        }
        None
    }
}

/// [`advance`](Timer::advance) is O(1) for each timer that fires if a timer is due at most of the
/// next ticks; at worst O(M).
impl<T, M: Meter> Timer<T> for HashedWheel<T, M> {
    wheelhouse_core::linked_timers! {
        /// O(k) for a slot with k timers, half of which it passes on average; O(1) if its deadline
        /// is not before theirs.
        insert;
        /// O(1); O(log j) if the timer is one of j that were overdue when they were inserted.
        cancel;
        /// O(k) for the k timers of the new slot.
        reschedule;
    }

    /// O(1). Exact, unless the earliest timer was cancelled, moved or returned by `pop_expired`:
    /// then it may be the deadline of that timer, until a call with that tick or a later one.
    fn next_wakeup(&self) -> Option<Tick> {
        if self.timers.is_empty() {
            None
        } else {
            Some(self.overdue.earliest().unwrap_or(self.next))
        }
    }

    wheelhouse_core::linked_expiry! {
        /// O(1) if a timer is due at most of the next ticks; at worst O(M).
        pop_expired
    }
}

#[cfg(test)]
mod tests;
