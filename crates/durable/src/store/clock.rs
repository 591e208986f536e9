//! The clock of a store that has no server: the machine's wall clock, which never runs back here.

use super::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use wheelhouse_service::{Clock, MonotonicClock};

/// The wall clock, for a store within the program: if that is set back, this one stands still until
/// it has caught up, so that nothing runs twice or early. Clones are one clock.
///
/// A store that outlives the program keeps [`high_water`](Self::high_water) and gives it back at
/// the next start.
#[derive(Clone)]
pub struct StoreClock {
    clock: Arc<dyn Clock>,
    /// In milliseconds, rounded down.
    high: Arc<AtomicU64>,
}

impl StoreClock {
    /// The wall clock that `clock` shows: that of the machine, or one that a test sets.
    pub fn new(clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), high: Arc::default() }
    }

    /// Does not show less than this from now on.
    pub fn at_least(&self, high_water: Timestamp) {
        self.high.fetch_max(high_water.as_millis(), Ordering::SeqCst);
    }

    /// The latest time that was shown, rounded down.
    pub fn high_water(&self) -> Timestamp {
        Timestamp::from_millis(self.high.load(Ordering::SeqCst))
    }

    /// The present: rounded down, which `visible_at` is compared with, and rounded up, which delays
    /// are added to.
    pub fn now(&self) -> (Timestamp, Timestamp) {
        let wall: SystemTime = self.clock.wall();
        let down = Timestamp::at_or_before(wall);
        let high = self.high.fetch_max(down.as_millis(), Ordering::SeqCst);
        let high = Timestamp::from_millis(high);
        (down.max(high), Timestamp::at_or_after(wall).max(high))
    }
}

impl Default for StoreClock {
    fn default() -> Self {
        Self::new(MonotonicClock::new())
    }
}

impl fmt::Debug for StoreClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreClock").field("high_water", &self.high_water()).finish_non_exhaustive()
    }
}
