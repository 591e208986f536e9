//! The wheel: how timers are placed and how the hand visits them.

use crate::due::DueQueue;
use crate::slots::{BLOCK, Slots, Waiting};
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::linked::Entry;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::overdue::Overdue;
use wheelhouse_core::{Expired, SlotCount, Tick, Timer, fire_due};

/// One timing wheel with rounds. The [crate documentation](crate) describes the structure and its
/// costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see
/// [`TimerId`](wheelhouse_core::TimerId).
#[derive(Clone)]
pub struct RoundWheel<T, M = NoMeter> {
    /// The link of a timer is its position in its slot or in the queue of due timers, or its
    /// arrival if it was overdue when it was inserted.
    timers: Arena<Entry<T>, Link>,
    /// Timers whose deadline is after `now`.
    slots: Slots,
    /// No timer in a slot is due before this tick.
    next: Tick,
    /// Timers that the hand has collected from their slots.
    due: DueQueue,
    /// Timers that were due already when they were inserted. They fire after the timers in the
    /// queue with the same deadline.
    overdue: Overdue<M>,
    now: Tick,
    pub(crate) meter: M,
}

impl<T, M: Meter> RoundWheel<T, M> {
    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            slots: Slots::new(slots),
            next: Tick::MAX,
            due: DueQueue::new(),
            overdue: Overdue::new(),
            now: start,
            meter,
        }
    }

    #[inline(always)]
    fn link(&mut self, index: u32, deadline: Tick) -> Link {
        if deadline > self.now {
            self.meter.tally(Work::SlotVisit, 1);
            // `next` stays a lower bound on all deadlines.
            self.next = self.next.min(deadline);
            self.slots.push(Waiting { deadline, index })
        } else {
            self.overdue.insert(&mut self.timers, deadline, index, &self.meter)
        }
    }

    #[inline(always)]
    fn unlink(&mut self, _: u32, link: Link, deadline: Tick) {
        // The hand has collected all timers up to `now`, so no slot has this one.
        if deadline <= self.now {
            if DueQueue::has(link) {
                self.due.remove(link, &mut self.timers, &self.meter);
            } else {
                self.overdue.remove(deadline, link, &self.meter);
            }
            return;
        }
        self.meter.tally(Work::SlotVisit, 1);
        let at = self.slots.of(deadline);
        self.slots.get_mut(at).erase(link);
        self.tidy(at);
    }

    /// Drops the holes of a slot if they outnumber its timers. So it reads fewer than three
    /// positions per hole, and writes fewer links than there are holes.
    #[inline]
    fn tidy(&mut self, at: usize) {
        let slot = self.slots.get_mut(at);
        if slot.live() == 0 {
            self.slots.clear(at);
        } else if slot.is_sparse() {
            self.drop_holes(at);
        }
    }

    fn drop_holes(&mut self, at: usize) {
        let slot = self.slots.get_mut(at);
        self.meter.tally(Work::EntryScan, slot.timers.len() as u64);
        self.meter.tally(Work::ElementMove, slot.live() as u64);
        slot.compact(|index, to| {
            self.timers.set_link(index, to);
        });
    }

    /// Returns `true` if nothing is due at `now`, without reading the slots. May return `false` if
    /// nothing is due.
    #[inline]
    fn is_idle_at(&self, now: Tick) -> bool {
        now < self.next && self.due.earliest().is_none() && self.overdue.is_empty()
    }

    /// Moves the hand to `now` and queues the timers that are due.
    #[inline]
    fn turn(&mut self, now: Tick) {
        if now > self.now {
            self.now = now;
            if now >= self.next {
                self.visit();
            }
        }
    }

    /// Queues the timers that are due in the slots that the hand has passed, and updates `next`.
    #[inline(never)]
    fn visit(&mut self) {
        let (turn, before) = (self.slots.count(), self.due.end());
        let distance = self.now - self.next; // the number of slots passed, minus one
        let more_than_a_turn = distance >= turn as u64;
        if more_than_a_turn {
            self.visit_all();
        } else {
            self.visit_passed(distance as usize + 1);
        }
        if self.due.end() > before {
            self.queue_collected(before, more_than_a_turn);
        }
    }

    /// Collects the due timers of the next `left` slots, starting with the slot of `next`: in the
    /// slots before, nothing was due.
    fn visit_passed(&mut self, mut left: usize) {
        let (mut at, hand) = (self.slots.of(self.next), self.slots.of(self.now.wrapping_add(1)));
        while left > 0 {
            let count = self.slots.to_end_of_block(at).min(left);
            self.meter.tally(Work::SlotVisit, 1);
            if self.slots.bound(at) <= self.now {
                self.slots.occupied(at, count).for_each(|slot| self.collect(slot));
                // The bound of the block that the hand is in is renewed by `next_due`.
                if at / BLOCK != hand / BLOCK {
                    self.slots.renew_bound(at, &self.meter);
                }
            }
            left -= count;
            at = self.slots.of((at + count) as Tick);
        }
        self.next = self.slots.next_due(self.now, &self.meter);
    }

    /// Collects the due timers of all slots, unordered.
    fn visit_all(&mut self) {
        self.next = Tick::MAX;
        for at in (0..self.slots.count()).step_by(BLOCK) {
            self.meter.tally(Work::SlotVisit, 1);
            let mut bound = self.slots.bound(at);
            if bound <= self.now {
                self.slots
                    .occupied(at, self.slots.to_end_of_block(at))
                    .for_each(|slot| self.collect(slot));
                bound = self.slots.renew_bound(at, &self.meter);
            }
            self.next = self.next.min(bound);
        }
    }

    /// Collects the due timers of a slot, in order of insertion.
    fn collect(&mut self, at: usize) {
        self.meter.tally(Work::SlotVisit, 1);
        let slot = self.slots.get_mut(at);
        if slot.earliest > self.now {
            return; // its timers have rounds to go
        }
        self.meter.tally(Work::EntryScan, slot.timers.len() as u64);
        slot.take_due(self.now, |timer| self.due.push(timer));
        self.tidy(at);
    }

    /// Puts the collected timers in order. Within a turn the slots were visited in order of the
    /// deadlines, so no sort is needed. Timers with the same deadline are in one slot, so a stable
    /// sort keeps their order of insertion.
    fn queue_collected(&mut self, from: usize, more_than_a_turn: bool) {
        if more_than_a_turn {
            self.due.sort(from, &self.meter);
        }
        self.due.number(from, &mut self.timers);
        self.due.tidy(&mut self.timers, &self.meter);
    }

    /// Removes the earliest timer that is due, including the overdue timers, and returns its place.
    #[inline]
    fn take_due(&mut self) -> Option<u32> {
        self.meter.tally(Work::Comparison, 1);
        let late_first = match (self.due.earliest(), self.overdue.earliest()) {
            (Some(due), Some(late)) => late < due,
            (due, _) => due.is_none(),
        };
        if late_first {
            self.overdue.pop()
        } else {
            self.due.pop(&self.meter).map(|timer| timer.index)
        }
    }
}

