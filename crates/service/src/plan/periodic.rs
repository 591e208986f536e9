//! The plan of a job that runs periodically.

use super::Options;
use crate::handle::Handle;
use crate::job::{Backoff, Group, Key, Missed, Pace, Repeat};
use crate::job_handle::JobHandle;
use crate::shared::{Run, Work};
use crate::time::{Due, Moment, When};
use crate::work::{AsyncEach, CallEach, CallShared, SendEach};
use crate::{Reason, Rejected};
use crossbeam_channel::Sender;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The default slack. A job with a period of a second can be a millisecond late. Without it, a run
/// of 100,000 such jobs took five times the processor time, since each tick had its own wake-up.
fn slack_of(period: Duration) -> Duration {
    (period / 1_000).min(Duration::from_millis(1))
}

/// A plan of a job that runs periodically. Nothing is scheduled until [`run`](Self::run),
/// [`run_overlapping`](Self::run_overlapping) or [`send`](Self::send) is called. If such a call
/// fails, its error has the [`Reason`], and the closure or value.
///
/// By default it runs at a fixed rate: at the first deadline and at each whole number of periods
/// after it, without drift. Its runs do not overlap. If periods pass during a run, or while the
/// machine stalls, one late run makes up for them ([`Missed::Once`]); see [`missed`](Self::missed)
/// for other policies.
///
/// The default [slack](Self::slack) is a thousandth of the period, and a millisecond at most. With
/// `slack(Duration::ZERO)` runs are as exact as those of a one-shot job, to the tick.
#[must_use = "nothing is scheduled until `run` or `send` is called"]
pub struct Periodic<'h> {
    pub(crate) options: Options<'h>,
    period: Duration,
    times: Option<u64>,
    pace: Pace,
}

impl<'h> Periodic<'h> {
    pub(super) fn new(handle: &'h Handle, period: Duration, first: Option<Moment>) -> Self {
        let mut options = Options::new(handle, first.map(Due::at));
        options.rare_options().slack = Some(slack_of(period));
        Self { options, period, times: None, pace: Pace::Rate(Missed::default()) }
    }

    common_methods!();
    repeated_methods!();

    /// Sets the first run to `delay` from now, instead of a period from now.
    pub fn first_after(mut self, delay: Duration) -> Self {
        let first = self.options.handle.now().checked_add(delay);
        self.options.first = first.map(Due::at);
        self
    }

    /// Sets the first run to a point in time, see [`Handle::at`]. The following runs count from
    /// there, by the clock of the service.
    pub fn first_at(mut self, when: impl Into<When>) -> Self {
        self.options.first = when.into().due(self.options.handle.clock());
        self
    }

    /// Counts the period from the end of one run to the start of the next; if runs overlap, from
    /// start to start.
    pub fn fixed_delay(mut self) -> Self {
        self.pace = Pace::Delay;
        self
    }

    /// Runs at a fixed rate, which is the default, with a policy for missed periods.
    pub fn missed(mut self, policy: Missed) -> Self {
        self.pace = Pace::Rate(policy);
        self
    }

    /// Schedules a closure whose runs may overlap: each run begins when its time comes and a thread
    /// is free, even if earlier runs are still in progress.
    ///
    /// If no thread is free, one run waits, and later runs are not handed out before it begins:
    /// they are late or skipped, as the policy for [missed](Self::missed) periods says. So runs do
    /// not pile up, and a cancel, move or stop finds one run that waits, as for any other job.
    pub fn run_overlapping<F>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: Fn(&Run<'_>) + Send + Sync + 'static,
    {
        let job = |CallShared(function)| {
            Arc::into_inner(function).expect("it has not run, so there is no other copy")
        };
        self.options.drop_retry();
        let scheduled = self.schedule(true, CallShared(Arc::new(function)));
        scheduled.map_err(|rejected| rejected.map(job))
    }

    fn schedule<W: Work>(self, overlapping: bool, work: W) -> Result<JobHandle, Rejected<W>> {
        let handle = self.options.handle;
        let plan = self.repeat(overlapping).and_then(|repeat| self.options.check(Some(repeat)));
        handle.schedule(plan, work)
    }

    /// Returns the first deadline and the rule for the next ones, for callers that count the
    /// periods themselves.
    pub(crate) fn checked(mut self) -> Result<(Moment, Repeat), Reason> {
        let repeat = self.repeat(false)?;
        self.options.rare_options().rare = None;
        Ok((self.options.check(None)?.due.deadline, repeat))
    }

    fn schedule_again<W: Work>(self, work: W) -> Result<JobHandle, Rejected<W>> {
        self.schedule(false, work)
    }

    fn repeat(&self, overlapping: bool) -> Result<Repeat, Reason> {
        let tick = self.options.handle.ticks().length();
        let repeat = Repeat::new(self.period, self.times, self.pace, tick)?;
        Ok(Repeat { overlapping, ..repeat })
    }
}
