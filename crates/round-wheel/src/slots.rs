//! The slots, with a bitmap of those that have timers and bounds on their deadlines.
//!
//! Each slot has a lower bound on its deadlines, and each *block* of 64 slots a lower bound on
//! those of its slots. So the hand passes a block in which nothing is due with one comparison, and
//! the next due timer is found in a little more than M / 64 steps:
//!
//! ```text
//! bounds of blocks        40 937            40 192             41 500
//! bounds of slots    [ - | 40 937 | - ] [ 40 192 | 56 576 ] [ 41 500 ]
//! hand at 40 100  -->                        ^ due first: found by reading each block once
//! ```
//!
//! Insertions lower the bounds. The hand raises them when it passes. A cancellation does not change
//! them.

use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::arena::Link;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::{SlotCount, Tick};

/// An array with room for at most this many timers, the smallest allocation, is never shrunk.
const KEEP: usize = 4;

/// The number of slots in a block: the number of bits of a word, so that one word is the bitmap of
/// a block.
pub(crate) const BLOCK: usize = u64::BITS as usize;

/// The entry of a timer in a slot: its deadline, and its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) deadline: Tick,
    pub(crate) index: u32,
}

impl Waiting {
    /// The entry that replaces a removed timer.
    pub(crate) const HOLE: Self = Self { deadline: Tick::MAX, index: u32::MAX };

    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.index != Self::HOLE.index
    }
}

#[inline]
pub(crate) fn link_to(position: usize) -> Link {
    Link::MIN.saturating_add(position as u32)
}

#[inline]
pub(crate) fn position_of(link: Link) -> usize {
    link.get() as usize - 1
}

/// The timers of one slot, in order of insertion, with holes where timers were removed.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) timers: Vec<Waiting>,
    /// A lower bound on the deadlines.
    pub(crate) earliest: Tick,
    live: u32,
    /// `true` if a timer has exactly that deadline; `false` if it may have been removed.
    is_exact: bool,
}

impl Slot {
    const EMPTY: Self = Self { timers: Vec::new(), earliest: Tick::MAX, live: 0, is_exact: true };

    #[inline]
    pub(crate) fn live(&self) -> usize {
        self.live as usize
    }

    /// The earliest deadline. O(1), or O(k) if the timer that had it was removed.
    pub(crate) fn exact_earliest(&self, meter: &impl Meter) -> Tick {
        if self.is_exact {
            return self.earliest;
        }
        meter.tally(Work::EntryScan, self.timers.len() as u64);
        // The deadline of a hole is `Tick::MAX`, so holes do not affect the minimum.
        self.timers.iter().map(|timer| timer.deadline).min().unwrap_or(Tick::MAX)
    }

    #[inline(always)]
    fn push(&mut self, timer: Waiting) -> Link {
        self.timers.push(timer);
        // A live timer has the bound as its deadline now, even if the former one was removed.
        if timer.deadline <= self.earliest {
            (self.earliest, self.is_exact) = (timer.deadline, true);
        }
        self.live += 1;
        link_to(self.timers.len() - 1)
    }

    /// Replaces a timer by a hole.
    #[inline]
    pub(crate) fn erase(&mut self, link: Link) {
        let gone = core::mem::replace(&mut self.timers[position_of(link)], Waiting::HOLE);
        debug_assert!(gone.is_live(), "a timer is removed once");
        self.is_exact &= gone.deadline != self.earliest;
        self.live -= 1;
    }

    /// Removes the timers due at or before `now`, in order, and leaves holes.
    pub(crate) fn take_due(&mut self, now: Tick, mut due: impl FnMut(Waiting)) {
        (self.earliest, self.is_exact) = (Tick::MAX, true);
        for timer in &mut self.timers {
            // At the last tick a hole looks due. Its deadline does not lower the bound.
            if timer.deadline > now || !timer.is_live() {
                self.earliest = self.earliest.min(timer.deadline);
                continue;
            }
            due(core::mem::replace(timer, Waiting::HOLE));
            self.live -= 1;
        }
    }

    /// Returns `true` if holes outnumber the timers.
    #[inline]
    pub(crate) fn is_sparse(&self) -> bool {
        self.timers.len() > 2 * self.live() + KEEP
    }

    pub(crate) fn has_holes(&self) -> bool {
        self.timers.len() > self.live()
    }

