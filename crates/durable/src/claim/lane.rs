//! The claims of a lane, and the rate at which a backlog is worked off.

use crate::lease::Lane;
use crate::store::{Kinds, Next};
use crate::timers::Shared;
use std::time::Duration;
use wheelhouse_service::Moment;

/// A job that is later than this counts towards the catch-up rate.
pub(super) const LATE: Duration = Duration::from_secs(1);

pub(super) struct LaneClaims {
    pub(super) lane: Lane,
    /// The kinds of this lane that have handlers.
    pub(super) all: Kinds,
    /// The kinds of `all` that are not paused.
    pub(super) kinds: Kinds,
    /// The result of the last claim, and the time before it was sent.
    pub(super) last: Option<(Next, Moment)>,
    pub(super) was_served: bool,
    pub(super) has_failed: bool,
}

impl LaneClaims {
    /// Returns `None` if the lane has no handler.
    pub(super) fn new(shared: &Shared, lane: Lane) -> Option<Self> {
        let handlers = shared.handlers.iter().filter(|(_, handler)| handler.lane() == lane);
        let all = Kinds::new(handlers.map(|(kind, _)| kind.clone()));
        let kinds = all.clone();
        let (was_served, has_failed) = (false, false);
        (!all.is_empty()).then_some(Self { lane, all, kinds, last: None, was_served, has_failed })
    }

    /// Returns `true` if the first visible job is late by now, judging by the last claim.
    pub(super) fn is_late(&self, asked: Moment) -> bool {
        self.last.is_none_or(|(next, then)| {
            let now = next.now.saturating_add(asked.saturating_since(then));
            next.visible_at.is_some_and(|at| now.saturating_since(at) > LATE)
        })
    }
}

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
