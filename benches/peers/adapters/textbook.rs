//! The hierarchical wheel as textbooks draw it: a doubly linked list of timers in each slot.
//!
//! ```text
//! level 1  slot 4: head ─▶ node 7 ⇄ node 2 ⇄ node 9 ◀─ tail      node: generation, next, timer
//! level 0  slot 1: head ─▶ node 3 ◀─ tail                        timer: deadline, value, prev, place
//! free           : node 5 ─▶ node 0                              (32 bytes for a value of eight)
//! ```
//!
//! Cancel takes a node out of its list at once; a cascade walks the list of a slot and appends each node to a slot below;
//! so all lists stay in the order of insertion. Whatever is not the list is as good here as in the chunked wheel, so that
//! the two differ in little else: digits choose the slot, bitmaps find the next one, and it is remembered. Slots are never
//! split.
//!
//! Cost: insert, cancel, reschedule O(1), O(log k) for one of k timers that are overdue; a timer that fires has moved at
//! most once per level. Each of these steps touches nodes wherever they lie in memory, the neighbours' too: that is what
//! the comparison is about.
//!
//! Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987, scheme 7.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::Meter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

const BITS: u32 = 8;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = 8;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// A place for a timer. Places never move; the free ones form a list through `next`.
struct Node<T> {
    /// Moves on when a timer leaves, so that its handle goes stale.
    generation: NonZeroU32,
    next: u32,
    timer: Option<Armed<T>>,
}

struct Armed<T> {
    deadline: Tick,
    value: T,
    prev: u32,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Slot(u16),
    /// In the map of those that are overdue; `next` and `prev` are the low and the high half of its arrival.
    Overdue,
}

const _: () = assert!(size_of::<Node<u64>>() == 32, "two nodes are to fit in a cache line");

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

/// Eight levels of 256 slots.
pub(crate) struct TextbookWheel<T> {
    nodes: Vec<Node<T>>,
    free: u32,
    len: usize,
    /// Numbered through, the lowest level first: the earliest occupied slot has the lowest number.
    slots: Vec<List>,
    occupancy: Occupancy,
    /// The earliest occupied slot and its first tick.
    next: Option<(usize, Tick)>,
    /// Timers whose deadline was before the hand when they came, by (deadline, arrival).
    overdue: BTreeMap<(Tick, u64), u32>,
    arrivals: u64,
    /// The tick that slots are chosen from: behind `now` only while timers are due.
    hand: Tick,
    now: Tick,
}

