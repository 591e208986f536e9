//! tokio's timers. Each is a boxed `Sleep`, polled once to register it with the driver, with a
//! waker that records its value. The driver's wheel has 64 slots per level.

use super::{after, tokio_clock::Clock};
use crate::peer::{Ability, Peer};
use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use tokio::time::Sleep;
use wheelhouse_core::Tick;

type Fired = Arc<Mutex<Vec<u64>>>;

/// Records its value when its timer fires.
struct Note {
    value: u64,
    fired: Fired,
}

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.fired.lock().unwrap_or_else(PoisonError::into_inner).push(self.value);
    }
}

/// A timer, which is live as long as this value.
pub(crate) struct Timer {
    sleep: Pin<Box<Sleep>>,
    waker: Waker,
    value: u64,
}

impl Timer {
    #[inline]
    fn register(&mut self) {
        let pending = self.sleep.as_mut().poll(&mut Context::from_waker(&self.waker));
        assert!(pending.is_pending(), "it is not due before the clock moves");
    }
}

/// The clock, the values that fired, and timers without a handle.
pub(crate) struct Driver {
    clock: Clock,
    fired: Fired,
    unattended: Vec<Timer>,
}

impl Peer for Driver {
    const NAME: &'static str = "tokio-sleep";
    const PACKAGE: Option<&'static str> = Some("tokio");
    /// It walks to later ticks in steps of at most 2^36, which takes minutes for the whole range.
    const LATEST: Tick = (1 << 48) - 1;
    const LACKS: &'static [(Ability, &'static str)] = &[(
        Ability::Wake,
        "the driver does not return when its next timer is due, so hold cannot be played",
    )];
    type Handle = Timer;

    fn new(_: usize) -> Self {
        Self { clock: Clock::new(), fired: Fired::default(), unattended: Vec::new() }
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> Timer {
        let waker = Waker::from(Arc::new(Note { value, fired: Arc::clone(&self.fired) }));
        let sleep = Box::pin(tokio::time::sleep_until(
            self.clock.instant(after(deadline, self.clock.now())),
        ));
        let mut timer = Timer { sleep, waker, value };
        timer.register();
        timer
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<Timer>) -> Option<u64> {
        let handle = kept.take()?;
        (!handle.sleep.is_elapsed()).then_some(handle.value)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<Timer>, deadline: Tick) -> bool {
        let Some(handle) = kept.as_mut().filter(|handle| !handle.sleep.is_elapsed()) else {
            return false;
        };
        handle.sleep.as_mut().reset(self.clock.instant(after(deadline, self.clock.now())));
        handle.register();
        true
    }

    #[inline]
    fn advance(&mut self, now: Tick, fire: impl FnMut(u64)) {
        self.clock.advance(now, ready(()));
        self.fired.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(fire);
    }

    fn forget(&mut self, handle: Timer) {
        if !handle.sleep.is_elapsed() {
            self.unattended.push(handle);
        }
    }
}
