//! The slots, and which of them hold live timers.

use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::arena::Link;
use wheelhouse_core::{SlotCount, Tick};

/// An array that has room for this many timers, the least that is allocated, is not given back.
const KEEP: usize = 4;

/// A timer as a slot knows it: its deadline, and its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) deadline: Tick,
    pub(crate) index: u32,
}

impl Waiting {
    /// What is left where a timer was.
    pub(crate) const HOLE: Self = Self { deadline: Tick::MAX, index: u32::MAX };

    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.index != Self::HOLE.index
    }
}

/// The link of a timer at a position of an array.
#[inline]
pub(crate) fn link_to(position: usize) -> Link {
    Link::MIN.saturating_add(position as u32)
}

/// The position that a link was made for.
#[inline]
pub(crate) fn position_of(link: Link) -> usize {
    link.get() as usize - 1
}

/// The timers of one slot, in order of insertion, and holes where others were.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    timers: Vec<Waiting>,
    /// No timer has an earlier deadline.
    earliest: Tick,
    live: usize,
}

impl Slot {
    const EMPTY: Self = Self { timers: Vec::new(), earliest: Tick::MAX, live: 0 };

    #[inline]
    pub(crate) fn timers(&self) -> &[Waiting] {
        &self.timers
    }

    #[inline]
    pub(crate) fn earliest(&self) -> Tick {
        self.earliest
    }

    #[inline]
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    #[inline]
    fn push(&mut self, timer: Waiting) -> Link {
        self.timers.push(timer);
        self.earliest = self.earliest.min(timer.deadline);
        self.live += 1;
        link_to(self.timers.len() - 1)
    }

    /// Leaves a hole where a timer was.
    #[inline]
    fn erase(&mut self, link: Link) {
        self.timers[position_of(link)] = Waiting::HOLE;
        self.live -= 1;
    }

    /// Takes out the timers due at `now` or before, in order, leaving holes.
    pub(crate) fn take_due(&mut self, now: Tick, mut due: impl FnMut(Waiting)) {
        self.earliest = Tick::MAX;
        for timer in &mut self.timers {
            if timer.deadline > now || !timer.is_live() {
                self.earliest = self.earliest.min(timer.deadline);
                continue;
            }
            due(core::mem::replace(timer, Waiting::HOLE));
            self.live -= 1;
        }
    }

    /// Whether holes outnumber the timers.
    #[inline]
    pub(crate) fn is_sparse(&self) -> bool {
        self.timers.len() > 2 * self.live + KEEP
    }

    pub(crate) fn has_holes(&self) -> bool {
        self.timers.len() > self.live
    }

    /// Drops the holes. `moved` is told where each timer is now.
    pub(crate) fn compact(&mut self, mut moved: impl FnMut(u32, Link)) {
        self.timers.retain(Waiting::is_live);
        self.earliest = Tick::MAX;
        for (position, timer) in self.timers.iter().enumerate() {
            self.earliest = self.earliest.min(timer.deadline);
            moved(timer.index, link_to(position));
        }
        self.shrink();
    }

    fn clear(&mut self) {
        self.timers.clear();
        self.earliest = Tick::MAX;
        self.shrink();
    }

    /// Gives memory back when three quarters of it are unused: a wheel whose timers gather in one slot after the other
    /// would otherwise keep room for all of them in each.
    fn shrink(&mut self) {
        let (used, room) = (self.timers.len(), self.timers.capacity());
        if room > KEEP && used < room / 4 {
            self.timers.shrink_to(2 * used);
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

    /// Puts a timer behind the others of its slot; returns its link.
    #[inline]
    pub(crate) fn push(&mut self, timer: Waiting) -> Link {
        let at = self.of(timer.deadline);
        self.occupied[at / 64] |= 1 << (at % 64);
        self.slots[at].push(timer)
    }

    /// Takes a timer out of a slot.
    #[inline]
    pub(crate) fn erase(&mut self, at: usize, link: Link) {
        self.slots[at].erase(link);
    }

    /// Empties a slot in which only holes are left.
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

    fn timer(deadline: Tick) -> Waiting {
        Waiting { deadline, index: deadline as u32 }
    }

    #[test]
    fn finds_the_next_occupied_slot_round_the_wheel() -> Result<(), wheelhouse_core::SlotCountError> {
        for count in [2, 8, 64, 256] {
            let empty = Slots::new(SlotCount::new(count)?);
            let slots_at = |occupied: &[u64]| {
                let mut slots = empty.clone();
                occupied.iter().for_each(|&deadline| _ = slots.push(timer(deadline)));
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
            assert_eq!(empty.next_occupied(1, count), None);
            let slots = slots_at(&[0, count as u64 - 1]);
            assert_eq!(slots.next_occupied(count - 1, count), Some((count - 1, 0)));
        }
        Ok(())
    }

    #[test]
    fn what_is_due_comes_out_in_order_and_the_rest_moves_together() {
        let mut slot = Slot::EMPTY;
        let deadlines = [7, 3, 9, 3, 5, 9, 1];
        let mut links = deadlines.map(|deadline| slot.push(timer(deadline)));
        slot.erase(links[1]);
        let mut due = Vec::new();
        slot.take_due(5, |timer| due.push(timer.deadline));
        assert_eq!((due.as_slice(), slot.earliest(), slot.live()), ([3, 5, 1].as_slice(), 7, 3));
        slot.compact(|index, link| links[index as usize % 7] = link);
        assert_eq!(slot.timers(), [7, 9, 9].map(timer));
        slot.erase(links[0]);
        assert_eq!((slot.live(), slot.timers()[0]), (2, Waiting::HOLE));
    }

    #[test]
    fn a_slot_gives_memory_back() {
        let mut slot = Slot::EMPTY;
        (0..10_000).for_each(|deadline| _ = slot.push(timer(deadline)));
        slot.clear();
        assert!(slot.timers.capacity() <= KEEP);
    }
}
