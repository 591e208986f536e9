//! Open slots: their timers move down before their turn.
//!
//! The timers that were in a slot before it opened are its *older* timers. They move at an even
//! *pace*, so that all have moved when three quarters of the time are over. A program that sleeps
//! is woken when a slot with timers opens, and then at each tick until none is left.
//!
//! The order of insertion holds: older timers move from the last to the first, each to the front of
//! its slot, and all timers that are there already came later.

use super::{HINTS_FROM, Level, Slot};
use crate::Tick;
use crate::hints;
use crate::nodes::OUTSIDE;
use crate::wheel::{NONE, Wheel};
use wheelhouse_core::meter::{Meter, Work};

/// At least this many older timers of the lowest level that has any move in a tick.
const PACE: u64 = 128;

/// A slot with more timers than can move at this many a tick is crowded.
const CROWD: u64 = if cfg!(test) { 4 } else { 420 };

/// All older timers should have moved before the last quarter of the time in which a slot is open.
/// That quarter is the reserve.
const RESERVE: u64 = 4;

/// Timers of a list that are looked at before any of them moves.
const BATCH: usize = 32;

/// The lists of this many slots of level 0, as a power of two, are read ahead at once.
const GROUP: u32 = if cfg!(test) { 1 } else { 4 };

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// Returns `true` if the slot behind the hand is open, or would be if its block were there.
    #[inline(always)]
    pub(super) fn is_open(&self, level: u32) -> bool {
        self.large.is_open >> level & 1 == 1
    }

    /// For how many ticks before its first one a slot is to be open: half of its width, and longer
    /// if more than [`CROWD`] timers would have to move in a tick.
    fn time_of(&self, slot: Slot) -> Tick {
        let (quarter, timers) = (self.width_of(slot) / 4, self.estimate(slot));
        let is_crowd = |time: Tick| timers > CROWD.saturating_mul(time - time / RESERVE);
        match (is_crowd(3 * quarter), is_crowd(2 * quarter)) {
            (true, _) => 4 * quarter,
            (false, true) => 3 * quarter,
            (false, false) => 2 * quarter,
        }
    }

    /// The tick at which a closed slot opens. If it has become crowded too late for its time, it
    /// opens with the next quarter.
    fn opening(&self, slot: Slot) -> Tick {
        let next_quarter = (self.hand | (self.width_of(slot) / 4 - 1)) + 1;
        next_quarter.max(self.start_of_slot(slot) - self.time_of(slot))
    }

    /// At most how many timers a slot has: the hints give the estimate, and timers that were
    /// inserted before slots had hints are added.
    fn estimate(&self, slot: Slot) -> u64 {
        let hinted = self.large.hints.count(self.number_of(slot)) * hints::EVERY as usize;
        self.nodes.len().min(hinted + HINTS_FROM) as u64
    }

    /// When the next occupied slot opens.
    pub(super) fn find_opens(&mut self) {
        let levels = 1..self.levels();
        let closed = levels.filter_map(|level| {
            let slot = self.slot_at(level, self.hand);
            let first = slot.at.checked_add(1 + Tick::from(self.is_open(level)))?;
            (first <= self.slot_at(level, Tick::MAX).at).then_some(Slot { at: first, ..slot })
        });
        let slots = closed.filter_map(|from| self.first_of_level(from));
        self.large.opens = slots.map(|slot| self.opening(slot)).min().unwrap_or(Tick::MAX);
    }

    /// A slot that starts at a tick has its first timer.
    #[inline(always)]
    pub(crate) fn occupied_large(&mut self, number: u32, start: Tick) {
        let level = number >> (self.bits + 1);
        if level > 0 {
            self.note_opening(self.slot_at(level, start));
        }
    }

    /// A slot above level 0 that is not open has its first timer, and is not crowded.
    #[inline(always)]
    fn note_opening(&mut self, slot: Slot) {
        let opening = self.start_of_slot(slot) - self.width_of(slot) / 2;
        self.large.opens = self.large.opens.min(opening);
    }

    /// The tick at which a program that sleeps has to call, so that no slot moves at once.
    #[inline]
    pub(crate) fn next_move(&self) -> Tick {
        if self.large.pending != 0 { self.now.saturating_add(1) } else { self.large.opens }
    }

    /// The tick at which the wheel has work other than firing: while older timers wait, the first
    /// one at which none of them has moved yet, which may be that of the hand; else the first of
    /// the next quarter of a block. At no other tick does a slot begin or open.
    #[inline(always)]
    pub(crate) fn next_work(&self) -> Tick {
        let quarter = self.hand | Tick::from(self.mask >> 2);
        let last = if self.large.pending != 0 { self.large.moved } else { quarter };
        last.saturating_add(1)
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
        self.set_due::<true>();
        None
    }

    /// Moves the hand to a tick. No slot that starts before it is occupied.
    #[inline(always)]
    fn enter(&mut self, tick: Tick) {
        let before = core::mem::replace(&mut self.hand, tick);
        if (before ^ tick) >> self.bits != 0 {
            self.enter_block(before);
        } else if (before ^ tick) >> (self.bits - 2) != 0 {
            // The quarters of slots above level 1 begin with blocks.
            self.open_in_time(1);
            if self.large.opens <= tick {
                self.find_opens();
            }
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

    /// The hand is in another block of level 0. From the highest level on: if the hand is in
    /// another slot, the remaining timers of that slot move down; if it is time, the slot behind
    /// opens.
    #[inline(never)]
    fn enter_block(&mut self, before: Tick) {
        for level in 1..self.levels() {
            // An open slot that was passed has no older timers. Its sentinel may be that of a slot
            // to come, so it is closed before any timer moves.
            let slot = self.slot_at(level, self.hand);
            if self.large.levels[level as usize].open_at < slot.at {
                self.close_open(level);
            }
            if slot != self.slot_at(level, before) {
                self.large.is_open &= !(1 << level);
            }
        }
        for level in (0..self.levels()).rev() {
            let block = self.block_of(level, self.hand);
            if block != self.block_of(level, before) {
                let side = Self::side_of(block);
                self.set_ways(level, self.large.levels[level as usize].blocks[side as usize]);
            }
            if level == 0 {
                continue;
            }
            let slot = self.slot_at(level, self.hand);
            if slot != self.slot_at(level, before) {
                if self.occupied.contains(self.number_of(slot)) {
                    self.move_down(slot, usize::MAX);
                }
                if self.large.levels[level as usize].open_at == slot.at {
                    self.close_open(level);
                }
            }
            self.open_in_time(level);
        }
        self.find_opens();
        self.find_next::<true>();
    }

    /// Opens the slot behind the hand, if it is time.
    #[inline(never)]
    pub(super) fn open_in_time(&mut self, level: u32) {
        let Some(slot) = self.behind_hand(level).filter(|_| !self.is_open(level)) else { return };
        if self.start_of_slot(slot) - self.hand <= self.time_of(slot) {
            self.large.is_open |= 1 << level;
            self.open_next(level);
        }
    }

    /// Makes the open slot of a level an empty one. It has no older timers.
    fn close_open(&mut self, level: u32) {
        let open = core::mem::replace(&mut self.large.levels[level as usize].open, OUTSIDE);
        self.large.pending &= !(1 << level);
        if open != OUTSIDE {
            debug_assert!(self.nodes.is_empty(self.large.older + level), "they have moved");
            debug_assert!(self.nodes.is_empty(open), "no timer comes to an open slot");
            self.nodes.close_slot(open);
        }
    }

    /// Marks the slot behind the hand as open, if it is to be open and has a sentinel.
    pub(super) fn open_next(&mut self, level: u32) {
        let behind = self.behind_hand(level).filter(|_| self.is_open(level));
        let Some(slot) = behind else { return };
        let number = self.number_of(slot);
        let state = self.large.levels[level as usize];
        let first = state.blocks[Self::side_of(slot.at >> self.bits) as usize];
        if first != OUTSIDE && state.open == OUTSIDE {
            let (open, open_at) = (first + (number & self.mask), slot.at);
            let (opened, pace) = (self.hand, self.pace(slot));
            self.large.levels[level as usize] = Level { open, open_at, opened, pace, ..state };
            self.nodes.set_number(self.large.older + level, number);
            self.nodes.open(open, self.large.older + level);
            self.note_pending(slot);
        }
    }

    /// The slot behind the one that the hand is in, unless that is the last of all.
    pub(super) fn behind_hand(&self, level: u32) -> Option<Slot> {
        let slot = self.slot_at(level, self.hand);
        (slot != self.slot_at(level, Tick::MAX)).then(|| Slot { at: slot.at + 1, ..slot })
    }

    fn note_pending(&mut self, open: Slot) {
        let is_pending = self.occupied.contains(self.number_of(open));
        if self.large.pending == 0 {
            self.large.moved = self.hand.saturating_sub(1);
        }
        self.large.pending &= !(1 << open.level);
        self.large.pending |= u64::from(is_pending) << open.level;
    }

    /// Moves some older timers of each open slot down. The lowest level, whose time is shortest,
    /// moves at least [`PACE`]. The others move what they need, so that levels that open at the
    /// same tick do not add up.
    #[inline(never)]
    fn move_older(&mut self) {
        let (mut pending, mut least) = (self.large.pending, PACE);
        while pending != 0 {
            let level = pending.trailing_zeros();
            pending &= pending - 1;
            let Some(open) = self.behind_hand(level) else { continue };
            let number = self.number_of(open);
            if self.occupied.contains(number) {
                self.move_down(open, self.portion(open, least));
                least = 0;
            }
            self.note_pending(open);
        }
        self.large.moved = self.now;
    }

    /// How many older timers of a slot that opens now have to move in a tick, so that all have
    /// moved before the reserve.
    fn pace(&self, slot: Slot) -> u64 {
        let time = self.start_of_slot(slot) - self.hand;
        self.estimate(slot).div_ceil(time - time / RESERVE)
    }

    /// How many older timers of a slot move in this call: its pace, and at least `least`, for each
    /// tick since the last call, or since the slot opened if that was later. In the reserve also
    /// its share of all timers: the program has cancelled exactly the timers that were remembered,
    /// so the pace is too low, and every timer may be in this slot.
    fn portion(&self, open: Slot, least: u64) -> usize {
        let Level { opened, pace, .. } = self.large.levels[open.level as usize];
        let since = self.large.moved.max(opened.saturating_sub(1));
        let start = self.start_of_slot(open);
        let (ticks, left) = (self.now - since, start - since);
        let mut most = ticks.saturating_mul(pace.max(least));
        if left <= (start - opened) / RESERVE {
            let all = u128::from(ticks) * self.nodes.len() as u128;
            most = most.max(all.div_ceil(u128::from(left)) as u64);
        }
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
        let keeps_hints = below.level > 0 && self.nodes.places() > HINTS_FROM;
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
                if keeps_hints && hints::is_hint(at) {
                    self.large.hints.push_front(number, at);
                }
                if to == open_below {
                    to = self.large.older + below.level;
                    self.large.pending |= 1 << below.level;
                }
                if self.nodes.prepend(to, at) {
                    self.occupied.insert(number);
                    if below.level > 0 && to != self.large.older + below.level {
                        self.note_opening(Slot { at: below.at + Tick::from(digit), ..below });
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
