//! The delays between retries.

use std::time::Duration;

/// When and how often runs that fail are retried, with a delay that doubles from attempt to
/// attempt. For [`OneShot::retry`](crate::OneShot::retry) and
/// [`Periodic::retry`](crate::Periodic::retry).
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{Backoff, ManualClock, Moment, Scheduler};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let clock = ManualClock::new();
///     let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
///     let backoff = Backoff::new(Duration::from_secs(1)).cap(Duration::from_secs(3)).attempts(5);
///     let timers = scheduler.handle();
///     let order = timers.after(Duration::ZERO).named("order 7").retry(backoff);
///     let order = order.try_run(|_| Err::<(), _>("no connection"))?;
///     // The attempts are at 0, 1, 3, 6 and 9 s.
///     scheduler.play(&clock, Moment::from_nanos(8_999_000_000));
///     assert_eq!((order.runs(), order.last_error().as_deref()), (4, Some("no connection")));
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    first: Duration,
    cap: Duration,
    jitter: f64,
    attempts: u32,
}

impl Backoff {
    /// Retries after `first`, then after twice the delay each time, up to an hour, indefinitely.
    pub fn new(first: Duration) -> Self {
        let cap = Duration::from_secs(3600);
        Self { first, cap, jitter: 0.0, attempts: u32::MAX }
    }

    /// Sets the longest delay: an hour by default.
    pub fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Shortens each delay by a random part, up to this share of it, so that jobs that failed
    /// together do not retry together. 0, the default, is none; 1 allows any delay down to zero.
    pub fn jitter(mut self, share: f64) -> Self {
        // NaN is 0, too.
        self.jitter = if share > 0.0 { share.min(1.0) } else { 0.0 };
        self
    }

    /// Gives up after this number of attempts, including the first. Zero counts as one.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// The number of [`attempts`](Self::attempts), or `u32::MAX` if it was not set.
    pub fn most_attempts(&self) -> u32 {
        self.attempts
    }

    /// Returns `true` if a retry follows after `failed` failures in a row.
    pub(crate) fn allows(&self, failed: u32) -> bool {
        failed < self.attempts
    }

    /// The delay before the next attempt after `failed` failures in a row, including the
    /// [jitter](Self::jitter), which each call draws again. Ignores [`attempts`](Self::attempts).
    pub fn wait(&self, failed: u32) -> Duration {
        self.delay(failed, fastrand::f64())
    }

    /// [`wait`](Self::wait) with a given `chance`, from 0 to below 1.
    fn delay(&self, failed: u32, chance: f64) -> Duration {
        // A finite number of doublings: zero times infinity is not a number.
        let doublings = failed.saturating_sub(1).min(1_000) as i32;
        let grown = self.first.as_secs_f64() * 2.0_f64.powi(doublings);
        let delay = grown.min(self.cap.as_secs_f64()) * (1.0 - self.jitter * chance);
        // `Duration::MAX` is rounded up.
        Duration::try_from_secs_f64(delay).unwrap_or(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_cap_and_attempts_count_the_first() {
        let backoff = Backoff::new(Duration::from_millis(100)).cap(Duration::from_millis(700));
        let delays = |backoff: Backoff, chance| -> Vec<u128> {
            (1..=5).map(|failed| backoff.delay(failed, chance).as_millis()).collect()
        };
        assert_eq!(delays(backoff, 0.9), [100, 200, 400, 700, 700]);
        assert_eq!(delays(backoff.jitter(0.5), 0.5), [75, 150, 300, 525, 525]);
        assert_eq!(delays(backoff.jitter(7.0), 0.5), [50, 100, 200, 350, 350]);
        for none in [f64::NAN, -1.0] {
            assert_eq!(delays(backoff.jitter(none), 0.5), [100, 200, 400, 700, 700]);
        }
        let twice = backoff.attempts(2);
        assert_eq!([1, 2].map(|failed| twice.allows(failed)), [true, false]);
        assert!(!backoff.attempts(0).allows(1) && backoff.allows(1 << 20));
    }

    #[test]
    fn no_number_is_too_large() {
        let backoff = Backoff::new(Duration::from_secs(1));
        assert_eq!(backoff.delay(u32::MAX, 0.0), Duration::from_secs(3600));
        let nothing = Backoff::new(Duration::ZERO);
        assert_eq!(nothing.delay(u32::MAX, 0.0), Duration::ZERO);
        let forever = Backoff::new(Duration::MAX).cap(Duration::MAX).jitter(0.5);
        for failed in [1, 2, u32::MAX] {
            assert!((0..1_000).all(|_| forever.wait(failed) >= Duration::MAX / 2), "{failed}");
        }
    }

    /// With the default backoff of durable timers.
    #[test]
    fn jitter_spreads_each_wait() {
        let backoff = Backoff::new(Duration::from_secs(1)).jitter(0.5);
        for (failed, full) in [(0, 1), (1, 1), (2, 2), (5, 16), (13, 3_600), (4_000, 3_600)] {
            let full = Duration::from_secs(full);
            let waits: Vec<_> = (0..1_000).map(|_| backoff.wait(failed)).collect();
            assert!(waits.iter().all(|wait| *wait >= full / 2 && *wait <= full), "{failed}");
            // The bounds are 23 standard deviations from the expected mean.
            let mean = waits.iter().sum::<Duration>() / 1_000;
            assert!(mean > full * 65 / 100 && mean < full * 85 / 100, "{failed}: {mean:?}");
        }
    }
}
