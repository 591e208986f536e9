//! How timers cascade and fire.

use super::{NONE, SlotLookup, Wheel, highest_difference};
use crate::nodes::LiveTimer;
use wheelhouse_core::lists::LINKS_OUT;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick};

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// Moves the hand to the next timer that is due, or to `now` if none is, and cascades the slots
    /// on the way. Returns the sentinel of the slot of the timer. Overdue timers are not
    /// considered.
    #[inline]
    fn first_due(&mut self) -> Option<u32> {
        while self.next.start <= self.now && self.next.number != NONE.number {
            self.hand = self.next.start;
            if self.next.number <= self.mask {
                let slot = self.lookups[0].first + self.next.number;
                debug_assert!(self.hand <= self.now && !self.nodes.is_empty(slot));
                return Some(slot);
            }
            self.cascade();
        }
        debug_assert!(self.hand <= self.now, "the hand does not move back");
        self.hand = self.now;
        None
    }

    /// Moves the timers of the next slot down, in order. The hand is at the first tick of the slot,
    /// so all of them go to lower levels, unless they were postponed. The lower levels are empty,
    /// so the order of insertion is kept.
    fn cascade(&mut self) {
        let number = self.next.number;
        debug_assert_eq!(self.hand, self.next.start, "the hand is at the slot");
        debug_assert_eq!(self.occupied.first(&NoMeter), Some(number), "lower levels are empty");
        self.meter.tally(Work::SlotVisit, 1);
        self.occupied.remove(number);
        let slot = self.first_of(number >> self.bits) + (number & self.mask);
        self.relink_list(slot);
        debug_assert!(!self.occupied.contains(number), "all timers of the slot have moved");
        self.find_next::<false>();
    }

    /// Moves all timers of a slot to the slots of their deadlines, in order.
    #[inline(always)]
    pub(crate) fn relink_list(&mut self, slot: u32) {
        let mut at = self.nodes.take_list(slot);
        while at != slot {
            let (next, deadline) = self.nodes.next(at);
            self.meter.tally(Work::CascadeMove, 1);
            self.relink(at, deadline);
            at = next;
        }
    }

    /// Links a timer that cascades. Counts neither links nor a slot visit, because the move
    /// includes them. The caller updates `next`.
    #[inline(always)]
    fn relink(&mut self, at: u32, deadline: Tick) {
        debug_assert!(deadline >= self.hand, "a timer that cascades is not before the hand");
        let SlotLookup { shift, first } = self.lookups[highest_difference(deadline, self.hand)];
        let sentinel = first + ((deadline >> shift) as u32 & self.mask);
        let links = match self.nodes.append(sentinel, at) {
            Some(links) => links,
            None => self.append_elsewhere(at, deadline).0,
        };
        self.nodes.set_links(at, links);
        if links.is_alone() {
            self.occupied.insert(self.nodes.number(links.next));
        }
    }

    /// Moves the first timer of a slot, which was postponed, to the slot of its deadline.
    #[cold]
    #[inline(never)]
    fn move_first(&mut self, slot: u32) {
        let (at, deadline, is_empty) = self.nodes.take_first(slot);
        debug_assert!(deadline > self.hand, "the timer was postponed");
        self.relink_postponed(at, deadline);
        if is_empty {
            self.vacate(slot);
        }
    }

    /// Links a postponed timer, whose deadline is after its former slot.
    #[inline(never)]
    pub(crate) fn relink_postponed(&mut self, at: u32, deadline: Tick) {
        debug_assert!(deadline >= self.hand, "a postponed timer is not overdue");
        self.meter.tally(Work::CascadeMove, 1);
        self.link(at, deadline, |nodes, links| nodes.set_links(at, links));
    }

    #[cold]
    #[inline(never)]
    fn pop_overdue(&mut self, at: u32) -> Expired<T> {
        let (id, LiveTimer { deadline, arrival, value, .. }) = self.nodes.remove_overdue(at);
        let arrival = arrival.expect("a timer that is overdue has an arrival");
        self.unlinked_overdue(deadline, arrival);
        debug_assert!(deadline <= self.now, "an overdue timer is due");
        Expired { id, deadline, value }
    }

    /// Removes the earliest timer that is due at `now`.
    #[inline]
    pub(crate) fn pop_due(&mut self) -> Option<Expired<T>> {
        if let Some(at) = self.overdue.first() {
            return Some(self.pop_overdue(at));
        }
        if self.is_large() { self.pop_listed::<true>() } else { self.pop_listed::<false>() }
    }

    /// Removes the earliest timer that is due at `now` and in a slot.
    #[inline]
    fn pop_listed<const LARGE: bool>(&mut self) -> Option<Expired<T>> {
        let (id, timer, is_empty) = loop {
            let slot = if LARGE { self.first_due_large() } else { self.first_due() }?;
            match self.nodes.pop(slot, self.hand) {
                Some(popped) => break popped,
                None => self.move_first(slot),
            }
        };
        debug_assert_eq!(timer.deadline, self.hand, "a slot of level 0 has one tick");
        self.meter.tally(Work::Link, LINKS_OUT);
        if is_empty {
            self.occupied.remove(self.next.number);
            self.find_next::<LARGE>();
        }
        Some(Expired { id, deadline: timer.deadline, value: timer.value })
    }
}
