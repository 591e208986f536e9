//! Open slots: their timers move down before the hand reaches the slot.
//!
//! The timers that were in a slot before it opened are its *older* timers. They move at an even
//! *pace*, so that all have moved after three quarters of the time for which the slot is open. A
//! program that sleeps is woken when a slot with timers opens, and then at each tick until none is
//! left.
//!
//! The order of insertion is kept: older timers move from the last to the first, each to the front
//! of its new slot, and all timers that are in that slot already were inserted later.

use super::{HINTS_FROM, Level, Slot};
use crate::Tick;
use crate::hints;
use crate::nodes::OUTSIDE;
use crate::wheel::{NONE, Wheel};
use wheelhouse_core::meter::{Meter, Work};

/// At least this many older timers of an open slot move per tick.
const PACE: u64 = 128;

/// A slot is crowded if more than this many of its timers would have to move per tick.
const CROWD: u64 = if cfg!(test) { 4 } else { 420 };

/// All older timers should have moved before the last quarter of the time for which a slot is open.
/// That quarter is the reserve.
const RESERVE: u64 = 4;

/// The number of timers of a list that are read before the first of them moves.
const BATCH: usize = 32;

/// The binary logarithm of the number of slots of level 0 whose lists are read ahead at once.
const GROUP: u32 = if cfg!(test) { 1 } else { 4 };

impl<T, M: Meter, const OPENS: bool> Wheel<T, M, OPENS> {
    /// Returns `true` if the next slot of a level is open, or should be but its block does not
    /// exist yet.
    #[inline(always)]
    pub(super) fn is_open(&self, level: u32) -> bool {
        self.large.is_open >> level & 1 == 1
    }

    /// The number of ticks for which a slot should be open before its first tick: half of its
    /// width. If more than [`CROWD`] timers would have to move per tick, three quarters, or the
    /// whole width.
    fn time_of(&self, slot: Slot) -> Tick {
        let (quarter, timers) = (self.width_of(slot) / 4, self.estimate(slot));
        let is_crowd = |time: Tick| timers > CROWD.saturating_mul(time - time / RESERVE);
        match (is_crowd(3 * quarter), is_crowd(2 * quarter)) {
            (true, _) => 4 * quarter,
            (false, true) => 3 * quarter,
            (false, false) => 2 * quarter,
        }
    }

    /// The tick at which a closed slot opens. If that tick is past, because the slot has become
    /// crowded too late, it opens at the next quarter.
    fn opening(&self, slot: Slot) -> Tick {
        let next_quarter = (self.hand | (self.width_of(slot) / 4 - 1)) + 1;
        next_quarter.max(self.start_of_slot(slot) - self.time_of(slot))
    }

    /// An estimate of the number of timers in a slot, from its hints. It includes all timers that
    /// may have been inserted before slots had hints, so it is usually too high.
    fn estimate(&self, slot: Slot) -> u64 {
        let hinted = self.large.hints.count(self.number_of(slot)) * hints::EVERY as usize;
        self.nodes.len().min(hinted + HINTS_FROM) as u64
    }

    /// Finds the tick at which the next occupied slot opens.
    pub(super) fn find_opens(&mut self) {
        let levels = 1..self.levels();
        let closed = levels.filter_map(|level| {
            let slot = self.slot_at(level, self.hand);
            let first = slot.at.checked_add(1 + Tick::from(self.is_open(level)))?;
            (first <= self.slot_at(level, Tick::MAX).at).then_some(Slot { at: first, ..slot })
        });
        let slots = closed.filter_map(|from| self.first_of_level(from));
        self.large.opens = slots.map(|slot| self.opening(slot)).min().unwrap_or(Tick::MAX);
        debug_assert!(
            self.large.opens > self.hand || self.large.opens == Tick::MAX,
            "each slot that should be open is open"
        );
    }

    /// Updates the wheel after the slot that starts at `start` has received its first timer.
    #[inline(always)]
    pub(crate) fn occupied_large(&mut self, number: u32, start: Tick) {
        let level = number >> (self.bits + 1);
        if level > 0 {
            self.lower_opens(self.slot_at(level, start));
        }
    }

    /// Notes when a closed slot above level 0 opens that has received its first timer. With one
    /// timer it is not crowded, so it opens half of its width before its first tick.
    #[inline(always)]
    fn lower_opens(&mut self, slot: Slot) {
        let opening = self.start_of_slot(slot) - self.width_of(slot) / 2;
        self.large.opens = self.large.opens.min(opening);
    }

