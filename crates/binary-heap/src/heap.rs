//! The timer facility on the array.

use crate::array::{FireInBulk, HeapArray};
use crate::node::Node;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// An indexed heap of timers with `ARITY` children per node. The [crate documentation](crate)
/// describes the structure and its costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
/// An arity below two does not compile.
#[derive(Clone)]
pub struct BinaryHeap<T, const ARITY: usize = 2, M = NoMeter> {
    arena: Arena<T>,
    array: HeapArray<ARITY>,
    /// The number of insertions and reschedules so far.
    orders: u64,
    now: Tick,
    pub(crate) meter: M,
}

impl<T, const ARITY: usize, M: Meter> BinaryHeap<T, ARITY, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            arena: Arena::with_capacity(capacity),
            array: HeapArray::with_capacity(capacity),
            orders: 0,
            now: start,
            meter,
        }
    }

    #[inline]
    fn node(&mut self, deadline: Tick, index: u32) -> Node {
        self.orders += 1;
        Node { deadline, order: self.orders, index }
    }
}

impl<T, const ARITY: usize, M: Meter> FireInBulk<T> for BinaryHeap<T, ARITY, M> {
    #[inline]
    fn bulk_threshold(&self) -> usize {
        self.array.bulk_threshold()
    }

    #[cold]
    fn advance_in_bulk(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize {
        if !self.array.is_worth_sorting(self.now, &self.meter) {
            return 0;
        }
        let mut fired = 0;
        for node in self.array.split_due(self.now, &self.meter) {
            debug_assert!(self.arena.at(node.index).is_some(), "a timer in the heap is live");
            if let Some((id, value)) = self.arena.remove_at(node.index) {
                fired += 1;
                on_expiry(Expired { id, deadline: node.deadline, value });
            }
        }
        fired
    }
}

impl<T, const ARITY: usize, M: Meter> Timer<T> for BinaryHeap<T, ARITY, M> {
    wheelhouse_core::now_and_len!(arena);

    /// O(1) on average, O(log n) at worst; O(n) when an array grows.
    #[inline]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let id = self.arena.insert(value);
        let node = self.node(deadline, id.index());
        self.array.push(node, &self.meter);
        id
    }

    /// O(1) on average, O(log n) at worst.
    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let ((), value) = self.arena.remove(id)?;
        self.array.remove(id.index(), &self.meter);
        Some(value)
    }

    /// O(1) on average, O(log n) at worst.
    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        if self.arena.get(id).is_none() {
            return false;
        }
        let node = self.node(deadline, id.index());
        self.array.change(node, &self.meter);
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.arena.get(id)?;
        let node = self.array.node_of(id.index());
        debug_assert!(node.is_some_and(|node| node.index == id.index()), "a live timer has a node");
        node.map(|node| node.deadline)
    }

    /// O(1). Exact.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.array.first().map(|node| node.deadline)
    }

    /// O(log n).
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        let first = *self.array.first().filter(|first| first.deadline <= self.now)?;
        // Removes the timer from the arena first: the processor updates the heap while it waits
        // for the cache miss of the entry.
        debug_assert!(self.arena.at(first.index).is_some(), "a timer in the heap is live");
        let (id, value) = self.arena.remove_at(first.index)?;
        self.array.remove_first(&self.meter);
        Some(Expired { id, deadline: first.deadline, value })
    }

    /// O(log n) for each timer that fires, O(1) if none does. If more than a quarter of all timers
    /// are due, they are sorted: the same bound, but several times faster.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        if self.array.first().is_none_or(|first| first.deadline > self.now) {
            self.meter.tally(Work::Comparison, 1);
            return 0;
        }
        self.advance_due(&mut on_expiry)
    }
}

#[cfg(test)]
mod tests;
