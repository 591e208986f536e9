//! The event queue of the simulated programs: a timer structure for the generators, chosen for its
//! simplicity.

use std::collections::{BTreeMap, VecDeque};
use wheelhouse_core::Tick;

/// Events in order of (tick, insertion), the order in which every backend fires.
///
/// A map from a tick to its events. With millions of timers many have the same tick, so the map is
/// far smaller than a heap of the events. O(log t) for t ticks with events.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    events: BTreeMap<Tick, VecDeque<E>>,
}

impl<E> Queue<E> {
    pub(crate) fn new() -> Self {
        Self { events: BTreeMap::new() }
    }

    pub(crate) fn push(&mut self, tick: Tick, event: E) {
        self.events.entry(tick).or_default().push_back(event);
    }

    /// The tick of the earliest event.
    pub(crate) fn next_tick(&self) -> Option<Tick> {
        self.events.first_key_value().map(|(tick, _)| *tick)
    }

    pub(crate) fn pop(&mut self) -> Option<(Tick, E)> {
        self.pop_due(Tick::MAX)
    }

    /// The earliest event, if it is due at `tick` or before.
    pub(crate) fn pop_due(&mut self, tick: Tick) -> Option<(Tick, E)> {
        let mut first = self.events.first_entry().filter(|first| *first.key() <= tick)?;
        let (tick, event) = (*first.key(), first.get_mut().pop_front()?);
        if first.get().is_empty() {
            first.remove();
        }
        Some((tick, event))
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
