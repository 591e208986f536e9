//! The wheel: how timers are placed. How they cascade and fire is in [`fire`].
//!
//! These two files have all the code of a small wheel. The additional code of a large wheel is in
//! [`large`](crate::large).

#[cfg(test)]
mod check;
mod fire;
#[cfg(test)]
mod tests;

use crate::bitmap::Bitmap;
use crate::hints;
use crate::large::Large;
use crate::nodes::{Links, Nodes, OUTSIDE};
use wheelhouse_core::arena::Link;
use wheelhouse_core::lists::{LINKS_IN, LINKS_OUT};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::overdue::{Arrivals, Overdue};
use wheelhouse_core::{SlotCount, Tick, TimerId};

pub(crate) const DEFAULT_SLOTS: usize = 256;

/// A wheel with more timers than this is large. Up to this number, a wheel fits the second-level
/// cache. (Small in unit tests, so that they cover both layouts.)
const SMALL: u32 = if cfg!(test) { 1 << 6 } else { 1 << 15 };

/// The implementation of [`HierarchicalWheel`](crate::HierarchicalWheel) and
/// [`ListWheel`](crate::ListWheel). If `OPENS` is `true`, the wheel becomes large, and slots open
/// before the hand reaches them.
#[derive(Clone)]
pub struct Wheel<T, M = NoMeter, const OPENS: bool = true> {
    /// How to find the slot of a deadline, indexed by the highest bit in which the deadline differs
    /// from the hand.
    pub(crate) lookups: [SlotLookup; 64],
    /// The number of bits of a digit.
    pub(crate) bits: u32,
    /// The highest digit, which is also the mask of a digit.
    pub(crate) mask: u32,
    pub(crate) nodes: Nodes<T>,
    pub(crate) large: Large,
    pub(crate) occupied: Bitmap,
    /// The tick that deadlines are compared with to choose a slot. No occupied slot starts before
    /// it. It is at most `now`, and before `now` only while timers are due, or after a panic of the
    /// callback.
    pub(crate) hand: Tick,
    pub(crate) now: Tick,
    /// The earliest occupied slot.
    pub(crate) next: Next,
    /// Timers whose deadline was before the hand when they were inserted or rescheduled.
    overdue: Overdue<M>,
    /// A call with a tick before this one has nothing to do.
    pub(crate) due: Tick,
    pub(crate) meter: M,
}

/// How to find the slot of a deadline on one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotLookup {
    /// The number of bits to the right of the digit.
    shift: u32,
    /// The sentinel of the slot with digit 0, or [`OUTSIDE`] if the level has no slots yet.
    pub(crate) first: u32,
}

/// An occupied slot and its first tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub(crate) start: Tick,
    pub(crate) number: u32,
}