impl<T> TextbookWheel<T> {
    /// An empty wheel, its clock at 0.
    pub(crate) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free: NONE,
            len: 0,
            slots: vec![List { head: NONE, tail: NONE }; LEVELS * SLOTS],
            occupancy: Occupancy::default(),
            next: None,
            overdue: BTreeMap::new(),
            arrivals: 0,
            hand: 0,
            now: 0,
        }
    }

    #[inline]
    fn get(&self, id: TimerId) -> Option<&Armed<T>> {
        let node = self.nodes.get(id.index() as usize)?;
        node.timer.as_ref().filter(|_| node.generation == id.generation())
    }

    /// Puts a timer into a free node, or a new one.
    #[inline]
    fn allocate(&mut self, timer: Armed<T>) -> TimerId {
        self.len += 1;
        if self.free == NONE {
            assert!(self.nodes.len() < NONE as usize, "a wheel holds fewer than 2^32 - 1 timers");
            self.nodes.push(Node { generation: NonZeroU32::MIN, next: NONE, timer: Some(timer) });
            return TimerId::from_parts(self.nodes.len() as u32 - 1, NonZeroU32::MIN);
        }
        let index = self.free;
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        node.timer = Some(timer);
        TimerId::from_parts(index, node.generation)
    }

    /// Frees a node that is in no list.
    #[inline]
    fn release(&mut self, index: u32) -> Option<(TimerId, Armed<T>)> {
        let node = &mut self.nodes[index as usize];
        let timer = node.timer.take()?;
        let id = TimerId::from_parts(index, node.generation);
        // A node whose generations are used up is never used again.
        if let Some(next) = node.generation.checked_add(1) {
            node.generation = next;
            node.next = self.free;
            self.free = index;
        }
        self.len -= 1;
        Some((id, timer))
    }

    /// Puts a node where its deadline belongs.
    #[inline]
    fn link(&mut self, index: u32, deadline: Tick) {
        if deadline < self.hand {
            return self.link_overdue(index, deadline);
        }
        let slot = slot_of(deadline, self.hand);
        self.append(slot, index);
        if self.next.is_none_or(|(next, _)| slot < next) {
            self.next = Some((slot, start_of(slot, self.hand)));
        }
    }

    fn link_overdue(&mut self, index: u32, deadline: Tick) {
        self.overdue.insert((deadline, self.arrivals), index);
        let node = &mut self.nodes[index as usize];
        node.next = self.arrivals as u32;
        if let Some(timer) = &mut node.timer {
            timer.prev = (self.arrivals >> 32) as u32;
            timer.place = Place::Overdue;
        }
        self.arrivals += 1;
    }

    #[inline]
    fn append(&mut self, slot: usize, index: u32) {
        let List { head, tail } = self.slots[slot];
        let node = &mut self.nodes[index as usize];
        node.next = NONE;
        if let Some(timer) = &mut node.timer {
            timer.prev = tail;
            timer.place = Place::Slot(slot as u16);
        }
        if head == NONE {
            self.slots[slot] = List { head: index, tail: index };
            self.occupancy.set(slot);
        } else {
            self.nodes[tail as usize].next = index;
            self.slots[slot].tail = index;
        }
    }

    /// Takes a node out of wherever it is.
    #[inline]
    fn unlink(&mut self, index: u32) {
        let node = &self.nodes[index as usize];
        let next = node.next;
        let Some(Armed { deadline, prev, place, .. }) = node.timer else { return };
        let Place::Slot(slot) = place else {
            self.overdue.remove(&(deadline, u64::from(prev) << 32 | u64::from(next)));
            return;
        };
        let slot = usize::from(slot);
        match self.nodes.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => self.slots[slot].head = next,
        }
        match self.nodes.get_mut(next as usize).and_then(|after| after.timer.as_mut()) {
            Some(after) => after.prev = prev,
            None => self.slots[slot].tail = prev,
        }
        if self.slots[slot].head == NONE {
            self.occupancy.clear(slot);
            if self.next.is_some_and(|(next, _)| next == slot) {
                self.find_next();
            }
        }
    }

    #[inline]
    fn find_next(&mut self) {
        self.next = self.occupancy.first().map(|slot| (slot, start_of(slot, self.hand)));
    }

    /// Moves the timers of a slot to the levels below, in order. Those are empty, and the hand is at the slot's first tick.
    fn cascade(&mut self, slot: usize) {
        let mut index = std::mem::replace(&mut self.slots[slot], List { head: NONE, tail: NONE }).head;
        self.occupancy.clear(slot);
        while let Some(Node { next, timer: Some(timer), .. }) = self.nodes.get(index as usize) {
            let (after, to) = (*next, slot_of(timer.deadline, self.hand));
            self.append(to, index);
            index = after;
        }
        self.find_next();
    }

    /// Takes the earliest timer that is due.
    #[inline]
    fn take_due(&mut self) -> Option<Expired<T>> {
        let index = self.first_due()?;
        let (id, Armed { deadline, value, .. }) = self.release(index)?;
        Some(Expired { id, deadline, value })
    }

    /// The node of the earliest timer that is due, taken out of its list.
    #[inline]
    fn first_due(&mut self) -> Option<u32> {
        if let Some((_, index)) = self.overdue.pop_first() {
            return Some(index);
        }
        while let Some((slot, start)) = self.next.filter(|(_, start)| *start <= self.now) {
            self.hand = start;
            if slot < SLOTS {
                let index = self.slots[slot].head;
                self.unlink(index);
                return Some(index);
            }
            self.cascade(slot);
        }
        // No occupied slot starts at or before `now`: the hand may follow.
        self.hand = self.now;
        None
    }
}

