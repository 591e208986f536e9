//! The heap as an array, which keeps account of where each timer is if there is somewhere to keep
//! it.

use crate::node::{HeapNode, Node, Places};
use crate::sift;
use alloc::vec::Vec;
use core::cmp::Ordering;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};

/// Where more than one timer in so many is due, sorting them is faster than taking one after the
/// other off the root.
const BULK_SHARE: usize = 4;

/// Enough to tell a tenth from a quarter mostly; what is at stake is time only.
const SAMPLE: usize = 64;

/// An array of nodes, none of which is before its parent, and the place of each timer in it.
#[derive(Clone, Debug)]
pub(crate) struct HeapArray<const ARITY: usize, N = Node, P = Vec<u32>> {
    nodes: Vec<N>,
    places: P,
}

impl<const ARITY: usize> HeapArray<ARITY> {
    /// The node of a timer in the heap.
    #[inline]
    pub(crate) fn node_of(&self, index: u32) -> Option<&Node> {
        self.nodes.get(*self.places.get(index as usize)? as usize)
    }

    /// Takes a timer in the heap out.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32, meter: &impl Meter) {
        self.remove_at(self.places[index as usize] as usize, meter);
    }

    /// Gives a timer in the heap another deadline and order.
    #[inline]
    pub(crate) fn change(&mut self, node: Node, meter: &impl Meter) {
        let place = self.places[node.index as usize] as usize;
        meter.tally(Work::Comparison, 1);
        if node.is_before(&self.nodes[place]) {
            sift::rise::<ARITY, _>(&mut self.nodes, &mut self.places, place, node, meter);
        } else {
            sift::sink::<ARITY, _>(&mut self.nodes, &mut self.places, place, node, meter);
        }
    }

    /// Checks that each node is where its timer believes it to be, and none before its parent.
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

    /// Puts a node that is not before it in the place of the first.
    #[inline]
    pub(crate) fn replace_first(&mut self, node: N, meter: &impl Meter) {
        sift::sink::<ARITY, _>(&mut self.nodes, &mut self.places, 0, node, meter);
    }

    /// Takes the first node out.
    #[inline]
    pub(crate) fn remove_first(&mut self, meter: &impl Meter) {
        self.remove_at(0, meter);
    }

    /// Fills the place with the last node. That one mostly belongs near the leaves again, so the
    /// hole sinks all the way before the node is put into it and rises: this saves the comparison
    /// with it on each level.
    #[inline]
    fn remove_at(&mut self, place: usize, meter: &impl Meter) {
        let Some(last) = self.nodes.pop() else { return };
        if place < self.nodes.len() {
            let hole = sift::sink_hole::<ARITY, _>(&mut self.nodes, &mut self.places, place, meter);
            sift::rise::<ARITY, _>(&mut self.nodes, &mut self.places, hole, last, meter);
        }
    }

    /// So many timers must have fired in one call before it looks how many more are due: their cost
    /// pays for that.
    #[inline]
    pub(crate) fn enough_to_look(&self) -> usize {
        self.nodes.len() / 32 + 32
    }

    /// Whether so many timers are due at `now` that sorting them is faster than taking one after
    /// the other off the root. A sample says whether it is worth counting; it can be wrong, and
    /// then counting, O(n) in the order of memory, saves the heap from being torn down for little.
    pub(crate) fn is_worth_sorting(&self, now: Tick, meter: &impl Meter) -> bool {
        let sample = self.nodes.iter().step_by((self.nodes.len() / SAMPLE).max(1));
        many_due(sample, now, meter) && many_due(self.nodes.iter(), now, meter)
    }

    /// Sets aside what is due at `now`: O(n) for n timers and a sort of those due.
    pub(crate) fn set_aside_due<'a, M: Meter>(
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
            if a.is_before(b) { Ordering::Greater } else { Ordering::Less } // no two are the same
        });
        self.order(kept, meter);
        Due { array: self, kept, meter }
    }

    /// Keeps the nodes that `keep` says, as it leaves them, and makes a heap of them: O(n).
    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut N) -> bool, meter: &impl Meter) {
        meter.tally(Work::EntryScan, self.nodes.len() as u64);
        self.nodes.retain_mut(keep);
        self.order(self.nodes.len(), meter);
    }

    /// Makes a heap of these nodes alone: O(n).
    pub(crate) fn refill(&mut self, nodes: impl Iterator<Item = N>, meter: &impl Meter) {
        self.nodes.clear();
        self.nodes.extend(nodes);
        self.order(self.nodes.len(), meter);
    }

    /// Gives each node, the earliest first, what `change` makes of it, which must not change their
    /// order: O(n log n).
    pub(crate) fn renew(&mut self, mut change: impl FnMut(&N) -> N, meter: &impl Meter) {
        self.nodes.sort_unstable_by(|a, b| {
            meter.tally(Work::Comparison, 1);
            if a.is_before(b) { Ordering::Less } else { Ordering::Greater }
        });
        meter.tally(Work::ElementMove, self.nodes.len() as u64);
        self.nodes.iter_mut().for_each(|node| *node = change(node));
    }

    /// Makes a heap of the first `len` nodes, from the leaves to the root (R. W. Floyd, 1964):
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

/// Whether more than one node in [`BULK_SHARE`] is due at `now`.
fn many_due<'a, N: HeapNode + 'a>(
    nodes: impl ExactSizeIterator<Item = &'a N>,
    now: Tick,
    meter: &impl Meter,
) -> bool {
    let count = nodes.len();
    meter.tally(Work::EntryScan, count as u64);
    nodes.filter(|node| node.deadline() <= now).count() > count / BULK_SHARE
}

/// The timers that are due, the earliest first; those that are not taken go back. They lie in the
/// heap's own array behind those that are kept, the latest first, so that taking one is taking the
/// last.
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
    /// A callback has panicked if there is something left.
    fn drop(&mut self) {
        let len = self.array.nodes.len();
        if len > self.kept {
            self.array.order(len, self.meter);
        }
    }
}
