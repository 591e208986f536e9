//! nexus-timer: a hierarchical wheel of intrusive lists in a slab, with 64 slots per level and
//! ratio 8. Its clock is `Instant`: one tick is a millisecond, its default. Handles must be
//! returned.

use super::after;
use crate::peer::Peer;
use nexus_timer::{TimerHandle, Wheel, WheelBuilder};
use std::time::{Duration, Instant};
use wheelhouse_core::Tick;

/// No cap.
pub(crate) const WHOLE: usize = usize::MAX;

/// By its formula (timers times levels, divided by the average delay) this is enough for four
/// million timers over 2^20 ticks. Its example has the same value.
pub(crate) const CAPPED: usize = 64;

/// The wheel, the start of its clock, and the buffer for expired timers. A poll moves at most `CAP`
/// timers.
pub(crate) struct Nexus<const CAP: usize> {
    wheel: Wheel<u64>,
    start: Instant,
    now: Tick,
    fired: Vec<u64>,
}

impl<const CAP: usize> Nexus<CAP> {
    #[inline]
    fn instant(&self, tick: Tick) -> Instant {
        self.start + Duration::from_millis(tick)
    }
}

impl<const CAP: usize> Peer for Nexus<CAP> {
    const NAME: &'static str = if CAP == WHOLE { "nexus-timer" } else { "nexus-timer-capped" };
    const PACKAGE: Option<&'static str> = Some("nexus-timer");
    /// It counts nanoseconds in 64 bits.
    const LATEST: Tick = (1 << 44) - 1;
    /// Includes the deadline: a timer that has fired must not be rescheduled, and the wheel does
    /// not report whether it has.
    type Handle = (TimerHandle<u64>, Tick);

    fn new(_: usize) -> Self {
        let start = Instant::now();
        let wheel = WheelBuilder::new()
            .max_rebalances_per_poll(CAP)
            .unbounded(4096)
            .build(start)
            .expect("its own defaults");
        Self { wheel, start, now: 0, fired: Vec::new() }
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> Self::Handle {
        let deadline = after(deadline, self.now);
        (self.wheel.schedule(self.instant(deadline), value), deadline)
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<Self::Handle>) -> Option<u64> {
        let (handle, _) = kept.take()?;
        self.wheel.cancel(handle)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<Self::Handle>, deadline: Tick) -> bool {
        let Some((handle, old)) = kept.take() else { return false };
        if old <= self.now {
            self.wheel.free(handle);
            return false;
        }
        let deadline = after(deadline, self.now);
        *kept = Some((self.wheel.reschedule(handle, self.instant(deadline)), deadline));
        true
    }

    #[inline]
    fn advance(&mut self, now: Tick, fire: impl FnMut(u64)) {
        self.now = now;
        self.wheel.poll_and_rebalance(self.instant(now), &mut self.fired);
        self.fired.drain(..).for_each(fire);
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        // Because of cancelled timers the wake-up may be too early, even in the past. Then the
        // clock moves by an empty tick.
        self.wheel
            .next_deadline()
            .map(|at| ((at - self.start).as_millis() as Tick).max(self.now + 1))
    }

    #[inline]
    fn forget(&mut self, (handle, _): Self::Handle) {
        self.wheel.free(handle);
    }
}
