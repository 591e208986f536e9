//! A model with a queue for each delay.

use super::count::{Key, step, steps};
use super::{Model, UncountedKey};
use std::collections::{BTreeSet, HashMap, VecDeque};
use wheelhouse_core::Tick;
use wheelhouse_core::meter::Work::{Comparison, Link};

/// Queues by delay, which is negative if the timer was overdue, and a set of their heads by
/// deadline and tick of insertion.
#[derive(Default)]
pub(crate) struct Queues {
    queues: HashMap<i128, VecDeque<UncountedKey>>,
    /// The delay of a timer, by its number.
    delays: HashMap<u64, i128>,
    heads: BTreeSet<Key>,
    now: Tick,
}

fn head(delay: i128, deadline: Tick) -> Key {
    let inserted = i128::from(deadline) - delay;
    Key(deadline, inserted.try_into().expect("it was inserted at a tick"))
}

impl Queues {
    /// Removes a timer from its queue. Returns the delay if the queue now begins with another
    /// deadline, or is empty.
    fn take(&mut self, timer: UncountedKey) -> Option<i128> {
        steps(Link, 2);
        let delay = self.delays.remove(&timer.1).expect("it has a delay");
        let queue = self.queues.get_mut(&delay).expect("it has a queue");
        let at = queue.iter().position(|other| *other == timer).expect("it is in its queue");
        queue.remove(at);
        let has_same_head = queue.front().is_some_and(|first| first.0 == timer.0);
        (at == 0 && !has_same_head).then_some(delay)
    }

    fn update_head(&mut self, delay: i128) {
        match self.queues[&delay].front() {
            Some(first) => _ = self.heads.insert(head(delay, first.0)),
            None => _ = self.queues.remove(&delay),
        }
    }
}

impl Model for Queues {
    fn insert(&mut self, key: Key) {
        steps(Link, 4);
        let delay = i128::from(key.0) - i128::from(self.now);
        self.delays.insert(key.1, delay);
        let queue = self.queues.entry(delay).or_default();
        queue.push_back(key.pair());
        if queue.len() == 1 {
            self.heads.insert(head(delay, key.0));
        }
    }

    fn remove(&mut self, key: Key) {
        if let Some(delay) = self.take(key.pair()) {
            assert!(self.heads.remove(&head(delay, key.0)));
            self.update_head(delay);
        }
    }

    fn pop(&mut self, now: Tick) -> Option<u64> {
        step(Comparison);
        self.now = self.now.max(now);
        let first = *self.heads.first().filter(|first| first.0 <= self.now)?;
        let delay = i128::from(first.0) - i128::from(first.1);
        let timer = *self.queues[&delay].front().expect("a queue has a timer");
        if self.take(timer).is_some() {
            self.heads.pop_first();
            self.update_head(delay);
        }
        Some(timer.1)
    }
}
