//! The heap with lazy deletion.

use crate::array::{FireInBulk, HeapArray};
use crate::node::{HeapNode, LazyNode};
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The number of children per node. Four children of 16 bytes are in one or two cache lines, and
/// the tree is half as high as with two children.
const ARITY: usize = 4;

/// Dead nodes are dropped if they outnumber the timers by more than this. So a heap with few timers
/// is not rebuilt all the time.
const FEW: usize = 64;

/// A timer's deadline and value. Its link is the order of its node: a node with another order is
/// *dead*. If the timer was moved after its node was made, the order of the timer differs from that
/// of the node, and the node is *outdated*.
#[derive(Clone, Debug)]
struct Entry<T> {
    deadline: Tick,
    order: Link,
    /// A lower bound on how many ticks its node is before the deadline. It uses bytes that would be
    /// padding.
    slack: u32,
    value: T,
}

/// A heap with four children per node that is updated lazily after cancellations and moves.
///
/// Cancelling a timer, or moving it to a deadline that is not before that of its node, is one
/// access to the timer and does not touch the heap. Connections do this with their timeouts all the
/// time. When a node reaches the root, it is checked: if its timer was cancelled, the node is
/// dropped; if its timer was moved, the node sinks to the position of the timer's deadline. A node
/// is never after its timer's deadline, so timers fire in order. A move to a deadline before the
/// node leaves a dead node and adds a new one.
///
/// If there are more dead nodes than timers plus 64, all dead nodes are dropped in one pass. That
/// call takes O(n). A call in which several dead nodes reach the root takes O(log n) for each of
/// them. If that is not acceptable, use [`BinaryHeap`](crate::BinaryHeap), which removes a
/// cancelled timer at once.
///
/// [`next_wakeup`](Timer::next_wakeup) is the deadline of the first node, even if the node is dead
/// or outdated. A call in which nothing fires for that reason is in vain. In the second such call
/// in a row, with nothing cancelled or moved in between, the heap drops or moves nodes until the
/// first node is up to date. (A program that sleeps until a timer is due, which is then moved,
/// wakes up in vain with any structure.)
///
/// Memory: 16 bytes for each timer and each dead node, and up to twice that after the array has
/// doubled. In addition, the arena takes 16 bytes, the value and the deadline for each timer, and 8
/// bytes for each free place.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
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
#[derive(Clone)]
pub struct LazyHeap<T, M = NoMeter> {
    timers: Arena<Entry<T>, Link>,
    /// One node for each live timer, at or before its deadline, and dead nodes.
    array: HeapArray<ARITY, LazyNode, ()>,
    /// The last order that was assigned. No two nodes have the same order.
    orders: u32,
    /// `true` if a node may be outdated.
    moved: bool,
    /// `true` if a timer was cancelled or moved since the last call in vain.
    changed_since_vain: bool,
    now: Tick,
    pub(crate) meter: M,
}

impl<T, M: Meter> LazyHeap<T, M> {
    pub(crate) fn with_parts(start: Tick, capacity: usize, meter: M) -> Self {
        Self {
            timers: Arena::with_capacity(capacity),
            array: HeapArray::with_capacity(capacity),
            orders: 0,
            moved: false,
            changed_since_vain: false,
            now: start,
            meter,
        }
    }

    #[inline]
    fn next_order(&mut self) -> Link {
        if self.orders == u32::MAX {
            self.renumber();
        }
        self.orders += 1;
        Link::MIN.saturating_add(self.orders - 1)
    }

    /// Numbers the nodes from 1 again. Needed once in four billion insertions and moves.
    #[cold]
    fn renumber(&mut self) {
        self.update_nodes();
        let (timers, orders) = (&mut self.timers, &mut self.orders);
        *orders = 0;
        let change = |node: &LazyNode| {
            let order = Link::MIN.saturating_add(*orders);
            *orders += 1;
            let node = LazyNode::new(node.deadline(), order, node.index());
            note_node(timers, &node);
            node
        };
        self.array.renew(change, &self.meter);
    }

    /// Checks the first node: removes it if it is dead, moves it if it is outdated. Returns `false`
    /// if there is nothing to do. O(log n).
    fn settle_first(&mut self) -> bool {
        let Some(mut first) = self.array.first().copied() else { return false };
        self.meter.tally(Work::EntryScan, 1);
        let order = first.order();
        if !update_node(&mut self.timers, &mut first) {
            self.array.remove_first(&self.meter);
        } else if first.order() != order {
            self.array.replace_first(first, &self.meter);
        } else {
            return false;
        }
        true
    }

    /// Called after a call in vain. The second time in a row, it brings the first node up to date.
    /// Doing so the first time would cost more: if timers are moved all the time, as those of
    /// connections are, it would check nodes that are not due for a long time.
    #[cold]
    fn wake_in_vain(&mut self) {
        if !core::mem::take(&mut self.changed_since_vain) {
            while self.settle_first() {}
        }
    }

    #[inline]
    fn limit_dead(&mut self) {
        if self.array.len() > 2 * self.timers.len() + FEW {
            self.update_nodes();
        }
    }

    /// Removes all dead nodes and updates all outdated ones: O(n).
    ///
    /// Checking the timer of each node costs a cache miss per node. Creating new nodes from all
    /// timers instead reads memory in order. This is done unless most places are free.
    #[inline(never)]
    fn update_nodes(&mut self) {
        let timers = &mut self.timers;
        if timers.peak() <= 2 * self.array.len() {
            let nodes = timers
                .iter()
                .map(|(id, _, entry)| LazyNode::new(entry.deadline, entry.order, id.index()));
            // Free places are read too.
            self.meter.tally(Work::EntryScan, timers.peak() as u64);
            self.array.refill(nodes, &self.meter);
            if self.moved {
                self.meter.tally(Work::EntryScan, self.array.len() as u64);
                self.array.nodes().iter().for_each(|node| note_node(timers, node));
            }
        } else {
            self.array.retain(|node| update_node(timers, node), &self.meter);
        }
        self.moved = false;
    }
}