impl<T> Timer<T> for TextbookWheel<T> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.allocate(Armed { deadline, value, prev: NONE, place: Place::Overdue });
        self.link(id.index(), deadline);
        id
    }

    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        self.get(id)?;
        self.unlink(id.index());
        self.release(id.index()).map(|(_, timer)| timer.value)
    }

    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        if self.get(id).is_none() {
            return false;
        }
        self.unlink(id.index());
        if let Some(timer) = &mut self.nodes[id.index() as usize].timer {
            timer.deadline = deadline;
        }
        self.link(id.index(), deadline);
        true
    }

    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.get(id).map(|timer| timer.deadline)
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        let overdue = self.overdue.first_key_value().map(|((deadline, _), _)| *deadline);
        overdue.or(self.next.map(|(_, start)| start))
    }

    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.take_due()
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        let mut fired = 0;
        while let Some(expired) = self.take_due() {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}

/// The slot of a deadline that is not before the hand: the highest digit in which the two differ says the level, and that
/// digit of the deadline the slot.
#[inline]
fn slot_of(deadline: Tick, hand: Tick) -> usize {
    // The lowest bit set makes "no difference" a difference in the lowest digit.
    let level = ((deadline ^ hand) | 1).ilog2() / BITS;
    let digit = (deadline >> (level * BITS)) as usize % SLOTS;
    level as usize * SLOTS + digit
}

/// The first tick of an occupied slot: the digits above are those of the hand, the digits below zero.
#[inline]
fn start_of(slot: usize, hand: Tick) -> Tick {
    let shift = (slot / SLOTS) as u32 * BITS;
    let from_here_down = u64::MAX >> (u64::BITS - BITS - shift);
    (hand & !from_here_down) | (((slot % SLOTS) as Tick) << shift)
}

const WORDS: usize = SLOTS / 64;

/// A bit for each slot and each level that has timers.
#[derive(Default)]
struct Occupancy {
    slots: [[u64; WORDS]; LEVELS],
    levels: u8,
}

impl Occupancy {
    #[inline]
    fn set(&mut self, slot: usize) {
        self.slots[slot / SLOTS][slot % SLOTS / 64] |= 1 << (slot % 64);
        self.levels |= 1 << (slot / SLOTS);
    }

    #[inline]
    fn clear(&mut self, slot: usize) {
        let level = &mut self.slots[slot / SLOTS];
        level[slot % SLOTS / 64] &= !(1 << (slot % 64));
        if *level == [0; WORDS] {
            self.levels &= !(1 << (slot / SLOTS));
        }
    }

    /// The earliest occupied slot: the first of the lowest level that has any.
    #[inline]
    fn first(&self) -> Option<usize> {
        let level = self.levels.trailing_zeros() as usize;
        let (at, word) = self.slots.get(level)?.iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(level * SLOTS + at * 64 + word.trailing_zeros() as usize)
    }
}

/// The textbook wheel in the comparison.
pub(crate) struct Definition;

impl Backend for Definition {
    const INFO: Info = Info {
        name: "textbook-wheel",
        structure: "levels of wheels, linked lists, eager cancel",
        source: "Varghese & Lauck scheme 7, as printed",
        precision: Precision::Exact,
        vain_wakeups: LEVELS as u32 - 1,
        most: u32::MAX,
        costs: Costs { insert: "O(1)", cancel: "O(1)", reschedule: "O(1)", fire: "O(m), worst O(n)" },
        // It does not count its work.
        bounds: |_| Bounds { insert: 0.0, cancel: 0.0, reschedule: 0.0, fire: 0.0, empty_tick: 0.0, next_wakeup: 0.0 },
    };

    type Timer<T, M: Meter> = TextbookWheel<T>;

    fn build<T, M: Meter + Default>() -> TextbookWheel<T> {
        TextbookWheel::new()
    }

    fn meter<T, M: Meter>(_: &TextbookWheel<T>) -> Option<&M> {
        None
    }
}
