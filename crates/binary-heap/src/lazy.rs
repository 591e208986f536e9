//! The heap with lazy deletion.

use crate::array::HeapArray;
use crate::builder::LazyBuilder;
use crate::node::{HeapNode, LazyNode};
use wheelhouse_core::arena::{Arena, Link};
use wheelhouse_core::meter::{Meter, NoMeter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// Children of a node: four of 16 bytes lie on one or two cache lines, and the tree is half as high
/// as with two.
const ARITY: usize = 4;

/// The dead may be so many more than the living before they are dropped, lest a heap of a few
/// timers is tidied up all the time.
const FEW: usize = 64;

/// A timer's deadline and value. Its link is the order of its node: a node of another order is
/// dead. Where the timer was moved since its node was made, its own order is another, and the node
/// is *behind*.
#[derive(Clone, Debug)]
struct Entry<T> {
    deadline: Tick,
    order: Link,
    /// How many ticks its node is before the deadline, or fewer: what room there would be unused.
    slack: u32,
    value: T,
}

/// A heap of four children a node that is told of cancellations and of moves only when it must be.
///
/// To cancel is one access to the timer, and so is to move it to a deadline that is not before its
/// node's, as connections do with their timeouts all the time: the heap is not touched. A node that
/// comes up is looked at: if its timer was cancelled it is dropped, if it was moved it sinks to
/// where the timer is due now. So no timer fires before a node that may be another's, and the order
/// is that of the timers. A move to before the node leaves that dead where it is, and adds another.
///
/// What is dead is dropped when it is more than the living and 64, in one pass over all: that call
/// takes O(n), and the one to which dead in a row come up O(log n) for each of them. A program that
/// cannot have that takes [`BinaryHeap`](crate::BinaryHeap), where a cancelled timer is gone at
/// once.
///
/// [`next_wakeup`](Timer::next_wakeup) is the deadline of the first node, whether or not its timer
/// still has it. A call in which nothing fires for that reason is in vain; the second in a row,
/// with nothing cancelled or moved in between, looks on until the first node is right. A program
/// that sleeps until a timer which is then moved wakes up in vain anyway.
///
/// Memory: 16 bytes for each timer and for each of the dead, twice that where the array has just
/// doubled, beside what the arena takes: 16, the value and its deadline, and 8 for each place that
/// is free.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see
/// [`TimerId`].
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
    /// One node of each live timer, at its deadline or before it, and dead ones.
    array: HeapArray<ARITY, LazyNode, ()>,
    /// The last order that was given. Each is that of one node.
    orders: u32,
    /// Whether a node may be behind.
    moved: bool,
    /// Whether a timer was cancelled or moved since a call in vain.
    stirred: bool,
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
            moved: false,
            stirred: false,
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
        self.catch_up();
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

    /// Looks at the first node: takes it off if it is dead, lets it sink if it is behind. `false`
    /// if it is right. O(log n).
    fn settle_first(&mut self) -> bool {
        let Some(mut first) = self.array.first().copied() else { return false };
        self.meter.tally(Work::EntryScan, 1);
        let order = first.order();
        if !catch_up_node(&mut self.timers, &mut first) {
            self.array.remove_first(&self.meter);
        } else if first.order() != order {
            self.array.replace_first(first, &self.meter);
        } else {
            return false;
        }
        true
    }

    /// Called in vain: the second time in a row, the first node is made right. At once it would not
    /// pay: where timers are moved all the time, as those of connections are, nodes are looked at
    /// that need not come up for long.
    #[cold]
    fn wake_in_vain(&mut self) {
        if !core::mem::take(&mut self.stirred) {
            while self.settle_first() {}
        }
    }

    #[inline]
    fn limit_dead(&mut self) {
        if self.array.len() > 2 * self.timers.len() + FEW {
            self.catch_up();
        }
    }

    /// Leaves no node that is dead or behind: O(n).
    ///
    /// To ask of each node what became of its timer is a cache miss a node. To make nodes of all
    /// timers instead is to read memory in order, if it is not mostly free places.
    #[inline(never)]
    fn catch_up(&mut self) {
        let timers = &mut self.timers;
        if timers.peak() <= 2 * self.array.len() {
            let nodes = timers
                .iter()
                .map(|(index, _, entry)| LazyNode::new(entry.deadline, entry.order, index));
            // Free places are read too.
            self.meter.tally(Work::EntryScan, timers.peak() as u64);
            self.array.refill(nodes, &self.meter);
            if self.moved {
                self.meter.tally(Work::EntryScan, self.array.len() as u64);
                self.array.nodes().iter().for_each(|node| note_node(timers, node));
            }
        } else {
            self.array.retain(|node| catch_up_node(timers, node), &self.meter);
        }
        self.moved = false;
    }

    /// Fires all that is due. Out of line, so that a tick at which nothing is due is a comparison
    /// wherever it stands.
    #[inline(never)]
    fn advance_due(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        let mut enough = self.array.enough_to_look();
        while let Some(expired) = self.pop_expired(self.now) {
            fired += 1;
            on_expiry(expired);
            if fired >= enough {
                fired += self.advance_in_bulk(on_expiry);
                enough = fired + self.array.enough_to_look();
            }
        }
        fired
    }

    /// Fires all that is due if it is a good part of all timers, else nothing. Returns how many.
    #[cold]
    fn advance_in_bulk(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize {
        if !self.array.is_worth_sorting(self.now, &self.meter) {
            return 0;
        }
        // So that each node that is set aside is that of a timer which is due.
        self.catch_up();
        let mut fired = 0;
        for node in self.array.set_aside_due(self.now, &self.meter) {
            if let Some((id, Entry { deadline, value, .. })) = self.timers.remove_at(node.index()) {
                fired += 1;
                on_expiry(Expired { id, deadline, value });
            }
        }
        fired
    }
}

/// Has a timer know a node of its deadline as its own.
fn note_node<T>(timers: &mut Arena<Entry<T>, Link>, node: &LazyNode) {
    if let Some((of_node, entry)) = timers.at_mut(node.index()) {
        (*of_node, entry.order, entry.slack) = (node.link(), node.link(), 0);
    }
}

/// Makes a node that is behind one of its timer's deadline; `false` if it is dead.
#[inline]
fn catch_up_node<T>(timers: &mut Arena<Entry<T>, Link>, node: &mut LazyNode) -> bool {
    match timers.at_mut(node.index()) {
        Some((of_node, entry)) if of_node.get() == node.order() => {
            (*of_node, entry.slack) = (entry.order, 0);
            *node = LazyNode::new(entry.deadline, entry.order, node.index());
            true
        }
        _ => false,
    }
}

// What starts, stops and moves timers is always inlined, as it is in the hierarchical wheel: the
// fewer instructions there are between calls, the more of them wait for memory side by side.
impl<T, M: Meter> Timer<T> for LazyHeap<T, M> {
    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn len(&self) -> usize {
        self.timers.len()
    }

    /// O(1) on average, O(log n) at worst; O(n) when the array grows, and O(n log n) once in four
    /// billion, when the numbers of insertions begin anew.
    #[inline(always)]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        let order = self.next_order();
        let id = self.timers.insert_linked(order, Entry { deadline, order, slack: 0, value });
        self.array.push(LazyNode::new(deadline, order, id.index()), &self.meter);
        id
    }

    /// O(1) amortised; O(n) when the dead are dropped.
    #[inline(always)]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let (_, entry) = self.timers.remove(id)?;
        self.stirred = true;
        self.limit_dead();
        Some(entry.value)
    }

    /// O(1) to a deadline that is not before its node's, and O(log n) in the call to which that
    /// comes up; else as a cancellation and an insertion.
    #[inline(always)]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let order = self.next_order();
        let Some((of_node, entry)) = self.timers.get_mut(id) else { return false };
        let of_node_or_later = entry.deadline - Tick::from(entry.slack);
        let slack = deadline.checked_sub(of_node_or_later);
        entry.slack = slack.map_or(0, |slack| u32::try_from(slack).unwrap_or(u32::MAX));
        (entry.deadline, entry.order) = (deadline, order);
        self.stirred = true;
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

    /// O(1). Exact, but where the earliest timer was cancelled or moved since: two calls in vain
    /// make it exact.
    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        if self.timers.is_empty() { None } else { self.array.first().map(LazyNode::deadline) }
    }

    /// O(log n) amortised; at worst for each node that comes up of a timer that was cancelled or
    /// moved, and O(n) when the dead are dropped.
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
            let (id, Entry { deadline, value, .. }) = self.timers.remove_at(first.index())?;
            self.array.remove_first(&self.meter);
            self.limit_dead();
            return Some(Expired { id, deadline, value });
        }
        if settled {
            self.wake_in_vain();
        }
        None
    }

    /// O(log n) amortised for each timer that fires, O(1) where no node is due. What is due is
    /// sorted at once where it is more than a quarter of all.
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.now = self.now.max(now);
        if self.array.first().is_none_or(|first| first.deadline() > self.now) {
            self.meter.tally(Work::Comparison, 1);
            return 0;
        }
        self.advance_due(&mut on_expiry)
    }

    /// Drops the dead, and moves the nodes of timers that were moved: O(n).
    fn compact(&mut self) {
        if self.moved || self.array.len() > self.timers.len() {
            self.catch_up();
        }
    }
}

#[cfg(test)]
mod tests;
