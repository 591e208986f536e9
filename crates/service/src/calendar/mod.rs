//! Jobs by the calendar: whenever a rule says so.

#[cfg(feature = "cron")]
pub mod cron;
#[cfg(feature = "cron")]
mod cron_line;

use crate::future_work::{Async, Each};
use crate::handle::{Back, Handle, Run, RunFuture, Work};
use crate::job::{Backoff, Group, Key, draw};
use crate::job_handle::JobHandle;
use crate::plan::{Periodic, fallible_methods};
use crate::work::{CallEach, TryEach, call_again};
use crate::{Reason, Rejected};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Names the times at which a job is to run. A closure is one too; with the feature `cron`, so is
/// `cron::Cron`.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wheelhouse_service::{ManualClock, Moment, Scheduler};
///
/// // Each full hour, UTC.
/// let hourly = |after: SystemTime| {
///     let hours = after.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs() / 3600;
///     Some(SystemTime::UNIX_EPOCH + Duration::from_secs((hours + 1) * 3600))
/// };
/// let clock = ManualClock::with_wall(SystemTime::UNIX_EPOCH + Duration::from_secs(1000));
/// let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
/// let timers = scheduler.handle();
/// let chime = timers.on(hourly).named("chime");
/// let job = chime.run(|run| println!("chime {}", run.number()))?;
/// assert_eq!(job.remaining(), Some(Duration::from_secs(2600)));
/// scheduler.play(&clock, Moment::ORIGIN.saturating_add(Duration::from_secs(24 * 3600)));
/// assert_eq!(job.runs(), 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Rule: Send + 'static {
    /// The first time after `after`, not that itself; `None` if there is none any more.
    fn next(&mut self, after: SystemTime) -> Option<SystemTime>;
}

impl<F: FnMut(SystemTime) -> Option<SystemTime> + Send + 'static> Rule for F {
    fn next(&mut self, after: SystemTime) -> Option<SystemTime> {
        self(after)
    }
}

/// When a run is tried again that an executor has dropped.
const RETRY: Duration = Duration::from_secs(60);

/// A job that is to run whenever a rule says so: from [`Handle::on`]. Nothing is scheduled until
/// [`run`](Self::run) is called.
///
/// The rule is asked for the next time when a run begins. A time that passes while a run goes on,
/// or while the machine stalls, is made up for by one late run; of several, all but the first are
/// left out. No time has two runs: if the wall clock is set back, the rule is asked for times after
/// the last one only.
///
/// If the clock is set back while a run is waited for, that one stays the next: the rule is not
/// asked for times that lie before it. A run that was [moved](JobHandle::refresh), to try a report
/// again say, is one more, and takes no time away. Of times that were left out, none is counted as
/// missed; [`Run::time`] says which one a run is for.
///
/// A rule that panics is reported as a panic of the job, its closure is not called, and it is tried
/// again after a minute.
///
/// A run waits for the wall clock to show its time, see [`Handle::at`]: it never begins
/// before, and if that clock is set forward, or the machine was suspended, it begins within a
/// minute of that. A run that an executor dropped is tried again after a minute.
#[must_use = "nothing is scheduled until `run` is called"]
pub struct OnRule<'h, R> {
    plan: Periodic<'h>,
    rule: R,
    /// The time of the first run.
    first: Option<SystemTime>,
}

