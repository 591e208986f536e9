//! All slots of the wheel: which one a timer belongs to, how slots split and join, and how they cascade.
//!
//! The hand is in one turn of each level; the ring of that turn is the level's *current* ring. The slots ahead of the hand in
//! the current rings hold every timer that is not overdue, but for a few on their way from one to another (`Change`).
//!
//! A wheel as in the textbooks keeps every timer of a slot in the slot until the hand gets there, and then moves all of them
//! at once: at a million timers a stall of milliseconds. Here a slot that grows beyond a limit is *split*: it gets a ring of its own, the
//! one that it would cascade into, and from then on timers go straight to the slots of that ring, which may split in turn. When the
//! hand gets to a slot that is split, its ring becomes the current ring of the level below, and no timer moves.
//!
//! ```text
//! level 2   [ ][ ][s][ ] ...                      s: split, too many timers for a queue
//!                  ╰──▶ [ ][x][s][ ] ...          its ring: slots of level 1
//!                              ╰──▶ [x][x] ...    the ring of one of these: slots of level 0
//! ```
//!
//! So no single call moves more than a limited number of timers a level, and most timers move less often. When cancellations
//! leave few timers in a slot that is split, it is *joined* to a queue again, so that rings cannot pile up.

mod reshape;

use crate::geometry::Geometry;
use crate::queue::{Pool, Slot, WORDS};
use crate::ring::Rings;
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::{SlotCount, Tick};

/// A slot above level 0 is split when this many timers are in it for each slot of a ring. Fewer would spend more memory on
/// rings, more would make the longest tick longer.
const SPLIT_AT: u32 = 16;

/// No fewer than twice [`PENDING`], so that a slot that was to be split is not joined when those are accounted for.
const LEAST_LIMIT: u32 = 64;

/// A slot that is split is joined when it is down to this part of the limit.
const JOIN_BELOW: u32 = 4;

/// A slot with no more positions is tidied up as soon as that is due: it takes no longer than to account for some timers.
const SHORT: u32 = 8 * WORDS;

/// A slot with more positions than so many times the limit is not tidied up at once, lest a call stall. It is one of level 0, its timers all due
/// at the same tick: above, slots are split, and tidied up before they are as long.
const LONG: u32 = 6;

/// A timer's deadline and value.
#[derive(Clone, Debug)]
pub(crate) struct Entry<T> {
    pub(crate) deadline: Tick,
    pub(crate) value: T,
}

/// The timers, each with the position of its index in a slot.
pub(crate) type Entries<T> = Arena<Entry<T>, Link>;

/// So many timers may have been taken out or moved, less one, before the slots are told.
const PENDING: usize = 32;

/// The link of a timer whose slot has not been told of it: no position is as large.
pub(crate) const MOVING: Link = Link::MAX;

/// The index of a timer that goes nowhere.
const GONE: u32 = u32::MAX;

/// A timer that leaves a slot, and perhaps goes to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    /// Its deadline.
    pub(crate) from: Tick,
    /// Its position in the slot.
    pub(crate) link: Link,
    /// Its place in the arena, or [`GONE`].
    pub(crate) index: u32,
    /// Its new deadline.
    pub(crate) to: Tick,
}

impl Change {
    const NONE: Self = Self { from: 0, link: Link::MIN, index: GONE, to: 0 };
}

/// The deadline of the timer at a place.
#[inline]
fn deadline_of<T>(entries: &Entries<T>, index: u32) -> Tick {
    entries.at(index).map_or(0, |entry| entry.deadline)
}

/// A slot of a current ring, and its first tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) start: Tick,
    level: u32,
    at: u32,
}

impl Next {
    /// Whether all timers of the slot are due at its first tick.
    #[inline]
    pub(crate) fn is_exact(&self) -> bool {
        self.level == 0
    }
}

