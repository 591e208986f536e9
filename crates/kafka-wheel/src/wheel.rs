//! The wheels, and the queue of their slots that drives them.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::linked::Entry;
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, Metered, NoMeter, Work};
use wheelhouse_core::overdue::Overdue;
use wheelhouse_core::{Tick, Timer};

/// The hierarchical wheel of Kafka. The [crate documentation](crate) describes the structure and
/// its costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see
/// [`TimerId`](wheelhouse_core::TimerId).
#[derive(Clone)]
pub struct KafkaWheel<T, M = NoMeter> {
    /// The link of a timer is the number of its level, counted from 1. The link of an overdue timer
    /// is its arrival; its deadline, which is before the hand, shows that it is overdue.
    timers: Arena<Entry<T>, Link>,
    lists: Lists,
    /// The wheels, the lowest first. Higher wheels are created when a timer first needs them.
    levels: Vec<Level>,
    /// The slots that have timers, by the tick at which they start. Among slots with the same tick,
    /// the highest level is first, so its timers move down before the lower slots are emptied.
    queue: BTreeSet<Metered<(Tick, Reverse<usize>), M>>,
    /// No slot that has timers starts before this tick.
    next: Tick,
    /// Timers whose deadline was before the hand when they were inserted or rescheduled.
    overdue: Overdue<M>,
    /// The tick that slots are counted from. It is never after `now`.
    hand: Tick,
    now: Tick,
    pub(crate) meter: M,
}

/// A wheel whose slots have `width` ticks each. It covers as many slots as it has, starting with
/// the slot of the hand.
#[derive(Clone, Debug)]
struct Level {
    width: Tick,
    slots: Vec<Ends>,
}

impl Level {
    /// The lowest wheel, with slots of one tick.
    fn lowest(slots: usize) -> Self {
        Self { width: 1, slots: alloc::vec![Ends::EMPTY; slots] }
    }

    /// The wheel above this one. Its slots are as wide as this whole wheel. If that width
    /// overflows, it is saturated, and the wheel still covers all ticks.
    fn above(&self) -> Self {
        let width = self.width.saturating_mul(self.slots.len() as Tick);
        Self { width, slots: alloc::vec![Ends::EMPTY; self.slots.len()] }
    }

    /// Returns `true` if this wheel has a slot for a deadline, which must not be before the hand.
    fn reaches(&self, deadline: Tick, hand: Tick) -> bool {
        deadline / self.width - hand / self.width < self.slots.len() as Tick
    }

    /// The slot of a deadline that this wheel covers.
    fn slot(&mut self, deadline: Tick) -> &mut Ends {
        let count = self.slots.len() as Tick;
        &mut self.slots[(deadline / self.width % count) as usize]
    }

    /// The first tick of the slot of a deadline.
    fn start_of(&self, deadline: Tick) -> Tick {
        deadline - deadline % self.width
    }
}