impl<R: Rule> OnRule<'_, R> {
    fallible_methods!();

    /// Gives the job a name. See [`Periodic::named`].
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.plan = self.plan.named(name);
        self
    }

    /// Gives the job a key. See [`Periodic::key`].
    pub fn key(mut self, key: impl Into<Key>) -> Self {
        self.plan = self.plan.key(key);
        self
    }

    /// Gives the job a key that another may have. See [`Periodic::replacing`].
    pub fn replacing(mut self, key: impl Into<Key>) -> Self {
        self.plan = self.plan.replacing(key);
        self
    }

    /// Ends the job after so many runs.
    pub fn times(mut self, runs: u64) -> Self {
        self.plan = self.plan.times(runs);
        self
    }

    /// Tries runs that fail again, before the next time of the rule; not the last of a rule that
    /// ends. See [`Periodic::retry`].
    pub fn retry(mut self, backoff: Backoff) -> Self {
        self.plan = self.plan.retry(backoff);
        self
    }

    /// Lets each run be late by anything up to this, by chance. See [`Periodic::jitter`].
    pub fn jitter(mut self, jitter: Duration) -> Self {
        self.plan = self.plan.jitter(jitter);
        self
    }

    /// Has runs begin only when the group has a place for them. See [`Group`].
    pub fn group(mut self, group: &Group) -> Self {
        self.plan = self.plan.group(group);
        self
    }

    /// Limits each run of an async job. See [`Periodic::limit`].
    pub fn limit(mut self, limit: Duration) -> Self {
        self.plan = self.plan.limit(limit);
        self
    }

    /// Schedules a closure. One run at a time. When the rule has no further time, or names one that
    /// is not after the last, the job is finished, as by [`Run::end`].
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it and without the rule: [`Reason::NoOccurrence`] if that
    /// has no time, or see [`Reason`].
    pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) + Send + 'static,
    {
        let scheduled = self.schedule(CallEach(function));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.0 })
    }

    /// Schedules an async job, see [`OneShot::run_async`](crate::OneShot::run_async). One run at a
    /// time.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn run_async<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let limit = self.be_async();
        let scheduled = self.schedule(Async::new(Each(function), limit));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.into_call().0 })
    }

    fn be_async(&mut self) -> Option<Duration> {
        self.plan.be_async()
    }

    fn schedule_again<W: Work>(self, work: W) -> Result<JobHandle, (Reason, W)> {
        self.schedule(work)
    }

    fn schedule<W: Work>(self, work: W) -> Result<JobHandle, (Reason, W)> {
        if self.first.is_none() {
            return Err((Reason::NoOccurrence, work));
        }
        let jitter = self.plan.jitter_of();
        let plan = self.plan.by_rule();
        let inner = Back { work: Some(Box::new(work)), ..Back::default() };
        let scheduled =
            plan.schedule(false, CallOnRule { rule: self.rule, last: None, jitter, inner });
        scheduled.map_err(|(reason, work)| {
            let work = work.inner.work.expect("it has not run");
            (reason, *work.into_any().downcast().expect("the work that was given"))
        })
    }
}

impl Handle {
    /// Plans a job for the times that a rule names.
    pub fn on<R: Rule>(&self, mut rule: R) -> OnRule<'_, R> {
        let first = rule.next(self.clock().wall());
        // A run that was dropped is tried again so long after that, and not once for each period of
        // a stall.
        let plan = Periodic::new(self, self.ticks().length().max(RETRY), None).fixed_delay();
        let plan = if let Some(time) = first { plan.first_at(time) } else { plan };
        OnRule { plan, rule, first }
    }
}

/// Work, and the rule that says when it is to be done again.
struct CallOnRule<R> {
    rule: R,
    /// The last time that had its run.
    last: Option<SystemTime>,
    jitter: Duration,
    inner: Back,
}

impl<R: Rule> CallOnRule<R> {
    /// Moves the next run to where the rule wants it; ends the job if there is none.
    ///
    /// To be called first, so that a closure that panics has a next run, and one that ends the job
    /// or moves it has the last word.
    fn plan_next(&mut self, run: &Run<'_>) {
        if run.is_last() || run.extra {
            return;
        }
        // A run that was moved to a moment is for no time, and takes none away.
        self.last = run.time().or(self.last);
        let wall = run.wall();
        let after = self.last.map_or(wall, |last| wall.max(last));
        // A rule that names a time that is past would have the job run for ever.
        let next = self.rule.next(after).filter(|next| *next > after);
        if !next.is_some_and(|next| run.wait_for_wall(next, draw(self.jitter))) {
            run.end();
        }
    }
}

impl<R: Rule> Work for CallOnRule<R> {
    fn call(self: Box<Self>, run: &Run<'_>, back: &mut Back) {
        let mut error = None;
        call_again(self, back, |it| {
            it.plan_next(run);
            let work = it.inner.work.take_if(|_| !run.stale);
            work.into_iter().for_each(|work| work.call(run, &mut it.inner));
            error = it.inner.error.take();
        });
        back.error = error;
    }

    fn call_async(self: Box<Self>, run: &Run<'_>, back: &mut Back) -> Option<RunFuture> {
        let mut future = None;
        call_again(self, back, |it| {
            it.plan_next(run);
            let work = it.inner.work.take_if(|_| !run.stale);
            future = work.and_then(|work| work.call_async(run, &mut it.inner));
        });
        future
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
