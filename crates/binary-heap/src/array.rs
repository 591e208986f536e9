//! The heap as an array that keeps account of where each timer is.

use crate::node::Node;
use crate::sift;
use alloc::vec::Vec;
use wheelhouse_core::Tick;
use wheelhouse_core::meter::{Meter, Work};

/// Enough to tell a tenth from a quarter mostly; what is at stake is time only.
const SAMPLE: usize = 64;

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
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
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
        let place = self.nodes.len();
        self.nodes.push(node);
        sift::rise::<ARITY>(&mut self.nodes, &mut self.places, place, node, meter);
    }

    /// Takes the first node out.
    #[inline]
    pub(crate) fn remove_first(&mut self, meter: &impl Meter) {
        self.remove_at(0, meter);
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
            sift::rise::<ARITY>(&mut self.nodes, &mut self.places, place, node, meter);
        } else {
            sift::sink::<ARITY>(&mut self.nodes, &mut self.places, place, node, meter);
        }
    }

    /// Fills the place with the last node. That one mostly belongs near the leaves again, so the hole sinks all the way
    /// before the node is put into it and rises: this saves the comparison with it on each level.
    #[inline]
    fn remove_at(&mut self, place: usize, meter: &impl Meter) {
        let Some(last) = self.nodes.pop() else { return };
        if place < self.nodes.len() {
            let hole = sift::sink_hole::<ARITY>(&mut self.nodes, &mut self.places, place, meter);
            sift::rise::<ARITY>(&mut self.nodes, &mut self.places, hole, last, meter);
        }
    }

    /// Whether more than one node in `share` is due at `now`, by a sample of at least so many, evenly spread.
    pub(crate) fn many_seem_due(&self, now: Tick, share: usize, meter: &impl Meter) -> bool {
        let sample = self.nodes.iter().step_by((self.nodes.len() / SAMPLE).max(1));
        meter.tally(Work::EntryScan, sample.len() as u64);
        let size = sample.len();
        sample.filter(|node| node.deadline <= now).count() > size / share
    }

    /// How many timers are due at `now`. O(n), in the order of memory.
    pub(crate) fn count_due(&self, now: Tick, meter: &impl Meter) -> usize {
        meter.tally(Work::EntryScan, self.nodes.len() as u64);
        self.nodes.iter().filter(|node| node.deadline <= now).count()
    }

    /// Sets aside what is due at `now`: O(n) for n timers and a sort of those due.
    pub(crate) fn set_aside_due<'a, M: Meter>(&'a mut self, now: Tick, meter: &'a M) -> Due<'a, ARITY, M> {
        let mut kept = 0;
        for at in 0..self.nodes.len() {
            if self.nodes[at].deadline > now {
                self.nodes.swap(kept, at);
                kept += 1;
            }
        }
        meter.tally(Work::ElementMove, self.nodes.len() as u64);
        self.nodes[kept..].sort_unstable_by(|a, b| {
            meter.tally(Work::Comparison, 1);
            b.key().cmp(&a.key())
        });
        self.order(kept, meter);
        Due { array: self, kept, meter }
    }

    /// Makes a heap of the first `len` nodes, from the leaves to the root (R. W. Floyd, 1964): O(len).
    fn order(&mut self, len: usize, meter: &impl Meter) {
        for (place, node) in self.nodes[..len].iter().enumerate() {
            self.places[node.index as usize] = place as u32;
        }
        let parents = if len < 2 { 0 } else { (len - 2) / ARITY + 1 };
        for place in (0..parents).rev() {
            let node = self.nodes[place];
            sift::sink::<ARITY>(&mut self.nodes[..len], &mut self.places, place, node, meter);
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

/// The timers that are due, the earliest first; those that are not taken go back. They lie in the heap's own array behind
/// those that are kept, the latest first, so that taking one is taking the last.
pub(crate) struct Due<'a, const ARITY: usize, M: Meter> {
    array: &'a mut HeapArray<ARITY>,
    kept: usize,
    meter: &'a M,
}

impl<const ARITY: usize, M: Meter> Iterator for Due<'_, ARITY, M> {
    type Item = Node;

    #[inline]
    fn next(&mut self) -> Option<Node> {
        if self.array.nodes.len() == self.kept {
            return None;
        }
        self.array.nodes.pop()
    }
}

impl<const ARITY: usize, M: Meter> Drop for Due<'_, ARITY, M> {
    /// A callback has panicked if there is something left.
    fn drop(&mut self) {
        let len = self.array.nodes.len();
        if len > self.kept {
            self.array.order(len, self.meter);
        }
    }
}