    /// The tick at which a program that sleeps has to call so that older timers move a few at a
    /// time.
    #[inline]
    pub(crate) fn next_move(&self) -> Tick {
        if self.large.pending != 0 { self.now.saturating_add(1) } else { self.large.opens }
    }

    /// The first tick at which the wheel has work other than firing. If older timers are pending,
    /// it is the tick after the last one at which they moved, which may be the tick of the hand.
    /// Otherwise it is the first tick of the next quarter of a block of level 0: slots above level
    /// 0 begin and open at such ticks only.
    #[inline(always)]
    pub(crate) fn next_work(&self) -> Tick {
        let quarter = self.hand | Tick::from(self.mask >> 2);
        let last = if self.large.pending != 0 { self.large.moved } else { quarter };
        last.saturating_add(1)
    }

    /// Moves the hand to the next timer that is due, or to `now` if none is. Moves timers down on
    /// the way. Returns the sentinel of the slot of the timer. Overdue timers are not considered.
    #[inline]
    pub(crate) fn first_due_large(&mut self) -> Option<u32> {
        while self.next.start <= self.now && self.next.number != NONE.number {
            self.enter(self.next.start);
            let side = self.next.number >> self.bits;
            if side <= 1 && self.next.start == self.hand {
                let first = self.large.levels[0].blocks[side as usize];
                let slot = first + (self.next.number & self.mask);
                debug_assert!(self.hand <= self.now && !self.nodes.is_empty(slot));
                return Some(slot);
            }
            debug_assert!(self.next.start > self.hand, "the slots that start here moved down");
        }
        self.enter(self.now);
        if self.large.pending != 0 && self.now > self.large.moved {
            self.move_older();
        }
        self.set_due::<true>();
        None
    }

    /// Moves the hand to a tick. No slot that starts before that tick is occupied.
    #[inline(always)]
    fn enter(&mut self, tick: Tick) {
        debug_assert!(tick >= self.hand, "the hand does not move back");
        debug_assert!(
            self.next.number == NONE.number || self.next.start >= tick,
            "no occupied slot starts before the hand"
        );
        let before = core::mem::replace(&mut self.hand, tick);
        if (before ^ tick) >> self.bits != 0 {
            self.enter_block(before);
        } else if (before ^ tick) >> (self.bits - 2) != 0 {
            // Only level 1 can open a slot within a block of level 0: the quarters of slots of
            // higher levels begin at the first tick of such a block.
            self.open_in_time(1);
            if self.large.opens <= tick {
                self.find_opens();
            }
        }
        if (before ^ tick) >> GROUP != 0 && self.nodes.places() > HINTS_FROM {
            self.read_group();
        }
    }

    /// Reads the timers of the next group of slots of level 0, so that they are in the cache when
    /// they fire.
    #[inline(never)]
    fn read_group(&self) {
        let next = ((self.hand >> GROUP) + 1) << GROUP;
        let first = self.large.levels[0].blocks[Self::side_of(next >> self.bits) as usize];
        if first != OUTSIDE {
            self.nodes.read_lists::<{ 1 << GROUP }>(first + (next as u32 & self.mask));
        }
    }

