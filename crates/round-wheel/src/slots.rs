//! The slots, which of them hold live timers, and when something is due in them.
//!
//! Each slot knows a bound on its earliest deadline, and each *block* of 64 slots a bound on those.
//! So the hand passes a block in which nothing is due with one comparison, and what is due next is
//! found in M / 64 steps and a few:
//!
//! ```text
//! bounds of blocks        40 937            40 192             41 500
//! bounds of slots    [ - | 40 937 | - ] [ 40 192 | 56 576 ] [ 41 500 ]
//! hand at 40 100  -->                        ^ due first: found behind one look at each block
//! ```
//!
//! Bounds are let down by insertions and raised when the hand comes past: a cancellation touches
//! none.

use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::arena::Link;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::{SlotCount, Tick};

/// An array that has room for this many timers, the least that is allocated, is not given back.
const KEEP: usize = 4;

/// Slots in a block: the bits of a word, so that one word says which of them are occupied.
pub(crate) const BLOCK: usize = u64::BITS as usize;

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
    live: u32,
    /// Whether a timer has just that deadline: it may have been taken out.
    is_exact: bool,
}

impl Slot {
    const EMPTY: Self = Self { timers: Vec::new(), earliest: Tick::MAX, live: 0, is_exact: true };

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
        self.live as usize
    }

    /// The earliest deadline: O(1), or O(k) where the timer that had it was taken out.
    pub(crate) fn exact_earliest(&self, meter: &impl Meter) -> Tick {
        if self.is_exact {
            return self.earliest;
        }
        meter.tally(Work::EntryScan, self.timers.len() as u64);
        // The deadline of a hole is the last there is.
        self.timers.iter().map(|timer| timer.deadline).min().unwrap_or(Tick::MAX)
    }

    #[inline(always)]
    fn push(&mut self, timer: Waiting) -> Link {
        self.timers.push(timer);
        if timer.deadline <= self.earliest {
            (self.earliest, self.is_exact) = (timer.deadline, true);
        }
        self.live += 1;
        link_to(self.timers.len() - 1)
    }

    /// Leaves a hole where a timer was.
    #[inline]
    fn erase(&mut self, link: Link) {
        let gone = core::mem::replace(&mut self.timers[position_of(link)], Waiting::HOLE);
        self.is_exact &= gone.deadline != self.earliest;
        self.live -= 1;
    }

    /// Takes out the timers due at `now` or before, in order, leaving holes.
    pub(crate) fn take_due(&mut self, now: Tick, mut due: impl FnMut(Waiting)) {
        (self.earliest, self.is_exact) = (Tick::MAX, true);
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
        self.timers.len() > 2 * self.live() + KEEP
    }

    pub(crate) fn has_holes(&self) -> bool {
        self.timers.len() > self.live()
    }

    /// Drops the holes. `moved` is told where each timer is now.
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

    /// Gives memory back when three quarters of it are unused: a wheel whose timers gather in one
    /// slot after the other would otherwise keep room for all of them in each.
    fn shrink(&mut self) {
        let (used, room) = (self.timers.len(), self.timers.capacity());
        if room > KEEP && used < room / 4 {
            self.timers.shrink_to(2 * used);
        }
    }
}

/// What is known of the slots of a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Bit i: its slot i holds a live timer.
    occupied: u64,
    /// No timer in it has an earlier deadline.
    bound: Tick,
}

impl Block {
    const EMPTY: Self = Self { occupied: 0, bound: Tick::MAX };
}

/// All slots.
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

    /// Takes a timer out of a slot.
    #[inline]
    pub(crate) fn erase(&mut self, at: usize, link: Link) {
        self.slots[at].erase(link);
    }

    /// Empties a slot in which only holes are left.
    pub(crate) fn clear(&mut self, at: usize) {
        self.slots[at].clear();
        self.blocks[at / BLOCK].occupied &= !(1 << (at % BLOCK));
    }

    /// How many slots there are from `at` to the end of its block.
    #[inline]
    pub(crate) fn to_end_of_block(&self, at: usize) -> usize {
        BLOCK.min(self.slots.len()) - at % BLOCK
    }

    /// The bound of a slot's block.
    #[inline]
    pub(crate) fn bound(&self, at: usize) -> Tick {
        self.blocks[at / BLOCK].bound
    }

    /// Those of `count` slots of a block that are occupied, from `at` on.
    #[inline]
    pub(crate) fn occupied(&self, at: usize, count: usize) -> impl Iterator<Item = usize> + use<> {
        let mut left =
            self.blocks[at / BLOCK].occupied >> (at % BLOCK) & (u64::MAX >> (BLOCK - count));
        core::iter::from_fn(move || {
            let first = (left != 0).then(|| at + left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            first
        })
    }

    /// Raises the bound of a slot's block to the least of its slots' bounds, and returns it.
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

    /// A tick before which nothing in the slots is due, once all that was due at `now` is out of
    /// them and the bounds of all blocks are after it, but that of the block that the hand is in.
    /// O(M / 64), and O(1) where a timer is due in most of the ticks ahead.
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
        // Not before: the hand that goes tick by tick is in a block for 64 of them.
        let mut least = self.renew_bound(at, meter);
        // A block whose bound is not after the tick at which the hand leaves it is the first in
        // which something is due.
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

    /// The earliest deadline of all, for a hand at `now`. O(M / 64) and what it has to read of
    /// slots from which timers were taken out; it ends where the hand would not get to a slot
    /// before the earliest deadline seen.
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
    fn finds_what_is_due_next_round_the_wheel() -> Result<(), wheelhouse_core::SlotCountError> {
        for count in [2, 8, 64, 256_u64] {
            for only in 1..=3 * count {
                let mut slots = Slots::new(SlotCount::new(count as usize)?);
                assert_eq!(
                    (slots.next_due(5, &NoMeter), slots.earliest(5, &NoMeter)),
                    (Tick::MAX, None)
                );
                slots.push(timer(only));
                let link = slots.push(timer(only + 2 * count));
                for now in 0..only {
                    assert_eq!(
                        (slots.next_due(now, &NoMeter), slots.earliest(now, &NoMeter)),
                        (only, Some(only))
                    );
                }
                slots.erase(slots.of(only), link);
                assert_eq!(slots.earliest(0, &NoMeter), Some(only), "the other of its slot");
                slots.erase(slots.of(only), Link::MIN);
                slots.push(timer(only + count));
                assert!(slots.next_due(0, &NoMeter) <= only, "a bound of what was there");
                assert_eq!(slots.earliest(0, &NoMeter), Some(only + count));
            }
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
