//! Open loop: what is to be done when is fixed beforehand, and nothing that a facility does moves
//! it.
//!
//! A producer that comes late to an event does it at once, with the moments that were planned, and
//! how late it came is kept. So a facility that holds up its callers does not get fewer calls by
//! it, and its lateness counts from the plan: the mistake called coordinated omission cannot be
//! made.

use std::thread;
use std::time::{Duration, Instant};

/// The shortest sleep: events that lie closer together are done in one go. Far below the least
/// delay of any plan, and long enough that a producer leaves the processor to those who are
/// measured: to wake up five times as often took 0.6 us of each fire's processor time.
const NAP: Duration = Duration::from_millis(1);

/// How long after it is made a plan begins, so that everybody is ready.
pub(crate) const LEAD: Duration = Duration::from_millis(20);

/// Leads a producer from event to event.
#[derive(Debug)]
pub(crate) struct Pace {
    origin: Instant,
    latest: u64,
}

impl Pace {
    pub(crate) fn new(origin: Instant) -> Self {
        Self { origin, latest: 0 }
    }

    /// Returns at this moment, in nanoseconds since the origin, or at once if it is past.
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

    /// How late the producer came at most.
    pub(crate) fn latest(&self) -> u64 {
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_done_before_its_moment_and_what_is_overdue_at_once() {
        let origin = Instant::now() + Duration::from_millis(5);
        let mut pace = Pace::new(origin);
        pace.wait_for(3_000_000);
        assert!(Instant::now() >= origin + Duration::from_millis(3));
        thread::sleep(Duration::from_millis(10));
        pace.wait_for(4_000_000);
        assert!(
            pace.latest() >= 9_000_000,
            "ten milliseconds after three is nine after four: {}",
            pace.latest()
        );
    }
}
