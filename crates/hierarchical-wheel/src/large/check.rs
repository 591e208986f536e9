//! Lists the slots of a large wheel for the check of the invariants, and checks its hints.

use super::{HINTS_FROM, Level, Slot};
use crate::hints::is_hint;
use crate::nodes::OUTSIDE;
use crate::wheel::Wheel;
use crate::{HierarchicalWheel, Tick, Timer, TimerId};
use alloc::vec::Vec;
use wheelhouse_core::meter::Meter;

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// The slots that may have timers: sentinel, first tick, number and last tick of each.
    pub(crate) fn slots_large(&self) -> Vec<(u32, Tick, u32, Tick)> {
        let mut slots = Vec::new();
        for level in 0..self.levels() {
            let hand = self.slot_at(level, self.hand);
            let Level { blocks, open, .. } = self.large.levels[level as usize];
            let end = self.slot_at(level, Tick::MAX).at;
            let block = hand.at >> self.bits;
            let last = (u128::from(block + 2) << self.bits).min(u128::from(end) + 1) as Tick;
            let last = last.wrapping_sub(1).min(end);
            // Above level 0, the slot that the hand is in is empty.
            for at in hand.at + Tick::from(level > 0)..=last {
                let slot = Slot { level, at };
                let (number, start) = (self.number_of(slot), self.start_of_slot(slot));
                let first = blocks[Self::side_of(at >> self.bits) as usize];
                if first == OUTSIDE {
                    assert!(!self.occupied.contains(number), "it has no slots");
                    continue;
                }
                let is_next = at >> self.bits != block;
                let is_closed = level + 1 < self.levels() && !self.is_open(level + 1);
                assert!(!(is_next && is_closed && self.occupied.contains(number)), "too early");
                let mut sentinel = first + (at as u32 & self.mask);
                if level > 0 && at == hand.at + 1 && self.is_open(level) {
                    assert_eq!(sentinel, open);
                    sentinel = self.large.older + level;
                }
                slots.push((sentinel, start, number, start + (self.width_of(slot) - 1)));
            }
        }
        slots
    }
}

/// When a slot opens, it has the hints of all its timers that were noted, even if they are fewer
/// than are added at once.
#[test]
fn a_slot_that_opens_has_all_its_hints() {
    let mut wheel = HierarchicalWheel::new();
    let (slot, mut noted) = (Slot { level: 1, at: 2 }, Vec::new());
    for n in 0..1_000 {
        let at = wheel.insert(16 + n % 8, n).index();
        if is_hint(at) && wheel.nodes.places() > HINTS_FROM {
            noted.push(at);
        }
    }
    let hints = |wheel: &HierarchicalWheel<u64>| wheel.large.hints.count(wheel.number_of(slot));
    assert_eq!(hints(&wheel), 0, "{} timers are fewer than are added at once", noted.len());
    // The slot opens, and some of its timers move.
    assert_eq!(wheel.advance(8, |_| ()), 0);
    let older = wheel.large.older + slot.level;
    let mut left = Vec::new();
    let mut at = wheel.nodes.prev(older);
    while at != older {
        left.push(at);
        at = wheel.nodes.prev(at);
    }
    let expected = left.iter().filter(|at| noted.contains(at)).count();
    assert!(expected > 10, "{} timers are left", left.len());
    assert_eq!(hints(&wheel), expected);
}

/// The number of hints of a slot tells how many timers it has, so the notes of one place do not all
/// become hints.
#[test]
fn a_place_that_is_used_again_and_again_has_one_hint_in_a_batch() {
    let mut wheel = HierarchicalWheel::new();
    let slot = Slot { level: 1, at: 2 };
    let (mut inserted, mut last) = (0, None);
    while inserted < 400 || last.is_none_or(|id: TimerId| !is_hint(id.index())) {
        last = Some(wheel.insert(16, inserted));
        inserted += 1;
    }
    let last = last.expect("a timer was inserted");
    let mut id = last;
    for n in 0..200 {
        assert!(wheel.cancel(id).is_some());
        id = wheel.insert(16, n);
        assert_eq!(id.index(), last.index(), "the place is used again");
    }
    wheel.place_hints();
    let hints = wheel.large.hints.count(wheel.number_of(slot));
    assert!(hints as u64 <= inserted / 32 + 4, "{hints} hints for {inserted} timers");
}
