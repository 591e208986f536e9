//! The array of all nodes, for few and for many.
//!
//! Where the nodes fit the caches, instructions decide, and a `Vec` takes the fewest: a comparison,
//! a shift, an addition. But a `Vec` that is full is copied as a whole. So a wheel that outgrows
//! [`Flat`] is copied once, and goes on with [`Segmented`], which grows without moving anything:
//! its table of segments costs a load more at each access, which is little beside a cache miss. Who
//! says at the start that there will be many timers is spared the copy.

use crate::nodes::Node;
use alloc::vec::Vec;
use wheelhouse_core::segments::Segments;

/// A [`Flat`] with as many nodes takes no more timers. (Hardly any in the unit tests, so that they
/// see both ways with few timers.)
pub(crate) const FLAT: usize = CAPACITY - CAPACITY / 8;

/// Room for some rings of slots beside the timers: four megabytes with values of eight bytes.
const CAPACITY: usize = if cfg!(test) { 1 << 8 } else { 1 << 17 };

/// From so many nodes on, lists are read ahead.
pub(crate) const MANY: usize = CAPACITY / 4;

/// Nodes of a segment.
const SEGMENT: usize = 1 << 11;

/// An array that is appended to.
pub(crate) trait Store {
    /// Of a timer.
    type Value;

    /// Whether there are so many nodes that an operation waits for memory.
    const IS_LARGE: bool;

    /// The number of nodes.
    fn len(&self) -> usize;

    /// Appends a node.
    fn push(&mut self, node: Node<Self::Value>);

    /// The node at a place, if there is one.
    fn get(&self, at: u32) -> Option<&Node<Self::Value>>;

    /// The same, to be changed.
    fn get_mut(&mut self, at: u32) -> Option<&mut Node<Self::Value>>;

    /// The node at a place.
    fn at(&self, at: u32) -> &Node<Self::Value>;

    /// The same, to be changed.
    fn at_mut(&mut self, at: u32) -> &mut Node<Self::Value>;
}

/// One piece of memory.
#[derive(Clone, Debug)]
pub(crate) struct Flat<T>(Vec<Node<T>>);

impl<T> Flat<T> {
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Self(Vec::with_capacity(nodes))
    }
}

impl<T> Store for Flat<T> {
    type Value = T;

    const IS_LARGE: bool = false;

    #[inline(always)]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn push(&mut self, node: Node<T>) {
        self.0.push(node);
    }

    #[inline(always)]
    fn get(&self, at: u32) -> Option<&Node<T>> {
        self.0.get(at as usize)
    }

    #[inline(always)]
    fn get_mut(&mut self, at: u32) -> Option<&mut Node<T>> {
        self.0.get_mut(at as usize)
    }

    #[inline(always)]
    fn at(&self, at: u32) -> &Node<T> {
        &self.0[at as usize]
    }

    #[inline(always)]
    fn at_mut(&mut self, at: u32) -> &mut Node<T> {
        &mut self.0[at as usize]
    }
}

/// Pieces of memory that never move.
#[derive(Clone, Debug)]
pub(crate) struct Segmented<T> {
    segments: Segments<Node<T>, SEGMENT>,
    used: usize,
}

impl<T> Segmented<T> {
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        let mut segments = Segments::new();
        segments.grow_to(nodes, Node::vacant);
        Self { segments, used: 0 }
    }
}

impl<T> From<Flat<T>> for Segmented<T> {
    fn from(flat: Flat<T>) -> Self {
        let mut it = Self::with_capacity(flat.len());
        flat.0.into_iter().for_each(|node| it.push(node));
        it
    }
}

impl<T> Store for Segmented<T> {
    type Value = T;

    const IS_LARGE: bool = true;

    #[inline(always)]
    fn len(&self) -> usize {
        self.used
    }

    #[inline]
    fn push(&mut self, node: Node<T>) {
        if self.used == self.segments.len() {
            self.segments.grow_to(self.used + 1, Node::vacant);
        }
        self.segments[self.used] = node;
        self.used += 1;
    }

    #[inline(always)]
    fn get(&self, at: u32) -> Option<&Node<T>> {
        self.segments.get(at as usize)
    }

    #[inline(always)]
    fn get_mut(&mut self, at: u32) -> Option<&mut Node<T>> {
        self.segments.get_mut(at as usize)
    }

    #[inline(always)]
    fn at(&self, at: u32) -> &Node<T> {
        &self.segments[at as usize]
    }

    #[inline(always)]
    fn at_mut(&mut self, at: u32) -> &mut Node<T> {
        &mut self.segments[at as usize]
    }
}
