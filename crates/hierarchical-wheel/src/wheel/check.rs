//! Checks the invariants of `wheel` and `large` by walking all slots.

use super::*;
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use wheelhouse_core::Timer;

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// Checks that each timer is in the slot of its deadline, and that exactly the slots with
    /// timers are marked as occupied.
    pub(crate) fn check(&self) {
        self.check_deadlines(|slot, deadline| slot.contains(&deadline));
    }

    /// The same check if timers were postponed: these may be in slots before those of their
    /// deadlines.
    pub(crate) fn check_postponed(&self) {
        self.check_deadlines(|slot, deadline| *slot.start() <= deadline);
    }

    fn check_deadlines(&self, is_right: impl Fn(RangeInclusive<Tick>, Tick) -> bool) {
        let slots = if self.is_large() { self.slots_large() } else { self.slots() };
        let (mut timers, mut first) = (0, NONE);
        for (slot, start, number, last) in slots {
            let (mut at, mut found) = (slot, 0);
            loop {
                let next = self.nodes.following(at);
                if next == slot {
                    break;
                }
                assert_eq!(self.nodes.prev(next), at);
                let deadline = self.nodes.deadline_at(next);
                assert!(is_right(start..=last, deadline) && deadline >= self.hand);
                (at, found) = (next, found + 1);
            }
            assert_eq!(self.nodes.prev(slot), at);
            assert_eq!(self.nodes.number(slot), number);
            assert_eq!(self.occupied.contains(number), found > 0, "slot {number} has {found}");
            if found > 0 && (first.number == NONE.number || start < first.start) {
                first = Next { start, number };
            }
            timers += found;
        }
        assert_eq!(first.start, self.next.start, "the next slot");
        assert_eq!(timers + self.overdue.len(), self.len());
    }

    /// The slots of a small wheel: sentinel, first tick, number, last tick.
    fn slots(&self) -> Vec<(u32, Tick, u32, Tick)> {
        let levels = 0..self.levels();
        let levels = levels.filter(|level| self.first_of(*level) != OUTSIDE);
        let slots = levels.flat_map(|level| {
            let hand = self.hand >> (level * self.bits) & Tick::from(self.mask);
            (0..=self.mask).map(move |digit| (level, digit, Tick::from(digit) < hand))
        });
        let slots = slots.filter(|(_, _, is_past)| !is_past);
        slots
            .map(|(level, digit, _)| {
                let number = (level << self.bits) + digit;
                let start = self.start_of(number);
                let last = start | ((1 << (level * self.bits)) - 1);
                (self.first_of(level) + digit, start, number, last)
            })
            .collect()
    }
}
