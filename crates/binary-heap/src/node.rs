//! The nodes that heaps compare and move.

use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::arena::Link;

/// The node of a timer in a heap. Comparing nodes follows no pointer.
pub(crate) trait HeapNode: Copy {
    fn deadline(&self) -> Tick;

    /// Returns `true` if this timer fires before the other.
    fn is_before(&self, other: &Self) -> bool;
}

/// A node of an indexed heap: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) deadline: Tick,
    /// The number of the insertion or reschedule. 64 bits do not overflow.
    pub(crate) order: u64,
    /// The timer's place in the arena.
    pub(crate) index: u32,
}

impl Node {
    /// The sort key: one number, so that a comparison needs no branch.
    #[inline]
    pub(crate) fn key(&self) -> u128 {
        u128::from(self.deadline) << 64 | u128::from(self.order)
    }
}

impl HeapNode for Node {
    #[inline]
    fn deadline(&self) -> Tick {
        self.deadline
    }

    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}

/// A node of a heap with lazy deletion, 16 bytes: from the highest bits to the lowest its deadline,
/// its order, and its timer's place in the arena. So comparing two nodes is comparing two numbers.
/// Orders have 32 bits; the heap numbers the nodes again before they overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LazyNode(u128);

impl LazyNode {
    #[inline]
    pub(crate) fn new(deadline: Tick, order: Link, index: u32) -> Self {
        Self(u128::from(deadline) << 64 | u128::from(order.get()) << 32 | u128::from(index))
    }

    #[inline]
    pub(crate) fn order(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn link(self) -> Link {
        let order = Link::new(self.order());
        debug_assert!(order.is_some(), "orders start at 1");
        order.unwrap_or(Link::MIN)
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.0 as u32
    }
}

impl HeapNode for LazyNode {
    #[inline]
    fn deadline(&self) -> Tick {
        (self.0 >> 64) as Tick
    }

    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        self < other
    }
}

/// Storage for the position of each timer in the array.
pub(crate) trait Places<N> {
    fn with_capacity(capacity: usize) -> Self;

    /// Makes room for a timer.
    fn add(&mut self, node: &N);

    fn put(&mut self, node: &N, place: usize);
}

/// Positions by the timer's index in the arena. Undefined for free places.
impl Places<Node> for Vec<u32> {
    fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    #[inline]
    fn add(&mut self, node: &Node) {
        if node.index as usize >= self.len() {
            self.resize(node.index as usize + 1, 0);
        }
    }

    #[inline]
    fn put(&mut self, node: &Node, place: usize) {
        self[node.index as usize] = place as u32;
    }
}

/// Stores no positions.
impl Places<LazyNode> for () {
    fn with_capacity(_: usize) -> Self {}

    #[inline]
    fn add(&mut self, _: &LazyNode) {}

    #[inline]
    fn put(&mut self, _: &LazyNode, _: usize) {}
}
