//! Large wheels: slots open before the hand reaches them, so that no tick moves many timers.
//!
//! # Open slots
//!
//! In a small wheel all timers of a slot move when the hand reaches it. With a million timers that
//! is a stall of milliseconds. In a large wheel the next slot of each level is *open* while the
//! hand is in the second half of the slot before it. New timers that belong to an open slot go
//! directly to the level below. So each level has two blocks of slots: the *current* block, which
//! the hand is in, and the *next* block. The *older* timers, which were in the slot before it
//! opened, move down a few per call (`open`). None is left when the hand gets there.
//!
//! Why half: a timer that is cancelled or moved before its slot opens never moves down. If slots
//! opened earlier, more timers would move for nothing. If they opened later, more timers would have
//! to move per tick. So only a crowded slot opens earlier, by one or two quarters.
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
//! * Each timer is in the slot of its deadline on the lowest possible level. A level is possible if
//!   its current block contains the deadline, or if its next block does and the slot above is open.
//!   Two kinds of timers may be higher up: older timers of an open slot, and postponed timers,
//!   which are in the slot of an earlier deadline.
//! * Blocks before the current one are empty, and so are next blocks while the slot above is
//!   closed.
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

/// The number of bits of a digit of a large wheel. With 1,024 slots a level, a timer that is due
/// within half an hour (a tick being a millisecond) moves once before it fires. With 256 slots it
/// moves twice. With 4,096 slots the timers on level 0 no longer fit the second-level cache.
const BITS: u32 = if cfg!(test) { 3 } else { 10 };

/// With more timers than this, slots remember some of their timers. With fewer, the third-level
/// cache is fast enough to follow a list without hints.
const HINTS_FROM: usize = if cfg!(test) { 1 << 8 } else { 1 << 17 };

/// The slots of a level of a large wheel.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The first sentinel of each of its two blocks, [`OUTSIDE`] until the block is needed.
    blocks: [u32; 2],
    /// The sentinel of its open slot, [`OUTSIDE`] if there is none.
    open: u32,
    /// The index of that slot, counted from tick 0.
    open_at: Tick,
    opened: Tick,
    /// The number of its older timers that move per tick.
    pace: u64,
}

/// The additional state of a large wheel.
#[derive(Clone, Debug)]
pub(crate) struct Large {
    /// Empty while the wheel is small.
    levels: Vec<Level>,
    /// The first sentinel of the lists of older timers, one for each level.
    older: u32,
    /// Bit L is set if the open slot of level L has older timers.
    pending: u64,
    /// Bit L is set if the next slot of level L is open, or should be open but its block does not
    /// exist yet.
    is_open: u64,
    /// The last tick at which older timers moved, or the tick before the slot opened if none have
    /// moved yet.
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

    /// The most sentinels that a large wheel has.
    pub(crate) const fn sentinels() -> usize {
        let levels = u64::BITS.div_ceil(BITS) as usize;
        2 * (levels << BITS) + levels
    }

    /// Drops the hints of a slot that has become empty.
    #[inline]
    pub(crate) fn forget(&mut self, number: u32) {
        self.hints.clear(number);
    }

    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !self.levels.is_empty()
    }
}

