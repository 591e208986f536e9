//! Timers that were overdue when they were inserted, in the order in which they fire.
//!
//! A wheel has slots only for ticks from its hand on. A timer with a deadline before the hand is
//! stored here. It fires in the next call, before all timers with later deadlines. Programs start
//! few such timers, so an ordered map is fast enough. A cancelled timer is removed from it at once.

use crate::Tick;
use crate::arena::{Arena, Link};
use crate::meter::{Meter, Metered};
use alloc::collections::BTreeMap;

/// The largest arrival number. The highest bit of a link is left to the wheel.
const LAST_ARRIVAL: u32 = u32::MAX >> 1;

/// Storage for the arrival number of each timer, which is part of its key in the map.
pub trait Arrivals {
    /// Sets the arrival number of the timer at a place.
    fn set_arrival(&mut self, index: u32, arrival: Link);
}

impl<E> Arrivals for Arena<E, Link> {
    #[inline]
    fn set_arrival(&mut self, index: u32, arrival: Link) {
        self.set_link(index, arrival);
    }
}

/// A map of timers that are due, by (deadline, arrival). Arrivals number the timers in order of
/// insertion. The link of a timer in the map is its arrival, which is less than 2^31.
///
/// Each method is O(log k) for k timers in the map; for [`insert`](Self::insert) this is amortised.
/// The comparisons of the map are reported to the meter.
#[derive(Clone, Debug)]
pub struct Overdue<M> {
    waiting: BTreeMap<Metered<(Tick, Link), M>, u32>,
    /// The last arrival that was assigned. It starts again at zero when a timer is inserted into an
    /// empty map.
    arrivals: u32,
}

impl<M: Meter> Default for Overdue<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Meter> Overdue<M> {
    /// An empty map. Allocates nothing.
    pub const fn new() -> Self {
        Self { waiting: BTreeMap::new(), arrivals: 0 }
    }

    /// Returns `true` if no timer is overdue.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The number of timers that are overdue. O(1).
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The earliest deadline. O(1) if the map is empty.
    #[inline]
    pub fn earliest(&self) -> Option<Tick> {
        if self.waiting.is_empty() {
            None
        } else {
            self.waiting.first_key_value().map(|(waiting, _)| waiting.key.0)
        }
    }

    /// The place of the earliest timer. O(1) if the map is empty.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        if self.waiting.is_empty() {
            None
        } else {
            self.waiting.first_key_value().map(|(_, index)| *index)
        }
    }

    /// Adds the timer at a place. Returns its arrival, which the caller stores as the timer's link.
    #[inline(never)]
    pub fn insert(
        &mut self,
        timers: &mut impl Arrivals,
        deadline: Tick,
        index: u32,
        meter: &M,
    ) -> Link {
        // Arrivals are only compared with those in the map.
        if self.waiting.is_empty() {
            self.arrivals = 0;
        }
        if self.arrivals == LAST_ARRIVAL {
            self.renumber(timers, meter);
        }
        self.arrivals += 1;
        let arrival = Link::MIN.saturating_add(self.arrivals - 1);
        let other = self.waiting.insert(Metered::new((deadline, arrival), meter), index);
        debug_assert_eq!(other, None, "no two timers have the same arrival");
        debug_assert!(self.arrivals <= LAST_ARRIVAL, "the highest bit is left to the wheel");
        arrival
    }

    /// Removes a timer that has not fired.
    #[inline(never)]
    pub fn remove(&mut self, deadline: Tick, arrival: Link, meter: &M) {
        let removed = self.waiting.remove(&Metered::new((deadline, arrival), meter));
        debug_assert!(removed.is_some(), "a timer with an arrival is in the map");
    }

    /// Removes the earliest timer and returns its place.
    pub fn pop(&mut self) -> Option<u32> {
        self.waiting.pop_first().map(|(_, index)| index)
    }

    /// Numbers the timers in the map from 1 again. Needed once in two billion insertions.
    #[cold]
    fn renumber(&mut self, timers: &mut impl Arrivals, meter: &M) {
        self.arrivals = 0;
        // Arrivals decide the order within a deadline only. Numbering in map order preserves it.
        for (waiting, index) in core::mem::take(&mut self.waiting) {
            let (deadline, _) = waiting.key;
            self.arrivals += 1;
            let arrival = Link::MIN.saturating_add(self.arrivals - 1);
            timers.set_arrival(index, arrival);
            self.waiting.insert(Metered::new((deadline, arrival), meter), index);
        }
        debug_assert_eq!(self.arrivals as usize, self.waiting.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimerId;
    use crate::meter::NoMeter;
    use alloc::vec::Vec;

    fn insert(
        overdue: &mut Overdue<NoMeter>,
        arena: &mut Arena<char, Link>,
        deadline: Tick,
        name: char,
    ) -> TimerId {
        let index = arena.next_id().index();
        let link = overdue.insert(arena, deadline, index, &NoMeter);
        arena.insert_linked(link, name)
    }

    fn drain(overdue: &mut Overdue<NoMeter>, arena: &mut Arena<char, Link>) -> Vec<char> {
        core::iter::from_fn(|| arena.remove_at(overdue.pop()?)).map(|(_, name)| name).collect()
    }

    #[test]
    fn overdue_timers_come_out_by_deadline_then_arrival() {
        let (mut overdue, mut arena) = (Overdue::new(), Arena::new());
        for (deadline, name) in [(7, 'a'), (3, 'b'), (7, 'c'), (3, 'd'), (5, 'e'), (9, 'f')] {
            insert(&mut overdue, &mut arena, deadline, name);
        }
        assert_eq!(overdue.earliest(), Some(3));
        assert_eq!(drain(&mut overdue, &mut arena), ['b', 'd', 'e', 'a', 'c', 'f']);
        assert_eq!((overdue.earliest(), overdue.is_empty()), (None, true));
    }

    #[test]
    fn arrivals_may_run_out() {
        let (mut overdue, mut arena) = (Overdue::new(), Arena::new());
        let gone = insert(&mut overdue, &mut arena, 5, 'x');
        insert(&mut overdue, &mut arena, 5, 'a');
        overdue.arrivals = LAST_ARRIVAL - 1;
        let ids = ['b', 'c', 'd'].map(|name| insert(&mut overdue, &mut arena, 5, name));
        for id in [gone, ids[1]] {
            let removed = arena.remove(id);
            assert!(removed.is_some());
            overdue.remove(5, removed.map_or(Link::MAX, |(link, _)| link), &NoMeter);
        }
        assert_eq!(drain(&mut overdue, &mut arena), ['a', 'b', 'd']);
    }
}
