//! Timers and slots in one array, linked into rings.
//!
//! Each slot has a *sentinel*: a node without a timer, at which the list of the slot begins and
//! ends. Sentinel and timers form a ring, so that every timer has a neighbour on both sides.
//!
//! ```text
//!        ╭───────────────────────────────────────────╮
//!        ╰▶ sentinel ⇄ timer 7 ⇄ timer 2 ⇄ timer 9 ◀─╯      an empty slot is its own neighbour
//! ```
//!
//! To take a timer out is two stores, whoever the neighbours are: no branch asks for ends, and
//! nothing waits for what is in the neighbours. Links are four bytes instead of eight, so that a
//! timer with a value of eight bytes takes 32: half a cache line.

use crate::{Tick, TimerId};
use alloc::vec::Vec;
use core::mem;
use core::num::NonZeroU32;
use wheelhouse_core::arena::Link;
use wheelhouse_core::overdue::Arrivals;

/// A timer with its links, a sentinel, or a free place.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Node<T> {
    prev: u32,
    next: u32,
    armed: Option<Armed<T>>,
}

const _: () = assert!(size_of::<Node<u64>>() == 32);

/// A live timer.
#[derive(Clone, Debug)]
pub(crate) struct Armed<T> {
    /// Of its handle. Never zero, which makes an `Option` of a timer as small as a timer.
    generation: NonZeroU32,
    /// Its place among those that were overdue when they came; `None` if it is in a list.
    pub(crate) arrival: Option<Link>,
    pub(crate) deadline: Tick,
    pub(crate) value: T,
}

/// All nodes: the sentinels first, then the timers.
#[derive(Clone, Debug)]
pub(crate) struct Nodes<T> {
    nodes: Vec<Node<T>>,
    sentinels: u32,
    /// The handles that come next for the places that are free. Because the generation is here, an
    /// insertion writes its place without having to read it first.
    free: Vec<TimerId>,
    /// Places whose generations are used up.
    retired: usize,
}

impl<T> Nodes<T> {
    /// So many empty slots, and room for so many timers.
    pub(crate) fn new(slots: u32, capacity: usize) -> Self {
        let mut nodes = Vec::with_capacity(slots as usize + capacity);
        nodes.extend((0..slots).map(|at| Node { prev: at, next: at, armed: None }));
        Self { nodes, sentinels: slots, free: Vec::new(), retired: 0 }
    }

