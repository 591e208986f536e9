//! priority-queue: a heap with a hash map, which finds a timer by its key. Keys are numbers here,
//! with the fast hash that its README recommends.

use crate::peer::Peer;
use priority_queue::PriorityQueue;
use rustc_hash::FxBuildHasher;
use std::cmp::Reverse;
use wheelhouse_core::Tick;

/// The queue: the number of a timer with its value, by deadline.
#[derive(Default)]
pub(crate) struct Queue(PriorityQueue<u64, Reverse<Tick>, FxBuildHasher>);

impl Peer for Queue {
    const NAME: &'static str = "priority-queue";
    /// The value, which no two timers share in this comparison.
    type Handle = u64;

    fn new(_: usize) -> Self {
        Self::default()
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> u64 {
        self.0.push(value, Reverse(deadline));
        value
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<u64>) -> Option<u64> {
        self.0.remove(kept.as_ref()?).map(|(value, _)| value)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<u64>, deadline: Tick) -> bool {
        kept.is_some_and(|handle| self.0.change_priority(&handle, Reverse(deadline)).is_some())
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while self.0.peek().is_some_and(|(_, deadline)| deadline.0 <= now) {
            if let Some((value, _)) = self.0.pop() {
                fire(value);
            }
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        self.0.peek().map(|(_, deadline)| deadline.0)
    }
}
