//! Timers and slots in one array, linked into lists.
//!
//! Each slot has a *sentinel*: a node without a timer, at which the list of the slot begins and
//! ends. Sentinel and timers form a ring, so that every timer has a neighbour on both sides. To
//! take a timer out is two stores, whoever the neighbours are.
//!
//! ```text
//!        ╭───────────────────────────────────────────╮
//!        ╰▶ sentinel ⇄ timer 7 ⇄ timer 2 ⇄ timer 9 ◀─╯      an empty slot is its own neighbour
//! ```
//!
//! Links are four bytes, so that a timer with a value of eight bytes takes 32 in all.
//!
//! A timer does not know its slot, and a slot not how many timers it has: to say so at each
//! cancellation would cost more than the cancellation. It knows how many came, and that is the most
//! there can be. Who needs to know better walks the list.

use crate::hints::STRIDE;
use crate::store::{Flat, Segmented, Store};
use core::mem;
use core::num::NonZeroU32;
use wheelhouse_core::arena::Link;
use wheelhouse_core::overdue::Arrivals;
use wheelhouse_core::stack::Stack;
use wheelhouse_core::{Tick, TimerId};

/// The `prev` of a sentinel whose slot is split: its `next` is the first sentinel of its ring.
pub(crate) const SPLIT: u32 = u32::MAX;

/// A timer, a sentinel, or a free place.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(crate) struct Node<T> {
    links: Links,
    body: Body<T>,
}

const _: () = assert!(size_of::<Node<u64>>() == 32 && size_of::<Node<u32>>() == 32);

/// The neighbours of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

#[derive(Clone, Debug)]
enum Body<T> {
    Timer(Armed<T>),
    /// A free place is a slot of which nobody knows.
    Slot(Slot),
}

/// A live timer.
#[derive(Clone, Debug)]
pub(crate) struct Armed<T> {
    /// Of its handle. Never zero, which tells a timer from a slot.
    generation: NonZeroU32,
    pub(crate) place: Place,
    pub(crate) deadline: Tick,
    pub(crate) value: T,
}

/// Where a live timer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a list.
    Listed,
    /// In the list of its former deadline, and owed to that of the new one.
    Moving,
    /// In no list, because it was overdue when it came: its `prev` is its arrival.
    Overdue,
}

/// What a slot knows of its timers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// How many there are at most once the room is used up.
    when_full: u32,
    /// Its ring.
    pub(crate) ring: u32,
    /// How many timers had been cancelled or moved, in the whole wheel, when that was known.
    pub(crate) departures: u32,
    /// How many may be appended before somebody looks after the slot.
    room: u8,
    /// How often it was looked after since it was last empty, up to 255.
    pub(crate) looked_after: u8,
}

const VACANT: Slot = Slot { when_full: 0, ring: 0, departures: 0, room: 0, looked_after: 0 };

impl Slot {
    /// How many timers there are at most: as many as came.
    #[inline(always)]
    pub(crate) fn most(&self) -> u32 {
        self.when_full - u32::from(self.room)
    }
}

impl<T> Node<T> {
    /// A free place.
    pub(crate) fn vacant() -> Self {
        Self { links: Links { prev: 0, next: 0 }, body: Body::Slot(VACANT) }
    }
}

/// All nodes.
#[derive(Clone, Debug)]
pub(crate) struct Nodes<S> {
    nodes: S,
    sentinels: usize,
    /// The handles that come next for the places that are free. Because the generation is here, an
    /// insertion writes its place without having to read it first.
    free: Stack<TimerId>,
    /// Places whose generations are used up.
    retired: usize,
}

impl<T> From<Nodes<Flat<T>>> for Nodes<Segmented<T>> {
    fn from(small: Nodes<Flat<T>>) -> Self {
        let Nodes { nodes, sentinels, free, retired } = small;
        Self { nodes: nodes.into(), sentinels, free, retired }
    }
}

impl<S: Store> Nodes<S> {
    /// No nodes.
    pub(crate) fn new(nodes: S) -> Self {
        Self { nodes, sentinels: 0, free: Stack::new(), retired: 0 }
    }

