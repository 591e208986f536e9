//! The timers and slots of a wheel in one array, linked into rings.
//!
//! Each slot has a *sentinel*: a node without a timer, at which the list of the slot begins and
//! ends. The sentinel and the timers form a ring, so every timer has a neighbour on both sides.
//!
//! ```text
//!        ╭───────────────────────────────────────────╮
//!        ╰▶ sentinel ⇄ timer 7 ⇄ timer 2 ⇄ timer 9 ◀─╯      an empty slot is its own neighbour
//! ```
//!
//! Removing a timer takes two stores and no branch, because a list has no ends. Links are four
//! bytes instead of eight, so a timer with a value of eight bytes takes 32 bytes: half a cache
//! line.
//!
//! This file has the places of timers and their handles, [`rings`] has the links.

mod rings;

pub(crate) use rings::Links;

use crate::{Tick, TimerId};
use alloc::vec::Vec;
use core::mem;
use core::num::NonZeroU32;
use wheelhouse_core::arena::Link;
use wheelhouse_core::overdue::Arrivals;
use wheelhouse_core::stack::Stack;

/// No node has this index or a higher one, so an access to it fails the bounds check. Used for the
/// sentinels of a level that has no slots yet, and in an open slot. It is 2^16 below the maximum
/// because a digit of up to 65,535 is added to it.
pub(crate) const OUTSIDE: u32 = u32::MAX - (1 << 16);

/// A timer, a sentinel, or a free place.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Node<T> {
    prev: u32,
    next: u32,
    body: Body<T>,
}

const _: () = assert!(size_of::<Node<u64>>() == 32 && size_of::<Node<u32>>() == 32);

#[derive(Clone, Debug)]
enum Body<T> {
    Timer(LiveTimer<T>),
    /// A sentinel with the number of its slot, or a free place, whose number has no meaning.
    Slot(u32),
}

impl<T> Body<T> {
    const FREE: Self = Self::Slot(0);
}

