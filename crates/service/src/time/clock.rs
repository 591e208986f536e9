//! Clocks: the machine's monotonic clock, and one that a test sets by hand.

use super::{Moment, nanos};
use parking_lot::Mutex;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

/// A callback that ends a sleep early: it wakes a thread, or writes to a pipe. It is called when
/// there is something to do before the sleep would end. It must not block.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// A source of time.
///
/// Implement it for a custom clock. Time must not run back. If it does, the service treats the
/// clock as standing still.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Moment;

    /// The wall-clock time, which may be set forward and back. It is read for jobs that wait for a
    /// wall-clock time: when they are scheduled, once a minute while they wait, and before they
    /// run. This and [`now`](Self::now) may be called under a lock, so they must not call the
    /// service or its jobs.
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    /// For a clock that does not advance by itself: stores the waker, calls it at each change, and
    /// returns `true`. The threads of a service then sleep until the waker is called, instead of
    /// for a duration.
    fn watch(&self, waker: &Waker) -> bool {
        let _ = waker;
        false
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Moment {
        (**self).now()
    }

    fn wall(&self) -> SystemTime {
        (**self).wall()
    }

    fn watch(&self, waker: &Waker) -> bool {
        (**self).watch(waker)
    }
}

/// The machine's monotonic clock, counted from when this value was made. Setting the wall clock
/// does not affect it.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin: Instant,
}

impl MonotonicClock {
    /// A clock whose origin is now.
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }

    /// The moment of an instant; the origin for one before it.
    pub fn moment(&self, instant: Instant) -> Moment {
        let since = instant.saturating_duration_since(self.origin);
        nanos(since).map_or(Moment::MAX, Moment::from_nanos)
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Moment {
        self.moment(Instant::now())
    }
}

/// A clock that stands still until it is moved, so that a test controls the time. Clones show the
/// same time.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wheelhouse_service::{Clock, ManualClock, Moment};
///
/// let clock = ManualClock::new();
/// clock.advance(Duration::from_secs(5));
/// assert_eq!(clock.now(), Moment::from_nanos(5_000_000_000));
/// assert_eq!(clock.wall(), SystemTime::UNIX_EPOCH + Duration::from_secs(5));
///
/// let summer = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
/// clock.set_wall(summer); // the wall clock was set, or the machine was suspended
/// clock.advance(Duration::from_secs(1));
/// assert_eq!(clock.now(), Moment::from_nanos(6_000_000_000));
/// assert_eq!(clock.wall(), summer + Duration::from_secs(1));
/// ```
#[derive(Clone)]
pub struct ManualClock {
    inner: Arc<Inner>,
}

struct Inner {
    nanos: AtomicU64,
    /// A moment, and the time that the wall clock showed then.
    wall: Mutex<(Moment, SystemTime)>,
    watchers: Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>,
}

impl ManualClock {
    /// A clock at the origin, where it is 1970-01-01 00:00 UTC.
    pub fn new() -> Self {
        Self::with_wall(SystemTime::UNIX_EPOCH)
    }

    /// A clock at the origin, where the wall clock shows `wall`.
    pub fn with_wall(wall: SystemTime) -> Self {
        let wall = Mutex::new((Moment::ORIGIN, wall));
        Self {
            inner: Arc::new(Inner { nanos: AtomicU64::new(0), wall, watchers: Mutex::default() }),
        }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().saturating_add(by));
    }

    /// Sets only the wall clock. Jobs that wait for a wall-clock time notice within a minute.
    pub fn set_wall(&self, time: SystemTime) {
        *self.inner.wall.lock() = (self.now(), time);
    }

    /// Moves the clock to a moment. Does nothing if that is past.
    pub fn set(&self, moment: Moment) {
        self.inner.nanos.fetch_max(moment.as_nanos(), Ordering::SeqCst);
        let mut wakers = Vec::new();
        self.inner
            .watchers
            .lock()
            .retain(|watcher| watcher.upgrade().map(|waker| wakers.push(waker)).is_some());
        wakers.iter().for_each(|wake| wake());
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        Moment::from_nanos(self.inner.nanos.load(Ordering::SeqCst))
    }

    fn wall(&self) -> SystemTime {
        let (moment, shown) = *self.inner.wall.lock();
        shown.checked_add(self.now().saturating_since(moment)).unwrap_or(shown)
    }

    fn watch(&self, waker: &Waker) -> bool {
        self.inner.watchers.lock().push(Arc::downgrade(waker));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_manual_clock_never_runs_back_and_notifies_watchers_until_they_are_gone() {
        let (clock, calls) = (ManualClock::new(), Arc::new(AtomicU32::new(0)));
        let counter = Arc::clone(&calls);
        let waker: Waker = Arc::new(move || _ = counter.fetch_add(1, Ordering::Relaxed));
        assert!(clock.watch(&waker));
        clock.set(Moment::from_nanos(7));
        drop(waker);
        clock.set(Moment::from_nanos(3));
        assert_eq!((clock.now(), calls.load(Ordering::Relaxed)), (Moment::from_nanos(7), 1));
        assert!(clock.inner.watchers.lock().is_empty());
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), Moment::MAX);
    }
}
