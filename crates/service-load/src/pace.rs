//! Open loop: the time of every call is planned beforehand, and a slow facility does not change it.
//!
//! A producer that is late for an event makes the call at once, with the planned moments, and
//! records its own lateness. So a facility that delays its callers does not get fewer calls, and
//! its lateness counts from the plan. This avoids coordinated omission.

use std::thread;
use std::time::{Duration, Instant};

/// The shortest sleep; events closer together than this are handled in one go. It is far below the
/// shortest delay of any plan, and leaves the processor to the facility: waking up five times as
/// often took 0.6 us of processor time from each fire.
const NAP: Duration = Duration::from_millis(1);

/// The time between making a plan and its beginning, so that all threads are ready.
pub(crate) const LEAD: Duration = Duration::from_millis(20);

/// Guides a producer from event to event.
#[derive(Debug)]
pub(crate) struct Pace {
    origin: Instant,
    /// The greatest lateness of the producer.
    pub(crate) latest: u64,
}

impl Pace {
    pub(crate) fn new(origin: Instant) -> Self {
        Self { origin, latest: 0 }
    }

    /// Waits for this moment, in nanoseconds since the origin. Returns at once if it is past.
    pub(crate) fn wait_for(&mut self, at: u64) {
        let due = self.origin + Duration::from_nanos(at);
        loop {
            let now = Instant::now();
            if now >= due {
                self.latest = self.latest.max((now - due).as_nanos() as u64);
                return;
            }
            thread::sleep((due - now).max(NAP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_at_its_moment_or_at_once_if_overdue() {
        let origin = Instant::now() + Duration::from_millis(5);
        let mut pace = Pace::new(origin);
        pace.wait_for(3_000_000);
        assert!(Instant::now() >= origin + Duration::from_millis(3));
        thread::sleep(Duration::from_millis(10));
        pace.wait_for(4_000_000);
        // Ten milliseconds after three is nine after four.
        assert!(pace.latest >= 9_000_000, "{}", pace.latest);
    }
}
