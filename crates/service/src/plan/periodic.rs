//! The plan of a job that runs periodically.

use super::Options;
use crate::handle::Handle;
use crate::job::{Backoff, Group, Key, Missed, Pace, Repeat};
use crate::job_handle::JobHandle;
use crate::shared::{Run, Work};
use crate::time::{Due, Moment, When};
use crate::work::{AsyncEach, CallEach, SendEach};
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

/// A plan of a job that runs periodically. Nothing is scheduled until [`run`](Self::run) or
/// [`send`](Self::send) is called. If such a call fails, its error has the [`Reason`], and the
/// closure or value.
///
/// By default it runs at a fixed rate: at the first deadline and at each whole number of periods
/// after it, without drift. If periods pass during a run, or while the machine stalls, one late run
/// makes up for them ([`Missed::Once`]); see [`missed`](Self::missed) for other policies.
///
/// Its runs do not overlap. If the work of one period may continue while that of the next begins, a
/// run passes its work on to [`execute`](Handle::execute):
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::Service;
///
/// let service = Service::start()?;
/// let timers = service.handle();
/// timers.every(Duration::from_secs(1)).run(|run| {
///     let number = run.number();
///     // An error if the service is being stopped.
///     _ = run.timers().execute(move |_| println!("probe {number}"));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    /// Counts the period from the end of one run to the start of the next.
    pub fn fixed_delay(mut self) -> Self {
        self.pace = Pace::Delay;
        self
    }

    /// Runs at a fixed rate, which is the default, with a policy for missed periods.
    pub fn missed(mut self, policy: Missed) -> Self {
        self.pace = Pace::Rate(policy);
        self
    }

    /// Returns the first deadline and the rule for the next ones, for callers that count the
    /// periods themselves.
    pub(crate) fn checked(mut self) -> Result<(Moment, Repeat), Reason> {
        let repeat = self.repeat()?;
        self.options.rare_options().rare = None;
        Ok((self.options.check(None)?.due.deadline, repeat))
    }

    fn schedule_again<W: Work>(self, work: W) -> Result<JobHandle, Rejected<W>> {
        let handle = self.options.handle;
        let plan = self.repeat().and_then(|repeat| self.options.check(Some(repeat)));
        handle.schedule(plan, work)
    }

    fn repeat(&self) -> Result<Repeat, Reason> {
        let tick = self.options.handle.ticks().length();
        Repeat::new(self.period, self.times, self.pace, tick)
    }
}
