//! When a periodic job runs next.

use crate::error::Reason;
use crate::time::{Moment, Ticks, nanos};
use std::num::NonZeroU64;
use std::time::Duration;

/// The policy for periods that pass without a run: because the machine stalled, the process was
/// stopped, all threads were busy, or a run took longer than the period. It applies to jobs at a
/// fixed rate. With a fixed delay no period is ever missed.
///
/// Example: a job every 10 ms, first at 0. Its first run takes until 25. It is next due
///
/// | | at |
/// |---|---|
/// | `Once`, the default | 10 (at once, also for 20), 30, 40 ... |
/// | `Burst` | 10, 20 (both at once), 30, 40 ... |
/// | `Skip` | 30, 40 ... |
/// | `Delay` | at once, at 25; then 35, 45 ... |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Missed {
    /// A late run makes up for all periods that have passed when it begins, as for durable timers.
    /// The next run is at the next period. No drift. [`Run::missed`](crate::Run::missed) returns
    /// how many periods were skipped before a run.
    #[default]
    Once,
    /// Each period has its run: missed runs follow one another without a pause. No drift. If a run
    /// takes a period or longer, the next begins after all other jobs that are due by then, so a
    /// job that can never catch up does not starve others.
    Burst,
    /// As `Once`, but periods that pass during a run are skipped too: no run is late because the
    /// one before took too long.
    Skip,
    /// A late run shifts the schedule: the next run is a period after the late one *began*. A run
    /// is late if it begins at least a tick after its deadline rounded up to the tick, even if no
    /// period was missed. A run in time shifts nothing, so there is no drift while all runs are in
    /// time. (`java.util.Timer` counts from each begin, and drifts.)
    Delay,
}

/// How the next deadline follows from a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// From deadline to deadline.
    Rate(Missed),
    /// From the end of a run to the deadline of the next.
    Delay,
    /// A rule names the deadline of the next. A run that never began has not asked the rule. After
    /// such a run, the pace is `Delay`.
    Rule,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeat {
    pub(crate) period: NonZeroU64,
    /// The number of runs. `None`: no end.
    pub(crate) times: Option<NonZeroU64>,
    pub(crate) pace: Pace,
    /// Periods skipped before the next run.
    pub(crate) missed: u64,
}

impl Repeat {
    /// Checks a plan. The period must not be shorter than the tick of the service.
    pub(crate) fn new(
        period: Duration,
        times: Option<u64>,
        pace: Pace,
        tick: Duration,
    ) -> Result<Self, Reason> {
        let its_nanos = nanos(period).ok_or(Reason::Overflow)?;
        let its_nanos = NonZeroU64::new(its_nanos).ok_or(Reason::ZeroPeriod)?;
        if period < tick {
            return Err(Reason::PeriodBelowTick(tick));
        }
        let runs = |runs| NonZeroU64::new(runs).ok_or(Reason::ZeroTimes);
        let times = times.map(runs).transpose()?;
        Ok(Self { period: its_nanos, times, pace, missed: 0 })
    }

    pub(crate) fn is_last(&self, number: u64) -> bool {
        self.times.is_some_and(|times| number >= times.get())
    }

    /// Returns `true` if each missed period has its run, so that the next run may be due before the
    /// last one ended.
    pub(crate) fn makes_up(&self) -> bool {
        self.pace == Pace::Rate(Missed::Burst)
    }

    /// Returns `true` if such a job is further behind its schedule after a run that took this long.
    pub(crate) fn falls_behind(&self, took: Duration) -> bool {
        self.makes_up() && took.as_nanos() >= self.period.get().into()
    }