    /// The number of live timers.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - self.sentinels as usize - self.free.len() - self.retired
    }

    /// Puts a timer into a place of its own. It is in no list yet.
    #[inline(always)]
    pub(crate) fn allocate(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let generation = id.generation();
        let armed = Some(Armed { generation, arrival: None, deadline, value });
        // The place is free, and to drop what is in it would be to look at it.
        mem::forget(mem::replace(&mut self.nodes[id.index() as usize].armed, armed));
        id
    }

    #[inline]
    fn grow(&mut self) -> TimerId {
        let at = self.nodes.len() as u32;
        assert!(self.nodes.len() < u32::MAX as usize, "a wheel holds fewer than 2^32 timers");
        self.nodes.push(Node { prev: at, next: at, armed: None });
        TimerId::from_parts(at, NonZeroU32::MIN)
    }

    /// The timer of a handle, unless it is gone.
    #[inline(always)]
    pub(crate) fn get(&self, id: TimerId) -> Option<&Armed<T>> {
        let armed = self.nodes.get(id.index() as usize)?.armed.as_ref()?;
        (armed.generation == id.generation()).then_some(armed)
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self, id: TimerId) -> Option<&mut Armed<T>> {
        let armed = self.nodes.get_mut(id.index() as usize)?.armed.as_mut()?;
        (armed.generation == id.generation()).then_some(armed)
    }

    /// Takes a timer out of its list and its place, unless it is gone already.
    #[inline(always)]
    pub(crate) fn remove(&mut self, id: TimerId) -> Option<(Armed<T>, Option<u32>)> {
        let node = self.nodes.get_mut(id.index() as usize)?;
        match &node.armed {
            Some(armed) if armed.generation == id.generation() => {}
            _ => return None,
        }
        let Node { prev, next, .. } = *node;
        let armed = node.armed.take()?;
        self.release(id);
        Some((armed, self.close(prev, next)))
    }

    /// The same for the timer at a place, whichever it is.
    #[inline(always)]
    pub(crate) fn remove_at(&mut self, at: u32) -> Option<(TimerId, Armed<T>, Option<u32>)> {
        let node = &mut self.nodes[at as usize];
        let Node { prev, next, .. } = *node;
        let armed = node.armed.take()?;
        let id = TimerId::from_parts(at, armed.generation);
        self.release(id);
        Some((id, armed, self.close(prev, next)))
    }

    /// Makes the place of a handle free, unless it was its last.
    #[inline(always)]
    fn release(&mut self, id: TimerId) {
        match id.next_of_place() {
            Some(next) => self.free.push(next),
            None => self.retired += 1,
        }
    }

    /// Links a timer behind all others of a slot; whether it is the first there.
    #[inline(always)]
    pub(crate) fn append(&mut self, slot: u32, at: u32) -> bool {
        let tail = mem::replace(&mut self.nodes[slot as usize].prev, at);
        let node = &mut self.nodes[at as usize];
        (node.prev, node.next) = (tail, slot);
        self.nodes[tail as usize].next = at;
        tail == slot
    }

    /// Takes a timer out of its list, but not out of its place. Returns the slot if it has none
    /// left.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, at: u32) -> Option<u32> {
        let Node { prev, next, .. } = self.nodes[at as usize];
        self.close(prev, next)
    }

    /// Links the neighbours of a timer that goes. Only a slot can be on both sides.
    #[inline(always)]
    fn close(&mut self, prev: u32, next: u32) -> Option<u32> {
        self.nodes[prev as usize].next = next;
        self.nodes[next as usize].prev = prev;
        (prev == next).then_some(prev)
    }

    /// The first timer of a slot that has one.
    #[inline]
    pub(crate) fn first(&self, slot: u32) -> u32 {
        self.nodes[slot as usize].next
    }

    /// Takes all timers out of a slot: the first of them, to be followed by [`next`](Self::next) up
    /// to the slot itself.
    #[inline]
    pub(crate) fn empty(&mut self, slot: u32) -> u32 {
        let node = &mut self.nodes[slot as usize];
        node.prev = slot;
        mem::replace(&mut node.next, slot)
    }

    /// What follows a timer, and its deadline.
    #[inline]
    pub(crate) fn next(&self, at: u32) -> (u32, Tick) {
        let node = &self.nodes[at as usize];
        (node.next, node.armed.as_ref().map_or(0, |armed| armed.deadline))
    }
}

impl<T> Arrivals for Nodes<T> {
    /// The timer is overdue, and in no list: it is its own neighbour.
    fn set_arrival(&mut self, at: u32, arrival: Link) {
        let node = &mut self.nodes[at as usize];
        (node.prev, node.next) = (at, at);
        if let Some(armed) = &mut node.armed {
            armed.arrival = Some(arrival);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_retired_before_its_generations_come_round() {
        let mut nodes = Nodes::new(2, 0);
        let first = nodes.allocate(1, 'a');
        assert!(nodes.remove(first).is_some());
        let last_but_one = NonZeroU32::MAX.get() - 1;
        let worn = NonZeroU32::new(last_but_one).map(|it| TimerId::from_parts(first.index(), it));
        nodes.free = worn.into_iter().collect();
        let places: Vec<u32> = (0..4)
            .map(|n| {
                let id = nodes.allocate(n, 'b');
                assert!(nodes.remove(id).is_some());
                id.index()
            })
            .collect();
        assert_eq!(places, [2, 2, 3, 3]);
        assert!(nodes.get(first).is_none());
        assert_eq!((nodes.len(), nodes.retired), (0, 1));
    }
}
