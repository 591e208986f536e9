//! The timer facility over the array.

use crate::array::{HeapArray, Node};
use crate::builder::Builder;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// An indexed heap of timers with `ARITY` children for each node. See the [crate's page](crate) for what it is and costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see [`TimerId`]. An arity below two does
/// not compile.
#[derive(Clone, Debug)]
pub struct BinaryHeap<T, const ARITY: usize = 2, M = NoMeter> {
    arena: Arena<T>,
    array: HeapArray<ARITY>,
    /// The number of insertions and reschedules so far.
    orders: u64,
    now: Tick,
    meter: M,
}

impl<T> BinaryHeap<T> {
    /// An empty heap with two children for each node, its clock at 0.
    pub fn new() -> Self {
        Self::builder().build()
    }
}

impl<T, const ARITY: usize> BinaryHeap<T, ARITY> {
    /// Chooses the first tick, the capacity or a meter.
    ///
    /// ```
    /// use wheelhouse_binary_heap::{BinaryHeap, Timer};
    ///
    /// let heap: BinaryHeap<&str, 4> = BinaryHeap::builder().start(1_000).capacity(100).build();
    /// assert_eq!(heap.now(), 1_000);
    /// ```
    pub fn builder() -> Builder<T, ARITY> {
        Builder::new()
    }
}

impl<T, const ARITY: usize> Default for BinaryHeap<T, ARITY> {
    fn default() -> Self {
        Self::builder().build()
    }
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

    /// What counts the work.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    #[inline]
    fn node(&mut self, deadline: Tick, index: u32) -> Node {
        self.orders += 1;
        Node { deadline, order: self.orders, index }
    }
}

impl<T, const ARITY: usize, M: Meter> Timer<T> for BinaryHeap<T, ARITY, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.arena.len()
    }

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
        let value = self.arena.remove(id)?;
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
        self.array.node_of(id.index()).map(|node| node.deadline)
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
        if self.array.first()?.deadline > self.now {
            return None;
        }
        let node = self.array.pop(&self.meter)?;
        let (id, value) = self.arena.remove_at(node.index)?;
        Some(Expired { id, deadline: node.deadline, value })
    }

    /// O(log n) for each timer that fires, O(1) if none does.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        while let Some(expired) = self.pop_expired(now) {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A small generator, so that the unit tests need no crate.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    fn stays_whole<const ARITY: usize>() {
        let mut heap = BinaryHeap::<u64, ARITY>::default();
        let mut ids = Vec::new();
        let mut state = ARITY as u64;
        for step in 0..20_000 {
            let deadline = heap.now() + random(&mut state) % 2_000;
            match random(&mut state) % 8 {
                0..4 => ids.push(heap.insert(deadline, step)),
                4 if !ids.is_empty() => {
                    let id = ids.swap_remove(random(&mut state) as usize % ids.len());
                    heap.cancel(id);
                }
                5 if !ids.is_empty() => {
                    heap.reschedule(ids[random(&mut state) as usize % ids.len()], deadline);
                }
                _ => {
                    heap.advance(deadline.min(heap.now() + 20), |_| ());
                }
            }
            if step % 50 == 0 {
                heap.array.check();
            }
        }
    }

    #[test]
    fn stays_whole_under_random_operations_at_any_arity() {
        stays_whole::<2>();
        stays_whole::<3>();
        stays_whole::<4>();
        stays_whole::<8>();
    }

    #[test]
    fn a_later_deadline_costs_one_comparison_to_insert() {
        let meter = wheelhouse_core::meter::CountingMeter::default();
        let mut heap = BinaryHeap::<_, 2>::builder().meter(meter).build();
        for deadline in 0..1_000 {
            heap.insert(deadline, ());
        }
        assert_eq!(heap.meter().count(Work::Comparison), 999);
    }
}
