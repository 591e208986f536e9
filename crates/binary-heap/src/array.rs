//! The heap as an array. If `P` stores positions, the array updates the position of each timer.

use crate::node::{HeapNode, Node, Places};
use crate::sift;
use alloc::vec::Vec;
use core::cmp::Ordering;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::{Expired, Tick, Timer};

/// If more than one timer in this many is due, sorting is faster than removing them from the root
/// one by one.
const BULK_SHARE: usize = 4;

/// The number of nodes in a sample: mostly enough to distinguish a tenth from a quarter. A wrong
/// sample only costs time.
const SAMPLE: usize = 64;

/// An array of nodes, none of which is before its parent, and the position of each timer in it.
#[derive(Clone, Debug)]
pub(crate) struct HeapArray<const ARITY: usize, N = Node, P = Vec<u32>> {
    nodes: Vec<N>,
    places: P,
}

impl<const ARITY: usize> HeapArray<ARITY> {
    #[inline]
    pub(crate) fn node_of(&self, index: u32) -> Option<&Node> {
        self.nodes.get(*self.places.get(index as usize)? as usize)
    }

    #[inline]
    pub(crate) fn remove(&mut self, index: u32, meter: &impl Meter) {
        debug_assert!(self.node_of(index).is_some_and(|node| node.index == index));
        self.remove_at(self.places[index as usize] as usize, meter);
    }

    /// Replaces the node of a timer that is in the heap, and moves it to its new position.
    #[inline]
    pub(crate) fn change(&mut self, node: Node, meter: &impl Meter) {
        debug_assert!(self.node_of(node.index).is_some_and(|it| it.index == node.index));
        let place = self.places[node.index as usize] as usize;
        meter.tally(Work::Comparison, 1);
        if node.is_before(&self.nodes[place]) {
            sift::rise::<ARITY, _>(&mut self.nodes, &mut self.places, place, node, meter);
        } else {
            sift::sink::<ARITY, _>(&mut self.nodes, &mut self.places, place, node, meter);
        }
    }

    /// Checks the stored position of each node, and that no node is before its parent.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        for (place, node) in self.nodes.iter().enumerate() {
            assert_eq!(self.places[node.index as usize] as usize, place);
            assert!(place == 0 || self.nodes[(place - 1) / ARITY].key() < node.key());
        }
    }
}

impl<const ARITY: usize, N: HeapNode, P: Places<N>> HeapArray<ARITY, N, P> {
    const AT_LEAST_TWO: () = assert!(ARITY >= 2, "a heap's node has at least two children");

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let () = Self::AT_LEAST_TWO;
        Self { nodes: Vec::with_capacity(capacity), places: P::with_capacity(capacity) }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(crate) fn nodes(&self) -> &[N] {
        &self.nodes
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&N> {
        self.nodes.first()
    }

    #[inline]
    pub(crate) fn push(&mut self, node: N, meter: &impl Meter) {
        self.places.add(&node);
        let place = self.nodes.len();
        self.nodes.push(node);
        sift::rise::<ARITY, _>(&mut self.nodes, &mut self.places, place, node, meter);
    }

    /// Replaces the first node by one that is not before it.
    #[inline]
    pub(crate) fn replace_first(&mut self, node: N, meter: &impl Meter) {
        debug_assert!(self.first().is_some_and(|first| !node.is_before(first)));
        sift::sink::<ARITY, _>(&mut self.nodes, &mut self.places, 0, node, meter);
    }

    #[inline]
    pub(crate) fn remove_first(&mut self, meter: &impl Meter) {
        self.remove_at(0, meter);
    }

    /// Removes the node at a position and fills the hole with the last node. The last node usually
    /// belongs near the leaves, so the hole first sinks to a leaf, and then the last node rises
    /// from there. This saves a comparison with the last node on each level.
    #[inline]
    fn remove_at(&mut self, place: usize, meter: &impl Meter) {
        debug_assert!(place < self.nodes.len(), "a removed node is in the heap");
        let Some(last) = self.nodes.pop() else { return };
        if place < self.nodes.len() {
            let (nodes, places) = (&mut self.nodes, &mut self.places);
            let hole = sift::sink_past::<ARITY, _>(nodes, places, place, meter, |_| true);
            sift::rise::<ARITY, _>(nodes, places, hole, last, meter);
        }
    }

    /// The number of timers that must have fired in one call before the heap counts how many more
    /// are due. Their cost pays for the count.
    #[inline]
    pub(crate) fn bulk_threshold(&self) -> usize {
        self.nodes.len() / 32 + 32
    }

    /// Returns `true` if enough timers are due at `now` that sorting them is faster than removing
    /// them from the root one by one. A sample decides if it is worth counting. The sample can be
    /// wrong. Then the count, which is O(n) but reads memory in order, avoids rebuilding the heap
    /// for few timers.
    pub(crate) fn is_worth_sorting(&self, now: Tick, meter: &impl Meter) -> bool {
        let sample = self.nodes.iter().step_by((self.nodes.len() / SAMPLE).max(1));
        many_due(sample, now, meter) && many_due(self.nodes.iter(), now, meter)
    }

    /// Separates the timers that are due at `now` and sorts them. O(n) for n timers, plus the sort.
    pub(crate) fn split_due<'a, M: Meter>(
        &'a mut self,
        now: Tick,
        meter: &'a M,
    ) -> Due<'a, ARITY, N, P, M> {
        let mut kept = 0;
        for at in 0..self.nodes.len() {
            if self.nodes[at].deadline() > now {
                self.nodes.swap(kept, at);
                kept += 1;
            }
        }
        meter.tally(Work::ElementMove, self.nodes.len() as u64);
        self.nodes[kept..].sort_unstable_by(|a, b| {
            meter.tally(Work::Comparison, 1);
            if a.is_before(b) { Ordering::Greater } else { Ordering::Less } // no two are equal
        });
        self.order(kept, meter);
        Due { array: self, kept, meter }
    }

    /// Keeps the nodes for which `keep` returns `true`, with the changes that it makes, and builds
    /// a heap of them: O(n).
    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut N) -> bool, meter: &impl Meter) {
        meter.tally(Work::EntryScan, self.nodes.len() as u64);
        self.nodes.retain_mut(keep);
        self.order(self.nodes.len(), meter);
    }

    /// Replaces all nodes by these and builds a heap of them: O(n).
    pub(crate) fn refill(&mut self, nodes: impl Iterator<Item = N>, meter: &impl Meter) {
        self.nodes.clear();
        self.nodes.extend(nodes);
        self.order(self.nodes.len(), meter);
    }

    /// Replaces each node by the result of `change`, which is called in order of the nodes and must
    /// not change the order: O(n log n).
    pub(crate) fn renew(&mut self, mut change: impl FnMut(&N) -> N, meter: &impl Meter) {
        self.nodes.sort_unstable_by(|a, b| {
            meter.tally(Work::Comparison, 1);
            if a.is_before(b) { Ordering::Less } else { Ordering::Greater }
        });
        meter.tally(Work::ElementMove, self.nodes.len() as u64);
        self.nodes.iter_mut().for_each(|node| *node = change(node));
    }

    /// Builds a heap of the first `len` nodes, from the leaves to the root (R. W. Floyd, 1964):
    /// O(len).
    fn order(&mut self, len: usize, meter: &impl Meter) {
        for (place, node) in self.nodes[..len].iter().enumerate() {
            self.places.put(node, place);
        }
        let parents = if len < 2 { 0 } else { (len - 2) / ARITY + 1 };
        for place in (0..parents).rev() {
            let node = self.nodes[place];
            sift::sink::<ARITY, _>(&mut self.nodes[..len], &mut self.places, place, node, meter);
        }
    }
}

