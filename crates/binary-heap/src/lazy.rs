//! The heap with lazy deletion.

use crate::array::HeapArray;
use crate::builder::LazyBuilder;
use crate::node::{HeapNode, LazyNode};
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// Children of a node: four of 16 bytes lie on one or two cache lines, and the tree is half as high as with two.
const ARITY: usize = 4;

/// The dead may be so many more than the living before they are dropped, lest a heap of a few timers is tidied up all the time.
const FEW: usize = 64;

/// A timer's deadline and value. Its link is the order of its node: a node of another order is dead.
#[derive(Clone, Debug)]
struct Entry<T> {
    deadline: Tick,
    value: T,
}

/// A heap of four children a node whose cancelled timers stay in it until they come up, or are more than half.
///
/// To cancel, or to move, is one access to the timer: the heap is not touched but for the node that a move adds. What is
/// dead at the root is taken off at once, so that [`next_wakeup`](Timer::next_wakeup) is exact; what is dead elsewhere is
/// dropped when it is more than the living and 64, in one pass over all: that call takes O(n), and the one that uncovers dead in a row at the root
/// O(log n) for each of them. A program that cannot have that takes [`BinaryHeap`](crate::BinaryHeap), where a cancelled timer is gone at once.
///
/// Memory: 16 bytes for each timer and for each of the dead, twice that where the array has just doubled, beside what the arena takes: 8, the value and its
/// deadline, and 8 for each place that is free.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see [`TimerId`].
///
/// ```
/// use wheelhouse_binary_heap::{LazyHeap, Timer};
///
/// let mut requests = LazyHeap::new(); // one tick is a millisecond
/// let answered = requests.insert(5_000, "request 1");
/// requests.insert(5_000, "request 2");
/// assert_eq!(requests.cancel(answered), Some("request 1"));
/// assert_eq!(requests.advance(5_000, |expired| assert_eq!(expired.value, "request 2")), 1);
/// ```
#[derive(Clone, Debug)]
pub struct LazyHeap<T, M = NoMeter> {
    timers: Arena<Entry<T>, Link>,
    /// The nodes of all live timers, one each, and of others. The first is that of a live timer.
    array: HeapArray<ARITY, LazyNode, ()>,
    /// The last order that was given. Each is that of one node.
    orders: u32,
    now: Tick,
    meter: M,
}

impl<T> LazyHeap<T> {
    /// An empty heap, its clock at 0. Allocates nothing.
    pub fn new() -> Self {
        Self::with_parts(0, 0, NoMeter)
    }

    /// Chooses the first tick, the capacity or a meter.
    pub const fn builder() -> LazyBuilder<T> {
        LazyBuilder::new()
    }
}

impl<T> Default for LazyHeap<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, M: Meter> LazyHeap<T, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
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
    fn next_order(&mut self) -> Link {
        if self.orders == u32::MAX {
            self.renumber();
        }
        self.orders += 1;
        Link::MIN.saturating_add(self.orders - 1)
    }

    /// Counts orders from the start again, once in four billion.
    #[cold]
    fn renumber(&mut self) {
        self.drop_dead();
        let (timers, orders) = (&mut self.timers, &mut self.orders);
        *orders = 0;
        self.array.renew(|node| {
            let order = Link::MIN.saturating_add(*orders);
            *orders += 1;
            timers.set_link(node.index(), order);
            LazyNode::new(node.deadline(), order, node.index())
        });
    }

    #[inline]
    fn is_first(&self, order: Link) -> bool {
        self.array.first().is_some_and(|first| first.order() == order.get())
    }

    /// Takes the dead off the root: O(log n) for each.
    fn bury(&mut self) {
        while let Some(first) = self.array.first() {
            self.meter.tally(Work::EntryScan, 1);
            if is_live(&self.timers, first) {
                break;
            }
            self.array.remove_first(&self.meter);
        }
    }

    #[inline]
    fn limit_dead(&mut self) {
        if self.array.len() > 2 * self.timers.len() + FEW {
            self.drop_dead();
        }
    }

    /// Drops all dead nodes: O(n).
    ///
    /// To ask of each node whether its timer is live is a cache miss a node. To make nodes of all timers instead is to read memory in order, if it
    /// is not mostly free places.
    #[inline(never)]
    fn drop_dead(&mut self) {
        let timers = &self.timers;
        if timers.peak() <= 2 * self.array.len() {
            let nodes = timers.iter().map(|(index, order, entry)| LazyNode::new(entry.deadline, *order, index));
            self.array.refill(nodes, &self.meter);
        } else {
            self.array.retain(|node| is_live(timers, node), &self.meter);
        }
    }

    /// Fires all that is due if it is a good part of all timers, else nothing. Returns how many.
    #[cold]
    fn advance_in_bulk(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize {
        if !self.array.is_worth_sorting(self.now, &self.meter) {
            return 0;
        }
        // So that each node that is set aside is one of a timer, and the first of those that are left is live.
        self.drop_dead();
        let mut fired = 0;
        for node in self.array.set_aside_due(self.now, &self.meter) {
            if let Some((id, Entry { deadline, value })) = self.timers.remove_at(node.index()) {
                fired += 1;
                on_expiry(Expired { id, deadline, value });
            }
        }
        fired
    }
}

