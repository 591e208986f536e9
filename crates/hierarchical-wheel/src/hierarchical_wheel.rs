//! The wheel that a program sees: small until it has many timers.

use crate::builder::{Builder, DEFAULT_SLOTS};
use crate::nodes::Nodes;
use crate::store::{FLAT, Flat, Segmented};
use crate::wheel::Wheel;
use core::mem;
use wheelhouse_core::geometry::Geometry;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, SlotCount, Tick, Timer, TimerId};

/// A hierarchical timing wheel. See the [crate's page](crate) for what it is and what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see
/// [`TimerId`].
#[derive(Clone, Debug)]
pub struct HierarchicalWheel<T, M = NoMeter> {
    wheel: Wheel<M>,
    nodes: Either<T>,
}

/// Nodes for few timers, or for many. Once there were many, it stays at that.
#[derive(Clone, Debug)]
enum Either<T> {
    Small(Nodes<Flat<T>>),
    Large(Nodes<Segmented<T>>),
}

/// Does the same with the nodes, of whichever kind they are. So each call is compiled for both.
macro_rules! with {
    ($either:expr, $nodes:ident => $call:expr) => {
        match $either {
            Either::Small($nodes) => $call,
            Either::Large($nodes) => $call,
        }
    };
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
        let geometry = Geometry::new(slots);
        // Slots take nodes too: one each, and one a level for elders.
        let room = capacity + (geometry.levels() * (geometry.slots() + 1)) as usize;
        let (nodes, wheel) = if room <= FLAT {
            let mut nodes = Nodes::new(Flat::with_capacity(room));
            let wheel = Wheel::new(geometry, start, &mut nodes, meter);
            (Either::Small(nodes), wheel)
        } else {
            let mut nodes = Nodes::new(Segmented::with_capacity(room));
            let wheel = Wheel::new(geometry, start, &mut nodes, meter);
            (Either::Large(nodes), wheel)
        };
        Self { wheel, nodes }
    }

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.wheel.meter
    }

    /// Inserts the first timer that is too many for a small wheel.
    #[cold]
    #[inline(never)]
    fn insert_too_many(&mut self, deadline: Tick, value: T) -> TimerId {
        let nothing = Either::Small(Nodes::new(Flat::with_capacity(0)));
        let nodes = match mem::replace(&mut self.nodes, nothing) {
            Either::Small(nodes) => nodes.into(),
            Either::Large(nodes) => nodes,
        };
        self.nodes = Either::Large(nodes);
        self.insert(deadline, value)
    }
}

// What starts, stops and moves timers is always inlined: at a million timers a call waits for
// memory, and the fewer instructions there are from one to the next, the more calls wait side by
// side.
/// [`advance`](Timer::advance): O(1) amortised for each timer that fires and for each call; at
/// worst a limited number of moves a level for each tick with something due, whether it fires or
/// not.
impl<T, M: Meter> Timer<T> for HierarchicalWheel<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.wheel.now
    }

    #[inline]
    fn len(&self) -> usize {
        with!(&self.nodes, nodes => nodes.len()) - self.wheel.owed()
    }

    /// O(1), and a move to come for each level between the hand and the deadline. Once in some
    /// thousand calls a slot is split, which makes a ring of slots and counts some hundred timers.
    /// A wheel that outgrows its array copies it: see [`Builder::capacity`].
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        match &mut self.nodes {
            Either::Small(nodes) => match nodes.reserve(FLAT) {
                Some(id) => self.wheel.insert(nodes, id, deadline, value),
                None => self.insert_too_many(deadline, value),
            },
            Either::Large(nodes) => match nodes.reserve(u32::MAX as usize) {
                Some(id) => self.wheel.insert(nodes, id, deadline, value),
                None => panic!("a wheel holds fewer than 2^32 timers"),
            },
        }
    }

    /// O(1) amortised; at worst what is owed is done, see the [costs](crate#cost).
    #[inline(always)]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        with!(&mut self.nodes, nodes => self.wheel.cancel(nodes, id))
    }

    /// As [`cancel`](Timer::cancel) and [`insert`](Timer::insert) together, in the same place.
    #[inline(always)]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        with!(&mut self.nodes, nodes => self.wheel.reschedule(nodes, id, deadline))
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        with!(&self.nodes, nodes => nodes.get(id).map(|armed| armed.deadline))
    }

    /// O(1). Exact for the timers of level 0, else the first tick of the slot that the earliest
    /// timer is in.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.wheel.next_wakeup()
    }

    /// O(1) amortised; at worst a limited number of moves a level, whether anything fires or not.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        with!(&mut self.nodes, nodes => self.wheel.pop_expired(nodes, now))
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        if self.wheel.is_nothing_due(now) {
            self.wheel.meter.tally(Work::Comparison, 1);
            return 0;
        }
        let mut fired = 0;
        with!(&mut self.nodes, nodes => {
            while let Some(expired) = self.wheel.pop_expired(nodes, now) {
                fired += 1;
                on_expiry(expired);
            }
        });
        fired
    }

    /// Unlinks and moves some thirty timers at most, see the [costs](crate#cost).
    #[inline]
    fn compact(&mut self) {
        with!(&mut self.nodes, nodes => self.wheel.settle(nodes));
    }
}

#[cfg(test)]
mod tests;
