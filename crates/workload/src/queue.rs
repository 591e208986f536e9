//! What happens when, in a simulated world: the generators' own timer facility, chosen for being obvious.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wheelhouse_core::Tick;

/// Events in order of (tick, insertion), the order in which every backend fires.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    heap: BinaryHeap<Reverse<(Tick, u64, E)>>,
    pushed: u64,
}

impl<E: Ord> Queue<E> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), pushed: 0 }
    }

    pub(crate) fn push(&mut self, tick: Tick, event: E) {
        self.heap.push(Reverse((tick, self.pushed, event)));
        self.pushed += 1;
    }

    /// The tick of the earliest event.
    pub(crate) fn next_tick(&self) -> Option<Tick> {
        self.heap.peek().map(|Reverse((tick, ..))| *tick)
    }

    /// The earliest event.
    pub(crate) fn pop(&mut self) -> Option<(Tick, E)> {
        self.heap.pop().map(|Reverse((tick, _, event))| (tick, event))
    }

    /// The earliest event, if it is due at `tick` or before.
    pub(crate) fn pop_due(&mut self, tick: Tick) -> Option<(Tick, E)> {
        if self.next_tick()? > tick {
            return None;
        }
        self.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_tick_and_insertion() {
        let mut queue = Queue::new();
        for (tick, event) in [(5, 'b'), (3, 'z'), (5, 'a')] {
            queue.push(tick, event);
        }
        assert_eq!(queue.pop_due(2), None);
        assert_eq!(queue.pop_due(3), Some((3, 'z')));
        assert_eq!(queue.next_tick(), Some(5));
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some((5, 'b')), Some((5, 'a')), None]);
    }
}
