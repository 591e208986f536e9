//! Timers and slots in one array, linked into lists.
//!
//! Each slot has a *sentinel*: a node without a timer, at which the list of the slot begins and ends.
//! Sentinel and timers form a ring, so that every timer has a neighbour on both sides. To take a
//! timer out is two stores, whoever the neighbours are.
//!
//! ```text
//!        ╭───────────────────────────────────────────╮
//!        ╰▶ sentinel ⇄ timer 7 ⇄ timer 2 ⇄ timer 9 ◀─╯      an empty slot is its own neighbour
//! ```
//!
//! Links are four bytes, so that a timer with a value of eight bytes takes 32 in all. One of its
//! fields is the number of its slot, which costs nothing: without it there would be padding. So a
//! slot knows exactly how many timers it has, whatever becomes of them.

use crate::hints::STRIDE;
use crate::store::{Flat, Segmented, Store};
use core::mem;
use core::num::NonZeroU32;
use wheelhouse_core::arena::Link;
use wheelhouse_core::overdue::Arrivals;
use wheelhouse_core::stack::Stack;
use wheelhouse_core::{Tick, TimerId};

/// The slot of a timer that is in none, because it was overdue when it came: its `prev` is its
/// arrival.
pub(crate) const OVERDUE: u32 = u32::MAX;

/// The slot of a timer that is on its way from one to another.
pub(crate) const MOVING: u32 = u32::MAX - 1;

/// The `prev` of a sentinel whose slot is split: its `next` is the first sentinel of its ring.
pub(crate) const SPLIT: u32 = u32::MAX;

/// A timer, a sentinel, or a free place.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(crate) struct Node<T> {
    links: Links,
    body: Body<T>,
}

const _: () = assert!(size_of::<Node<u64>>() == 32);

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
    /// The sentinel of the slot that counts it, or [`OVERDUE`].
    pub(crate) slot: u32,
    pub(crate) deadline: Tick,
    pub(crate) value: T,
}

/// What a slot knows of its timers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// How many there are, and above them the *room*: how many may be appended before somebody looks
    /// after the slot. One word, so that one subtraction counts both and says when there is no room.
    count: u64,
    /// Its ring.
    pub(crate) ring: u32,
    /// How often it was looked after since it was last empty.
    pub(crate) looked_after: u32,
}

/// One more place in the room of a slot.
const ROOM: u64 = 1 << 32;

const VACANT: Slot = Slot { count: 0, ring: 0, looked_after: 0 };

impl Slot {
    /// How many timers there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> u32 {
        self.count as u32
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

