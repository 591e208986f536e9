//! tokio's timers and tokio-util's `DelayQueue`, on tokio's clock, which is paused and moved by
//! hand. There is one runtime for the whole program, since timers need a runtime.

use super::after;
use crate::peer::{Ability, Peer};
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, EnterGuard, Runtime};
use tokio::task::unconstrained;
use tokio::time::{self, Instant, Sleep};
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;
use wheelhouse_core::Tick;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

fn runtime() -> &'static Runtime {
    RUNTIME.get_or_init(|| {
        Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without threads")
    })
}

/// A clock that starts at 0. A tick is a millisecond, tokio's resolution. While a clock exists, its
/// thread is in the runtime.
struct Clock {
    start: Instant,
    now: Tick,
    _guard: EnterGuard<'static>,
}

impl Clock {
    fn new() -> Self {
        let guard = runtime().enter();
        // The driver counts whole milliseconds.
        Self { start: Instant::now(), now: 0, _guard: guard }
    }

    #[inline]
    fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    fn instant(&self, tick: Tick) -> Instant {
        self.start + Duration::from_millis(tick)
    }

    #[inline]
    fn tick(&self, at: Instant) -> Tick {
        (at - self.start).as_millis() as Tick
    }

    /// Moves the clock, so that the driver fires the due timers, and then does `work`.
    fn advance<T>(&mut self, now: Tick, work: impl Future<Output = T>) -> T {
        let distance = Duration::from_millis(now - self.now);
        self.now = now;
        runtime().block_on(async {
            if !distance.is_zero() {
                time::advance(distance).await;
            }
            work.await
        })
    }
}

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

/// tokio's timers. Each is a boxed `Sleep`, polled once to register it with the driver, with a
/// waker that records its value. The driver's wheel has 64 slots per level. These are the clock,
/// the values that fired, and timers without a handle.
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
        let sleep =
            Box::pin(time::sleep_until(self.clock.instant(after(deadline, self.clock.now()))));
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

/// tokio-util's `DelayQueue`: a hierarchical wheel with 64 slots per level, of keys into a slab. It
/// is polled as a stream and woken by a timer of tokio.
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
