//! tokio-util's `DelayQueue`: a hierarchical wheel with 64 slots per level, of keys into a slab. It
//! is polled as a stream and woken by a timer of tokio.

use super::{after, tokio_clock::Clock};
use crate::peer::Peer;
use std::future::poll_fn;
use std::task::Poll;
use tokio::task::unconstrained;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;
use wheelhouse_core::Tick;

pub(crate) struct Queue {
    queue: DelayQueue<u64>,
    clock: Clock,
}

impl Peer for Queue {
    const NAME: &'static str = "tokio-util-delay-queue";
    const PACKAGE: Option<&'static str> = Some("tokio-util");
    /// It panics at a deadline that is further ahead.
    const LATEST: Tick = (1 << 36) - 1;
    /// Includes the deadline, since the key of a timer that has fired may have been reused.
    type Handle = (Key, Tick);

    fn new(_: usize) -> Self {
        let clock = Clock::new();
        Self { queue: DelayQueue::new(), clock }
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> Self::Handle {
        let deadline = after(deadline, self.clock.now());
        (self.queue.insert_at(value, self.clock.instant(deadline)), deadline)
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<Self::Handle>) -> Option<u64> {
        let (key, deadline) = kept.take()?;
        (deadline > self.clock.now()).then(|| self.queue.remove(&key).into_inner())
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<Self::Handle>, deadline: Tick) -> bool {
        let now = self.clock.now();
        let Some((key, old)) = kept.as_mut().filter(|(_, old)| *old > now) else { return false };
        *old = after(deadline, now);
        self.queue.reset_at(key, self.clock.instant(*old));
        true
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        let queue = &mut self.queue;
        let drain = poll_fn(|context| {
            while let Poll::Ready(Some(expired)) = queue.poll_expired(context) {
                fire(expired.into_inner());
            }
            Poll::Ready(())
        });
        // tokio's cooperative budget would make a task pause after many items, and due timers would
        // not fire in this call.
        self.clock.advance(now, unconstrained(drain));
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        let key = self.queue.peek()?;
        Some(self.clock.tick(self.queue.deadline(&key)))
    }
}