    /// Drops the holes. Calls `moved` with the new link of each timer.
    pub(crate) fn compact(&mut self, mut moved: impl FnMut(u32, Link)) {
        self.timers.retain(Waiting::is_live);
        (self.earliest, self.is_exact) = (Tick::MAX, true);
        for (position, timer) in self.timers.iter().enumerate() {
            self.earliest = self.earliest.min(timer.deadline);
            moved(timer.index, link_to(position));
        }
        self.shrink();
    }

    fn clear(&mut self) {
        self.timers.clear();
        (self.earliest, self.is_exact) = (Tick::MAX, true);
        self.shrink();
    }

    /// Frees memory if more than three quarters of it are unused. Otherwise, if the timers gather
    /// in one slot after the other, each slot would keep room for all of them.
    fn shrink(&mut self) {
        let (used, room) = (self.timers.len(), self.timers.capacity());
        if room > KEEP && used < room / 4 {
            self.timers.shrink_to(2 * used);
        }
    }
}

/// The bitmap and the bound of a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Bit i is set if slot i of the block has a live timer.
    occupied: u64,
    /// A lower bound on the deadlines of the block.
    bound: Tick,
}

impl Block {
    const EMPTY: Self = Self { occupied: 0, bound: Tick::MAX };
}

#[derive(Clone, Debug)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    blocks: Vec<Block>,
}

