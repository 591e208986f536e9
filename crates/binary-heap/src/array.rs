//! The heap as an array that keeps account of where each timer is.

use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};

/// What is compared and moved: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) deadline: Tick,
    /// The number of the insertion or reschedule. 2^64 of them do not come round.
    pub(crate) order: u64,
    /// The timer's place in the arena.
    pub(crate) index: u32,
}

impl Node {
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        (self.deadline, self.order) < (other.deadline, other.order)
    }
}

/// An array of nodes, none of which is before its parent, and the place of each timer in it.
#[derive(Clone, Debug)]
pub(crate) struct HeapArray<const ARITY: usize> {
    nodes: Vec<Node>,
    /// By the timer's index in the arena. Means nothing where no timer is.
    places: Vec<u32>,
}

impl<const ARITY: usize> HeapArray<ARITY> {
    const AT_LEAST_TWO: () = assert!(ARITY >= 2, "a heap's node has at least two children");

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let () = Self::AT_LEAST_TWO;
        Self { nodes: Vec::with_capacity(capacity), places: Vec::with_capacity(capacity) }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Node> {
        self.nodes.first()
    }

    /// The node of a timer in the heap.
    #[inline]
    pub(crate) fn node_of(&self, index: u32) -> Option<&Node> {
        self.nodes.get(*self.places.get(index as usize)? as usize)
    }

    #[inline]
    pub(crate) fn push(&mut self, node: Node, meter: &impl Meter) {
        if node.index as usize >= self.places.len() {
            self.places.resize(node.index as usize + 1, 0);
        }
        self.nodes.push(node);
        self.rise(self.nodes.len() - 1, node, meter);
    }

    /// Takes the first node out.
    #[inline]
    pub(crate) fn pop(&mut self, meter: &impl Meter) -> Option<Node> {
        let first = *self.nodes.first()?;
        self.remove_at(0, meter);
        Some(first)
    }

    /// Takes a timer in the heap out.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32, meter: &impl Meter) {
        self.remove_at(self.places[index as usize] as usize, meter);
    }

    /// Gives a timer in the heap another deadline and order. The order is the latest, so that among equal deadlines it sinks.
    #[inline]
    pub(crate) fn change(&mut self, node: Node, meter: &impl Meter) {
        let place = self.places[node.index as usize] as usize;
        if node.is_before(&self.nodes[place]) {
            self.rise(place, node, meter);
        } else {
            self.sink(place, node, meter);
        }
        meter.tally(Work::Comparison, 1);
    }

    fn remove_at(&mut self, place: usize, meter: &impl Meter) {
        let Some(last) = self.nodes.pop() else { return };
        if place < self.nodes.len() {
            let hole = self.sink_hole(place, meter);
            self.rise(hole, last, meter);
        }
    }

    #[inline]
    fn put(&mut self, place: usize, node: Node) {
        self.nodes[place] = node;
        self.places[node.index as usize] = place as u32;
    }

    /// Puts `node` where the hole at `place` is, or nearer to the root.
    #[inline]
    fn rise(&mut self, mut place: usize, node: Node, meter: &impl Meter) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            meter.tally(Work::Comparison, 1);
            if !node.is_before(&self.nodes[parent]) {
                break;
            }
            self.put(place, self.nodes[parent]);
            meter.tally(Work::ElementMove, 1);
            place = parent;
        }
        self.put(place, node);
        meter.tally(Work::ElementMove, 1);
    }

    /// Puts `node` where the hole at `place` is, or nearer to the leaves.
    #[inline]
    fn sink(&mut self, mut place: usize, node: Node, meter: &impl Meter) {
        while let Some(child) = self.first_child(place, meter) {
            meter.tally(Work::Comparison, 1);
            if !self.nodes[child].is_before(&node) {
                break;
            }
            self.put(place, self.nodes[child]);
            meter.tally(Work::ElementMove, 1);
            place = child;
        }
        self.put(place, node);
        meter.tally(Work::ElementMove, 1);
    }

    /// Moves the hole at `place` down to a leaf, and returns where it is.
    #[inline]
    fn sink_hole(&mut self, mut place: usize, meter: &impl Meter) -> usize {
        while let Some(child) = self.first_child(place, meter) {
            self.put(place, self.nodes[child]);
            meter.tally(Work::ElementMove, 1);
            place = child;
        }
        place
    }

    /// The place of the earliest child, if there is one.
    #[inline]
    fn first_child(&self, place: usize, meter: &impl Meter) -> Option<usize> {
        let from = place * ARITY + 1;
        let children = self.nodes.get(from..self.nodes.len().min(from + ARITY)).filter(|nodes| !nodes.is_empty())?;
        meter.tally(Work::Comparison, children.len() as u64 - 1);
        let mut best = 0;
        for child in 1..children.len() {
            if children[child].is_before(&children[best]) {
                best = child;
            }
        }
        Some(from + best)
    }

    /// Checks that each node is where its timer believes it to be, and none before its parent.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        for (place, node) in self.nodes.iter().enumerate() {
            assert_eq!(self.places[node.index as usize] as usize, place);
            assert!(place == 0 || self.nodes[(place - 1) / ARITY].is_before(node));
        }
    }
}