/// All slots. Levels go by the shift of their digit, see [`Geometry`].
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    geometry: Geometry,
    rings: Rings,
    pool: Pool,
    /// The ring of each level that the hand is in.
    current: [u32; 64],
    /// Bit i: the current ring of level i has an occupied slot.
    occupied: u64,
    /// The tick that slots are chosen from. No occupied slot of a current ring starts before it, so that each timer in a slot is in the
    /// one that its deadline names.
    hand: Tick,
    /// The earliest occupied slot.
    next: Option<Next>,
    /// Its last tick; the first of all if there is none.
    next_ends: Tick,
    /// What was done and the slots do not know yet, the first `pending` of them. Never so much that nothing is left in the next slot, nor
    /// anything that comes before it, so that `next` is exact at all times.
    changes: [Change; PENDING],
    pending: usize,
    /// Whether one of them goes to another slot.
    moving: bool,
    /// A slot above level 0 with as many timers is to be split.
    limit: u32,
    /// How many slots may be split, joined or tidied up, if there is a limit: one while many timers are accounted for together, lest all that takes time
    /// comes at once.
    reshapes: Option<u32>,
}

impl Levels {
    pub(crate) fn new(slots: SlotCount, start: Tick) -> Self {
        let geometry = Geometry::new(slots);
        let (mut rings, mut current) = (Rings::new(slots), [0; 64]);
        geometry.levels().for_each(|level| current[level as usize] = rings.allocate());
        let limit = LEAST_LIMIT.max(SPLIT_AT * slots.get() as u32);
        let changes = [Change::NONE; PENDING];
        let (pool, occupied, next, next_ends) = (Pool::new(), 0, None, 0);
        Self {
            geometry,
            rings,
            pool,
            current,
            occupied,
            hand: start,
            next,
            next_ends,
            changes,
            pending: 0,
            moving: false,
            limit,
            reshapes: None,
        }
    }

    #[inline]
    pub(crate) fn hand(&self) -> Tick {
        self.hand
    }

    /// Moves the hand to a tick, where no occupied slot starts before it.
    #[inline]
    pub(crate) fn set_hand(&mut self, hand: Tick) {
        self.hand = hand;
    }

    /// The earliest occupied slot.
    #[inline]
    pub(crate) fn next(&self) -> Option<Next> {
        self.next
    }

    /// The slot of a current ring that a deadline is in, and its level. Whether it is split is not looked at.
    #[inline]
    fn current_slot_of(&self, deadline: Tick) -> (u32, u32) {
        let level = self.geometry.level_of(deadline, self.hand);
        (level, self.current[level as usize % 64] + self.geometry.digit_of(deadline, level))
    }

    /// Puts the timer at a place of the arena into the slot of its deadline, which is not before the hand. Returns its link.
    #[inline(always)]
    pub(crate) fn link<T>(&mut self, entries: &mut Entries<T>, index: u32, deadline: Tick, meter: &impl Meter) -> Link {
        let (mut level, mut at) = self.current_slot_of(deadline);
        meter.tally(Work::SlotVisit, 1);
        let mut slot = self.rings.slot(at);
        let mut is_current = true;
        while !slot.has_room() {
            let Some(below) = slot.ring() else {
                return self.link_to_full(entries, index, deadline, (level, at, is_current), meter);
            };
            slot.live += 1;
            is_current = false;
            meter.tally(Work::SlotVisit, 1);
            level = self.geometry.below(level);
            at = below + self.geometry.digit_of(deadline, level);
            slot = self.rings.slot(at);
        }
        slot.live += 1;
        self.pool.push_behind(slot, index)
    }

    /// The same for a timer whose slot has no room: it is empty, or its last chunk is full, and it may be time to split it.
    #[inline(never)]
    fn link_to_full<T>(
        &mut self,
        entries: &mut Entries<T>,
        index: u32,
        deadline: Tick,
        slot: (u32, u32, bool),
        meter: &impl Meter,
    ) -> Link {
        let (mut level, mut at, mut is_current) = slot;
        loop {
            let slot = self.rings.slot(at);
            if let Some(below) = slot.ring() {
                slot.live += 1;
                is_current = false;
                level = self.geometry.below(level);
                at = below + self.geometry.digit_of(deadline, level);
            } else if level == 0 || slot.live < self.limit {
                break;
            } else if self.pending > 0 {
                // Some of its timers may be gone; enough are left that no slot on the way here is joined.
                self.settle(entries, meter);
            } else if self.may_reshape() {
                self.split(entries, level, at, meter);
            } else {
                break;
            }
        }
        let slot = self.rings.slot(at);
        slot.live += 1;
        let (is_first, link) = (slot.live == 1, self.pool.push(slot, index));
        if is_first && is_current {
            self.occupy(Next { start: deadline >> level << level, level, at });
        } else if is_first {
            self.rings.occupy(at);
        }
        link
    }

