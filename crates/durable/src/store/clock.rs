//! The clock of a store without a server: the machine's wall clock, made monotonic.

use super::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use wheelhouse_service::{Clock, MonotonicClock};

/// The wall clock, for a store within the program. If the wall clock is set back, this clock stops
/// until the wall clock has caught up, so nothing runs twice or early. Clones share one clock.
///
/// A store that outlives the program keeps [`high_water`](Self::high_water) and passes it to
/// [`at_least`](Self::at_least) at the next start.
#[derive(Clone)]
pub struct StoreClock {
    clock: Arc<dyn Clock>,
    /// The latest time shown, in milliseconds, rounded down.
    high: Arc<AtomicU64>,
}

impl StoreClock {
    /// The wall clock of `clock`: the machine's, or one that a test sets.
    pub fn new(clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), high: Arc::default() }
    }

    /// Shows `high_water` or a later time from now on.
    pub fn at_least(&self, high_water: Timestamp) {
        self.high.fetch_max(high_water.as_millis(), Ordering::SeqCst);
    }

    /// The latest time that was shown, rounded down.
    pub fn high_water(&self) -> Timestamp {
        Timestamp::from_millis(self.high.load(Ordering::SeqCst))
    }

    /// The present, rounded down to be compared with `visible_at`, and rounded up to add delays to.
    pub fn now(&self) -> (Timestamp, Timestamp) {
        let wall: SystemTime = self.clock.wall();
        let down = Timestamp::at_or_before(wall);
        let high = self.high.fetch_max(down.as_millis(), Ordering::SeqCst);
        let high = Timestamp::from_millis(high);
        (down.max(high), Timestamp::from(wall).max(high))
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
