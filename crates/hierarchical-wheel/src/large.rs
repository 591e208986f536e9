//! Large wheels: slots open before their turn, so that no tick moves many timers.
//!
//! # Open slots
//!
//! In a small wheel all timers of a slot move when the hand reaches it. With a million timers that
//! is a stall of milliseconds. In a large wheel the next slot of each level is *open* while the
//! hand is in the second half of the slot before: new timers that belong to it go straight to the
//! level below, which therefore has two blocks of slots: the *current* block, which the hand is in,
//! and the *next* one. The *older* timers, which were there before the slot opened, move down a few
//! a call (`open`). None is left when the hand gets there.
//!
//! Why half: a timer that is cancelled or moved before its slot opens never moves down. If slots
//! opened earlier, more timers would move for nothing; if they opened later, more would have to
//! move in a tick. For that reason a crowded slot opens one or two quarters earlier.
//!
//! ```text
//! level 1       [hand][open][ ][ ] ...
//!                 │     ╰─▶ older timers, moved down a few a call
//! level 0       [ ... ][ ... ]
//!              current   next block: new timers of the open slot go here
//! ```
//!
//! # Invariants
//!
//! * A timer is in the slot of the lowest level whose current block has its deadline, or whose next
//!   block has it if the slot above is open, or it is an older timer of an open slot on the way
//!   there.
//! * Blocks that are past are empty, and next blocks while the slot above is closed.
//! * An open slot is occupied if and only if it has older timers.

#[cfg(test)]
mod check;
mod open;

use crate::Tick;
use crate::bitmap::Bitmap;
use crate::hints::AllHints;
use crate::nodes::OUTSIDE;
use crate::wheel::{NONE, Next, Wheel, highest_difference};
use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::meter::Meter;

/// Bits of a digit of a large wheel. With 1,024 slots a level, timers that are due within half an
/// hour of milliseconds move once in their life; with 256 they move twice, and with 4,096 the
/// timers that wait in level 0 no longer fit the second-level cache.
const BITS: u32 = if cfg!(test) { 3 } else { 10 };

/// With more timers than this, slots remember some of their timers. With fewer, the third-level
/// cache is fast enough to follow a list without help.
const HINTS_FROM: usize = if cfg!(test) { 1 << 8 } else { 1 << 17 };

/// The slots of a level of a large wheel.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The first sentinels of its two blocks, [`OUTSIDE`] until they are needed.
    blocks: [u32; 2],
    /// The sentinel of its open slot, [`OUTSIDE`] if there is none.
    open: u32,
    /// The number of that slot, from tick 0 on.
    open_at: Tick,
    /// The tick at which it opened.
    opened: Tick,
    /// How many of its older timers move in a tick.
    pace: u64,
}

/// The additional state of a large wheel.
#[derive(Clone, Debug)]
pub(crate) struct Large {
    /// None while the wheel is small.
    levels: Vec<Level>,
    /// The first sentinel of the lists of older timers, one for each level.
    older: u32,
    /// Bit L: the open slot of level L has older timers.
    pending: u64,
    /// Bit L: the slot of level L behind the hand is open, or would be if its block were there.
    is_open: u64,
    /// The last tick at which older timers moved; if none have, the tick before the slot opened.
    moved: Tick,
    /// No slot with timers opens before this tick.
    opens: Tick,
    hints: AllHints,
}

impl Large {
    pub(crate) fn new() -> Self {
        let (pending, is_open, moved, opens) = (0, 0, 0, Tick::MAX);
        let (levels, hints) = (Vec::new(), AllHints::new(0, 0));
        Self { levels, older: OUTSIDE, pending, is_open, moved, opens, hints }
    }

    /// The most sentinels that a large wheel takes.
    pub(crate) const fn sentinels() -> usize {
        let levels = u64::BITS.div_ceil(BITS) as usize;
        2 * (levels << BITS) + levels
    }

    /// A slot is empty.
    #[inline]
    pub(crate) fn forget(&mut self, number: u32) {
        self.hints.clear(number);
    }

    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !self.levels.is_empty()
    }
}