    /// Takes a timer out of its slot, or remembers to.
    ///
    /// Its deadline and its link are still on their way from memory. The processor looks some hundred instructions ahead: the
    /// fewer there are to a cancellation, the more of them wait side by side. So only this is done at once, and
    /// the rest for many timers together, when all of it is at hand.
    #[inline]
    pub(crate) fn unlink<T>(&mut self, entries: &mut Entries<T>, link: Link, deadline: Tick, meter: &impl Meter) {
        self.changes[self.pending] = Change { from: deadline, link, ..Change::NONE };
        self.pending += 1;
        if self.pending == PENDING || deadline <= self.next_ends && self.may_empty_next() {
            self.settle(entries, meter);
        }
    }

    /// Moves a timer to the slot of another deadline, or remembers to. Neither is before the hand. Until the slots are told, its link is
    /// [`MOVING`], which the caller has seen to.
    #[inline(always)]
    pub(crate) fn relink<T>(&mut self, entries: &mut Entries<T>, change: Change, meter: &impl Meter) {
        self.changes[self.pending] = change;
        self.pending += 1;
        self.moving = true;
        let is_first = self.next.is_none_or(|next| change.to < next.start);
        if self.pending == PENDING || is_first || change.from <= self.next_ends && self.may_empty_next() {
            self.settle(entries, meter);
        }
    }

    /// Whether timers are moving. Another must not be put into a slot before them, lest it overtake one of the same deadline.
    #[inline]
    pub(crate) fn is_moving(&self) -> bool {
        self.moving
    }

    /// Lets a moving timer go nowhere.
    #[cold]
    pub(crate) fn forget(&mut self, index: u32) {
        let pending = &mut self.changes[..self.pending];
        pending.iter_mut().filter(|change| change.index == index).for_each(|change| change.index = GONE);
    }

    /// Whether the next slot could have no timer left once all are told.
    fn may_empty_next(&mut self) -> bool {
        self.next.is_some_and(|next| self.rings.slot(next.at).live as usize <= self.pending)
    }

    /// Tells the slots all that was done, if anything.
    #[inline]
    pub(crate) fn settle<T>(&mut self, entries: &mut Entries<T>, meter: &impl Meter) {
        if self.pending > 0 {
            self.settle_pending(entries, meter);
        }
    }

    #[inline(never)]
    fn settle_pending<T>(&mut self, entries: &mut Entries<T>, meter: &impl Meter) {
        let pending = core::mem::take(&mut self.pending);
        self.moving = false;
        self.reshapes = Some(1);
        // All holes first: whoever reads a slot from here on must not meet a timer that is gone.
        self.changes[..pending].iter().for_each(|change| self.pool.erase(change.link));
        for at in 0..pending {
            let Change { from, link, .. } = self.changes[at];
            self.count_out(entries, link, from, meter);
        }
        for at in 0..pending {
            let Change { index, to, .. } = self.changes[at];
            if index != GONE {
                let place = self.link(entries, index, to, meter);
                entries.set_link(index, place);
            }
        }
        self.reshapes = None;
    }

    /// Accounts for a timer of which only a hole is left.
    #[inline]
    fn count_out<T>(&mut self, entries: &mut Entries<T>, link: Link, deadline: Tick, meter: &impl Meter) {
        let (mut level, mut at) = self.current_slot_of(deadline);
        let mut is_thin = false;
        let left = loop {
            meter.tally(Work::SlotVisit, 1);
            let slot = self.rings.slot(at);
            slot.live -= 1;
            let Some(below) = slot.ring() else { break slot.live };
            is_thin |= slot.live <= self.limit / JOIN_BELOW;
            level = self.geometry.below(level);
            at = below + self.geometry.digit_of(deadline, level);
        };
        let slot = self.rings.slot(at);
        if left == 0 || is_thin {
            self.thin_out(entries, at, deadline, meter);
            return;
        }
        let (is_sparse, positions) = (slot.is_sparse(), slot.len());
        if is_sparse && (positions <= SHORT || positions <= LONG * self.limit && self.may_reshape()) {
            self.drop_holes(entries, at, meter);
        } else if level == 0 && positions > self.limit {
            // Long before it is too long to be tidied up at once: of one that is, five sixths have been under this care.
            self.merge(entries, at, link, meter);
        }
    }

