//! tokio's clock, paused and moved by hand. There is one runtime for the whole program, since
//! timers need a runtime.

use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::{Builder, EnterGuard, Runtime};
use tokio::time::{self, Instant};
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
pub(crate) struct Clock {
    start: Instant,
    now: Tick,
    _guard: EnterGuard<'static>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let guard = runtime().enter();
        // The driver counts whole milliseconds.
        Self { start: Instant::now(), now: 0, _guard: guard }
    }

    #[inline]
    pub(crate) fn now(&self) -> Tick {
        self.now
    }

    #[inline]
    pub(crate) fn instant(&self, tick: Tick) -> Instant {
        self.start + Duration::from_millis(tick)
    }

    #[inline]
    pub(crate) fn tick(&self, at: Instant) -> Tick {
        (at - self.start).as_millis() as Tick
    }

    /// Moves the clock, so that the driver fires the due timers, and then does `work`.
    pub(crate) fn advance<T>(&mut self, now: Tick, work: impl Future<Output = T>) -> T {
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
