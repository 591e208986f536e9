//! Timers that are due, in the order in which they fire.
//!
//! A wheel has slots only for what lies ahead of its hand. What is already due when it is inserted, or was taken out of
//! its slot and has not fired yet, waits here. Mostly such timers come in the order of their deadlines and are appended to
//! a queue; the odd one that comes late with an earlier deadline goes to a heap beside it.

use crate::arena::{Arena, Reference};
use crate::{Expired, Tick, TimerId};
use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

/// Stale references are tolerated up to as many as there are live ones plus this.
const SLACK: usize = 32;

/// A queue that has held more than this gives its memory back when it is empty.
const KEEP: usize = 1024;

/// A reference and when it came: ordered by (deadline, arrival). Arrivals are counted in 64 bits and do not come round.
type Waiting = (Tick, u64, u32, u32);

/// A queue of references to timers that are due, ordered by (deadline, arrival). `push` and `pop` are O(1) for what comes
/// in order, O(log k) for what comes late, k being the late ones; `forget` is amortised the same. It holds at most
/// `2 k + 32` references for k live timers.
#[derive(Clone, Debug, Default)]
pub struct DueQueue {
    /// In order already.
    queue: VecDeque<Waiting>,
    /// What came with a deadline before that of the queue's last.
    late: BinaryHeap<Reverse<Waiting>>,
    arrivals: u64,
    live: usize,
}

impl DueQueue {
    /// An empty queue. Allocates nothing.
    pub const fn new() -> Self {
        Self { queue: VecDeque::new(), late: BinaryHeap::new(), arrivals: 0, live: 0 }
    }

    /// Whether no timer is due.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The earliest deadline.
    #[inline]
    pub fn earliest(&self) -> Option<Tick> {
        // Both ends are current: `forget` and `pop` see to it.
        let first = self.queue.front();
        match self.late.peek() {
            Some(Reverse(late)) if first.is_none_or(|first| late < first) => Some(late.0),
            _ => first.map(|first| first.0),
        }
    }

    /// The comparisons that one operation may take, for the meter.
    #[inline]
    pub fn depth(&self) -> u64 {
        1 + self.late.len().checked_ilog2().map_or(0, |log| u64::from(log) + 1)
    }

    /// Adds a timer that is due.
    pub fn push(&mut self, Reference { deadline, index, stamp }: Reference) {
        let waiting = (deadline, self.arrivals, index, stamp);
        if self.queue.back().is_none_or(|last| last.0 <= deadline) {
            self.queue.push_back(waiting);
        } else {
            self.late.push(Reverse(waiting));
        }
        self.arrivals += 1;
        self.live += 1;
    }

    /// Takes the earliest timer out of the queue and out of `arena`, whose entry `open` takes apart.
    #[inline]
    pub fn pop<E, T>(&mut self, arena: &mut Arena<E>, open: impl FnOnce(E) -> T) -> Option<Expired<T>> {
        let late_first = match (self.queue.front(), self.late.peek()) {
            (Some(first), Some(Reverse(late))) => late < first,
            (None, late) => late.is_some(),
            (Some(_), None) => false,
        };
        let (deadline, _, index, _) =
            if late_first { self.late.pop().map(|Reverse(waiting)| waiting) } else { self.queue.pop_front() }?;
        let (id, entry): (TimerId, E) = arena.remove_at(index)?;
        self.live -= 1;
        self.limit_stale(arena);
        Some(Expired { id, deadline, value: open(entry) })
    }

    /// To be called when a timer of the queue was cancelled or rescheduled: its reference is stale by now.
    pub fn forget<E>(&mut self, arena: &Arena<E>) {
        self.live -= 1;
        self.limit_stale(arena);
    }

    /// Keeps both ends current and the stale from outnumbering the live; who left as many stale pays for the sweep.
    #[inline]
    fn limit_stale<E>(&mut self, arena: &Arena<E>) {
        if self.queue.len() + self.late.len() > 2 * self.live + SLACK {
            self.sweep(arena);
        }
        self.drop_stale_ends(arena);
    }

