//! Large wheels: slots open before their turn, so that no tick moves many timers.
//!
//! # Open slots
//!
//! In a small wheel all timers of a slot move when the hand reaches it. With a million timers that
//! is a stall of milliseconds. In a large wheel the next slot of each level is *open*: new timers
//! that belong to it go straight to the level below, which therefore has two blocks of slots: the
//! *current* block, which the hand is in, and the *next* one. The timers that were in the slot
//! before it opened are its *older* timers. Each call moves a few of them down, so that none is
//! left when the hand gets there.
//!
//! ```text
//! level 1       [hand][open][ ][ ] ...
//!                 │     ╰─▶ older timers, moved down a few a call
//! level 0       [ ... ][ ... ]
//!              current   next block: new timers of the open slot go here
//! ```
//!
//! The order of insertion holds: older timers move from the last to the first, each to the front of
//! its slot, and all timers that are there already came later.
//!
//! # Invariants
//!
//! * A timer is in the slot of the lowest level whose current or next block has its deadline, or an
//!   older timer of an open slot on the way there.
//! * Blocks that are past are empty.
//! * An open slot is occupied if and only if it has older timers.

use crate::Tick;
use crate::bitmap::Bitmap;
use crate::hints::{self, AllHints};
use crate::nodes::OUTSIDE;
use crate::wheel::{NONE, Next, Wheel, highest_difference};
use alloc::vec;
use alloc::vec::Vec;
use wheelhouse_core::meter::{Meter, Work};

/// Bits of a digit of a large wheel. With 1,024 slots a level, timers that are due within half an
/// hour of milliseconds move once in their life; with 256 they move twice, and with 4,096 the
/// timers that wait in level 0 no longer fit the second-level cache.
const BITS: u32 = if cfg!(test) { 3 } else { 10 };

/// With more timers than this, slots remember some of their timers. With fewer, the third-level
/// cache is fast enough to follow a list without help.
const HINTS_FROM: usize = if cfg!(test) { 1 << 8 } else { 1 << 17 };

/// At least this many older timers of a level move in a tick.
const PACE: u64 = 128;

/// In the last quarter of the time in which a slot is open, its older timers are to have moved.
const RESERVE: u64 = 4;

/// Timers of a list that are looked at before any of them moves.
const BATCH: usize = 32;

/// The lists of this many slots of level 0, as a power of two, are read ahead at once.
const GROUP: u32 = if cfg!(test) { 1 } else { 4 };

/// The slots of a level of a large wheel.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The first sentinels of its two blocks, [`OUTSIDE`] until they are needed.
    blocks: [u32; 2],
    /// The sentinel of its open slot, [`OUTSIDE`] if there is none.
    open: u32,
    /// The number of that slot, from tick 0 on.
    open_at: Tick,
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
    /// The last tick at which some of them moved, or the one before the first of them was.
    moved: Tick,
    /// No slot with timers opens before this tick.
    opens: Tick,
    hints: AllHints,
}

impl Large {
    pub(crate) fn new() -> Self {
        let (moved, opens, hints) = (0, Tick::MAX, AllHints::new(0, 0));
        Self { levels: Vec::new(), older: OUTSIDE, pending: 0, moved, opens, hints }
    }

    /// The most sentinels that a large wheel takes.
    pub(crate) const fn sentinels() -> usize {
        let levels = u64::BITS.div_ceil(BITS) as usize;
        2 * (levels << BITS) + levels
    }

    /// A slot is empty.
    #[inline]
    pub(crate) fn forget(&mut self, number: u32) {
        if self.is_on() {
            self.hints.clear(number);
        }
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
        self.bits = BITS;
        self.mask = (1 << BITS) - 1;
        let levels = self.levels();
        let numbers = (2 * levels) << BITS;
        let mut occupied = core::mem::replace(&mut self.occupied, Bitmap::new(numbers));
        self.reset_ways();
        self.large.hints = AllHints::new(2 * levels as usize, BITS);
        self.large.older = self.nodes.add_slots(levels, 0);
        let level = Level { blocks: [OUTSIDE; 2], open: OUTSIDE, open_at: 0, pace: 0 };
        self.large.levels = vec![level; levels as usize];
        while let Some(number) = occupied.first(&self.meter) {
            occupied.remove(number);
            let shift = (number >> bits) * bits;
            let slot = small[shift as usize % 64].first + (number & mask);
            self.relink_list(slot);
        }
        for way in small.iter().step_by(bits as usize).filter(|way| way.first != OUTSIDE) {
            self.nodes.recycle_slots(way.first, mask + 1);
        }
        self.find_opens();
        self.find_next();
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
        if level > 0 {
            self.open_next(level);
        }
        first
    }

