//! The claims of a lane, and the rate at which a backlog is worked off.

use super::MOST_IN_CLAIM;
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

/// A job, in the unit of [`Rate`]: the rate times a nanosecond. In a coarser unit, what is earned
/// in a short time would be rounded down to nothing.
const JOB: i64 = 1_000_000_000;

/// A token bucket of late jobs: a number a second, and at most a tenth of a second's worth at once.
/// Jobs that are not late use no tokens. But jobs are handed out by due time, so they come after
/// the late jobs. A claim that expects no late job may find up to [`MOST_IN_CLAIM`], which are then
/// paid off before the next claim.
pub(super) struct Rate {
    a_second: u32,
    /// Negative if more late jobs were taken than the rate allows.
    saved: i64,
    last: Option<Moment>,
}

impl Rate {
    pub(super) fn new(a_second: u32) -> Self {
        Self { a_second, saved: 0, last: None }
    }

    /// The size of the bucket: a tenth of a second's worth, and at least one job.
    fn most(&self) -> i64 {
        (i64::from(self.a_second) * JOB / 10).max(JOB)
    }

    /// Returns the most jobs that the next claim may lease. `is_late`: its first job is late.
    pub(super) fn allowed(&mut self, now: Moment, is_late: bool) -> usize {
        let since = self.last.map_or(Duration::MAX, |last| now.saturating_since(last));
        self.last = Some(now);
        let nanos = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        let earned = nanos.saturating_mul(self.a_second.into());
        self.saved = self.saved.saturating_add(earned).min(self.most());
        match is_late || self.saved < 0 {
            true => usize::try_from(self.saved / JOB).unwrap_or(0),
            false => MOST_IN_CLAIM,
        }
    }

    pub(super) fn took(&mut self, late: usize) {
        let late = i64::try_from(late).unwrap_or(i64::MAX);
        self.saved = self.saved.saturating_sub(late.saturating_mul(JOB));
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
                    let allowed = rate.allowed(Moment::from_nanos(n * step * 1_000_000), true);
                    rate.took(allowed);
                    allowed
                })
                .sum();
            assert!(expected.contains(&taken), "{taken} in ten seconds, {a_second} a second");
        }
    }

    /// A claim that finds more late jobs than expected is paid off before the next claim, even if
    /// the claimer asks for it very often.
    #[test]
    fn what_was_taken_beyond_the_rate_is_paid_off() {
        let (mut rate, at) = (Rate::new(10), |micros: u64| Moment::from_nanos(micros * 1_000));
        rate.allowed(at(0), true);
        rate.took(512);
        let mut asks = (1..1_000_000).map(|n| n * 90);
        let paid_off = asks.find(|micros| rate.allowed(at(*micros), false) > 0);
        // The first was saved.
        assert_eq!(paid_off.map(|micros| micros / 100_000), Some(511));
    }

    /// The workers were busy, and the claimer did not ask.
    #[test]
    fn what_is_earned_between_two_asks_counts_in_full() {
        let (mut rate, at) = (Rate::new(1), |secs: u64| Moment::from_nanos(secs * 1_000_000_000));
        rate.allowed(at(0), true);
        rate.took(64);
        let paid_off = (64..200).find(|secs| rate.allowed(at(*secs), true) > 0);
        assert_eq!(paid_off, Some(64));
        rate.took(1);
        assert_eq!(rate.allowed(at(1_000_000_000), true), 1, "and not more than the bucket");
    }
}
