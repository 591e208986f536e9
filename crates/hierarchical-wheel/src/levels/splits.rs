//! How slots split and join.
//!
//! A wheel of the textbooks keeps every timer of a slot in the slot until the hand gets there, and
//! then moves all of them at once: at a million timers a stall of milliseconds. Here a slot that
//! has thousands of timers is *split*: it gets a ring of its own, the one that it would cascade
//! into, and from then on timers go straight to the slots of that ring, which may split in turn.
//! Those it has already stay where they are: they are its *elders*. So to split a slot moves no
//! timer.
//!
//! ```text
//! level 2   [ ][ ][s][ ] ...                       s is split
//!                  ├──▶ elders ⇄ ⇄ ⇄               those that came before
//!                  ╰──▶ [ ][x][s][ ] ...           its ring: slots of level 1
//!                              ├──▶ elders
//!                              ╰──▶ [x][x] ...     the ring of one of these: slots of level 0
//! ```
//!
//! When the hand gets to a slot that is split, its ring becomes the current ring of the level below
//! as it is. Only the elders move, each to the *front* of its slot in that ring: all of them came
//! before all that is there, and taken from last to first they keep their order. So no call moves
//! more than a limited number of timers a level, and most timers move less often than in other
//! wheels.
//!
//! When cancellations leave few timers to a slot that is split, it is *joined* to one list again,
//! so that rings cannot pile up: whoever takes a ring looks at two others.

use super::Levels;
use crate::nodes::{Links, Nodes, SPLIT};
use crate::rings::{CURRENT, bits};
use crate::store::{MANY, Store};
use wheelhouse_core::Tick;
use wheelhouse_core::geometry::Level;
use wheelhouse_core::lists::LINKS_IN;
use wheelhouse_core::meter::{Meter, Work};

/// A slot above level 0 is split when this many timers came to it for each slot of a ring. Fewer
/// would spend more memory on rings, more would make the longest tick longer.
const SPLIT_AT: u32 = 32;

/// A slot with no more than this part of the limit has few timers.
const FEW: u32 = 8;

/// A ring of whose lists no more than this part have timers is sparse.
const SPARSE: u32 = 4;

/// Lest a ring of few slots be split for a handful of timers.
const LEAST_LIMIT: u32 = 64;

/// A slot above level 0 with as many timers is split, where a ring has so many slots.
pub(super) fn limit(slots: u32) -> u32 {
    LEAST_LIMIT.max(SPLIT_AT * slots)
}

