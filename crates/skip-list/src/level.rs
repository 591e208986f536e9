//! One level: a doubly linked list whose nodes also have a link to the second next node.
//!
//! ```text
//! head ──▶ 7 ──▶ 12 ──▶ 19 ──▶ 40        each link is stored in the two nodes before it,
//!   ╰──────────▶ ╰────────────▶          with the deadline of its target:
//!                                        the head has 7 and 12, node 7 has 12 and 19
//! ```
//!
//! A search waits for memory: the address of each node is stored in the node before it, so with a
//! million timers each step is a cache miss. Two links with their deadlines in one node halve the
//! number of steps.

use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};

/// The link to no node, before the first and behind the last.
pub(crate) const NONE: u32 = u32::MAX;

/// The number of links written to insert a node: two in the node before it, one in the node before
/// that, its own three, one in the node behind.
pub(crate) const LINKS_TO_PUT_IN: u64 = 7;
/// The number of links written to remove a node.
pub(crate) const LINKS_TO_TAKE_OUT: u64 = 4;

/// A link to a node, with the deadline of its timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) deadline: Tick,
    pub(crate) at: u32,
}

impl Link {
    /// Returns `true` if it leads to a timer that is due at or before `deadline`.
    #[inline]
    pub(crate) fn reaches(self, deadline: Tick) -> bool {
        self.at != NONE && self.deadline <= deadline
    }
}

/// A timer on a level: 32 bytes, two per cache line. Its own deadline is stored in the two nodes
/// before it.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Node {
    /// The deadlines of the next two timers.
    deadlines: [Tick; 2],
    links: [u32; 2],
    prev: u32,
    /// A link to another level. The owner of the nodes defines its meaning.
    pub(crate) other: u32,
}

impl Node {
    pub(crate) const UNUSED: Self =
        Self { deadlines: [0; 2], links: [NONE; 2], prev: NONE, other: NONE };

    #[inline]
    fn next(&self) -> Link {
        Link { deadline: self.deadlines[0], at: self.links[0] }
    }

    /// The link to the second next node.
    #[inline]
    fn second(&self) -> Link {
        Link { deadline: self.deadlines[1], at: self.links[1] }
    }

    #[inline]
    fn set_next(&mut self, link: Link) {
        (self.deadlines[0], self.links[0]) = (link.deadline, link.at);
    }

    #[inline]
    fn set_second(&mut self, link: Link) {
        (self.deadlines[1], self.links[1]) = (link.deadline, link.at);
    }
}

/// The ends of a list. The caller owns the nodes, because several levels share an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Only its forward links are used.
    head: Node,
    tail: u32,
}

impl Level {
    pub(crate) const EMPTY: Self = Self { head: Node::UNUSED, tail: NONE };

    #[inline]
    pub(crate) fn first(&self) -> Link {
        self.head.next()
    }

    #[inline]
    pub(crate) fn last(&self) -> u32 {
        self.tail
    }

    #[inline]
    fn node<'a>(&'a self, nodes: &'a [Node], at: u32) -> &'a Node {
        nodes.get(at as usize).unwrap_or(&self.head)
    }

    #[inline]
    fn node_mut<'a>(&'a mut self, nodes: &'a mut [Node], at: u32) -> &'a mut Node {
        nodes.get_mut(at as usize).unwrap_or(&mut self.head)
    }

    #[inline]
    pub(crate) fn deadline_of(&self, nodes: &[Node], at: u32) -> Tick {
        self.node(nodes, nodes[at as usize].prev).next().deadline
    }

    /// The last node that is due at or before `deadline`. The search starts at `at`.
    #[inline]
    pub(crate) fn search(
        &self,
        nodes: &[Node],
        mut at: u32,
        deadline: Tick,
        meter: &impl Meter,
    ) -> u32 {
        let mut node = self.node(nodes, at);
        while node.second().reaches(deadline) {
            meter.tally(Work::Comparison, 1);
            meter.tally(Work::Link, 1);
            at = node.second().at;
            node = self.node(nodes, at);
        }
        // One comparison for the second link, which leads too far, and one for the first link.
        // Either may lead to the end of the list, which counts like a node: it is Pugh's NIL.
        meter.tally(Work::Comparison, 2);
        meter.tally(Work::Link, 1);
        // The second link has shown that the next node is the last one, so it is not read.
        if node.next().reaches(deadline) { node.next().at } else { at }
    }

    #[inline]
    pub(crate) fn put_in(
        &mut self,
        nodes: &mut [Node],
        behind: u32,
        link: Link,
        other: u32,
        meter: &impl Meter,
    ) {
        let before = self.node_mut(nodes, behind);
        let (next, second, first) = (before.next(), before.second(), before.prev);
        before.set_next(link);
        before.set_second(next);
        if behind != NONE {
            self.node_mut(nodes, first).set_second(link);
        }
        let node = self.node_mut(nodes, link.at);
        (node.prev, node.other) = (behind, other);
        node.set_next(next);
        node.set_second(second);
        self.set_prev(nodes, next.at, link.at);
        meter.tally(Work::Link, LINKS_TO_PUT_IN);
    }

    #[inline]
    pub(crate) fn take_out(&mut self, nodes: &mut [Node], at: u32, meter: &impl Meter) {
        let node = &nodes[at as usize];
        let (prev, second) = (node.prev, node.second());
        // Both links are the same. But the head is in the cache, so that the processor can continue
        // with the next timer that fires while it still waits for the memory of this node.
        let next = if prev == NONE { self.head.second() } else { node.next() };
        let before = self.node_mut(nodes, prev);
        let first = before.prev;
        before.set_next(next);
        before.set_second(second);
        if prev != NONE {
            self.node_mut(nodes, first).set_second(next);
        }
        self.set_prev(nodes, next.at, prev);
        meter.tally(Work::Link, LINKS_TO_TAKE_OUT);
    }

    /// Sets the backward link of a node, or of the end of the list.
    #[inline]
    fn set_prev(&mut self, nodes: &mut [Node], at: u32, prev: u32) {
        match nodes.get_mut(at as usize) {
            Some(node) => node.prev = prev,
            None => self.tail = prev,
        }
    }

    /// Checks the order and all links. Returns the nodes in order.
    #[cfg(test)]
    pub(crate) fn check(&self, nodes: &[Node]) -> alloc::vec::Vec<Link> {
        let (mut at, mut links) = (NONE, alloc::vec::Vec::<Link>::new());
        loop {
            let next = self.node(nodes, at).next();
            let second = self.node(nodes, at).second();
            if next.at == NONE {
                assert_eq!((second.at, self.tail), (NONE, at));
                return links;
            }
            assert_eq!(nodes[next.at as usize].prev, at);
            assert_eq!(nodes[next.at as usize].next().at, second.at);
            assert!(second.at == NONE || nodes[next.at as usize].next() == second);
            assert!(links.last().is_none_or(|last| last.deadline <= next.deadline));
            links.push(next);
            at = next.at;
        }
    }
}
