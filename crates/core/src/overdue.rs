//! Timers whose deadline lies before the wheel's hand.
//!
//! A wheel has slots only for what lies ahead. A deadline that is already past when it is inserted is due at once, and
//! fires before all that lies ahead, in order of (deadline, insertion) among its like. Few timers ever come here, so a
//! small heap of references does.

use crate::arena::{Arena, Reference};
use crate::{Tick, TimerId};
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

/// Stale references are tolerated up to as many as there are live ones plus this.
const SLACK: usize = 32;

/// A queue of references to overdue timers, earliest first. `push` and `pop` are O(log k) for k overdue timers; removing
/// one is O(log k) amortised. It holds at most `2 k + 32` references.
#[derive(Clone, Debug, Default)]
pub struct Overdue {
    /// The order of arrival breaks ties; 2^64 arrivals do not come round.
    heap: BinaryHeap<Reverse<(Tick, u64, u32, u32)>>,
    arrivals: u64,
    live: usize,
}

impl Overdue {
    /// An empty queue. Allocates nothing.
    pub const fn new() -> Self {
        Self { heap: BinaryHeap::new(), arrivals: 0, live: 0 }
    }

    /// Whether no overdue timer is live.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The earliest deadline.
    #[inline]
    pub fn earliest(&self) -> Option<Tick> {
        // The top is current whenever something is live: `forget` and `pop` see to it.
        if self.live == 0 { None } else { self.heap.peek().map(|Reverse((deadline, ..))| *deadline) }
    }

    /// How many comparisons one operation may take, for the meter.
    #[inline]
    pub fn depth(&self) -> u64 {
        u64::from(self.heap.len().checked_ilog2().unwrap_or(0)) + 1
    }

    /// Adds a reference to a timer that is due at once.
    pub fn push(&mut self, reference: Reference) {
        let Reference { deadline, index, stamp } = reference;
        self.heap.push(Reverse((deadline, self.arrivals, index, stamp)));
        self.arrivals += 1;
        self.live += 1;
    }

    /// Takes the earliest timer out of the queue and of `arena`.
    pub fn pop<T>(&mut self, arena: &mut Arena<T>) -> Option<(TimerId, T)> {
        self.earliest()?;
        let Reverse((_, _, index, _)) = self.heap.pop()?;
        let timer = arena.remove_at(index);
        self.live -= 1;
        self.drop_stale_top(arena);
        timer
    }

    /// To be called when a timer of the queue was cancelled or rescheduled: its reference is stale by now.
    pub fn forget<T>(&mut self, arena: &Arena<T>) {
        self.live -= 1;
        if self.heap.len() > 2 * self.live + SLACK {
            self.heap.retain(|Reverse((_, _, index, stamp))| arena.is_current(*index, *stamp));
        }
        self.drop_stale_top(arena);
    }

    /// Drops every stale reference.
    pub fn sweep<T>(&mut self, arena: &Arena<T>) {
        self.heap.retain(|Reverse((_, _, index, stamp))| arena.is_current(*index, *stamp));
    }

    fn drop_stale_top<T>(&mut self, arena: &Arena<T>) {
        while let Some(Reverse((_, _, index, stamp))) = self.heap.peek() {
            if arena.is_current(*index, *stamp) {
                break;
            }
            self.heap.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queue: &mut Overdue, arena: &mut Arena<char>, deadline: Tick, name: char) -> TimerId {
        let id = arena.insert(name);
        queue.push(Reference { deadline, index: id.index(), stamp: id.generation() });
        id
    }

    #[test]
    fn comes_out_by_deadline_then_arrival() {
        let (mut queue, mut arena) = (Overdue::new(), Arena::new());
        for (deadline, name) in [(7, 'a'), (3, 'b'), (7, 'c'), (3, 'd')] {
            push(&mut queue, &mut arena, deadline, name);
        }
        let names: alloc::vec::Vec<char> =
            core::iter::from_fn(|| queue.pop(&mut arena)).map(|(_, name)| name).collect();
        assert_eq!(names, ['b', 'd', 'a', 'c']);
        assert!(queue.is_empty() && arena.is_empty());
    }

    #[test]
    fn what_was_cancelled_is_forgotten_and_takes_no_room() {
        let (mut queue, mut arena) = (Overdue::new(), Arena::new());
        let kept = push(&mut queue, &mut arena, 500, 'k');
        for deadline in (0..10_000).rev() {
            let id = push(&mut queue, &mut arena, deadline, 'x');
            arena.remove(id);
            queue.forget(&arena);
            assert_eq!(queue.earliest(), Some(500));
            assert!(queue.heap.len() <= 2 + SLACK);
        }
        assert_eq!(queue.pop(&mut arena), Some((kept, 'k')));
        assert_eq!(queue.earliest(), None);
    }
}