/// A slot of a large wheel: its level, and its number from tick 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    level: u32,
    at: Tick,
}

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// Gives the wheel the slots of a large one, and opens the next slot of each level from now on.
    /// Each timer moves once.
    #[cold]
    #[inline(never)]
    pub(crate) fn become_large(&mut self) {
        let (small, bits, mask) = (self.ways, self.bits, self.mask);
        self.nodes.lift_limit();
        self.bits = BITS;
        self.mask = (1 << BITS) - 1;
        let levels = self.levels();
        let numbers = (2 * levels) << BITS;
        let mut occupied = core::mem::replace(&mut self.occupied, Bitmap::new(numbers));
        self.reset_ways();
        self.large.hints = AllHints::new(2 * levels as usize, BITS);
        self.large.older = self.nodes.add_slots(levels, 0);
        let blocks = [OUTSIDE; 2];
        let level = Level { blocks, open: OUTSIDE, open_at: 0, opened: 0, pace: 0 };
        self.large.levels = vec![level; levels as usize];
        (1..levels).for_each(|level| self.open_in_time(level));
        while let Some(number) = occupied.first(&self.meter) {
            occupied.remove(number);
            let shift = (number >> bits) * bits;
            let slot = small[shift as usize].first + (number & mask);
            self.relink_list(slot);
        }
        for way in small.iter().step_by(bits as usize).filter(|way| way.first != OUTSIDE) {
            self.nodes.recycle_slots(way.first, mask + 1);
        }
        self.find_opens();
        self.find_next::<true>();
    }

    /// The number of the block of a level that a tick is in.
    #[inline(always)]
    fn block_of(&self, level: u32, tick: Tick) -> Tick {
        // In two shifts: a shift by all bits at once does not exist.
        tick >> (level * self.bits) >> self.bits
    }

    /// The index of a block among the two of its level, by its number.
    #[inline(always)]
    fn side_of(block: Tick) -> u32 {
        block as u32 & 1
    }

    /// The slot of a level that a tick is in.
    #[inline(always)]
    fn slot_at(&self, level: u32, tick: Tick) -> Slot {
        Slot { level, at: tick >> (level * self.bits) }
    }

    /// The first tick of a slot.
    #[inline(always)]
    fn start_of_slot(&self, slot: Slot) -> Tick {
        slot.at << (slot.level * self.bits)
    }

    /// How many ticks a slot has.
    #[inline(always)]
    fn width_of(&self, slot: Slot) -> Tick {
        1 << (slot.level * self.bits)
    }

    /// The number of a slot in the map of those that are occupied.
    #[inline(always)]
    fn number_of(&self, slot: Slot) -> u32 {
        let side = Self::side_of(slot.at >> self.bits);
        ((2 * slot.level + side) << self.bits) + (slot.at as u32 & self.mask)
    }

    /// The sentinel of a slot in the current or next block of its level.
    #[inline]
    fn sentinel_of(&mut self, slot: Slot) -> u32 {
        let side = Self::side_of(slot.at >> self.bits);
        let mut first = self.large.levels[slot.level as usize].blocks[side as usize];
        if first == OUTSIDE {
            first = self.add_block(slot.level, side);
        }
        first + (slot.at as u32 & self.mask)
    }

    #[cold]
    #[inline(never)]
    fn add_block(&mut self, level: u32, side: u32) -> u32 {
        let first = self.nodes.add_slots(self.mask + 1, (2 * level + side) << self.bits);
        self.large.levels[level as usize].blocks[side as usize] = first;
        if side == Self::side_of(self.block_of(level, self.hand)) {
            self.set_ways(level, first);
        }
        // One of its slots may be the one to open. A slot of the other block does not open here: if
        // it is closed, it opens when the timers of the level above have moved.
        let behind = self.behind_hand(level).filter(|_| level > 0);
        if behind.is_some_and(|slot| Self::side_of(slot.at >> self.bits) == side) {
            self.open_next(level);
        }
        first
    }

    /// The sentinel of the slot that a deadline belongs to, and the shift of its level.
    pub(crate) fn slot_of(&mut self, deadline: Tick) -> (u32, u32) {
        let mut level = highest_difference(deadline, self.hand) as u32 / self.bits;
        // In the open slot of a level, timers go to the level below.
        while level > 0 && self.is_below(level, deadline) {
            level -= 1;
        }
        (self.sentinel_of(self.slot_at(level, deadline)), level * self.bits)
    }

    /// Returns `true` if a deadline is in the slot of the hand, or in the open slot.
    #[inline(always)]
    fn is_below(&self, level: u32, deadline: Tick) -> bool {
        let ahead = self.slot_at(level, deadline).at - self.slot_at(level, self.hand).at;
        ahead <= Tick::from(self.is_open(level))
    }

    /// A timer came to a slot, which is to remember it.
    #[inline]
    pub(crate) fn remember(&mut self, at: u32, deadline: Tick, sentinel: u32) {
        if self.large.is_on() && self.nodes.places() > HINTS_FROM {
            let number = self.nodes.number(sentinel);
            let level = number >> (self.bits + 1);
            if level > 0 {
                self.add_hint(at, deadline, number);
            }
        }
    }

    #[inline(never)]
    fn add_hint(&mut self, at: u32, deadline: Tick, number: u32) {
        let shift = (number >> (self.bits + 1)) * self.bits;
        let is_here = |at| (self.nodes.deadline_at(at) ^ deadline) >> shift == 0;
        self.large.hints.push_back(number, at, self.nodes.places(), is_here);
    }

    /// The first occupied slot of a level, from one in the block of the hand on.
    #[inline(always)]
    fn first_of_level(&self, from: Slot) -> Option<Slot> {
        let block = self.block_of(from.level, self.hand);
        let next_block = Slot { at: from.at.max((block + 1) << self.bits), ..from };
        [from, next_block].into_iter().find_map(|from| {
            let side = Self::side_of(from.at >> self.bits);
            if self.large.levels[from.level as usize].blocks[side as usize] == OUTSIDE {
                return None;
            }
            let number = self.number_of(from);
            let found = self.occupied.first_from(number, &self.meter)?;
            let is_in_block = found | self.mask == number | self.mask;
            is_in_block.then(|| Slot { at: from.at + Tick::from(found - number), ..from })
        })
    }

    /// The earliest occupied slot.
    #[inline(never)]
    pub(crate) fn find_next_large(&mut self) -> Next {
        for level in 0..self.levels() {
            let here = self.slot_at(level, self.hand);
            let Some(slot) = self.first_of_level(here) else { continue };
            let mut next = slot;
            if slot.at >> self.bits != here.at >> self.bits {
                // The next block starts with the open slot of the level above, or of one further
                // up, which comes first if it has older timers.
                let start =
                    self.start_of_slot(Slot { level, at: slot.at >> self.bits << self.bits });
                let above = (level + 1..self.levels()).map(|level| self.slot_at(level, start));
                let mut above = above.take_while(|slot| self.start_of_slot(*slot) == start);
                next = above.find(|it| self.occupied.contains(self.number_of(*it))).unwrap_or(slot);
            }
            return Next { start: self.start_of_slot(next), number: self.number_of(next) };
        }
        NONE
    }
}