impl<T> Node<T> {
    fn sentinel(at: u32, number: u32) -> Self {
        Self { prev: at, next: at, body: Body::Slot(number) }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct LiveTimer<T> {
    /// The generation of its handle. It is never zero, so the compiler encodes `Body::Slot` without
    /// a tag.
    generation: NonZeroU32,
    /// Its arrival number if it was overdue when it was inserted; `None` if it is in a slot.
    pub(crate) arrival: Option<Link>,
    pub(crate) deadline: Tick,
    pub(crate) value: T,
}

#[derive(Clone, Debug)]
pub(crate) struct Nodes<T> {
    nodes: Vec<Node<T>>,
    /// New places are below this index. A small wheel reaches it with its last timer before it has
    /// to become large. In a large wheel it is [`OUTSIDE`].
    limit: u32,
    sentinels: usize,
    /// The next handle of each free place. The generation is stored here, so an insertion writes
    /// its place without reading it first.
    free: Stack<TimerId>,
    /// The number of places whose generations are used up.
    retired: usize,
}

impl<T> Nodes<T> {
    /// No nodes. Allocates room for `capacity` nodes and `free` free places, and allows `limit`
    /// places for timers.
    pub(crate) fn with_capacity(capacity: usize, free: usize, limit: u32) -> Self {
        let (nodes, free) = (Vec::with_capacity(capacity), Stack::with_capacity(free));
        Self { nodes, limit, sentinels: 0, free, retired: 0 }
    }

    /// Raises the limit to the most nodes that links can address.
    pub(crate) fn lift_limit(&mut self) {
        self.limit = OUTSIDE;
    }

    /// The number of live timers.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - self.sentinels - self.free.len() - self.retired
    }

    /// The number of places of timers, including free and retired places.
    #[inline]
    pub(crate) fn places(&self) -> usize {
        self.nodes.len() - self.sentinels
    }

    /// Adds the sentinels of empty slots with consecutive numbers. Returns the first sentinel.
    pub(crate) fn add_slots(&mut self, count: u32, first_number: u32) -> u32 {
        let first = self.nodes.len() as u32;
        assert!(first < OUTSIDE - count, "a wheel holds fewer than 2^32 timers");
        // Reserved at once, so that the array is not copied several times while it grows.
        self.nodes.reserve(count as usize);
        for n in 0..count {
            let sentinel = Node::sentinel(first + n, first_number + n);
            self.nodes.push(sentinel);
        }
        self.sentinels += count as usize;
        self.limit = (self.limit + count).min(OUTSIDE);
        first
    }

    /// Turns the sentinels of empty slots into free places for timers.
    pub(crate) fn recycle_slots(&mut self, first: u32, count: u32) {
        for at in (first..first + count).rev() {
            debug_assert_eq!(self.node(at).next, at, "the slot is empty");
            self.free.push(TimerId::from_parts(at, NonZeroU32::MIN));
        }
        self.sentinels -= count as usize;
    }

    pub(crate) fn set_number(&mut self, slot: u32, number: u32) {
        match &mut self.node_mut(slot).body {
            Body::Slot(it) => *it = number,
            Body::Timer(_) => unreachable!("a sentinel is no timer"),
        }
    }

    #[inline(always)]
    fn node(&self, at: u32) -> &Node<T> {
        &self.nodes[at as usize]
    }

    #[inline(always)]
    fn node_mut(&mut self, at: u32) -> &mut Node<T> {
        &mut self.nodes[at as usize]
    }

    /// Takes a free place and returns its next handle; `None` if no place is free.
    #[inline(always)]
    pub(crate) fn free_place(&mut self) -> Option<TimerId> {
        self.free.pop()
    }

    #[inline(always)]
    pub(crate) fn is_at_limit(&self) -> bool {
        self.nodes.len() as u32 >= self.limit
    }

    /// Adds a place and returns its first handle.
    #[inline]
    pub(crate) fn new_place(&mut self) -> TimerId {
        debug_assert!(!self.is_at_limit());
        let at = self.nodes.len() as u32;
        self.nodes.push(Node::sentinel(at, 0));
        TimerId::from_parts(at, NonZeroU32::MIN)
    }

    /// Writes a timer to the free place of a handle, with these neighbours.
    #[inline(always)]
    pub(crate) fn put(
        &mut self,
        id: TimerId,
        Links { prev, next }: Links,
        deadline: Tick,
        value: T,
    ) {
        debug_assert!(!self.is_timer(id.index()), "the place is free");
        let timer = LiveTimer { generation: id.generation(), arrival: None, deadline, value };
        let node = Node { prev, next, body: Body::Timer(timer) };
        // The place is free and has nothing to drop. `forget` avoids the read of its content, which
        // could miss the cache.
        mem::forget(mem::replace(self.node_mut(id.index()), node));
    }

    #[inline]
    pub(crate) fn is_timer(&self, at: u32) -> bool {
        matches!(self.node(at).body, Body::Timer(_))
    }

    /// The timer of a handle; `None` if the handle is stale.
    #[inline(always)]
    pub(crate) fn get(&self, id: TimerId) -> Option<&LiveTimer<T>> {
        match &self.nodes.get(id.index() as usize)?.body {
            Body::Timer(timer) if timer.generation == id.generation() => Some(timer),
            _ => None,
        }
    }

    /// Sets the deadline of a timer to the same or a later one, and leaves the timer in its slot.
    /// Returns `false` for a stale handle, an overdue timer or an earlier deadline.
    #[inline(always)]
    pub(crate) fn postpone(&mut self, id: TimerId, deadline: Tick) -> bool {
        match self.nodes.get_mut(id.index() as usize) {
            Some(Node { body: Body::Timer(timer), .. })
                if timer.generation == id.generation()
                    && timer.arrival.is_none()
                    && timer.deadline <= deadline =>
            {
                timer.deadline = deadline;
                true
            }
            _ => false,
        }
    }

    /// Removes a timer from its list and frees its place. Returns the timer, and the sentinel of
    /// its slot if the slot is empty now; `None` if the handle is stale.
    #[inline(always)]
    pub(crate) fn remove(&mut self, id: TimerId) -> Option<(LiveTimer<T>, Option<u32>)> {
        let node = self.nodes.get_mut(id.index() as usize)?;
        match &node.body {
            Body::Timer(timer) if timer.generation == id.generation() => {}
            _ => return None,
        }
        let Node { prev, next, .. } = *node;
        let Body::Timer(timer) = mem::replace(&mut node.body, Body::FREE) else { return None };
        self.release(id);
        Some((timer, self.close(prev, next)))
    }

    /// Removes the first timer of a slot, which must have one. Returns its handle, the timer, and
    /// `true` if the slot is empty now; `None` if its deadline is after `tick`, because it was
    /// postponed.
    #[inline(always)]
    pub(crate) fn pop(&mut self, slot: u32, tick: Tick) -> Option<(TimerId, LiveTimer<T>, bool)> {
        debug_assert!(!self.is_empty(slot), "a slot that is due has a timer");
        let at = self.node(slot).next;
        let node = self.node_mut(at);
        let next = node.next;
        if matches!(&node.body, Body::Timer(timer) if timer.deadline > tick) {
            return None;
        }
        let Body::Timer(timer) = mem::replace(&mut node.body, Body::FREE) else {
            unreachable!("a slot that is due has a timer")
        };
        let id = TimerId::from_parts(at, timer.generation);
        self.release(id);
        self.node_mut(slot).next = next;
        self.node_mut(next).prev = slot;
        debug_assert_eq!(timer.arrival, None, "an overdue timer is in no slot");
        Some((id, timer, next == slot))
    }

    /// Removes the overdue timer at a place, which is in no list.
    pub(crate) fn remove_overdue(&mut self, at: u32) -> (TimerId, LiveTimer<T>) {
        match mem::replace(&mut self.node_mut(at).body, Body::FREE) {
            Body::Timer(timer) => {
                debug_assert!(timer.arrival.is_some(), "an overdue timer has an arrival");
                let id = TimerId::from_parts(at, timer.generation);
                self.release(id);
                (id, timer)
            }
            Body::Slot(_) => unreachable!("a timer that is overdue is in its place"),
        }
    }

    /// Frees the place of a handle, or retires it after its last generation.
    #[inline(always)]
    fn release(&mut self, id: TimerId) {
        match id.next_generation() {
            Some(next) => self.free.push(next),
            None => self.retired += 1,
        }
    }

    /// Sets the deadline of a timer and removes it from its list. Returns its former deadline, its
    /// arrival if it was overdue, and the sentinel of its slot if the slot is empty now; `None` if
    /// the handle is stale.
    #[inline(always)]
    pub(crate) fn detach(
        &mut self,
        id: TimerId,
        deadline: Tick,
    ) -> Option<(Tick, Option<Link>, Option<u32>)> {
        let node = self.nodes.get_mut(id.index() as usize)?;
        let timer = match &mut node.body {
            Body::Timer(timer) if timer.generation == id.generation() => timer,
            _ => return None,
        };
        let from = mem::replace(&mut timer.deadline, deadline);
        let arrival = timer.arrival.take();
        let Node { prev, next, .. } = *node;
        Some((from, arrival, self.close(prev, next)))
    }

    #[inline(always)]
    pub(crate) fn number(&self, slot: u32) -> u32 {
        match self.node(slot).body {
            Body::Slot(number) => number,
            Body::Timer(_) => unreachable!("a sentinel is no timer"),
        }
    }

    /// The deadline of the timer at a place; 0 if the place has no timer.
    #[inline(always)]
    pub(crate) fn deadline_at(&self, at: u32) -> Tick {
        match &self.node(at).body {
            Body::Timer(timer) => timer.deadline,
            Body::Slot(_) => 0,
        }
    }
}

impl<T> Arrivals for Nodes<T> {
    /// An overdue timer is in no list. It is its own neighbour, so that removing it changes no
    /// other node.
    fn set_arrival(&mut self, at: u32, arrival: Link) {
        let node = self.node_mut(at);
        (node.prev, node.next) = (at, at);
        match &mut node.body {
            Body::Timer(timer) => timer.arrival = Some(arrival),
            Body::Slot(_) => unreachable!("a timer that is overdue is in its place"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_place_is_retired_before_its_generations_repeat() {
        let mut nodes = Nodes::with_capacity(0, 0, OUTSIDE);
        let slot = nodes.add_slots(2, 0);
        let insert = |nodes: &mut Nodes<char>| {
            let id = nodes.free_place().unwrap_or_else(|| nodes.new_place());
            let links = nodes.append(slot, id.index()).expect("the slot is there");
            nodes.put(id, links, 1, 'a');
            assert!(nodes.remove(id).is_some());
            id
        };
        let first = insert(&mut nodes);
        let last_but_one = NonZeroU32::new(u32::MAX - 1).expect("it is not zero");
        assert!(nodes.free_place().is_some());
        nodes.free.push(TimerId::from_parts(first.index(), last_but_one));
        let places: Vec<u32> = (0..4).map(|_| insert(&mut nodes).index()).collect();
        assert_eq!(places, [2, 2, 3, 3]);
        assert!(nodes.get(first).is_none());
        assert_eq!((nodes.len(), nodes.retired), (0, 1));
    }
}