/// A slot of a large wheel: its level, and its index on that level, counted from tick 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    level: u32,
    at: Tick,
}

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// Replaces the slots of the small wheel by those of a large one. Each timer moves once.
    #[cold]
    #[inline(never)]
    pub(crate) fn become_large(&mut self) {
        debug_assert!(!self.large.is_on(), "a wheel becomes large once");
        let timers = self.nodes.len();
        let (small, bits, mask) = (self.lookups, self.bits, self.mask);
        self.nodes.lift_limit();
        self.bits = BITS;
        self.mask = (1 << BITS) - 1;
        let levels = self.levels();
        let numbers = (2 * levels) << BITS;
        let mut occupied = core::mem::replace(&mut self.occupied, Bitmap::new(numbers));
        self.reset_lookups();
        self.large.hints = AllHints::new(2 * levels as usize, BITS);
        self.large.older = self.nodes.add_slots(levels, 0);
        let blocks = [OUTSIDE; 2];
        let level = Level { blocks, open: OUTSIDE, open_at: 0, opened: 0, pace: 0 };
        self.large.levels = vec![level; levels as usize];
        (1..levels).for_each(|level| self.open_in_time(level));
        // All timers with one deadline are in one slot, so moving slot by slot keeps their order.
        while let Some(number) = occupied.first(&self.meter) {
            occupied.remove(number);
            let shift = (number >> bits) * bits;
            let slot = small[shift as usize].first + (number & mask);
            self.relink_list(slot);
        }
        for lookup in small.iter().step_by(bits as usize).filter(|lookup| lookup.first != OUTSIDE) {
            self.nodes.recycle_slots(lookup.first, mask + 1);
        }
        debug_assert_eq!(self.nodes.len(), timers, "no timer is lost");
        self.find_opens();
        self.find_next::<true>();
    }

    /// The index of the block of a level that contains a tick, counted from tick 0.
    #[inline(always)]
    fn block_of(&self, level: u32, tick: Tick) -> Tick {
        // Two shifts, because on the highest level one shift would be by 64 bits or more.
        tick >> (level * self.bits) >> self.bits
    }

    /// The side of a block with this index: 0 or 1, because the two blocks of a level alternate.
    #[inline(always)]
    fn side_of(block: Tick) -> u32 {
        block as u32 & 1
    }

    /// The slot of a level that contains a tick.
    #[inline(always)]
    fn slot_at(&self, level: u32, tick: Tick) -> Slot {
        Slot { level, at: tick >> (level * self.bits) }
    }

    #[inline(always)]
    fn start_of_slot(&self, slot: Slot) -> Tick {
        slot.at << (slot.level * self.bits)
    }

    /// The number of ticks of a slot.
    #[inline(always)]
    fn width_of(&self, slot: Slot) -> Tick {
        1 << (slot.level * self.bits)
    }

    /// The number of a slot in the bitmap of occupied slots.
    #[inline(always)]
    fn number_of(&self, slot: Slot) -> u32 {
        let side = Self::side_of(slot.at >> self.bits);
        ((2 * slot.level + side) << self.bits) + (slot.at as u32 & self.mask)
    }

    /// The sentinel of a slot in the current or next block of its level. Adds the block if it does
    /// not exist yet.
    #[inline]
    fn sentinel_of(&mut self, slot: Slot) -> u32 {
        debug_assert!(
            (slot.at >> self.bits).wrapping_sub(self.block_of(slot.level, self.hand)) <= 1,
            "a level has a current and a next block: {slot:?}"
        );
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
            self.set_lookups(level, first);
        }
        // The next slot of the level may be in this block and may have to open. If it is in the
        // other block, it does not open here, but when the timers of the level above have moved.
        let next = self.next_slot(level).filter(|_| level > 0);
        if next.is_some_and(|slot| Self::side_of(slot.at >> self.bits) == side) {
            self.open_next(level);
        }
        first
    }

    /// The sentinel of the slot of a deadline, and the shift of its level.
    pub(crate) fn slot_of(&mut self, deadline: Tick) -> (u32, u32) {
        debug_assert!(deadline >= self.hand, "an overdue timer is in no slot");
        let level = self.level_of(deadline);
        (self.sentinel_of(self.slot_at(level, deadline)), level * self.bits)
    }

    /// The level to which a timer with this deadline goes now.
    #[inline(always)]
    fn level_of(&self, deadline: Tick) -> u32 {
        let mut level = highest_difference(deadline, self.hand) as u32 / self.bits;
        // The timers of an open slot go to the level below.
        while level > 0 && self.is_below(level, deadline) {
            level -= 1;
        }
        level
    }

    /// Returns `true` if a deadline is in the slot of the hand or in the open slot after it.
    #[inline(always)]
    fn is_below(&self, level: u32, deadline: Tick) -> bool {
        let ahead = self.slot_at(level, deadline).at - self.slot_at(level, self.hand).at;
        ahead <= Tick::from(self.is_open(level))
    }

    /// Notes a timer that was just linked, so that a hint is added for it, if the wheel has enough
    /// timers.
    #[inline]
    pub(crate) fn remember(&mut self, at: u32) {
        if self.large.is_on() && self.nodes.places() > HINTS_FROM {
            self.add_hint(at);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_hint(&mut self, at: u32) {
        if self.large.hints.add_recent(at) {
            self.place_hints();
        }
    }

    /// Adds hints for the timers that were noted and are in slots above level 0. A timer that was
    /// postponed since gets its hint in the slot of its new deadline, where it is wrong.
    #[inline(never)]
    fn place_hints(&mut self) {
        let recent = self.large.hints.take_recent();
        for (n, &at) in recent.iter().enumerate() {
            let deadline = self.nodes.deadline_at(at);
            // Without a deadline ahead, the timer has been cancelled, or it is due. A place that is
            // noted again further on has a later timer. If timers are cancelled right after their
            // start, all notes may be of one place, and each hint would count as 32 timers.
            if deadline <= self.hand || recent[n + 1..].contains(&at) {
                continue;
            }
            let level = self.level_of(deadline);
            if level > 0 {
                let number = self.number_of(self.slot_at(level, deadline));
                let shift = level * self.bits;
                let is_here = |at| (self.nodes.deadline_at(at) ^ deadline) >> shift == 0;
                self.large.hints.push_back(number, at, self.nodes.places(), is_here);
            }
        }
        self.large.hints.reuse_recent(recent);
    }

    /// The first occupied slot of a level in the current or next block, starting at `from`.
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
                // The next block starts at the first tick of the open slot of the level above, and
                // perhaps of higher levels. If one of these slots has older timers, it is the
                // earliest occupied slot, because it starts with the block.
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
