//! All slots of the wheel: which one a timer belongs to, how slots split and join, how they cascade.
//!
//! The hand is in one turn of each level; the ring of that turn is the level's *current* ring. The
//! slots ahead of the hand in the current rings hold every timer that is not overdue.
//!
//! A wheel of the textbooks keeps every timer of a slot in the slot until the hand gets there, and
//! then moves all of them at once: at a million timers a stall of milliseconds. Here a slot that has
//! thousands of timers is *split*: it gets a ring of its own, the one that it would cascade into, and
//! from then on timers go straight to the slots of that ring, which may split in turn. Those it has
//! already stay where they are: they are its *elders*. So to split a slot moves no timer.
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
//! more than a limited number of timers a level, and most timers move less often than in other wheels.
//!
//! When cancellations leave few timers to a slot that is split, it is *joined* to one list again, so
//! that rings cannot pile up: whoever takes a ring looks at two others.
//!
//! # Invariants
//!
//! * No occupied slot of a current ring starts before the hand; each timer is in the slot that its
//!   deadline names, or among the elders of a split slot on the way there.
//! * Of timers of one deadline, those in the upper of two places came first, and within a list the
//!   one in front.
//! * A slot has at most as many timers, or elders if it is split, as it believes.

use crate::arrears::{Arrears, MOST, Owed};
use crate::hints::STRIDE;
use crate::nodes::{Armed, Links, Nodes, Place, SPLIT};
use crate::rings::{CURRENT, Rings, bits};
use crate::store::{MANY, Store};
use wheelhouse_core::bitmap::Bitmap;
use wheelhouse_core::geometry::{Geometry, Level};
use wheelhouse_core::lists::{LINKS_IN, LINKS_OUT};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{SlotCount, Tick, TimerId};

/// A slot above level 0 is split when this many timers are in it for each slot of a ring. Fewer
/// would spend more memory on rings, more would make the longest tick longer.
const SPLIT_AT: u32 = 32;

/// A slot with no more than this part of the limit has few timers.
const FEW: u32 = 4;

/// A ring of whose lists no more than this part have timers is sparse.
const SPARSE: u32 = 4;

/// Lest a ring of few slots be split for a handful of timers.
const LEAST_LIMIT: u32 = 64;

/// A slot of a current ring that holds timers.
#[derive(Clone, Copy, Debug)]
struct Next {
    start: Tick,
    /// Its last tick.
    end: Tick,
    /// Its number, all current slots being numbered through in the order of time.
    number: u32,
    sentinel: u32,
}

/// There is none.
const NONE: Next = Next { start: Tick::MAX, end: 0, number: u32::MAX, sentinel: 0 };

impl Next {
    #[inline(always)]
    fn new(start: Tick, level: Level, number: u32, sentinel: u32) -> Self {
        Self { start, end: start | ((1 << level.shift) - 1), number, sentinel }
    }
}

/// A level, and the first sentinel of its current ring.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    level: Level,
    base: u32,
}

/// All slots.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    geometry: Geometry,
    rings: Rings,
    /// The level of the digit that bit i of a deadline is in: a table, because a division costs more.
    current: [Current; 64],
    /// The occupied slots of the current rings, by their numbers.
    occupied: Bitmap,
    /// The tick that slots are chosen from.
    hand: Tick,
    /// The earliest occupied slot.
    next: Next,
    /// How many timers have left their slots otherwise than by falling due.
    departures: u32,
    /// A slot above level 0 with as many timers is split.
    limit: u32,
}

impl Levels {
    pub(crate) fn new<S: Store>(slots: SlotCount, start: Tick, nodes: &mut Nodes<S>) -> Self {
        let geometry = Geometry::new(slots);
        let rings = Rings::new(geometry.slots());
        let occupied = Bitmap::new(geometry.levels() * geometry.slots());
        let limit = LEAST_LIMIT.max(SPLIT_AT * geometry.slots());
        let current = [Current::default(); 64];
        let mut it = Self { geometry, rings, current, occupied, hand: start, next: NONE, departures: 0, limit };
        for number in 0..it.geometry.levels() {
            let level = it.geometry.level(number);
            let base = it.rings.allocate(nodes, level, CURRENT);
            it.set_current(level, base);
        }
        it
    }

    /// Makes a ring the current one of its level.
    fn set_current(&mut self, level: Level, base: u32) {
        let bits = self.geometry.slots().ilog2();
        let of_level = self.current.iter_mut().skip(level.shift as usize).take(bits as usize);
        of_level.for_each(|current| *current = Current { level, base });
    }

    #[inline(always)]
    pub(crate) fn hand(&self) -> Tick {
        self.hand
    }