impl Levels {
    /// Makes room in a slot that has none: remembers which timer comes next, or splits it.
    #[inline(never)]
    pub(super) fn look_after<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        slot: u32,
        level: Level,
        (at, deadline): (u32, Tick),
        meter: &impl Meter,
    ) {
        let is_full = nodes.slot(slot).most() >= self.limit;
        if is_full && level.shift > 0 && nodes.has_room_for(self.rings.slots() + 1) {
            return self.split_if_crowded(nodes, slot, level, meter);
        }
        let known = nodes.make_room(slot);
        if nodes.used() >= MANY {
            let slots = self.rings.slots();
            let ring = self.rings.get_mut(known.ring);
            // Timers of one slot differ in lower digits only.
            let is_here = |other| (nodes.deadline_at(other) ^ deadline) >> level.shift == 0;
            ring.hints.record(slots, slot - ring.base, known, at, is_here);
        }
    }

    /// As many timers came to a slot as it may have: splits it, unless most of them have left. They
    /// are counted only if as many left any slot.
    fn split_if_crowded<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        slot: u32,
        level: Level,
        meter: &impl Meter,
    ) {
        let known = nodes.slot(slot);
        if self.departures.wrapping_sub(known.departures) > known.most() / 2 {
            self.read_ahead(nodes, slot, nodes.links(slot).next);
            let left = nodes.count(slot, self.few());
            meter.tally(Work::Link, left.into());
            if left <= self.few() {
                return nodes.reset_slot(slot, left, self.departures);
            }
        }
        self.split(nodes, slot, level);
        (0..2).for_each(|_| self.tidy(nodes, meter));
    }

    /// A slot with so many timers is not worth a ring.
    fn few(&self) -> u32 {
        self.limit / FEW
    }

    /// Gives a slot a ring of its own. The timers that it has become the elders.
    fn split<S: Store>(&mut self, nodes: &mut Nodes<S>, sentinel: u32, level: Level) {
        let base = self.rings.allocate(nodes, self.geometry.below(level), sentinel);
        nodes.append_list(sentinel, base + self.rings.slots());
        nodes.set_links(sentinel, Links { prev: SPLIT, next: base });
    }

    /// Looks at the next ring, and joins its slot if hardly any timers are left; then at the ring
    /// that the slot is in. Two such looks for each ring that is taken: so rings that are worth
    /// nothing do not outnumber those that are.
    fn tidy<S: Store>(&mut self, nodes: &mut Nodes<S>, meter: &impl Meter) {
        let mut id = self.rings.next_to_see();
        while let Some(left) = self.timers_if_few(nodes, id, meter) {
            let parent = self.rings.get(id).parent;
            self.join(nodes, id, left, meter);
            id = nodes.slot(parent).ring;
        }
    }

    /// Counts the timers of a ring that belongs to a slot, unless they are more than a few.
    fn timers_if_few<S: Store>(
        &self,
        nodes: &Nodes<S>,
        id: u32,
        meter: &impl Meter,
    ) -> Option<u32> {
        let (slots, few) = (self.rings.slots(), self.few());
        let ring = self.rings.get(id);
        meter.tally(Work::SlotVisit, ring.words.len() as u64);
        if !ring.is_of_slot() || ring.occupied() > (slots / SPARSE).max(1) {
            return None;
        }
        let occupied = ring.words.iter().copied().zip(0..).flat_map(bits);
        let lists = occupied.map(|digit| ring.base + digit);
        let elders = ring.base + slots;
        let mut left = 0;
        for list in lists.chain([elders]) {
            // A slot that is split has more.
            if nodes.links(list).prev == SPLIT {
                return None;
            }
            let found = nodes.count(list, few - left);
            meter.tally(Work::Link, found.into());
            left += found;
            if left > few {
                return None;
            }
        }
        Some(left)
    }

    /// Makes the ring of a split slot the current one of its level, and puts the elders of the slot
    /// in front of what is in it.
    pub(super) fn promote<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        split: u32,
        base: u32,
        level: Level,
        meter: &impl Meter,
    ) {
        let before = self.current[level.shift as usize % 64].base;
        self.rings.release(nodes.slot(before).ring);
        self.set_current(level, base);
        let ring = self.rings.get_mut(nodes.slot(base).ring);
        ring.parent = CURRENT;
        meter.tally(Work::SlotVisit, ring.words.len() as u64);
        for digit in ring.take_occupied() {
            self.occupied.insert(level.first + digit);
        }
        let elders = base + self.rings.slots();
        self.read_ahead(nodes, split, nodes.links(elders).next);
        nodes.take_list(split);
        nodes.reset_slot(split, 0, self.departures);
        let mut at = nodes.take_list(elders).prev;
        while at != elders {
            let (Links { prev, .. }, deadline) = (nodes.links(at), nodes.deadline_at(at));
            meter.tally(Work::CascadeMove, 1);
            let digit = self.geometry.digit_of(deadline, level);
            if nodes.prepend(base + digit, at, self.rings.slots()) {
                self.occupied.insert(level.first + digit);
            }
            at = prev;
        }
    }

    /// A list of the ring of a split slot has lost its last timer. If it was the last of all, the
    /// slot needs no ring any more.
    #[cold]
    pub(super) fn thin_out<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        id: u32,
        digit: u32,
        meter: &impl Meter,
    ) {
        let slots = self.rings.slots();
        let ring = self.rings.get_mut(id);
        let (base, parent) = (ring.base, ring.parent);
        if digit < slots {
            ring.vacate(digit);
            nodes.reset_slot(base + digit, 0, self.departures);
        }
        meter.tally(Work::SlotVisit, ring.words.len() as u64);
        if ring.occupied() == 0 && nodes.links(base + slots).next == base + slots {
            self.join(nodes, id, 0, meter);
            self.emptied(nodes, parent, meter);
        }
    }

    /// Puts all lists of a ring behind the elders of the slot that it belongs to, in order, and all
    /// that is one list then back into the slot. Those of one deadline are in one list and keep
    /// their order. No timer is touched but the ends of lists.
    fn join<S: Store>(&mut self, nodes: &mut Nodes<S>, id: u32, left: u32, meter: &impl Meter) {
        let slots = self.rings.slots();
        let ring = self.rings.get_mut(id);
        let (base, parent) = (ring.base, ring.parent);
        meter.tally(Work::SlotVisit, ring.words.len() as u64);
        for digit in ring.take_occupied() {
            meter.tally(Work::Link, LINKS_IN);
            nodes.append_list(base + digit, base + slots);
            nodes.reset_slot(base + digit, 0, self.departures);
        }
        nodes.set_links(parent, Links { prev: parent, next: parent });
        meter.tally(Work::Link, LINKS_IN);
        nodes.append_list(base + slots, parent);
        nodes.reset_slot(parent, left, self.departures);
        self.rings.release(id);
    }
}