/// Returns `true` if more than one node in [`BULK_SHARE`] is due at `now`.
fn many_due<'a, N: HeapNode + 'a>(
    nodes: impl ExactSizeIterator<Item = &'a N>,
    now: Tick,
    meter: &impl Meter,
) -> bool {
    let count = nodes.len();
    meter.tally(Work::EntryScan, count as u64);
    nodes.filter(|node| node.deadline() <= now).count() > count / BULK_SHARE
}

/// An iterator over the timers that are due, the earliest first. Timers that were not taken return
/// to the heap when it is dropped. The due timers are in the heap's array behind the others, the
/// latest first, so taking one pops the last element.
pub(crate) struct Due<'a, const ARITY: usize, N: HeapNode, P: Places<N>, M: Meter> {
    array: &'a mut HeapArray<ARITY, N, P>,
    kept: usize,
    meter: &'a M,
}

impl<const ARITY: usize, N: HeapNode, P: Places<N>, M: Meter> Iterator for Due<'_, ARITY, N, P, M> {
    type Item = N;

    #[inline]
    fn next(&mut self) -> Option<N> {
        if self.array.nodes.len() == self.kept {
            return None;
        }
        self.array.nodes.pop()
    }
}

impl<const ARITY: usize, N: HeapNode, P: Places<N>, M: Meter> Drop for Due<'_, ARITY, N, P, M> {
    /// Timers are left only if a callback has panicked.
    fn drop(&mut self) {
        let len = self.array.nodes.len();
        if len > self.kept {
            self.array.order(len, self.meter);
        }
    }
}

/// A heap that fires its timers one by one, or all that are due after sorting them once.
pub(crate) trait FireInBulk<T>: Timer<T> {
    /// The number of timers to fire one by one before sorting may pay.
    fn bulk_threshold(&self) -> usize;

    /// Fires all timers that are due if they are a large part of all timers, otherwise none.
    /// Returns how many fired.
    fn advance_in_bulk(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize;

    /// Fires all timers that are due. Never inlined, so that inlining `advance` adds only a
    /// comparison for a tick at which nothing is due.
    #[inline(never)]
    fn advance_due(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        let mut threshold = self.bulk_threshold();
        while let Some(expired) = self.pop_expired(self.now()) {
            fired += 1;
            on_expiry(expired);
            if fired >= threshold {
                fired += self.advance_in_bulk(on_expiry);
                threshold = fired + self.bulk_threshold();
            }
        }
        fired
    }
}