    /// Updates all levels after the hand has entered another block of level 0, from the highest
    /// level down. If the hand has entered another slot of a level, the remaining timers of that
    /// slot move down. If it is time, the next slot opens.
    #[inline(never)]
    fn enter_block(&mut self, before: Tick) {
        for level in 1..self.levels() {
            // An open slot that the hand has passed has no older timers. Its sentinel may be used
            // again for a later slot, so it is closed before any timer moves.
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
                self.set_lookups(level, self.large.levels[level as usize].blocks[side as usize]);
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

    /// Opens the next slot of a level, if it is time.
    #[inline(never)]
    pub(super) fn open_in_time(&mut self, level: u32) {
        let Some(slot) = self.next_slot(level).filter(|_| !self.is_open(level)) else { return };
        if self.start_of_slot(slot) - self.hand <= self.time_of(slot) {
            // While the slot is closed, its timers count as being in it.
            self.place_hints();
            self.large.is_open |= 1 << level;
            self.open_next(level);
        }
    }

    /// Closes the open slot of a level. It has no older timers left.
    fn close_open(&mut self, level: u32) {
        let open = core::mem::replace(&mut self.large.levels[level as usize].open, OUTSIDE);
        self.large.pending &= !(1 << level);
        if open != OUTSIDE {
            let older = self.large.older + level;
            debug_assert!(self.nodes.is_empty(older), "the older timers have moved");
            debug_assert!(!self.occupied.contains(self.nodes.number(older)));
            self.nodes.close_slot(open);
        }
    }

    /// Returns `true` if the open slot of a level is occupied exactly if it has older timers, or if
    /// no slot of the level is open.
    fn is_open_slot_right(&self, level: u32) -> bool {
        let older = self.large.older + level;
        self.large.levels[level as usize].open == OUTSIDE
            || self.occupied.contains(self.nodes.number(older)) != self.nodes.is_empty(older)
    }

    /// Opens the next slot of a level if it should be open, its block exists, and no slot of the
    /// level is open.
    pub(super) fn open_next(&mut self, level: u32) {
        let next = self.next_slot(level).filter(|_| self.is_open(level));
        let Some(slot) = next else { return };
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
            debug_assert_eq!(open_at, self.slot_at(level, self.hand).at + 1);
        }
        debug_assert!(self.is_open_slot_right(level));
    }

    /// The next slot of a level, after the one that the hand is in; `None` if that is the last one
    /// of all.
    pub(super) fn next_slot(&self, level: u32) -> Option<Slot> {
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
        debug_assert_eq!(open.at, self.large.levels[open.level as usize].open_at);
        debug_assert!(self.is_open_slot_right(open.level));
    }

    /// Moves some older timers of each open slot down. The levels do not add up to many moves: with
    /// 1,024 slots a level, a slot of level 2 opens at least 2^18 ticks after one of level 3, which
    /// has moved 32 million timers by then. So at most two levels move timers at a time.
    #[inline(never)]
    fn move_older(&mut self) {
        let mut pending = self.large.pending;
        while pending != 0 {
            let level = pending.trailing_zeros();
            pending &= pending - 1;
            let open = self.next_slot(level);
            debug_assert!(open.is_some(), "the slot with older timers is after the hand");
            let Some(open) = open else { continue };
            let number = self.number_of(open);
            if self.occupied.contains(number) {
                self.move_down(open, self.portion(open));
            }
            self.note_pending(open);
        }
        self.large.moved = self.now;
    }

    /// The number of older timers that have to move per tick, so that all have moved before the
    /// reserve, if the slot opens now.
    fn pace(&self, slot: Slot) -> u64 {
        let time = self.start_of_slot(slot) - self.hand;
        self.estimate(slot).div_ceil(time - time / RESERVE)
    }

    /// The number of older timers of a slot that move in this call. For each tick since the last
    /// call, or since the slot opened if that was later, it is the pace, and at least [`PACE`]. If
    /// older timers are left in the reserve, the pace may be too low, because the program has
    /// cancelled exactly the timers that were remembered. Then any timer may be in this slot, so at
    /// least `ticks / left` of all timers of the wheel move.
    fn portion(&self, open: Slot) -> usize {
        let Level { opened, pace, .. } = self.large.levels[open.level as usize];
        let since = self.large.moved.max(opened.saturating_sub(1));
        let start = self.start_of_slot(open);
        debug_assert!(since < start && since <= self.now, "the slot is open now");
        let (ticks, left) = (self.now - since, start - since);
        let mut most = ticks.saturating_mul(pace.max(PACE));
        if left <= (start - opened) / RESERVE {
            let all = u128::from(ticks) * self.nodes.len() as u128;
            most = most.max(all.div_ceil(u128::from(left)) as u64);
        }
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Moves up to `most` timers of a slot to the level below, from the last to the first, each to
    /// the front of its new slot. Postponed timers go to the slots of their deadlines instead.
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
                debug_assert!(self.nodes.is_timer(at), "only timers are in a list");
                batch[count] = (at, self.nodes.deadline_at(at));
                count += 1;
                at = self.nodes.prev(at);
            }
            self.nodes.cut_after(from, at);
            most -= count;
            for &(at, deadline) in &batch[..count] {
                debug_assert!(deadline >= self.start_of_slot(slot), "a timer never moves too late");
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
                        self.lower_opens(Slot { at: below.at + Tick::from(digit), ..below });
                    }
                }
            }
            if at == from {
                self.vacate(from);
            }
            if at == from || most == 0 {
                debug_assert!(self.is_open_slot_right(slot.level));
                return;
            }
        }
    }
}