/// No slot is occupied.
pub(crate) const NONE: Next = Next { start: Tick::MAX, number: u32::MAX };

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    pub(crate) fn with_parts(slots: SlotCount, start: Tick, capacity: usize, meter: M) -> Self {
        let bits = slots.bits();
        let levels = u64::BITS.div_ceil(bits);
        let (mut room, mut free) = (0, capacity);
        if capacity > 0 {
            room = capacity + (levels << bits) as usize;
            if OPENS && capacity > SMALL as usize {
                // The sentinels of the small wheel become places for timers.
                free = room;
                room += Large::sentinels();
            }
        }
        let mut wheel = Self {
            lookups: [SlotLookup { shift: 0, first: OUTSIDE }; 64],
            bits,
            mask: (1 << bits) - 1,
            nodes: Nodes::with_capacity(room, free, if OPENS { SMALL } else { OUTSIDE }),
            large: Large::new(),
            occupied: Bitmap::new(levels << bits),
            hand: start,
            now: start,
            next: NONE,
            overdue: Overdue::new(),
            due: Tick::MAX,
            meter,
        };
        wheel.reset_lookups();
        // With a capacity, all levels are added now, so that a small wheel allocates nothing later.
        let levels = if capacity > 0 { levels } else { 1 };
        (0..levels).for_each(|level| wheel.add_level(level));
        wheel
    }

    #[inline(always)]
    pub(crate) fn is_large(&self) -> bool {
        OPENS && self.large.is_on()
    }

    /// Adds the slots of a level of a small wheel.
    #[cold]
    fn add_level(&mut self, level: u32) {
        let first = self.nodes.add_slots(self.mask + 1, level << self.bits);
        self.set_lookups(level, first);
    }

    /// Resets all lookups to levels that have no slots yet.
    pub(crate) fn reset_lookups(&mut self) {
        let bits = self.bits;
        self.lookups = core::array::from_fn(|bit| SlotLookup {
            shift: bit as u32 / bits * bits,
            first: OUTSIDE,
        });
    }

    /// Sets the slots of a level. Deadlines whose highest digit that differs from the hand's is on
    /// this level go to these slots.
    pub(crate) fn set_lookups(&mut self, level: u32, first: u32) {
        let bits = self.bits as usize;
        let lookups = self.lookups.iter_mut().skip(level as usize * bits).take(bits);
        lookups.for_each(|lookup| lookup.first = first);
    }

    /// The first sentinel of a level of a small wheel.
    pub(crate) fn first_of(&self, level: u32) -> u32 {
        self.lookups[(level * self.bits) as usize].first
    }

    /// The number of levels, which cover all of `u64`.
    #[inline]
    pub(crate) fn levels(&self) -> u32 {
        u64::BITS.div_ceil(self.bits)
    }

    /// Links a timer to the slot of its deadline. `write` writes the links to the node, and the
    /// timer if it is new, so that the node is written once.
    #[inline(always)]
    pub(crate) fn link(
        &mut self,
        at: u32,
        deadline: Tick,
        write: impl FnOnce(&mut Nodes<T>, Links),
    ) {
        if deadline < self.hand {
            write(&mut self.nodes, Links::NONE);
            return self.link_overdue(at, deadline);
        }
        let SlotLookup { shift, first } = self.lookups[highest_difference(deadline, self.hand)];
        let sentinel = first + ((deadline >> shift) as u32 & self.mask);
        let (links, shift) = match self.nodes.append(sentinel, at) {
            Some(links) => (links, shift),
            None => self.append_elsewhere(at, deadline),
        };
        write(&mut self.nodes, links);
        self.meter.tally(Work::SlotVisit, 1);
        self.meter.tally(Work::Link, LINKS_IN);
        if links.is_alone() {
            self.occupy(self.nodes.number(links.next), deadline >> shift << shift);
        }
        // Last, and with the place alone, so that no register holds the deadline or the links for
        // a branch that a small wheel never takes.
        if OPENS && hints::is_hint(at) {
            self.remember(at);
        }
        debug_assert!(self.due <= self.earliest(), "no call misses a timer");
    }

    /// Appends a timer if its level has no slots yet, or if its slot is open and new timers go to a
    /// level below. Returns the links and the shift of the level.
    // `cold` keeps the registers that this call needs out of the common path: 4 instructions less
    // for an insertion. So it does for `move_first`: 7 less for a timer that fires.
    #[cold]
    #[inline(never)]
    fn append_elsewhere(&mut self, at: u32, deadline: Tick) -> (Links, u32) {
        let (sentinel, shift) = if self.is_large() {
            self.slot_of(deadline)
        } else {
            let bit = highest_difference(deadline, self.hand);
            let shift = self.lookups[bit].shift;
            self.add_level(shift / self.bits);
            (self.lookups[bit].first + ((deadline >> shift) as u32 & self.mask), shift)
        };
        (self.nodes.append(sentinel, at).expect("the slot is there"), shift)
    }

    #[cold]
    #[inline(never)]
    fn link_overdue(&mut self, at: u32, deadline: Tick) {
        debug_assert!(deadline < self.hand, "the deadline has no slot");
        let arrival = self.overdue.insert(&mut self.nodes, deadline, at, &self.meter);
        self.nodes.set_arrival(at, arrival);
        self.due = self.due.min(deadline);
        debug_assert!(self.due <= self.earliest(), "no call misses a timer");
    }

    /// Updates the wheel after a timer has left its list.
    #[inline(always)]
    pub(crate) fn unlinked(&mut self, emptied: Option<u32>, deadline: Tick, arrival: Option<Link>) {
        if let Some(arrival) = arrival {
            return self.unlinked_overdue(deadline, arrival);
        }
        self.meter.tally(Work::Link, LINKS_OUT);
        if let Some(sentinel) = emptied {
            self.vacate(sentinel);
        }
    }

    #[cold]
    #[inline(never)]
    fn unlinked_overdue(&mut self, deadline: Tick, arrival: Link) {
        self.overdue.remove(deadline, arrival, &self.meter);
        if self.is_large() { self.set_due::<true>() } else { self.set_due::<false>() }
    }

    /// Updates the wheel after a slot that starts at `start` has received its first timer.
    #[inline]
    pub(crate) fn occupy(&mut self, number: u32, start: Tick) {
        debug_assert!(!self.occupied.contains(number), "the slot was empty");
        self.occupied.insert(number);
        if start < self.next.start || self.next.number == NONE.number {
            self.next = Next { start, number };
            self.due = self.due.min(start);
        }
        if self.is_large() {
            self.occupied_large(number, start);
        }
    }

    /// Updates the wheel after a slot has lost its last timer.
    #[inline]
    pub(crate) fn vacate(&mut self, sentinel: u32) {
        let number = self.nodes.number(sentinel);
        debug_assert!(self.occupied.contains(number), "the slot had timers");
        debug_assert!(self.nodes.is_empty(sentinel), "the slot has no timers left");
        self.occupied.remove(number);
        if self.is_large() {
            self.large.forget(number);
            if self.next.number == number {
                self.find_next::<true>();
            }
        } else if self.next.number == number {
            self.find_next::<false>();
        }
    }

    // The methods with a parameter LARGE are compiled once for each kind of wheel, so that a call
    // checks the kind only once.

    /// Searches the earliest occupied slot, and updates `next` and `due`.
    #[inline]
    pub(crate) fn find_next<const LARGE: bool>(&mut self) {
        self.next = if LARGE {
            self.find_next_large()
        } else {
            match self.occupied.first(&self.meter) {
                Some(number) => Next { start: self.start_of(number), number },
                None => NONE,
            }
        };
        debug_assert!(
            self.next.number == NONE.number
                || self.next.start >= self.hand && self.occupied.contains(self.next.number),
            "the next slot has timers and does not start before the hand"
        );
        self.set_due::<LARGE>();
    }

    /// A tick at or before the earliest deadline; `Tick::MAX` if there is no timer.
    #[inline]
    pub(crate) fn earliest(&self) -> Tick {
        self.overdue.earliest().unwrap_or(self.next.start)
    }

    #[inline]
    pub(crate) fn set_due<const LARGE: bool>(&mut self) {
        self.due = self.earliest();
        if LARGE {
            self.due = self.due.min(self.next_work());
        }
    }

    /// The first tick of an occupied slot of a small wheel.
    #[inline(always)]
    fn start_of(&self, number: u32) -> Tick {
        let (level, digit) = (number >> self.bits, number & self.mask);
        let shift = level * self.bits;
        // The digits above this level are those of the hand. Two shifts, because on the highest
        // level one shift would be by 64 bits or more, which overflows.
        (self.hand >> shift >> self.bits << self.bits | Tick::from(digit)) << shift
    }

    /// Adds a place and returns its handle. Makes the wheel large if a small wheel is full.
    #[inline]
    pub(crate) fn new_place(&mut self) -> TimerId {
        if self.nodes.is_at_limit() {
            assert!(OPENS && !self.large.is_on(), "a wheel holds fewer than 2^32 timers");
            self.become_large();
        }
        self.nodes.new_place()
    }
}

/// The highest bit in which a deadline differs from the hand; 0 if they are equal.
#[inline(always)]
pub(crate) fn highest_difference(deadline: Tick, hand: Tick) -> usize {
    ((deadline ^ hand) | 1).ilog2() as usize
}