    /// The number of live timers.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.used() - self.sentinels - self.free.len() - self.retired
    }

    /// How many nodes were ever used.
    #[inline(always)]
    pub(crate) fn used(&self) -> usize {
        self.nodes.len()
    }

    /// Whether so many slots more can be numbered.
    pub(crate) fn has_room_for(&self, slots: u32) -> bool {
        self.used() + slots as usize <= u32::MAX as usize
    }

    /// Makes sentinels of empty slots, one behind the other: the first.
    pub(crate) fn add_slots(&mut self, count: u32, ring: u32) -> u32 {
        let first = self.used() as u32;
        for at in first..first + count {
            let (links, body) = (Links { prev: at, next: at }, Body::Slot(Slot { ring, ..VACANT }));
            self.nodes.push(Node { links, body });
            self.reset_slot(at, 0, 0);
        }
        self.sentinels += count as usize;
        first
    }

    /// The neighbours of a node.
    #[inline(always)]
    pub(crate) fn links(&self, at: u32) -> Links {
        self.nodes.at(at).links
    }

    #[inline(always)]
    pub(crate) fn set_links(&mut self, at: u32, links: Links) {
        self.nodes.at_mut(at).links = links;
    }

    /// What a slot knows.
    #[inline(always)]
    pub(crate) fn slot(&self, at: u32) -> Slot {
        match &self.nodes.at(at).body {
            Body::Slot(slot) => *slot,
            Body::Timer(_) => VACANT,
        }
    }

    /// The deadline of the timer at a place.
    #[inline(always)]
    pub(crate) fn deadline_at(&self, at: u32) -> Tick {
        match &self.nodes.at(at).body {
            Body::Timer(armed) => armed.deadline,
            Body::Slot(_) => 0,
        }
    }

    /// The timer of a handle, unless it is gone.
    #[inline(always)]
    pub(crate) fn get(&self, id: TimerId) -> Option<&Armed<S::Value>> {
        match &self.nodes.get(id.index())?.body {
            Body::Timer(armed) if armed.generation == id.generation() => Some(armed),
            _ => None,
        }
    }

    /// The same with its links, to be changed.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, id: TimerId) -> Option<(Links, &mut Armed<S::Value>)> {
        let Node { links, body } = self.nodes.get_mut(id.index())?;
        match body {
            Body::Timer(armed) if armed.generation == id.generation() => Some((*links, armed)),
            _ => None,
        }
    }

    /// The handle of a free place, or of a new one as long as there are no more than `limit`.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, limit: usize) -> Option<TimerId> {
        self.free.pop().or_else(|| self.grow(limit))
    }

    #[inline]
    fn grow(&mut self, limit: usize) -> Option<TimerId> {
        let at = self.used();
        (at < limit).then(|| {
            self.nodes.push(Node::vacant());
            TimerId::from_parts(at as u32, NonZeroU32::MIN)
        })
    }

    /// Puts a timer into the place that was reserved for it.
    #[inline(always)]
    pub(crate) fn put(&mut self, id: TimerId, links: Links, deadline: Tick, value: S::Value) {
        let (generation, place) = (id.generation(), Place::Listed);
        let body = Body::Timer(Armed { generation, place, deadline, value });
        let node = Node { links, body };
        // The place is free, and to drop what is in it would be to look at it.
        mem::forget(mem::replace(self.nodes.at_mut(id.index()), node));
    }

    /// Says where a timer is.
    #[inline(always)]
    pub(crate) fn set_place(&mut self, at: u32, place: Place) {
        if let Body::Timer(armed) = &mut self.nodes.at_mut(at).body {
            armed.place = place;
        }
    }

    /// Takes a timer out of its place, unless it is gone already: it, and the links it had.
    #[inline(always)]
    pub(crate) fn remove(&mut self, id: TimerId) -> Option<(Links, Armed<S::Value>)> {
        let node = self.nodes.get_mut(id.index())?;
        match &node.body {
            Body::Timer(armed) if armed.generation == id.generation() => {}
            _ => return None,
        }
        let links = node.links;
        let armed = Self::vacate(node)?;
        self.release(id);
        Some((links, armed))
    }

    /// Takes a timer, which is there, out of its place but not out of its list. The place is not
    /// free before it is [released](Self::release).
    #[inline(always)]
    pub(crate) fn take(&mut self, id: TimerId) -> Option<Armed<S::Value>> {
        Self::vacate(self.nodes.at_mut(id.index()))
    }

    /// The same for the timer at a place, whichever it is, with the handle it had.
    #[inline(always)]
    pub(crate) fn remove_at(&mut self, at: u32) -> Option<(TimerId, Links, Armed<S::Value>)> {
        let node = self.nodes.at_mut(at);
        let links = node.links;
        let armed = Self::vacate(node)?;
        let id = TimerId::from_parts(at, armed.generation);
        self.release(id);
        Some((id, links, armed))
    }

    #[inline(always)]
    fn vacate(node: &mut Node<S::Value>) -> Option<Armed<S::Value>> {
        match mem::replace(&mut node.body, Body::Slot(VACANT)) {
            Body::Timer(armed) => Some(armed),
            Body::Slot(_) => None,
        }
    }

    /// Makes the place of a handle free, unless it was its last.
    #[inline(always)]
    pub(crate) fn release(&mut self, id: TimerId) {
        match id.next_of_place() {
            Some(next) => self.free.push(next),
            None => self.retired += 1,
        }
    }

    /// Puts a timer behind all others of a slot: its links, which have to be written to it. `None`
    /// if there is no room, as in a slot that is split.
    #[inline(always)]
    pub(crate) fn append(&mut self, slot: u32, at: u32) -> Option<Links> {
        let sentinel = self.nodes.at_mut(slot);
        let Body::Slot(known) = &mut sentinel.body else { return None };
        known.room = known.room.checked_sub(1)?;
        let prev = mem::replace(&mut sentinel.links.prev, at);
        self.nodes.at_mut(prev).links.next = at;
        Some(Links { prev, next: slot })
    }

    /// A slot was looked after: makes room for so many timers more. Returns what it knows now.
    pub(crate) fn make_room(&mut self, slot: u32) -> Slot {
        let Body::Slot(known) = &mut self.nodes.at_mut(slot).body else { return VACANT };
        known.room = STRIDE;
        known.when_full = known.when_full.saturating_add(STRIDE.into());
        known.looked_after = known.looked_after.saturating_add(1);
        *known
    }

    /// A slot has so many timers, and nobody has looked after it yet.
    #[inline(always)]
    pub(crate) fn reset_slot(&mut self, slot: u32, timers: u32, departures: u32) {
        if let Body::Slot(known) = &mut self.nodes.at_mut(slot).body {
            let room = STRIDE - 1;
            let when_full = timers.saturating_add(room.into());
            *known = Slot { room, when_full, looked_after: 0, departures, ..*known };
        }
    }

    /// Counts the timers of a list, up to one more than `limit`.
    pub(crate) fn count(&self, sentinel: u32, limit: u32) -> u32 {
        let (mut at, mut timers) = (self.links(sentinel).next, 0);
        while at != sentinel && timers <= limit {
            (at, timers) = (self.links(at).next, timers + 1);
        }
        timers
    }

    /// Links a timer before all others of a slot, or before all of its elders, which stand so far
    /// behind the first sentinel of its ring. Whether it is the first there.
    pub(crate) fn prepend(&mut self, slot: u32, at: u32, elders: u32) -> bool {
        let sentinel = self.nodes.at_mut(slot);
        if let Body::Slot(known) = &mut sentinel.body {
            known.when_full = known.when_full.saturating_add(1);
        }
        let Links { prev: last, next: base } = sentinel.links;
        let head = if last == SPLIT { base + elders } else { slot };
        let first = mem::replace(&mut self.nodes.at_mut(head).links.next, at);
        self.nodes.at_mut(first).links.prev = at;
        self.set_links(at, Links { prev: head, next: first });
        last == slot
    }

    /// Takes the first timer out of the list of a slot and out of its place: it, with the handle it
    /// had, and whether the slot is empty now.
    #[inline(always)]
    pub(crate) fn pop(&mut self, slot: u32) -> Option<(TimerId, Armed<S::Value>, bool)> {
        let at = self.links(slot).next;
        let node = self.nodes.at_mut(at);
        let next = node.links.next;
        let armed = Self::vacate(node)?;
        let id = TimerId::from_parts(at, armed.generation);
        self.release(id);
        self.nodes.at_mut(next).links.prev = slot;
        self.nodes.at_mut(slot).links.next = next;
        Some((id, armed, next == slot))
    }

    /// Links the neighbours of a timer that goes. Whether they are one: the sentinel of a list that
    /// is empty now.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, links: Links) -> bool {
        let Links { prev, next } = links;
        self.nodes.at_mut(prev).links.next = next;
        self.nodes.at_mut(next).links.prev = prev;
        prev == next
    }

    /// Takes all timers out of the list of a sentinel: the links that it had.
    #[inline(always)]
    pub(crate) fn take_list(&mut self, sentinel: u32) -> Links {
        let empty = Links { prev: sentinel, next: sentinel };
        mem::replace(&mut self.nodes.at_mut(sentinel).links, empty)
    }

    /// Puts the list of a sentinel behind that of another.
    pub(crate) fn append_list(&mut self, from: u32, to: u32) {
        let Links { prev: last, next: first } = self.take_list(from);
        if first != from {
            let before = mem::replace(&mut self.nodes.at_mut(to).links.prev, last);
            self.nodes.at_mut(before).links.next = first;
            self.nodes.at_mut(first).links.prev = before;
            self.nodes.at_mut(last).links.next = to;
        }
    }
}

impl<S: Store> Arrivals for Nodes<S> {
    fn set_arrival(&mut self, at: u32, arrival: Link) {
        self.nodes.at_mut(at).links.prev = arrival.get();
        self.set_place(at, Place::Overdue);
    }
}

#[cfg(test)]
mod tests;
