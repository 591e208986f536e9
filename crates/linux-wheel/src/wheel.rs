//! The wheel: levels of coarser and coarser slots. Timers never move from slot to slot.

use crate::level::{Level, end_of, level_of, width};
use alloc::vec::Vec;
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::linked::Entry;
use wheelhouse_core::lists::{Ends, LINKS_IN, LINKS_OUT, Lists};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer};

/// The timer wheel of Linux since 4.8. The [crate documentation](crate) describes the structure,
/// its costs, the bound on the lateness, and the order in which timers fire.
///
/// A handle may be kept for ever: see [`TimerId`](wheelhouse_core::TimerId).
#[derive(Clone)]
pub struct LinuxWheel<T, M = NoMeter> {
    /// The link of a timer is the number of its level, counted from 1. Level and deadline determine
    /// its slot and the tick at which the slot ends.
    timers: Arena<Entry<T>, Link>,
    lists: Lists,
    /// The levels, the finest first. Coarser levels are created when a timer first needs them. All
    /// slots that have timers end after `now`.
    levels: Vec<Level>,
    /// The timers that are due: those of all slots that have ended, in the order in which these
    /// ended, and those that were overdue when they were inserted.
    due: Ends,
    now: Tick,
    pub(crate) meter: M,
}

impl<T> LinuxWheel<T> {
    /// The most ticks by which a timer with this delay fires late: 0 for delays below 63 ticks,
    /// otherwise less than 8/63 of the delay. O(1).
    ///
    /// ```
    /// use wheelhouse_linux_wheel::LinuxWheel;
    ///
    /// assert_eq!([62, 63].map(LinuxWheel::<()>::lateness), [0, 7]);
    /// // Nine minutes, in milliseconds: up to half a minute late.
    /// assert_eq!(LinuxWheel::<()>::lateness(540_000), 32_767);
    /// ```
    pub fn lateness(delay: Tick) -> Tick {
        width(level_of(delay)) - 1
    }
}

impl<T, M: Meter> LinuxWheel<T, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            lists: Lists::new(),
            levels: Vec::new(),
            due: Ends::EMPTY,
            now: start,
            meter,
        }
    }

    fn link(&mut self, place: u32, deadline: Tick) -> Link {
        self.meter.tally(Work::Link, LINKS_IN);
        let number = level_of(deadline.saturating_sub(self.now));
        if deadline <= self.now {
            self.lists.push_back(&mut self.due, place);
        } else {
            self.meter.tally(Work::SlotVisit, 1);
            while self.levels.len() <= number as usize {
                self.levels.push(Level::new(self.levels.len() as u32));
            }
            self.levels[number as usize].push_back(&mut self.lists, deadline, place);
        }
        Link::MIN.saturating_add(number)
    }

    /// Unlinks a timer. It is in the list of due timers if its slot has ended, so it needs no mark.
    fn unlink(&mut self, place: u32, link: Link, deadline: Tick) {
        self.meter.tally(Work::Link, LINKS_OUT);
        let number = link.get() - 1;
        if end_of(number, deadline) <= self.now {
            self.lists.remove(&mut self.due, place);
        } else {
            self.levels[number as usize].remove(&mut self.lists, deadline, place);
        }
    }

    /// The earliest tick at which a slot that has timers ends, and the index of its level: the
    /// finest if several slots end at that tick.
    fn next_end(&self) -> Option<(Tick, usize)> {
        self.meter.tally(Work::SlotVisit, self.levels.len() as u64);
        let ends = self.levels.iter().enumerate();
        ends.filter_map(|(number, level)| Some((level.next(self.now)?, number))).min()
    }

    /// Moves the clock. The timers of all slots that have ended by then become due. Whole lists are
    /// appended, and no timer is read. This is done for all slots at once, even if the caller
    /// removes only one timer: a timer that is inserted next has to be placed by its distance from
    /// the new tick. Its distance from the last slot that was emptied could be much longer, and the
    /// timer would be too late.
    fn move_clock(&mut self, now: Tick) {
        while let Some((end, number)) = self.next_end().filter(|(end, _)| *end <= now) {
            // The two links between the lists.
            self.meter.tally(Work::Link, 2);
            debug_assert!(end > self.now, "the slots that have ended are empty");
            let mut slot = self.levels[number].take(end);
            debug_assert!(!slot.is_empty(), "an occupied slot has a timer");
            self.lists.append(&mut self.due, &mut slot);
        }
        self.now = now;
    }
}

/// [`advance`](Timer::advance) is O(1) for each timer that fires, plus O(m) for the call and for
/// each slot that ends.
impl<T, M: Meter> Timer<T> for LinuxWheel<T, M> {
    wheelhouse_core::linked_timers! {
        /// O(1). The timer fires when its slot ends, at most [`lateness`](LinuxWheel::lateness)
        /// ticks after its deadline.
        insert;
        /// O(1).
        cancel;
        /// O(1).
        reschedule;
    }

    /// O(m). The tick at which the next timer fires, which may be after its deadline. If a timer is
    /// due, the deadline of the first of these.
    fn next_wakeup(&self) -> Option<Tick> {
        match self.due.first() {
            Some(place) => {
                let timer = self.timers.at(place);
                debug_assert!(timer.is_some(), "a timer in a list is live");
                timer.map(|entry| entry.deadline)
            }
            None => self.next_end().map(|(end, _)| end),
        }
    }

    /// O(1) for a timer that fires. If the clock moves, O(m) for the call and for each slot that
    /// ends.
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.meter.tally(Work::Comparison, 1);
        if now > self.now {
            self.move_clock(now);
        }
        let place = self.lists.pop_front(&mut self.due)?;
        self.meter.tally(Work::Link, LINKS_OUT);
        self.timers.expire(place)
    }
}

#[cfg(test)]
mod tests;