/// [`advance`](Timer::advance) is one comparison if nothing is due. It is O(1 + n / M) amortised
/// for each timer that fires, plus O(M / 64) if few are due. A call that advances by more than a
/// turn and fires k timers takes O(k log k) in addition.
impl<T, M: Meter> Timer<T> for RoundWheel<T, M> {
    wheelhouse_core::linked_timers! {
        /// O(1) amortised; O(k) when the array of a slot with k timers grows.
        #[inline]
        insert;
        /// O(1) amortised; O(k) when a slot with k timers is compacted.
        #[inline]
        cancel;
        /// O(1) amortised; O(k) when a slot with k timers is compacted or its array grows.
        #[inline]
        reschedule;
    }

    /// Exact. O(1), unless the earliest timer was cancelled or moved: then O(M / 64 + n / M), at
    /// worst O(n + M).
    fn next_wakeup(&self) -> Option<Tick> {
        if let Some(due) = self.due.earliest().into_iter().chain(self.overdue.earliest()).min() {
            return Some(due);
        }
        if self.timers.is_empty() {
            return None;
        }
        self.meter.tally(Work::SlotVisit, 1);
        let slot = self.slots.get(self.slots.of(self.next));
        // No timer is due before `next`, so a timer that is due at `next` is the earliest.
        if slot.earliest == self.next && slot.exact_earliest(&self.meter) == self.next {
            return Some(self.next);
        }
        self.slots.earliest(self.now, &self.meter)
    }

    /// The cost of [`advance`](Timer::advance). The first call at a tick collects all timers that
    /// are due.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.turn(now);
        let index = self.take_due()?;
        let expired = self.timers.expire(index)?;
        debug_assert!(expired.deadline <= self.now, "no timer fires early");
        Some(expired)
    }

    /// The cost of one [`pop_expired`](Self::pop_expired) for each timer that fires; one comparison
    /// if no timer is due.
    #[inline]
    fn advance(&mut self, now: Tick, on_expiry: impl FnMut(Expired<T>)) -> usize {
        if !self.is_idle_at(now) {
            // `fire_due` fires the timers that are due at the tick of the clock.
            self.turn(now);
            return fire_due(self, on_expiry);
        }
        self.meter.tally(Work::Comparison, 1);
        self.now = self.now.max(now);
        0
    }

    /// O(n + M).
    fn compact(&mut self) {
        for at in 0..self.slots.count() {
            if self.slots.get(at).has_holes() {
                self.drop_holes(at);
            }
        }
    }
}

#[cfg(test)]
mod tests;