impl<T, M: Meter> FireInBulk<T> for LazyHeap<T, M> {
    #[inline]
    fn bulk_threshold(&self) -> usize {
        self.array.bulk_threshold()
    }

    #[cold]
    fn advance_in_bulk(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize {
        if !self.array.is_worth_sorting(self.now, &self.meter) {
            return 0;
        }
        // Now each node that is due belongs to a timer that is due.
        self.update_nodes();
        let mut fired = 0;
        for node in self.array.split_due(self.now, &self.meter) {
            debug_assert!(self.timers.at(node.index()).is_some(), "the update left no dead node");
            if let Some((id, Entry { deadline, value, .. })) = self.timers.remove_at(node.index()) {
                fired += 1;
                on_expiry(Expired { id, deadline, value });
            }
        }
        fired
    }
}

/// Makes a node, which has the deadline of its timer, the node of that timer.
fn note_node<T>(timers: &mut Arena<Entry<T>, Link>, node: &LazyNode) {
    let timer = timers.at_mut(node.index());
    debug_assert!(timer.as_ref().is_some_and(|(_, entry)| entry.deadline == node.deadline()));
    if let Some((of_node, entry)) = timer {
        (*of_node, entry.order, entry.slack) = (node.link(), node.link(), 0);
    }
}

/// Updates a node to the deadline and order of its timer. Returns `false` if the node is dead.
#[inline]
fn update_node<T>(timers: &mut Arena<Entry<T>, Link>, node: &mut LazyNode) -> bool {
    match timers.at_mut(node.index()) {
        Some((of_node, entry)) if of_node.get() == node.order() => {
            (*of_node, entry.slack) = (entry.order, 0);
            *node = LazyNode::new(entry.deadline, entry.order, node.index());
            true
        }
        _ => false,
    }
}

// The methods that start, stop and move timers are always inlined, as in the hierarchical wheel:
// the fewer instructions there are between calls, the more calls wait for memory at the same time.
impl<T, M: Meter> Timer<T> for LazyHeap<T, M> {
    wheelhouse_core::now_and_len!(timers);

    /// O(1) on average, O(log n) at worst. O(n) when the array grows, and O(n log n) once in four
    /// billion insertions and moves, when the nodes are numbered again.
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let order = self.next_order();
        let id = self.timers.insert_linked(order, Entry { deadline, order, slack: 0, value });
        self.array.push(LazyNode::new(deadline, order, id.index()), &self.meter);
        id
    }

    /// O(1) amortised; O(n) when dead nodes are dropped.
    #[inline(always)]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (_, entry) = self.timers.remove(id)?;
        self.changed_since_vain = true;
        self.limit_dead();
        Some(entry.value)
    }

    /// O(1) to a deadline that is not before that of its node, and O(log n) later, when the node
    /// reaches the root. Otherwise the cost of a cancellation plus an insertion.
    #[inline(always)]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let order = self.next_order();
        let Some((of_node, entry)) = self.timers.get_mut(id) else { return false };
        // The deadline of the node, or a later tick if the slack did not fit 32 bits. A move to
        // between the two pushes a new node without need, which is only slower.
        let of_node_or_later = entry.deadline - Tick::from(entry.slack);
        let slack = deadline.checked_sub(of_node_or_later);
        entry.slack = slack.map_or(0, |slack| u32::try_from(slack).unwrap_or(u32::MAX));
        (entry.deadline, entry.order) = (deadline, order);
        self.changed_since_vain = true;
        if slack.is_some() {
            self.moved = true;
            return true;
        }
        *of_node = order;
        self.array.push(LazyNode::new(deadline, order, id.index()), &self.meter);
        self.limit_dead();
        true
    }

    /// O(1).
    #[inline]
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timers.get(id).map(|entry| entry.deadline)
    }

    /// O(1). Exact, unless the earliest timer was cancelled or moved: then two calls in vain make
    /// it exact.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        if self.timers.is_empty() { None } else { self.array.first().map(LazyNode::deadline) }
    }

    /// O(log n) amortised. At worst O(log n) for each node of a cancelled or moved timer that
    /// reaches the root, plus O(n) when dead nodes are dropped.
    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.now = self.now.max(now);
        self.meter.tally(Work::Comparison, 1);
        let mut settled = false;
        while let Some(first) =
            self.array.first().copied().filter(|first| first.deadline() <= self.now)
        {
            if self.settle_first() {
                settled = true;
                continue;
            }
            debug_assert!(self.timers.at(first.index()).is_some(), "the first node is not dead");
            let (id, Entry { deadline, value, .. }) = self.timers.remove_at(first.index())?;
            debug_assert_eq!(deadline, first.deadline(), "the first node is not outdated");
            self.array.remove_first(&self.meter);
            self.limit_dead();
            return Some(Expired { id, deadline, value });
        }
        if settled {
            self.wake_in_vain();
        }
        None
    }

    /// O(log n) amortised for each timer that fires, O(1) if no node is due. If more than a quarter
    /// of all timers are due, they are sorted.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        if self.array.first().is_none_or(|first| first.deadline() > self.now) {
            self.meter.tally(Work::Comparison, 1);
            return 0;
        }
        self.advance_due(&mut on_expiry)
    }

    /// Drops dead nodes and updates outdated ones: O(n).
    fn compact(&mut self) {
        if self.moved || self.array.len() > self.timers.len() {
            self.update_nodes();
        }
    }
}

#[cfg(test)]
mod tests;