    /// Moves the timers of the next slot, one of a higher level, closer. The hand moves to the slot's first tick, so all of them go to
    /// lower levels, whose current rings are empty: in order, so that the order of insertion is kept.
    pub(crate) fn cascade<T>(&mut self, entries: &mut Entries<T>, next: Next, meter: &impl Meter) {
        let Next { start, mut level, mut at } = next;
        self.hand = start;
        loop {
            meter.tally(Work::SlotVisit, 1);
            let old = core::mem::replace(self.rings.slot(at), Slot::EMPTY);
            self.vacate_current(level, at);
            let Some(below) = old.ring() else {
                self.spread(entries, old, meter);
                break;
            };
            level = self.geometry.below(level);
            self.rings.release(core::mem::replace(&mut self.current[level as usize], below));
            self.occupied |= 1 << level;
            // The hand is in the first slot of that ring now, and what is there belongs further down.
            at = below;
            if level == 0 || !self.rings.is_occupied(at) {
                break;
            }
        }
        self.find_next();
    }

    /// Puts the timers of a queue into the current rings.
    fn spread<T>(&mut self, entries: &mut Entries<T>, mut queue: Slot, meter: &impl Meter) {
        meter.tally(Work::EntryScan, u64::from(queue.len()));
        meter.tally(Work::CascadeMove, u64::from(queue.live));
        while let Some(batch) = self.pool.pop_batch(&mut queue) {
            let deadlines = batch.ask(|index| deadline_of(entries, index));
            for (index, deadline) in batch.timers().zip(deadlines) {
                let (level, to) = self.current_slot_of(deadline);
                let slot = self.rings.slot(to);
                slot.live += 1;
                entries.set_link(index, self.pool.push(slot, index));
                if slot.live == 1 {
                    self.rings.occupy(to);
                    self.occupied |= 1 << level;
                }
            }
        }
    }

    /// Takes the first timer out of the next slot, which is one of level 0: its place in the arena.
    #[inline]
    pub(crate) fn pop(&mut self, next: Next, meter: &impl Meter) -> Option<u32> {
        self.hand = next.start;
        let slot = self.rings.slot(next.at);
        let index = self.pool.pop(slot, meter)?;
        slot.live -= 1;
        if slot.live == 0 {
            self.pool.clear(slot);
            self.vacate_current(0, next.at);
            self.find_next();
        }
        Some(index)
    }

    /// A slot of a current ring holds a timer, its first.
    #[inline]
    fn occupy(&mut self, slot: Next) {
        self.rings.occupy(slot.at);
        self.occupied |= 1 << slot.level;
        if self.next.is_none_or(|next| slot.start < next.start) {
            self.set_next(Some(slot));
        }
    }

    /// A slot of a current ring has no timer left.
    #[inline]
    fn vacate(&mut self, level: u32, at: u32) {
        self.vacate_current(level, at);
        if self.next.is_some_and(|next| next.at == at) {
            self.find_next();
        }
    }

    #[inline]
    fn vacate_current(&mut self, level: u32, at: u32) {
        self.rings.vacate(at);
        if self.rings.count(self.current[level as usize]) == 0 {
            self.occupied &= !(1 << level);
        }
    }

    #[inline]
    fn set_next(&mut self, next: Option<Next>) {
        self.next = next;
        self.next_ends = next.map_or(0, |next| next.start | ((1 << next.level) - 1));
    }

    /// Seen from the hand, all occupied slots of a current ring lie ahead, and all of a lower level before all of a higher
    /// one. So the earliest is the first of the first level that has any.
    #[inline]
    fn find_next(&mut self) {
        let level = self.occupied.trailing_zeros();
        let ring = self.current.get(level as usize).copied();
        self.set_next(ring.and_then(|ring| {
            let at = self.rings.first(ring)?;
            Some(Next { start: self.geometry.start_of(level, at - ring, self.hand), level, at })
        }));
    }
}

#[cfg(test)]
mod tests;