    /// The sentinel of the slot that a deadline belongs to, and the shift of its level.
    pub(crate) fn slot_of(&mut self, deadline: Tick) -> (u32, u32) {
        let mut level = highest_difference(deadline, self.hand) as u32 / self.bits;
        // The lowest level whose current or next block has the deadline: in the open slot of a
        // level, timers go to the level below.
        while level > 0 && self.slot_at(level, deadline).at - self.slot_at(level, self.hand).at <= 1
        {
            level -= 1;
        }
        (self.sentinel_of(self.slot_at(level, deadline)), level * self.bits)
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

    /// The tick at which a slot opens: the first of the slot before.
    fn opening(&self, slot: Slot) -> Tick {
        self.start_of_slot(Slot { at: slot.at - 1, ..slot })
    }

    /// When the next occupied slot opens.
    fn find_opens(&mut self) {
        let levels = 1..self.levels();
        let behind_open = levels.map(|level| self.slot_at(level, self.hand)).filter_map(|slot| {
            let last = self.slot_at(slot.level, Tick::MAX).at;
            (last - slot.at >= 2).then_some(Slot { at: slot.at + 2, ..slot })
        });
        let slots = behind_open.filter_map(|from| self.first_of_level(from));
        self.large.opens = slots.map(|slot| self.opening(slot)).min().unwrap_or(Tick::MAX);
    }

    /// A slot that starts at a tick has its first timer.
    #[inline(always)]
    pub(crate) fn occupied_large(&mut self, number: u32, start: Tick) {
        let level = number >> (self.bits + 1);
        if level > 0 {
            let opening = self.opening(self.slot_at(level, start));
            self.large.opens = self.large.opens.min(opening);
        }
    }

    /// The tick at which a program that sleeps has to call, so that no slot moves at once.
    #[inline]
    pub(crate) fn next_move(&self) -> Tick {
        if self.large.pending != 0 { self.now.saturating_add(1) } else { self.large.opens }
    }

    /// The tick at which the wheel has work other than firing: the next one while older timers
    /// wait, else the first of the next block.
    #[inline(always)]
    pub(crate) fn next_work(&self) -> Tick {
        let last = if self.large.pending != 0 { 0 } else { self.mask };
        (self.hand | Tick::from(last)).saturating_add(1)
    }

    /// The sentinel of the earliest timer that is due and not overdue.
    #[inline]
    pub(crate) fn first_due_large(&mut self) -> Option<u32> {
        while self.next.start <= self.now && self.next.number != NONE.number {
            self.enter(self.next.start);
            let side = self.next.number >> self.bits;
            if side <= 1 && self.next.start == self.hand {
                let first = self.large.levels[0].blocks[side as usize];
                return Some(first + (self.next.number & self.mask));
            }
        }
        self.enter(self.now);
        if self.large.pending != 0 && self.now > self.large.moved {
            self.move_older();
        }
        self.set_due();
        None
    }

    /// Moves the hand to a tick. No slot that starts before it is occupied.
    #[inline(always)]
    fn enter(&mut self, tick: Tick) {
        let before = core::mem::replace(&mut self.hand, tick);
        if (before ^ tick) >> self.bits != 0 {
            self.enter_block(before);
        }
        if (before ^ tick) >> GROUP != 0 && self.nodes.places() > HINTS_FROM {
            self.read_group();
        }
    }

    /// Reads the timers of the next slots of level 0, so that they are in the cache when they fire.
    #[inline(never)]
    fn read_group(&self) {
        let next = ((self.hand >> GROUP) + 1) << GROUP;
        let first = self.large.levels[0].blocks[Self::side_of(next >> self.bits) as usize];
        if first != OUTSIDE {
            self.nodes.read_lists::<{ 1 << GROUP }>(first + (next as u32 & self.mask));
        }
    }

    /// The hand is in another block of level 0. The remaining timers of the slots that it is in now
    /// move down, from the highest level on, and the slots behind them open.
    #[inline(never)]
    fn enter_block(&mut self, before: Tick) {
        for level in 1..self.levels() {
            // An open slot that was passed has no older timers. Its sentinel may be that of a slot
            // to come, so it is closed before any timer moves.
            if self.large.levels[level as usize].open_at < self.slot_at(level, self.hand).at {
                self.close_open(level);
            }
        }
        for level in (0..self.levels()).rev() {
            let block = self.block_of(level, self.hand);
            if block != self.block_of(level, before) {
                let side = Self::side_of(block);
                self.set_ways(level, self.large.levels[level as usize].blocks[side as usize]);
            }
            let slot = self.slot_at(level, self.hand);
            if level == 0 || slot == self.slot_at(level, before) {
                continue;
            }
            if self.occupied.contains(self.number_of(slot)) {
                self.move_down(slot, usize::MAX);
            }
            if self.large.levels[level as usize].open_at == slot.at {
                self.close_open(level);
            }
            self.open_next(level);
        }
        self.find_opens();
        self.find_next();
    }

    /// Makes the open slot of a level an empty one. It has no older timers.
    fn close_open(&mut self, level: u32) {
        let open = core::mem::replace(&mut self.large.levels[level as usize].open, OUTSIDE);
        if open != OUTSIDE {
            debug_assert!(self.nodes.is_empty(self.large.older + level), "they have moved");
            self.nodes.close_slot(open);
        }
    }

    /// Opens the slot behind the one that the hand is in, unless it is open or has no sentinel yet.
    fn open_next(&mut self, level: u32) {
        let Some(slot) = self.behind_hand(level) else { return };
        let number = self.number_of(slot);
        let state = self.large.levels[level as usize];
        let first = state.blocks[Self::side_of(slot.at >> self.bits) as usize];
        if first != OUTSIDE && state.open == OUTSIDE {
            let (open, pace) = (first + (number & self.mask), self.pace(slot));
            self.large.levels[level as usize] = Level { open, open_at: slot.at, pace, ..state };
            self.nodes.set_number(self.large.older + level, number);
            self.nodes.open(open, self.large.older + level);
            self.note_pending(slot);
        }
    }

    /// The slot behind the one that the hand is in, unless that is the last of all.
    fn behind_hand(&self, level: u32) -> Option<Slot> {
        let slot = self.slot_at(level, self.hand);
        (slot != self.slot_at(level, Tick::MAX)).then_some(Slot { at: slot.at + 1, ..slot })
    }

    fn note_pending(&mut self, open: Slot) {
        let is_pending = self.occupied.contains(self.number_of(open));
        if self.large.pending == 0 {
            self.large.moved = self.hand.saturating_sub(1);
        }
        self.large.pending &= !(1 << open.level);
        self.large.pending |= u64::from(is_pending) << open.level;
    }

    /// Moves some older timers of each open slot down.
    #[inline(never)]
    fn move_older(&mut self) {
        let mut pending = self.large.pending;
        while pending != 0 {
            let level = pending.trailing_zeros();
            pending &= pending - 1;
            let Some(open) = self.behind_hand(level) else { continue };
            let number = self.number_of(open);
            if self.occupied.contains(number) {
                self.move_down(open, self.portion(open));
            }
            self.note_pending(open);
        }
        self.large.moved = self.now;
    }

    /// How many older timers of a slot that opens have to move in a tick, so that none is left in
    /// the reserve. There are about as many as its hints tell, and those that came before slots had
    /// hints.
    fn pace(&self, slot: Slot) -> u64 {
        let hinted = self.large.hints.count(self.number_of(slot)) * hints::EVERY as usize;
        let timers = self.nodes.len().min(hinted + HINTS_FROM) as u64;
        let width = 1 << (slot.level * self.bits);
        timers.div_ceil(width - width / RESERVE).max(PACE)
    }

    /// How many older timers of a slot are to move in this call. If some are left in the reserve, a
    /// program has cancelled just those that were remembered: then all timers may be there.
    fn portion(&self, open: Slot) -> usize {
        let ticks = self.now - self.large.moved;
        let left = self.start_of_slot(open) - self.large.moved;
        let most = if left > (1 << (open.level * self.bits)) / RESERVE {
            ticks.saturating_mul(self.large.levels[open.level as usize].pace)
        } else {
            (u128::from(ticks) * self.nodes.len() as u128).div_ceil(u128::from(left)) as u64
        };
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Moves up to `most` timers of a slot to the level below, the last first, each to the front of
    /// its slot there.
    #[inline(never)]
    fn move_down(&mut self, slot: Slot, mut most: usize) {
        let number = self.number_of(slot);
        let mut from = self.sentinel_of(slot);
        if from == self.large.levels[slot.level as usize].open {
            from = self.large.older + slot.level;
        }
        let below = self.slot_at(slot.level - 1, self.start_of_slot(slot));
        debug_assert!(below.at as u32 & self.mask == 0, "it is the first of a block");
        let (first, first_number) = (self.sentinel_of(below), self.number_of(below));
        let open_below = self.large.levels[below.level as usize].open;
        let (shift, bits, mask) = (below.level * self.bits, self.bits, self.mask);
        loop {
            let last = self.nodes.prev(from);
            self.large.hints.read_ahead(&self.nodes, number, last, slot.level * bits);
            let (mut batch, mut count) = ([(0, 0); BATCH], 0);
            let mut at = last;
            while at != from && count < BATCH.min(most) {
                if hints::is_hint(at) {
                    self.large.hints.pop_back(number, at);
                }
                batch[count] = (at, self.nodes.deadline_at(at));
                count += 1;
                at = self.nodes.prev(at);
            }
            self.nodes.cut_after(from, at);
            most -= count;
            for &(at, deadline) in &batch[..count] {
                if deadline >> shift >> bits != slot.at {
                    self.relink_postponed(at, deadline);
                    continue;
                }
                self.meter.tally(Work::CascadeMove, 1);
                let digit = (deadline >> shift) as u32 & mask;
                let (mut to, number) = (first + digit, first_number + digit);
                if below.level > 0 && hints::is_hint(at) {
                    self.large.hints.push_front(number, at);
                }
                if to == open_below {
                    to = self.large.older + below.level;
                    self.large.pending |= 1 << below.level;
                }
                if self.nodes.prepend(to, at) {
                    self.occupied.insert(number);
                    if to != self.large.older + below.level {
                        let slot = Slot { at: below.at + Tick::from(digit), ..below };
                        self.occupied_large(number, self.start_of_slot(slot));
                    }
                }
            }
            if at == from {
                self.vacate(from);
                return;
            }
            if most == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// The slots that may have timers: sentinel, first tick, number, last tick.
    pub(crate) fn slots_large(&self) -> Vec<(u32, Tick, u32, Tick)> {
        let mut slots = Vec::new();
        for level in 0..self.levels() {
            let hand = self.slot_at(level, self.hand);
            let Level { blocks, open, .. } = self.large.levels[level as usize];
            let end = self.slot_at(level, Tick::MAX).at;
            let block = hand.at >> self.bits;
            let last = (u128::from(block + 2) << self.bits).min(u128::from(end) + 1) as Tick;
            let last = last.wrapping_sub(1).min(end);
            // Above level 0, nothing is left of the slot that the hand is in.
            for at in hand.at + Tick::from(level > 0)..=last {
                let slot = Slot { level, at };
                let (number, start) = (self.number_of(slot), self.start_of_slot(slot));
                let first = blocks[Self::side_of(at >> self.bits) as usize];
                if first == OUTSIDE {
                    assert!(!self.occupied.contains(number), "it has no slots");
                    continue;
                }
                let mut sentinel = first + (at as u32 & self.mask);
                if level > 0 && at == hand.at + 1 {
                    assert_eq!(sentinel, open);
                    sentinel = self.large.older + level;
                }
                let width = 1 << (level * self.bits);
                slots.push((sentinel, start, number, start + (width - 1)));
            }
        }
        slots
    }
}