    /// Moves the hand to a tick, where no occupied slot starts before it.
    #[inline(always)]
    pub(crate) fn set_hand(&mut self, hand: Tick) {
        self.hand = hand;
    }

    /// The first tick of the earliest occupied slot; the last of all if there is none.
    #[inline(always)]
    pub(crate) fn next_start(&self) -> Tick {
        self.next.start
    }

    /// Whether there is an occupied slot.
    #[inline(always)]
    pub(crate) fn is_any_occupied(&self) -> bool {
        self.next.number != NONE.number
    }

    /// Makes room for a timer, whose deadline is not before the hand, behind all others of its slot,
    /// and has it written there: into which links.
    #[inline(always)]
    pub(crate) fn link<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        at: u32,
        deadline: Tick,
        meter: &impl Meter,
        write: impl FnOnce(&mut Nodes<S>, Links),
    ) {
        let Current { mut level, base } = self.current[highest_difference(deadline, self.hand)];
        let digit = self.geometry.digit_of(deadline, level);
        let mut number = level.first + digit;
        let mut slot = base + digit;
        meter.tally(Work::SlotVisit, 1);
        meter.tally(Work::Link, LINKS_IN);
        let links = loop {
            if let Some(links) = nodes.append(slot, at) {
                break links;
            }
            let Links { prev: last, next: ring } = nodes.links(slot);
            if last == SPLIT {
                meter.tally(Work::SlotVisit, 1);
                level = self.geometry.below(level);
                slot = ring + self.geometry.digit_of(deadline, level);
                number = NONE.number;
            } else {
                self.look_after(nodes, slot, level, (at, deadline), meter);
            }
        };
        write(nodes, links);
        if links.prev == slot {
            self.occupy(nodes, slot, number, deadline, level);
        }
    }

    /// Makes room in a slot that has none: remembers which timer comes next, or splits it.
    #[inline(never)]
    fn look_after<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        slot: u32,
        level: Level,
        (at, deadline): (u32, Tick),
        meter: &impl Meter,
    ) {
        if level.shift > 0 && nodes.slot(slot).most() >= self.limit {
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
    /// are counted only if so many have left the wheel.
    fn split_if_crowded<S: Store>(&mut self, nodes: &mut Nodes<S>, slot: u32, level: Level, meter: &impl Meter) {
        let known = nodes.slot(slot);
        if self.departures.wrapping_sub(known.departures) > known.most() / FEW {
            self.read_ahead(nodes, slot, nodes.links(slot).next);
            let left = nodes.count(slot, self.few());
            meter.tally(Work::Link, left.into());
            if left <= self.few() {
                return nodes.recount(slot, left, self.departures);
            }
        }
        self.split(nodes, slot, level);
        (0..2).for_each(|_| self.tidy(nodes, meter));
    }

    /// A slot has its first timer. Its number is known if it is in a current ring.
    #[inline(always)]
    fn occupy<S: Store>(&mut self, nodes: &Nodes<S>, sentinel: u32, number: u32, deadline: Tick, level: Level) {
        if number == NONE.number {
            let ring = self.rings.get_mut(nodes.slot(sentinel).ring);
            ring.occupy(sentinel - ring.base);
            return;
        }
        self.occupied.insert(number);
        // Slots are numbered in the order of time.
        if number < self.next.number {
            let start = deadline >> level.shift << level.shift;
            self.next = Next::new(start, level, number, sentinel);
        }
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
        nodes.fill_up(sentinel);
    }

    /// Looks at the ring whose turn it is, and joins its slot if hardly any timers are left. Two of
    /// them for each ring that is taken: so more than half of all rings are worth having.
    fn tidy<S: Store>(&mut self, nodes: &mut Nodes<S>, meter: &impl Meter) {
        let (slots, few) = (self.rings.slots(), self.few());
        let ring = self.rings.turn();
        if !ring.is_of_slot() || ring.occupied() > slots / SPARSE {
            return;
        }
        let base = ring.base;
        let mut left = nodes.count(base + slots, few);
        meter.tally(Work::SlotVisit, slots.into());
        meter.tally(Work::Link, few.into());
        for digit in ring.words.iter().copied().zip(0..).flat_map(bits) {
            if left > few || nodes.links(base + digit).prev == SPLIT {
                return;
            }
            left += nodes.count(base + digit, few);
        }
        if left <= few {
            let id = nodes.slot(base).ring;
            self.join(nodes, id, left);
        }
    }

    /// Whether taking a timer out could empty the next slot, or putting it elsewhere could make
    /// another slot the next.
    #[inline(always)]
    pub(crate) fn concerns_next(&self, from: Tick, to: Tick) -> bool {
        to < self.next.start || from <= self.next.end
    }

    /// Pays what is owed: takes timers out of the lists they are in, and puts those that move where
    /// their deadlines belong. In three rounds, so that in each of them no timer waits for another.
    #[inline(never)]
    pub(crate) fn settle<S: Store>(&mut self, nodes: &mut Nodes<S>, arrears: &mut Arrears, meter: &impl Meter) {
        let all = arrears.take();
        let (mut emptied, mut count) = ([0; MOST], 0);
        for Owed { at, cancelled } in all.clone() {
            meter.tally(Work::Link, LINKS_OUT);
            self.departures = self.departures.wrapping_add(1);
            let links = nodes.links(at);
            if nodes.unlink(links) {
                emptied[count] = links.prev;
                count += 1;
            }
            if let Some(id) = cancelled {
                nodes.release(id);
            }
        }
        for &sentinel in &emptied[..count] {
            // A ring that was joined on account of another list is not asked again.
            if self.rings.get(nodes.slot(sentinel).ring).is_in_use() {
                self.emptied(nodes, sentinel, meter);
            }
        }
        for Owed { at, .. } in all.filter(|owed| owed.cancelled.is_none()) {
            let deadline = nodes.deadline_at(at);
            nodes.set_place(at, Place::Listed);
            self.link(nodes, at, deadline, meter, |nodes, links| nodes.set_links(at, links));
        }
    }

    /// Takes a timer out of its list.
    #[inline(always)]
    pub(crate) fn unlink<S: Store>(&mut self, nodes: &mut Nodes<S>, links: Links, meter: &impl Meter) {
        meter.tally(Work::Link, LINKS_OUT);
        self.departures = self.departures.wrapping_add(1);
        if nodes.unlink(links) {
            self.emptied(nodes, links.prev, meter);
        }
    }

    /// The list of a sentinel has lost its last timer.
    #[inline]
    fn emptied<S: Store>(&mut self, nodes: &mut Nodes<S>, sentinel: u32, meter: &impl Meter) {
        let id = nodes.slot(sentinel).ring;
        let ring = self.rings.get(id);
        let digit = sentinel - ring.base;
        if ring.parent != CURRENT {
            self.thin_out(nodes, id, digit, meter);
            return;
        }
        let number = ring.level.first + digit;
        nodes.set_most(sentinel, 0, self.departures);
        self.occupied.remove(number);
        if self.next.number == number {
            self.find_next(meter);
        }
    }

    /// A list of the ring of a split slot has lost its last timer. If it was the last of all, the slot
    /// needs no ring any more.
    #[cold]
    fn thin_out<S: Store>(&mut self, nodes: &mut Nodes<S>, id: u32, digit: u32, meter: &impl Meter) {
        let slots = self.rings.slots();
        let ring = self.rings.get_mut(id);
        let (base, parent) = (ring.base, ring.parent);
        if digit < slots {
            ring.vacate(digit);
            nodes.set_most(base + digit, 0, self.departures);
        }
        meter.tally(Work::SlotVisit, ring.words.len() as u64);
        if ring.occupied() == 0 && nodes.links(base + slots).next == base + slots {
            self.join(nodes, id, 0);
            self.emptied(nodes, parent, meter);
        }
    }

    /// Puts all lists of a ring behind the elders of the slot that it belongs to, in order, and all
    /// that is one list then back into the slot. Those of one deadline are in one list and keep their
    /// order. No timer is touched but the ends of lists.
    fn join<S: Store>(&mut self, nodes: &mut Nodes<S>, id: u32, left: u32) {
        let slots = self.rings.slots();
        let ring = self.rings.get_mut(id);
        let (base, parent) = (ring.base, ring.parent);
        for digit in ring.take_occupied() {
            nodes.append_list(base + digit, base + slots);
            nodes.set_most(base + digit, 0, self.departures);
        }
        nodes.set_links(parent, Links { prev: parent, next: parent });
        nodes.append_list(base + slots, parent);
        nodes.set_most(parent, left, self.departures);
        self.rings.release(id);
    }

    /// Takes out the earliest timer of the next slot, which starts at or before `now`. `None` if none
    /// is due there: it has to cascade first.
    #[inline(always)]
    pub(crate) fn pop<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        now: Tick,
        meter: &impl Meter,
    ) -> Option<(TimerId, Armed<S::Value>)> {
        let Next { start, number, sentinel, .. } = self.next;
        if number >= self.geometry.slots() {
            // A lone timer fires from where it stands.
            let Links { prev: last, next: first } = nodes.links(sentinel);
            let deadline = if last == first { nodes.deadline_at(first) } else { Tick::MAX };
            if last != first || deadline > now {
                return None;
            }
            self.hand = deadline;
        } else if self.hand != start {
            self.hand = start;
            if nodes.used() >= MANY {
                self.read_ahead(nodes, sentinel, nodes.links(sentinel).next);
            }
        }
        meter.tally(Work::Link, LINKS_OUT);
        let (id, armed, is_empty) = nodes.pop(sentinel)?;
        if is_empty {
            nodes.set_most(sentinel, 0, self.departures);
            self.occupied.remove(number);
            self.find_next(meter);
        }
        Some((id, armed))
    }

    /// Moves the timers of the next slot, one above level 0, closer. The hand moves to the first tick
    /// of the slot, so all of them go to lower levels.
    pub(crate) fn cascade<S: Store>(&mut self, nodes: &mut Nodes<S>, meter: &impl Meter) {
        let Next { start, number, mut sentinel, .. } = self.next;
        self.hand = start;
        self.occupied.remove(number);
        let mut level = self.geometry.level_of_slot(number);
        loop {
            meter.tally(Work::SlotVisit, 1);
            let Links { prev: last, next: first } = nodes.links(sentinel);
            if last != SPLIT {
                self.spread(nodes, sentinel, first, meter);
                break;
            }
            level = self.geometry.below(level);
            self.promote(nodes, sentinel, first, level, meter);
            // The hand is in the first slot of that ring now: what is there belongs further down.
            sentinel = first;
            if level.shift == 0 || nodes.links(sentinel).next == sentinel {
                break;
            }
            self.occupied.remove(level.first);
        }
        self.find_next(meter);
    }

    /// Puts the timers of a slot into lower levels, in order. Nothing is there but what came later.
    fn spread<S: Store>(&mut self, nodes: &mut Nodes<S>, sentinel: u32, first: u32, meter: &impl Meter) {
        if nodes.used() >= MANY {
            self.read_ahead(nodes, sentinel, first);
        }
        let mut at = nodes.take_list(sentinel).next;
        nodes.set_most(sentinel, 0, self.departures);
        while at != sentinel {
            let (Links { next, .. }, deadline) = (nodes.links(at), nodes.deadline_at(at));
            meter.tally(Work::CascadeMove, 1);
            self.link(nodes, at, deadline, &NoMeter, |nodes, links| nodes.set_links(at, links));
            at = next;
        }
    }

    /// Makes the ring of a split slot the current one of its level, and puts the elders of the slot
    /// in front of what is in it.
    fn promote<S: Store>(&mut self, nodes: &mut Nodes<S>, split: u32, base: u32, level: Level, meter: &impl Meter) {
        let before = self.current[level.shift as usize % 64].base;
        self.rings.release(nodes.slot(before).ring);
        self.set_current(level, base);
        let ring = self.rings.get_mut(nodes.slot(base).ring);
        ring.parent = CURRENT;
        for digit in ring.take_occupied() {
            self.occupied.insert(level.first + digit);
        }
        let elders = base + self.rings.slots();
        if nodes.used() >= MANY {
            self.read_ahead(nodes, split, nodes.links(elders).next);
        }
        nodes.take_list(split);
        nodes.set_most(split, 0, self.departures);
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

    /// Reads the timers of a slot that is about to be emptied, if they are many.
    #[inline]
    fn read_ahead<S: Store>(&self, nodes: &Nodes<S>, sentinel: u32, first: u32) {
        let known = nodes.slot(sentinel);
        if known.looked_after > 1 && known.most() > 2 * STRIDE {
            let ring = self.rings.get(known.ring);
            ring.hints.read(sentinel - ring.base, first, ring.level.shift.into(), nodes);
        }
    }

    /// Seen from the hand, all timers of a lower level are due before all of a higher one. So the
    /// earliest occupied slot has the lowest number.
    #[inline(always)]
    fn find_next(&mut self, meter: &impl Meter) {
        self.next = self.occupied.first(meter).map_or(NONE, |number| {
            let level = self.geometry.level_of_slot(number);
            let digit = number - level.first;
            let start = self.geometry.start_of(level, digit, self.hand);
            let base = self.current[level.shift as usize % 64].base;
            Next::new(start, level, number, base + digit)
        });
    }
}

/// The highest bit in which a deadline differs from the hand; the lowest if it does not.
#[inline(always)]
fn highest_difference(deadline: Tick, hand: Tick) -> usize {
    ((deadline ^ hand) | 1).ilog2() as usize
}

#[cfg(test)]
#[path = "levels_check.rs"]
mod check;