    /// Drops every stale reference.
    pub fn sweep<E>(&mut self, arena: &Arena<E>) {
        self.queue.retain(|&(_, _, index, stamp)| arena.is_current(index, stamp));
        self.late.retain(|Reverse((_, _, index, stamp))| arena.is_current(*index, *stamp));
    }

    #[inline]
    fn drop_stale_ends<E>(&mut self, arena: &Arena<E>) {
        while self.queue.front().is_some_and(|&(_, _, index, stamp)| !arena.is_current(index, stamp)) {
            self.queue.pop_front();
        }
        while self.late.peek().is_some_and(|Reverse((_, _, index, stamp))| !arena.is_current(*index, *stamp)) {
            self.late.pop();
        }
        if self.live == 0 && self.queue.capacity() + self.late.capacity() > KEEP {
            (self.queue, self.late) = (VecDeque::new(), BinaryHeap::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn push(queue: &mut DueQueue, arena: &mut Arena<char>, deadline: Tick, name: char) -> TimerId {
        let id = arena.insert(name);
        queue.push(Reference { deadline, index: id.index(), stamp: id.generation() });
        id
    }

    fn drain(queue: &mut DueQueue, arena: &mut Arena<char>) -> Vec<char> {
        core::iter::from_fn(|| queue.pop(arena, |name| name)).map(|expired| expired.value).collect()
    }

    #[test]
    fn comes_out_by_deadline_then_arrival() {
        let (mut queue, mut arena) = (DueQueue::new(), Arena::new());
        for (deadline, name) in [(7, 'a'), (3, 'b'), (7, 'c'), (3, 'd'), (5, 'e'), (9, 'f'), (9, 'g'), (3, 'h')] {
            push(&mut queue, &mut arena, deadline, name);
        }
        assert_eq!(queue.earliest(), Some(3));
        assert_eq!(drain(&mut queue, &mut arena), ['b', 'd', 'h', 'e', 'a', 'c', 'f', 'g']);
        assert!(queue.is_empty() && arena.is_empty());
        assert_eq!(queue.earliest(), None);
    }

    #[test]
    fn what_was_cancelled_is_forgotten_and_takes_no_room() {
        let (mut queue, mut arena) = (DueQueue::new(), Arena::new());
        let kept = push(&mut queue, &mut arena, 500, 'k');
        for turn in 0..10_000 {
            let id = push(&mut queue, &mut arena, 501 - turn % 3, 'x');
            arena.remove(id);
            queue.forget(&arena);
            assert_eq!(queue.earliest(), Some(500));
            assert!(queue.queue.len() + queue.late.len() <= 2 + SLACK);
        }
        assert_eq!(queue.pop(&mut arena, |name| name), Some(Expired { id: kept, deadline: 500, value: 'k' }));
        assert_eq!(queue.earliest(), None);
    }

    #[test]
    fn what_stays_behind_is_bounded_when_others_fire() {
        let (mut queue, mut arena) = (DueQueue::new(), Arena::new());
        for deadline in 0..1_000 {
            push(&mut queue, &mut arena, deadline, 'a');
        }
        let stale: Vec<_> = (1_000..2_000).map(|deadline| push(&mut queue, &mut arena, deadline, 'x')).collect();
        for id in &stale[..999] {
            arena.remove(*id);
            queue.forget(&arena);
        }
        for _ in 0..999 {
            queue.pop(&mut arena, |name| name);
            assert!(queue.queue.len() + queue.late.len() <= 2 * queue.live + SLACK);
        }
        assert_eq!(queue.live, 2);
    }

    #[test]
    fn a_burst_gives_its_memory_back() {
        let (mut queue, mut arena) = (DueQueue::new(), Arena::new());
        for deadline in 0..100_000 {
            push(&mut queue, &mut arena, deadline, 'x');
        }
        assert_eq!(drain(&mut queue, &mut arena).len(), 100_000);
        assert!(queue.queue.capacity() <= KEEP);
    }
}