impl Slots {
    pub(crate) fn new(count: SlotCount) -> Self {
        let blocks = vec![Block::EMPTY; count.get().div_ceil(BLOCK)];
        Self { slots: vec![Slot::EMPTY; count.get()], blocks }
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// The slot of a deadline.
    #[inline]
    pub(crate) fn of(&self, deadline: Tick) -> usize {
        // A cast to 32 bits keeps the low bits, which are all that the mask keeps.
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

    /// Appends a timer to its slot and returns its link.
    #[inline(always)]
    pub(crate) fn push(&mut self, timer: Waiting) -> Link {
        let at = self.of(timer.deadline);
        let block = &mut self.blocks[at / BLOCK];
        block.occupied |= 1 << (at % BLOCK);
        if timer.deadline < block.bound {
            block.bound = timer.deadline;
        }
        self.slots[at].push(timer)
    }

    /// Clears a slot that has only holes.
    pub(crate) fn clear(&mut self, at: usize) {
        debug_assert_eq!(self.slots[at].live, 0, "the slot has only holes");
        self.slots[at].clear();
        self.blocks[at / BLOCK].occupied &= !(1 << (at % BLOCK));
    }

    /// The number of slots from `at` to the end of its block.
    #[inline]
    pub(crate) fn to_end_of_block(&self, at: usize) -> usize {
        BLOCK.min(self.slots.len()) - at % BLOCK
    }

    #[inline]
    pub(crate) fn bound(&self, at: usize) -> Tick {
        self.blocks[at / BLOCK].bound
    }

    /// The occupied slots among the `count` slots from `at` on, which must be in one block.
    #[inline]
    pub(crate) fn occupied(&self, at: usize, count: usize) -> impl Iterator<Item = usize> + use<> {
        // The first shift drops the slots before `at`, the mask those after the last.
        let mut left =
            self.blocks[at / BLOCK].occupied >> (at % BLOCK) & (u64::MAX >> (BLOCK - count));
        core::iter::from_fn(move || {
            let first = (left != 0).then(|| at + left.trailing_zeros() as usize);
            // Clears the lowest bit; 0 stays 0.
            left &= left.wrapping_sub(1);
            first
        })
    }

    /// Raises the bound of a slot's block to the minimum of the bounds of its slots, and returns
    /// it.
    pub(crate) fn renew_bound(&mut self, at: usize, meter: &impl Meter) -> Tick {
        let first = at & !(BLOCK - 1);
        let mut bound = Tick::MAX;
        meter.tally(Work::SlotVisit, 1);
        for at in self.occupied(first, self.to_end_of_block(first)) {
            meter.tally(Work::SlotVisit, 1);
            bound = bound.min(self.slots[at].earliest);
        }
        self.blocks[at / BLOCK].bound = bound;
        bound
    }

    /// A tick before which nothing in the slots is due. Requires that all timers due at `now` have
    /// been removed, and that the bounds of all blocks are after `now`, except that of the block
    /// that the hand is in. O(M / 64), or O(1) if a timer is due at most of the next ticks.
    pub(crate) fn next_due(&mut self, now: Tick, meter: &impl Meter) -> Tick {
        let at = self.of(now.wrapping_add(1));
        let count = self.to_end_of_block(at);
        meter.tally(Work::SlotVisit, 1);
        for slot in self.occupied(at, count) {
            meter.tally(Work::SlotVisit, 1);
            let tick = now.saturating_add((slot - at) as u64 + 1);
            if self.slots[slot].earliest <= tick {
                return tick;
            }
        }
        // Only now, because a hand that goes tick by tick is in one block for 64 ticks.
        let mut least = self.renew_bound(at, meter);
        // If the bound of a block is at or before the tick at which the hand leaves the block, no
        // later block can have an earlier deadline.
        let mut leaves = now.saturating_add(count as u64);
        let (before, from) = self.blocks.split_at(at / BLOCK);
        for blocks in [&from[1..], before] {
            for &Block { bound, .. } in blocks {
                meter.tally(Work::SlotVisit, 1);
                leaves = leaves.saturating_add(BLOCK as u64);
                least = least.min(bound);
                if bound <= leaves {
                    return least;
                }
            }
        }
        least
    }

    /// The earliest deadline of all slots, if the hand is at `now`. O(M / 64), plus reading the
    /// slots whose bound is not exact. The search ends at the first slot that the hand reaches at
    /// or after the earliest deadline found so far.
    pub(crate) fn earliest(&self, now: Tick, meter: &impl Meter) -> Option<Tick> {
        let (mut best, mut distance) = (None, 0);
        while distance < self.slots.len() {
            let first = now.saturating_add(1 + distance as u64);
            if best.is_some_and(|best| best <= first) {
                break;
            }
            let at = self.of(now.wrapping_add(1 + distance as u64));
            let count = self.to_end_of_block(at).min(self.slots.len() - distance);
            distance += count;
            meter.tally(Work::SlotVisit, 1);
            if best.is_some_and(|best| self.blocks[at / BLOCK].bound >= best) {
                continue;
            }
            for slot in self.occupied(at, count) {
                meter.tally(Work::SlotVisit, 1);
                if best.is_none_or(|best| self.slots[slot].earliest < best) {
                    let earliest = self.slots[slot].exact_earliest(meter);
                    best = Some(best.map_or(earliest, |best: Tick| best.min(earliest)));
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_core::meter::NoMeter;

    fn timer(deadline: Tick) -> Waiting {
        Waiting { deadline, index: deadline as u32 }
    }

    #[test]
    fn finds_the_next_due_timer_across_the_end_of_the_wheel()
    -> Result<(), wheelhouse_core::ConfigError> {
        for count in [2, 8, 64, 256_u64] {
            for only in 1..=3 * count {
                let mut slots = Slots::new(SlotCount::new(count as usize)?);
                assert_eq!(
                    (slots.next_due(5, &NoMeter), slots.earliest(5, &NoMeter)),
                    (Tick::MAX, None)
                );
                let at = slots.of(only);
                slots.push(timer(only));
                let link = slots.push(timer(only + 2 * count));
                for now in 0..only {
                    assert_eq!(
                        (slots.next_due(now, &NoMeter), slots.earliest(now, &NoMeter)),
                        (only, Some(only))
                    );
                }
                slots.get_mut(at).erase(link);
                assert_eq!(slots.earliest(0, &NoMeter), Some(only), "the other timer of its slot");
                slots.get_mut(at).erase(Link::MIN);
                slots.push(timer(only + count));
                assert!(slots.next_due(0, &NoMeter) <= only, "a lower bound");
                assert_eq!(slots.earliest(0, &NoMeter), Some(only + count));
            }
        }
        Ok(())
    }

    #[test]
    fn due_timers_are_taken_in_order_and_the_others_are_compacted() {
        let mut slot = Slot::EMPTY;
        let deadlines = [7, 3, 9, 3, 5, 9, 1];
        let mut links = deadlines.map(|deadline| slot.push(timer(deadline)));
        slot.erase(links[1]);
        let mut due = Vec::new();
        slot.take_due(5, |timer| due.push(timer.deadline));
        assert_eq!((due.as_slice(), slot.earliest, slot.live()), ([3, 5, 1].as_slice(), 7, 3));
        slot.compact(|index, link| links[index as usize % 7] = link);
        assert_eq!(slot.timers, [7, 9, 9].map(timer));
        slot.erase(links[0]);
        assert_eq!((slot.live(), slot.timers[0]), (2, Waiting::HOLE));
    }

    #[test]
    fn a_slot_gives_memory_back() {
        let mut slot = Slot::EMPTY;
        (0..10_000).for_each(|deadline| _ = slot.push(timer(deadline)));
        slot.clear();
        assert!(slot.timers.capacity() * size_of::<Waiting>() <= 64, "as the README says");
    }
}