/// Whether a node is that of a live timer.
#[inline]
fn is_live<T>(timers: &Arena<Entry<T>, Link>, node: &LazyNode) -> bool {
    timers.link_at(node.index()).is_some_and(|order| order.get() == node.order())
}

// What starts, stops and moves timers is always inlined, as it is in the hierarchical wheel: the fewer instructions there are between calls, the more of
// them wait for memory side by side.
impl<T, M: Meter> Timer<T> for LazyHeap<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.timers.len()
    }

    /// O(1) on average, O(log n) at worst; O(n) when the array grows, and O(n log n) once in four billion, when the numbers of insertions begin anew.
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let order = self.next_order();
        let id = self.timers.insert_linked(order, Entry { deadline, value });
        self.array.push(LazyNode::new(deadline, order, id.index()), &self.meter);
        id
    }

    /// O(1) amortised, O(log n) if it is the first; at worst, O(n) when the dead are dropped, and O(log n) for each of the dead that come up.
    #[inline(always)]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (order, entry) = self.timers.remove(id)?;
        if self.is_first(order) {
            self.bury();
        }
        self.limit_dead();
        Some(entry.value)
    }

    /// As a cancellation and an insertion.
    #[inline(always)]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        if self.timers.get(id).is_none() {
            return false;
        }
        let order = self.next_order();
        let Some((link, entry)) = self.timers.get_mut(id) else { return false };
        let old = core::mem::replace(link, order);
        entry.deadline = deadline;
        let was_first = self.is_first(old);
        self.array.push(LazyNode::new(deadline, order, id.index()), &self.meter);
        if was_first {
            self.bury();
        }
        self.limit_dead();
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timers.get(id).map(|entry| entry.deadline)
    }

    /// O(1). Exact.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.array.first().map(LazyNode::deadline)
    }

    /// O(log n) amortised; at worst for each of the dead that come up, and O(n) when the dead are dropped.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        let first = *self.array.first().filter(|first| first.deadline() <= self.now)?;
        let (id, Entry { deadline, value }) = self.timers.remove_at(first.index())?;
        self.array.remove_first(&self.meter);
        self.bury();
        self.limit_dead();
        Some(Expired { id, deadline, value })
    }

    /// O(log n) amortised for each timer that fires, O(1) if none does. What is due is sorted at once where it is more than a quarter of all.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        let mut enough = self.array.enough_to_look();
        while let Some(expired) = self.pop_expired(now) {
            fired += 1;
            on_expiry(expired);
            if fired >= enough {
                fired += self.advance_in_bulk(&mut on_expiry);
                enough = fired + self.array.enough_to_look();
            }
        }
        fired
    }

    /// Drops the dead: O(n).
    fn compact(&mut self) {
        if self.array.len() > self.timers.len() {
            self.drop_dead();
        }
    }
}

#[cfg(test)]
#[path = "lazy_tests.rs"]
mod tests;
