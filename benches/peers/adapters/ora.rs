//! ora-timer: four levels of 256 slots over 2^32 milliseconds. Slots are arrays of values, without
//! handles: there is no cancel, which makes it fast.

use super::after;
use crate::peer::{Ability, Peer};
use ora_timer::wheel::TimingWheel;
use std::time::Duration;
use wheelhouse_core::Tick;

/// The wheel, its clock, which it does not expose, and the buffer for expired timers.
pub(crate) struct Ora {
    wheel: TimingWheel<u64>,
    now: Tick,
    fired: Vec<u64>,
}

impl Peer for Ora {
    const NAME: &'static str = "ora-timer";
    /// It walks to later ticks in steps of at most 2^32, which takes minutes for the whole range.
    const LATEST: Tick = (1 << 48) - 1;
    const LACKS: &'static [(Ability, &'static str)] =
        &[(Ability::Cancel, "it returns no handles, so no timer can be stopped or moved")];
    type Handle = ();

    fn new(_: usize) -> Self {
        Self { wheel: TimingWheel::new(), now: 0, fired: Vec::new() }
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) {
        let due =
            self.wheel.insert(value, Duration::from_millis(after(deadline, self.now) - self.now));
        assert!(due.is_none(), "it is not due before the clock moves");
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while self.now < now {
            let left = now - self.now;
            let skipped = if self.wheel.is_empty() {
                left
            } else {
                Tick::from(self.wheel.can_skip()).min(left)
            };
            self.wheel.skip(skipped as u32);
            self.now += skipped;
            if self.now < now {
                self.wheel.tick_with(&mut self.fired);
                self.fired.drain(..).for_each(&mut fire);
                self.now += 1;
            }
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        (!self.wheel.is_empty()).then(|| self.now + Tick::from(self.wheel.can_skip()) + 1)
    }
}