    /// Makes sentinels of empty slots, one behind the other: the first.
    pub(crate) fn add_slots(&mut self, count: u32, ring: u32) -> u32 {
        let first = self.used() as u32;
        for at in first..first + count {
            let (links, body) = (Links { prev: at, next: at }, Body::Slot(Slot { ring, ..VACANT }));
            self.nodes.push(Node { links, body });
            self.set_len(at, 0);
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
    pub(crate) fn set_links(&mut self, at: u32, prev: u32, next: u32) {
        self.nodes.at_mut(at).links = Links { prev, next };
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

    /// The slot that counts the timer at a place.
    #[cfg(test)]
    pub(crate) fn slot_of(&self, at: u32) -> u32 {
        match &self.nodes.at(at).body {
            Body::Timer(armed) => armed.slot,
            Body::Slot(_) => OVERDUE,
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
    pub(crate) fn put(&mut self, id: TimerId, links: Links, slot: u32, timer: (Tick, S::Value)) {
        let (deadline, value) = timer;
        let generation = id.generation();
        let body = Body::Timer(Armed { generation, slot, deadline, value });
        let node = Node { links, body };
        // The place is free, and to drop what is in it would be to look at it.
        mem::forget(mem::replace(self.nodes.at_mut(id.index()), node));
    }

    /// A timer that is in a place already has new neighbours and another slot.
    #[inline(always)]
    pub(crate) fn relink(&mut self, at: u32, links: Links, to: u32) {
        let node = self.nodes.at_mut(at);
        node.links = links;
        if let Body::Timer(armed) = &mut node.body {
            armed.slot = to;
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

    /// Takes a timer, which is there, out of its place but not out of its list. The place is not free
    /// before it is [released](Self::release).
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
        match id.generation().checked_add(1) {
            Some(next) => self.free.push(TimerId::from_parts(id.index(), next)),
            None => self.retired += 1,
        }
    }

    /// Puts a timer behind all others of a slot and counts it: its links, which have to be written to
    /// it. `None` if there is no room, as in a slot that is split.
    #[inline(always)]
    pub(crate) fn append(&mut self, slot: u32, at: u32) -> Option<Links> {
        let sentinel = self.nodes.at_mut(slot);
        let Body::Slot(known) = &mut sentinel.body else { return None };
        known.count = known.count.checked_sub(ROOM - 1)?;
        let prev = mem::replace(&mut sentinel.links.prev, at);
        self.nodes.at_mut(prev).links.next = at;
        Some(Links { prev, next: slot })
    }

    /// A slot was looked after: makes room for so many timers more. Returns what it knows now.
    pub(crate) fn make_room(&mut self, slot: u32) -> Slot {
        let Body::Slot(known) = &mut self.nodes.at_mut(slot).body else { return VACANT };
        known.count += u64::from(STRIDE) * ROOM;
        known.looked_after = known.looked_after.wrapping_add(1);
        *known
    }

    /// Takes the room away from a slot that is split.
    pub(crate) fn fill_up(&mut self, slot: u32) {
        if let Body::Slot(known) = &mut self.nodes.at_mut(slot).body {
            known.count %= ROOM;
        }
    }

    /// Links a timer before all others of a slot, or before all of its elders, which stand so far
    /// behind the first sentinel of its ring. Whether it is the first there.
    pub(crate) fn prepend(&mut self, slot: u32, at: u32, elders: u32) -> bool {
        let sentinel = self.nodes.at_mut(slot);
        if let Body::Slot(known) = &mut sentinel.body {
            known.count += 1;
        }
        let Links { prev: last, next: base } = sentinel.links;
        let head = if last == SPLIT { base + elders } else { slot };
        let first = mem::replace(&mut self.nodes.at_mut(head).links.next, at);
        self.nodes.at_mut(first).links.prev = at;
        self.relink(at, Links { prev: head, next: first }, slot);
        last == slot
    }

    /// A slot has one timer less.
    #[inline(always)]
    pub(crate) fn count_out(&mut self, slot: u32) {
        if let Body::Slot(slot) = &mut self.nodes.at_mut(slot).body {
            slot.count -= 1;
        }
    }

    /// A slot has so many timers, and nobody has looked after it yet.
    #[inline(always)]
    pub(crate) fn set_len(&mut self, slot: u32, len: u32) {
        if let Body::Slot(slot) = &mut self.nodes.at_mut(slot).body {
            slot.count = u64::from(STRIDE - 1) * ROOM + u64::from(len);
            slot.looked_after = 0;
        }
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
        let sentinel = self.nodes.at_mut(slot);
        sentinel.links.next = next;
        if let Body::Slot(slot) = &mut sentinel.body {
            slot.count -= 1;
        }
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

    /// Hands the list of a sentinel on to another one, whose list is empty.
    pub(crate) fn hand_on(&mut self, from: u32, to: u32) {
        let Links { prev: last, next: first } = self.take_list(from);
        if first != from {
            self.nodes.at_mut(last).links.next = to;
            self.nodes.at_mut(first).links.prev = to;
            self.set_links(to, last, first);
        }
    }

    /// Puts the list of a sentinel behind that of another. A slot counts them from then on.
    pub(crate) fn append_list(&mut self, from: u32, to: u32, slot: u32) {
        let mut at = self.take_list(from).next;
        while at != from {
            let next = self.links(at).next;
            let last = mem::replace(&mut self.nodes.at_mut(to).links.prev, at);
            self.nodes.at_mut(last).links.next = at;
            self.relink(at, Links { prev: last, next: to }, slot);
            at = next;
        }
    }
}

impl<S: Store> Arrivals for Nodes<S> {
    fn set_arrival(&mut self, at: u32, arrival: Link) {
        self.nodes.at_mut(at).links.prev = arrival.get();
    }
}
