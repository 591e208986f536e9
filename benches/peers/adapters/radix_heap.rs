//! radix-heap's `RadixHeapMap`: a bucket for each number of low bits in which a key differs from
//! the *top*, the last key that was popped. The heap is monotone: no key before the top may be
//! pushed. It is a max-heap, so keys are reversed.
//!
//! A timer structure must accept any deadline after now, and this heap has no `peek`. Popping a
//! timer that is not due yet would move the top beyond deadlines that are still allowed. So
//! [`advance`](Peer::advance) pushes a mark at the next tick and pops until the mark comes out.
//! Among equal keys the last one that was pushed is popped first, so the mark precedes the timers
//! of that tick. Only [`next_wakeup`](Peer::next_wakeup) leaves the top later. The workloads here
//! advance to the wakeup at once, so the heap for earlier deadlines stays empty.
//!
//! Timers with equal deadlines fire in any order.

use crate::peer::Peer;
use radix_heap::RadixHeapMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::{Tick, TimerId};

/// The heap with lazy deletion.
pub(crate) struct Queue {
    /// By deadline. `None` is the mark, which is in the heap during `advance` only.
    heap: RadixHeapMap<Reverse<Tick>, Option<TimerId>>,
    /// Timers with deadlines before the top.
    early: BinaryHeap<Reverse<(Tick, TimerId)>>,
    /// Deadlines and values.
    timers: Arena<(Tick, u64)>,
    now: Tick,
}

impl Queue {
    /// The earliest deadline that the heap accepts.
    #[inline]
    fn top(&self) -> Tick {
        self.heap.top().map_or(0, |top| top.0)
    }

    #[inline]
    fn is_live(&self, deadline: Tick, id: TimerId) -> bool {
        self.timers.get(id).is_some_and(|timer| timer.0 == deadline)
    }

    /// The number of entries, dead ones included.
    #[inline]
    fn len(&self) -> usize {
        self.heap.len() + self.early.len()
    }

    #[inline]
    fn push(&mut self, deadline: Tick, id: TimerId) {
        if deadline < self.top() {
            self.early.push(Reverse((deadline, id)));
        } else {
            self.heap.push(Reverse(deadline), Some(id));
        }
    }

    /// The value of an entry that was popped, unless the entry is dead.
    #[inline]
    fn take(&mut self, deadline: Tick, id: TimerId) -> Option<u64> {
        if !self.is_live(deadline, id) {
            return None;
        }
        self.timers.remove(id).map(|((), (_, value))| value)
    }

    /// Keeps the entries of live timers only. All of them are due after now, so the top goes back.
    #[inline(never)]
    fn drop_dead(&mut self) {
        let top = Reverse(self.now.saturating_add(1));
        if self.timers.peak() <= 2 * self.len() {
            // Reading the arena in order is faster than one random access for each entry.
            self.heap.clear_to(top);
            self.early.clear();
            for (id, _, (deadline, _)) in self.timers.iter() {
                self.heap.push(Reverse(*deadline), Some(id));
            }
            return;
        }
        let heap = mem::replace(&mut self.heap, RadixHeapMap::new_at(top));
        let early = mem::take(&mut self.early);
        let entries = heap.into_iter().filter_map(|(deadline, id)| Some((deadline.0, id?)));
        for (deadline, id) in entries.chain(early.into_iter().map(|entry| entry.0)) {
            if self.is_live(deadline, id) {
                self.heap.push(Reverse(deadline), Some(id));
            }
        }
    }
}

impl Peer for Queue {
    const NAME: &'static str = "radix-heap";
    type Handle = TimerId;

    fn new(_: usize) -> Self {
        Self {
            heap: RadixHeapMap::new_at(Reverse(1)),
            early: BinaryHeap::new(),
            timers: Arena::new(),
            now: 0,
        }
    }

    // Overdue deadlines are moved to the next tick.
    lazy_deletion!(self, self.now.saturating_add(1), deadline, id => self.push(deadline, id));

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        self.now = now;
        while let Some(Reverse((deadline, id))) = self.early.peek().copied()
            && deadline <= now
        {
            self.early.pop();
            self.take(deadline, id).into_iter().for_each(&mut fire);
        }
        // No key is before the top.
        if self.heap.is_empty() || self.top() > now {
            return;
        }
        // At the end of time there is no next tick, and everything is due.
        if let Some(next) = now.checked_add(1) {
            self.heap.push(Reverse(next), None);
        }
        while let Some((Reverse(deadline), Some(id))) = self.heap.pop() {
            self.take(deadline, id).into_iter().for_each(&mut fire);
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        while let Some(Reverse((deadline, id))) = self.early.peek().copied() {
            if self.is_live(deadline, id) {
                return Some(deadline);
            }
            self.early.pop();
        }
        while let Some((Reverse(deadline), Some(id))) = self.heap.pop() {
            if self.is_live(deadline, id) {
                self.heap.push(Reverse(deadline), Some(id));
                return Some(deadline);
            }
        }
        None
    }
}
