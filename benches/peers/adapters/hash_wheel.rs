//! hierarchical_hash_wheel_timer: four levels of 256 slots over 2^32 milliseconds. Each timer is
//! behind an `Rc`, and found by its number in a hash map. A cancelled timer stays in its slot until
//! the slot is emptied. The wheel moves tick by tick, or skips as many ticks as it allows.

use super::after;
use crate::peer::Peer;
use hierarchical_hash_wheel_timer::wheels::Skip;
use hierarchical_hash_wheel_timer::wheels::cancellable::{
    CancellableTimerEntry, QuadWheelWithOverflow,
};
use std::rc::Rc;
use std::time::Duration;
use wheelhouse_core::Tick;

/// A timer. Its value is its number.
#[derive(Debug)]
pub(crate) struct Entry(u64);

impl CancellableTimerEntry for Entry {
    type Id = u64;

    fn id(&self) -> &u64 {
        &self.0
    }
}

/// The wheel, and its clock, which it does not expose.
pub(crate) struct HashWheel {
    wheel: QuadWheelWithOverflow<Entry>,
    now: Tick,
}

impl Peer for HashWheel {
    const NAME: &'static str = "hierarchical_hash_wheel_timer";
    /// It walks to later ticks in steps of at most 2^32, which takes minutes for the whole range.
    const LATEST: Tick = (1 << 48) - 1;
    type Handle = u64;

    fn new(_: usize) -> Self {
        Self { wheel: QuadWheelWithOverflow::new(), now: 0 }
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> u64 {
        let delay = Duration::from_millis(after(deadline, self.now) - self.now);
        let inserted = self.wheel.insert_ref_with_delay(Rc::new(Entry(value)), delay);
        assert!(inserted.is_ok(), "it is not due before the clock moves");
        value
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<u64>) -> Option<u64> {
        kept.filter(|handle| self.wheel.cancel(handle).is_ok())
    }

    /// It has no reschedule, so the timer is cancelled and started again under the same number. The
    /// entry in the old slot is dead, since its `Rc` is gone.
    #[inline]
    fn reschedule(&mut self, kept: &mut Option<u64>, deadline: Tick) -> bool {
        let live = self.cancel(kept);
        live.map(|handle| self.insert(deadline, handle)).is_some()
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while self.now < now {
            let left = now - self.now;
            let skipped = match self.wheel.can_skip() {
                Skip::Empty => left,
                Skip::Millis(ticks) => Tick::from(ticks).min(left),
                Skip::None => 0,
            };
            self.wheel.skip(skipped as u32);
            self.now += skipped;
            if self.now < now {
                self.wheel.tick().iter().for_each(|entry| fire(entry.0));
                self.now += 1;
            }
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        match self.wheel.can_skip() {
            Skip::Empty => None,
            Skip::Millis(ticks) => Some(self.now + Tick::from(ticks) + 1),
            Skip::None => Some(self.now + 1),
        }
    }
}
