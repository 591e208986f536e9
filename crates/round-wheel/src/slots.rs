//! The slots, and which of them hold live timers.

use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::arena::Reference;
use wheelhouse_core::{SlotCount, Tick};

/// An array that has room for this many references, the least that is allocated, is not given back.
const KEEP: usize = 4;

/// The references of one slot, in order of insertion.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) references: Vec<Reference>,
    /// No reference has an earlier deadline.
    pub(crate) earliest: Tick,
    /// How many of the references are current.
    pub(crate) live: usize,
}

impl Slot {
    const EMPTY: Self = Self { references: Vec::new(), earliest: Tick::MAX, live: 0 };

    /// References that are not current.
    pub(crate) fn stale(&self) -> usize {
        self.references.len() - self.live
    }

    #[inline]
    pub(crate) fn push(&mut self, reference: Reference) {
        self.references.push(reference);
        self.earliest = self.earliest.min(reference.deadline);
        self.live += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.references.clear();
        self.earliest = Tick::MAX;
        self.live = 0;
        self.shrink();
    }

    /// Gives memory back when three quarters of it are unused: a wheel whose timers gather in one slot after the other
    /// would otherwise keep room for all of them in each.
    pub(crate) fn shrink(&mut self) {
        let (used, room) = (self.references.len(), self.references.capacity());
        if room > KEEP && used < room / 4 {
            self.references.shrink_to(2 * used);
        }
    }
}

/// All slots.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    /// Bit i: slot i holds a live timer.
    occupied: Vec<u64>,
}

impl Slots {
    pub(crate) fn new(count: SlotCount) -> Self {
        Self { slots: vec![Slot::EMPTY; count.get()], occupied: vec![0; count.get().div_ceil(64)] }
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a deadline.
    #[inline]
    pub(crate) fn of(&self, deadline: Tick) -> usize {
        deadline as usize & (self.slots.len() - 1)
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> &Slot {
        &self.slots[at]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.slots[at]
    }

    #[inline]
    pub(crate) fn push(&mut self, reference: Reference) {
        let at = self.of(reference.deadline);
        self.slots[at].push(reference);
        self.occupied[at / 64] |= 1 << (at % 64);
    }

    pub(crate) fn clear(&mut self, at: usize) {
        self.slots[at].clear();
        self.occupied[at / 64] &= !(1 << (at % 64));
    }

    /// The first occupied slot at or after `from`, within the `count` slots that follow in the order of the hand, and how
    /// many slots after `from` it is.
    #[inline]
    pub(crate) fn next_occupied(&self, from: usize, count: usize) -> Option<(usize, usize)> {
        let mask = self.slots.len() - 1;
        let mut passed = 0;
        while passed < count {
            let at = (from + passed) & mask;
            let word = self.occupied[at / 64] >> (at % 64);
            if word != 0 {
                passed += word.trailing_zeros() as usize;
                return (passed < count).then_some(((from + passed) & mask, passed));
            }
            // On to the next word, or, in a wheel of fewer slots than a word has bits, once round.
            passed += 64.min(self.slots.len()) - at % 64;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_occupied_slot_round_the_wheel() {
        for count in [2, 8, 64, 256] {
            let slots_at = |occupied: &[u64]| {
                let mut slots = Slots::new(SlotCount::new(count).unwrap());
                for &deadline in occupied {
                    slots.push(Reference { deadline, index: 0, stamp: 0 });
                }
                slots
            };
            for only in 0..count {
                let slots = slots_at(&[only as u64]);
                for from in 0..count {
                    let distance = (only + count - from) % count;
                    assert_eq!(slots.next_occupied(from, count), Some((only, distance)));
                    assert_eq!(slots.next_occupied(from, distance), None);
                }
            }
            assert_eq!(slots_at(&[]).next_occupied(1, count), None);
            let slots = slots_at(&[0, count as u64 - 1]);
            assert_eq!(slots.next_occupied(count - 1, count), Some((count - 1, 0)));
        }
    }

    #[test]
    fn a_slot_gives_memory_back() {
        let mut slot = Slot::EMPTY;
        (0..10_000).for_each(|deadline| slot.push(Reference { deadline, index: 0, stamp: 0 }));
        slot.clear();
        assert!(slot.references.capacity() <= KEEP);
    }
}
