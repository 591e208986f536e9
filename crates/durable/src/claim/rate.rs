//! The rate at which a backlog is worked off.

use std::time::Duration;
use wheelhouse_service::Moment;

/// A token bucket of late jobs: a number a second, and at most a tenth of a second's worth at once.
/// Jobs that are not late use no tokens and are not delayed by the rate. But jobs are handed out by
/// due time, so they come after the late jobs.
pub(super) struct Rate {
    a_second: u32,
    /// In thousandths of a job.
    saved: u64,
    last: Option<Moment>,
}

impl Rate {
    pub(super) fn new(a_second: u32) -> Self {
        Self { a_second, saved: 0, last: None }
    }

    /// The size of the bucket: a tenth of a second's worth, and at least one job.
    fn most(&self) -> u64 {
        (u64::from(self.a_second) * 100).max(1_000)
    }

    pub(super) fn allowed(&mut self, now: Moment) -> usize {
        let since = self.last.map_or(Duration::from_secs(1), |last| now.saturating_since(last));
        self.last = Some(now);
        let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX).min(1_000_000);
        let earned = micros * u64::from(self.a_second) / 1_000;
        self.saved = (self.saved + earned).min(self.most());
        usize::try_from(self.saved / 1_000).unwrap_or(usize::MAX)
    }

    pub(super) fn took(&mut self, late: usize) {
        let late = u64::try_from(late).unwrap_or(u64::MAX);
        self.saved = self.saved.saturating_sub(late.saturating_mul(1_000));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backlog_is_worked_off_at_the_rate() {
        // Asked each millisecond, or each tenth of a second, for ten seconds.
        for (a_second, step, expected) in [(200, 1, 2_000..=2_020), (1, 100, 10..=11)] {
            let mut rate = Rate::new(a_second);
            let taken: usize = (0..10_000 / step)
                .map(|n| {
                    let allowed = rate.allowed(Moment::from_nanos(n * step * 1_000_000));
                    rate.took(allowed);
                    allowed
                })
                .sum();
            assert!(expected.contains(&taken), "{taken} in ten seconds, {a_second} a second");
        }
    }
}