impl<T, M: Meter> KafkaWheel<T, M> {
    pub(crate) fn with_parts(slots: usize, start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            lists: Lists::new(),
            levels: alloc::vec![Level::lowest(slots)],
            queue: BTreeSet::new(),
            next: Tick::MAX,
            overdue: Overdue::new(),
            hand: start,
            now: start,
            meter,
        }
    }

    /// The index of the level that a deadline belongs to, seen from the hand. Creates missing
    /// levels.
    fn level_of(&mut self, deadline: Tick) -> usize {
        let mut number = 0;
        loop {
            self.meter.tally(Work::SlotVisit, 1);
            let level = &self.levels[number];
            if level.reaches(deadline, self.hand) {
                return number;
            }
            number += 1;
            if number == self.levels.len() {
                let above = level.above();
                self.levels.push(above);
            }
        }
    }

    /// The slot of a deadline on a level. If the slot is empty, adds it to the queue, because the
    /// caller inserts a timer.
    fn slot_for(&mut self, number: usize, deadline: Tick) -> &mut Ends {
        if self.levels[number].slot(deadline).is_empty() {
            let start = self.levels[number].start_of(deadline);
            self.next = self.next.min(start);
            self.queue.insert(Metered::new((start, Reverse(number)), &self.meter));
        }
        self.levels[number].slot(deadline)
    }

    fn link(&mut self, place: u32, deadline: Tick) -> Link {
        if deadline < self.hand {
            return self.overdue.insert(&mut self.timers, deadline, place, &self.meter);
        }
        let number = self.level_of(deadline);
        let mut slot = *self.slot_for(number, deadline);
        self.meter.tally(Work::Link, LINKS_IN);
        self.lists.push_back(&mut slot, place);
        *self.levels[number].slot(deadline) = slot;
        Link::MIN.saturating_add(number as u32)
    }

    fn unlink(&mut self, place: u32, link: Link, deadline: Tick) {
        if deadline < self.hand {
            return self.overdue.remove(deadline, link, &self.meter);
        }
        self.meter.tally(Work::Link, LINKS_OUT);
        let number = link.get() as usize - 1;
        let slot = self.levels[number].slot(deadline);
        self.lists.remove(slot, place);
        if slot.is_empty() {
            let start = self.levels[number].start_of(deadline);
            let removed = self.queue.remove(&Metered::new((start, Reverse(number)), &self.meter));
            debug_assert!(removed, "a slot that had timers is in the queue");
        }
    }

    /// Moves the timers of a slot of a higher level down, at the tick at which the slot starts.
    /// They go *before* the timers that are in the lower slots: once a level covers a deadline, no
    /// timer with that deadline goes to a higher level, so the timers of the higher level were
    /// inserted first. A timer stops at the highest occupied slot of its deadline on the way down.
    /// If it went below, the timers of that slot would go before it when that slot is emptied.
    fn demote(&mut self, start: Tick, number: usize) {
        let mut slot = core::mem::take(self.levels[number].slot(start));
        while let Some(place) = slot.last() {
            self.meter.tally(Work::CascadeMove, 1);
            self.lists.remove(&mut slot, place);
            let timer = self.timers.at(place);
            debug_assert!(timer.is_some_and(|it| it.deadline >= start), "a live timer of the slot");
            let deadline = timer.map_or(start, |entry| entry.deadline);
            let lowest = self.level_of(deadline);
            let mut between = (lowest + 1..number).rev();
            let is_occupied = |below: &usize| {
                self.meter.tally(Work::SlotVisit, 1);
                !self.levels[*below].slot(deadline).is_empty()
            };
            let below = between.find(is_occupied).unwrap_or(lowest);
            let mut to = *self.slot_for(below, deadline);
            self.lists.push_front(&mut to, place);
            *self.levels[below].slot(deadline) = to;
            self.timers.set_link(place, Link::MIN.saturating_add(below as u32));
        }
    }

    fn take_due(&mut self) -> Option<u32> {
        while let Some((start, Reverse(number))) =
            self.queue.first().map(|first| first.key).filter(|(start, _)| *start <= self.now)
        {
            debug_assert!(start >= self.hand, "the hand does not move back");
            self.hand = start;
            if number == 0 {
                self.meter.tally(Work::Link, LINKS_OUT);
                let slot = self.levels[0].slot(start);
                let place = self.lists.pop_front(slot);
                debug_assert!(place.is_some(), "a slot of the queue has a timer");
                if slot.is_empty() {
                    self.queue.pop_first();
                }
                return place;
            }
            self.queue.pop_first();
            self.demote(start, number);
        }
        self.next = self.queue.first().map_or(Tick::MAX, |first| first.key.0);
        None
    }
}

/// [`advance`](Timer::advance) is O(m) amortised for each timer that fires, plus O(log b) for each
/// slot that is emptied. At worst all timers of a slot move.
impl<T, M: Meter> Timer<T> for KafkaWheel<T, M> {
    wheelhouse_core::linked_timers! {
        /// O(m), and O(log b) if the timer is the first of its slot.
        insert;
        /// O(1), and O(log b) if the timer was the last of its slot.
        cancel;
        /// The cost of [`cancel`](Timer::cancel) plus [`insert`](Timer::insert).
        reschedule;
    }

    /// O(log b). Exact if the earliest timer is on the lowest level. Otherwise the first tick of
    /// its slot.
    fn next_wakeup(&self) -> Option<Tick> {
        self.overdue.earliest().or_else(|| self.queue.first().map(|first| first.key.0))
    }

    wheelhouse_core::linked_expiry! {
        /// O(m) amortised for each timer that fires, plus O(log b) for each slot that is emptied.
        /// At worst all timers of a slot move.
        pop_expired
    }
}

#[cfg(test)]
mod tests;
