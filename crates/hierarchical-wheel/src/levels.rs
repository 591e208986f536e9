//! All slots of the wheel: which one a timer belongs to, how it leaves, how slots cascade.
//!
//! The hand is in one turn of each level; the ring of that turn is the level's *current* ring. The
//! slots ahead of the hand in the current rings hold every timer that is not overdue.
//!
//! A slot that has thousands of timers is *split*: it gets a ring of its own, and timers go
//! straight to the slots of that. See [`splits`].
//!
//! # Invariants
//!
//! * No occupied slot of a current ring starts before the hand; each timer is in the slot that its
//!   deadline names, or among the elders of a split slot on the way there. (But for those that
//!   move, while that is owed.)
//! * Of timers of one deadline, those in the upper of two places came first, and within a list the
//!   one in front.
//! * A slot has at most as many timers, or elders if it is split, as it believes.

mod splits;

use crate::arrears::{Arrears, MOST, Owed};
use crate::hints::STRIDE;
use crate::nodes::{Armed, Links, Nodes, Place, SPLIT};
use crate::rings::{CURRENT, Rings};
use crate::store::{MANY, Store};
use wheelhouse_core::bitmap::Bitmap;
use wheelhouse_core::geometry::{Geometry, Level};
use wheelhouse_core::lists::{LINKS_IN, LINKS_OUT};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Tick, TimerId};

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
    /// The level of the digit that bit i of a deadline is in: a table, because a division costs
    /// more.
    current: [Current; 64],
    /// The occupied slots of the current rings, by their numbers.
    occupied: Bitmap,
    /// The tick that slots are chosen from.
    hand: Tick,
    /// The earliest occupied slot.
    next: Next,
    /// How many timers have left their slots otherwise than by falling due.
    departures: u32,
    /// A slot above level 0 to which as many timers came is split.
    limit: u32,
}

impl Levels {
    pub(crate) fn new<S: Store>(geometry: Geometry, start: Tick, nodes: &mut Nodes<S>) -> Self {
        let rings = Rings::new(geometry.slots());
        let occupied = Bitmap::new(geometry.levels() * geometry.slots());
        let limit = splits::limit(geometry.slots());
        let current = [Current::default(); 64];
        let mut it = Self {
            geometry,
            rings,
            current,
            occupied,
            hand: start,
            next: NONE,
            departures: 0,
            limit,
        };
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

    /// Makes room for a timer, whose deadline is not before the hand, behind all others of its
    /// slot, and has it written there: into which links.
    #[inline(always)]
    pub(crate) fn link<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        at: u32,
        deadline: Tick,
        meter: &impl Meter,
        write: impl FnOnce(&mut Nodes<S>, Links),
    ) {
        let (mut level, mut number, mut slot) = self.way_to(deadline);
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
                // Slots may have split and joined: from the top again.
                (level, number, slot) = self.way_to(deadline);
            }
        };
        write(nodes, links);
        if links.prev == slot {
            self.occupy(nodes, slot, number, deadline, level);
        }
    }

    /// The slot of a current ring in which a deadline is: its level, its number, its sentinel.
    #[inline(always)]
    fn way_to(&self, deadline: Tick) -> (Level, u32, u32) {
        let Current { level, base } = self.current[highest_difference(deadline, self.hand)];
        let digit = self.geometry.digit_of(deadline, level);
        (level, level.first + digit, base + digit)
    }

    /// A slot has its first timer. Its number is known if it is in a current ring.
    #[inline(always)]
    fn occupy<S: Store>(
        &mut self,
        nodes: &Nodes<S>,
        sentinel: u32,
        number: u32,
        deadline: Tick,
        level: Level,
    ) {
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

    /// Whether taking a timer out could empty the next slot, or putting it elsewhere could make
    /// another slot the next.
    #[inline(always)]
    pub(crate) fn concerns_next(&self, from: Tick, to: Tick) -> bool {
        to < self.next.start || from <= self.next.end
    }

    /// Pays what is owed: takes timers out of the lists they are in, and puts those that move where
    /// their deadlines belong. In three rounds, so that in each of them no timer waits for another.
    #[inline(never)]
    pub(crate) fn settle<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        arrears: &mut Arrears,
        meter: &impl Meter,
    ) {
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
    pub(crate) fn unlink<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        links: Links,
        meter: &impl Meter,
    ) {
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
        nodes.reset_slot(sentinel, 0, self.departures);
        self.occupied.remove(number);
        if self.next.number == number {
            self.find_next(meter);
        }
    }

    /// Takes out the earliest timer of the next slot, which starts at or before `now`. `None` if
    /// none is due there: it has to cascade first.
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
            let deadline = nodes.deadline_at(first);
            if last != first || deadline > now {
                return None;
            }
            self.hand = deadline;
        } else if self.hand != start {
            self.hand = start;
            self.read_ahead(nodes, sentinel, nodes.links(sentinel).next);
        }
        meter.tally(Work::Link, LINKS_OUT);
        let (id, armed, is_empty) = nodes.pop(sentinel)?;
        if is_empty {
            nodes.reset_slot(sentinel, 0, self.departures);
            self.occupied.remove(number);
            self.find_next(meter);
        }
        Some((id, armed))
    }

    /// Moves the timers of the next slot, one above level 0, closer. The hand moves to the first
    /// tick of the slot, so all of them go to lower levels.
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
    fn spread<S: Store>(
        &mut self,
        nodes: &mut Nodes<S>,
        sentinel: u32,
        first: u32,
        meter: &impl Meter,
    ) {
        self.read_ahead(nodes, sentinel, first);
        let mut at = nodes.take_list(sentinel).next;
        nodes.reset_slot(sentinel, 0, self.departures);
        while at != sentinel {
            let (Links { next, .. }, deadline) = (nodes.links(at), nodes.deadline_at(at));
            meter.tally(Work::CascadeMove, 1);
            self.link(nodes, at, deadline, &NoMeter, |nodes, links| nodes.set_links(at, links));
            at = next;
        }
    }

    /// Reads the timers of a slot that is about to be emptied, if they are many and so are all.
    #[inline]
    fn read_ahead<S: Store>(&self, nodes: &Nodes<S>, sentinel: u32, first: u32) {
        if nodes.used() < MANY {
            return;
        }
        let known = nodes.slot(sentinel);
        if known.looked_after > 1 && known.most() > 2 * u32::from(STRIDE) {
            let ring = self.rings.get(known.ring);
            ring.hints.read(sentinel - ring.base, first, ring.level.shift, nodes);
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
mod check;
