//! When a run that failed is tried again.

use std::time::Duration;

/// When and how often runs that fail are tried again: after a delay that is doubled from try to
/// try. For [`OneShot::retry`](crate::OneShot::retry) and
/// [`Periodic::retry`](crate::Periodic::retry).
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::crossbeam_channel::unbounded;
/// use wheelhouse_service::{Backoff, ManualClock, Moment, Scheduler};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let clock = ManualClock::new();
///     let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
///     let (sender, attempts) = unbounded();
///
///     let backoff = Backoff::new(Duration::from_secs(1)).cap(Duration::from_secs(3)).attempts(5);
///     let timers = scheduler.handle();
///     let order = timers.after(Duration::ZERO).named("order 7").retry(backoff);
///     let order = order.try_run(move |run| {
///         sender.send(run.started().since_origin().as_secs()).ok();
///         Err::<(), _>("no connection")
///     })?;
///     scheduler.play(&clock, Moment::from_nanos(3_600_000_000_000));
///     assert_eq!(attempts.try_iter().collect::<Vec<_>>(), [0, 1, 3, 6, 9]);
///     assert_eq!(order.last_error().as_deref(), Some("no connection"));
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    first: Duration,
    factor: f64,
    cap: Duration,
    jitter: f64,
    attempts: u32,
}

impl Backoff {
    /// Tries again after this long, then after twice as long each time, up to an hour, without end.
    pub fn new(first: Duration) -> Self {
        let cap = Duration::from_secs(3600);
        Self { first, factor: 2.0, cap, jitter: 0.0, attempts: u32::MAX }
    }

    /// Multiplies the delay by this from try to try, instead of by two. Less than one is taken for
    /// one: the delay stays.
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor.max(1.0);
        self
    }

    /// The longest delay: an hour by default.
    pub fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Shortens each delay by chance, by up to this share of it, so that those who failed together
    /// do not try again together: 0 is none, which is the default; 1 is anything down to no delay.
    pub fn jitter(mut self, share: f64) -> Self {
        self.jitter = share.clamp(0.0, 1.0);
        self
    }

    /// Gives up after so many tries, the first among them. Zero is taken for one.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Whether another try follows when so many have failed in a row.
    pub(crate) fn allows(&self, failed: u32) -> bool {
        failed < self.attempts
    }

    /// How long to wait before the next attempt when `failed` attempts in a row have failed,
    /// including the [jitter](Self::jitter), which is drawn anew by each call. The
    /// number of [`attempts`](Self::attempts) has no effect on it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheelhouse_service::Backoff;
    ///
    /// let backoff = Backoff::new(Duration::from_secs(1)).jitter(0.5);
    /// let third = backoff.wait(3);
    /// assert!(third > Duration::from_secs(2) && third <= Duration::from_secs(4));
    /// ```
    pub fn wait(&self, failed: u32) -> Duration {
        self.delay(failed, fastrand::f64())
    }

    /// The same with a `chance` that is given, from 0 to less than 1.
    fn delay(&self, failed: u32, chance: f64) -> Duration {
        let longest = self.cap.as_secs_f64();
        let doublings = failed.saturating_sub(1);
        let grown = self.factor.powi(i32::try_from(doublings).unwrap_or(i32::MAX));
        let delay = (self.first.as_secs_f64() * grown).min(longest) * (1.0 - self.jitter * chance);
        // Not a number where nothing was multiplied by infinity.
        Duration::try_from_secs_f64(delay).unwrap_or(self.first.min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(backoff: Backoff, chance: f64) -> Vec<u64> {
        let delay = |failed| backoff.delay(failed, chance).as_millis() as u64;
        (1..=5).map(delay).collect()
    }

    #[test]
    fn delays_grow_up_to_the_cap() {
        let backoff = Backoff::new(Duration::from_millis(100)).cap(Duration::from_millis(700));
        assert_eq!(delays(backoff, 0.9), [100, 200, 400, 700, 700]);
        assert_eq!(delays(backoff.factor(1.5), 0.0), [100, 150, 225, 337, 506]);
        assert_eq!(delays(backoff.factor(0.1), 0.0), [100; 5], "it never shrinks");
        assert_eq!(delays(backoff.jitter(0.5), 0.5), [75, 150, 300, 525, 525]);
        assert_eq!(delays(backoff.jitter(7.0), 0.5), [50, 100, 200, 350, 350]);
    }

    #[test]
    fn no_number_is_too_large() {
        let backoff = Backoff::new(Duration::from_secs(1)).factor(f64::INFINITY);
        assert_eq!(backoff.delay(u32::MAX, 0.0), Duration::from_secs(3600));
        let nothing = Backoff::new(Duration::ZERO).factor(f64::INFINITY).cap(Duration::MAX);
        assert_eq!(nothing.delay(2, 0.0), Duration::ZERO);
        let forever = Backoff::new(Duration::MAX).cap(Duration::MAX);
        assert!(forever.delay(9, 0.0) >= Duration::from_secs(u64::MAX / 2));
        let forever = forever.jitter(0.5);
        for failed in [1, 2, u32::MAX] {
            assert!((0..1_000).all(|_| forever.wait(failed) >= Duration::MAX / 2), "{failed}");
        }
    }

    /// The backoff of durable timers by default.
    #[test]
    fn jitter_spreads_each_wait() {
        let backoff = Backoff::new(Duration::from_secs(1)).jitter(0.5);
        for (failed, full) in [(0, 1), (1, 1), (2, 2), (5, 16), (13, 3_600), (4_000, 3_600)] {
            let full = Duration::from_secs(full);
            let waits: Vec<_> = (0..1_000).map(|_| backoff.wait(failed)).collect();
            assert!(waits.iter().all(|wait| *wait >= full / 2 && *wait <= full), "{failed}");
            // 23 standard deviations from what is expected, so no test run comes there.
            let mean = waits.iter().sum::<Duration>() / 1_000;
            assert!(mean > full * 65 / 100 && mean < full * 85 / 100, "{failed}: {mean:?}");
        }
    }

    #[test]
    fn tries_are_counted_with_the_first() {
        let backoff = Backoff::new(Duration::ZERO).attempts(2);
        assert_eq!([1, 2].map(|failed| backoff.allows(failed)), [true, false]);
        assert!(!backoff.attempts(0).allows(1) && Backoff::new(Duration::ZERO).allows(1 << 20));
    }
}