    /// The next deadline after a run, and how many periods are skipped before it. `None` if that is
    /// out of range. With `Missed::Skip`, a period is missed if its moment is before `ended`.
    /// `ticks` decides whether a run is late, and the latest possible deadline.
    pub(crate) fn next(
        &self,
        ticks: Ticks,
        deadline: Moment,
        started: Moment,
        ended: Moment,
    ) -> Option<(Moment, u64)> {
        let Pace::Rate(policy) = self.pace else { return Some((self.after(ticks, ended, 1)?, 0)) };
        let next = self.after(ticks, deadline, 1)?;
        match policy {
            // The run makes up for all periods that had passed when it began.
            Missed::Once => {
                let missed = started.saturating_since(deadline).as_nanos();
                let missed = u64::try_from(missed / u128::from(self.period.get())).ok()?;
                Some((self.after(ticks, deadline, missed.checked_add(1)?)?, missed))
            }
            Missed::Delay if self.is_late(ticks, deadline, started) => {
                Some((self.after(ticks, started, 1)?, 0))
            }
            Missed::Skip if next < ended => {
                // At least one, since `next` is before `ended`.
                let missed = (ended.as_nanos() - deadline.as_nanos() - 1) / self.period;
                Some((self.after(ticks, deadline, missed + 1)?, missed))
            }
            _ => Some((next, 0)),
        }
    }

    /// The first moment of the schedule at or after `now`, or `now` without a fixed rate.
    /// `deadline` must be a moment of the schedule before `now`.
    pub(crate) fn not_before(&self, ticks: Ticks, deadline: Moment, now: Moment) -> Moment {
        debug_assert!(deadline < now, "{deadline:?} has not passed at {now:?}");
        let Pace::Rate(_) = self.pace else { return now };
        let passed = now.saturating_since(deadline).as_nanos().div_ceil(self.period.get().into());
        let periods = u64::try_from(passed).unwrap_or(u64::MAX);
        self.after(ticks, deadline, periods).unwrap_or(ticks.latest())
    }

    /// Returns `true` if a run began at least a tick after the instant of its deadline's tick.
    fn is_late(&self, ticks: Ticks, deadline: Moment, started: Moment) -> bool {
        let due = ticks.instant(ticks.not_before(deadline));
        started.saturating_since(due) >= ticks.length()
    }

    fn after(&self, ticks: Ticks, moment: Moment, periods: u64) -> Option<Moment> {
        let distance = self.period.get().checked_mul(periods)?;
        let next = moment.as_nanos().checked_add(distance).map(Moment::from_nanos)?;
        ticks.reaches(next).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_10(pace: Pace) -> Repeat {
        let period = NonZeroU64::new(10).unwrap();
        Repeat { period, times: None, pace, missed: 0 }
    }

    fn ticks(nanos: u64) -> Ticks {
        Ticks::new(Duration::from_nanos(nanos)).unwrap()
    }

    /// The next deadline and the number of missed periods after a run from `started` to `ended`
    /// that was due at 100.
    fn next(pace: Pace, tick: u64, started: u64, ended: u64) -> Option<(u64, u64)> {
        let [deadline, started, ended] = [100, started, ended].map(Moment::from_nanos);
        let next = every_10(pace).next(ticks(tick), deadline, started, ended);
        next.map(|(next, missed)| (next.as_nanos(), missed))
    }

    /// The exact moments, which random schedules rarely reach.
    #[test]
    fn a_run_is_late_from_a_whole_period_or_tick_on() {
        let [once, skip, delay] = [Missed::Once, Missed::Skip, Missed::Delay].map(Pace::Rate);
        for (pace, tick, started, expected) in [
            (once, 1, 109, (110, 0)),
            (once, 1, 110, (120, 1)),
            // A period that is due now is not missed.
            (skip, 1, 110, (110, 0)),
            (skip, 1, 111, (120, 1)),
            // Late by a tick, though no period was missed.
            (delay, 1, 100, (110, 0)),
            (delay, 1, 101, (111, 0)),
            // With ticks of 8, the tick of the deadline 100 is at 104. So 111 is in time and causes
            // no drift, and 112 is late.
            (delay, 8, 111, (110, 0)),
            (delay, 8, 112, (122, 0)),
        ] {
            assert_eq!(next(pace, tick, started, started), Some(expected), "{pace:?} {started}");
        }
    }
}
