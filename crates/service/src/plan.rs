//! Plans: when a job is to run, what it is called, and finally what it is to do.

use crate::future_work::{Async, Beside, Each, Once};
use crate::handle::{Futures, Handle, Plan, Run, Work};
use crate::job::{Backoff, Group, Info, Key, Life, Missed, More, Pace, Repeat};
use crate::job_handle::JobHandle;
use crate::time::{Due, Moment, Ticks, When, nanos};
use crate::work::{CallEach, CallOnce, CallShared, SendEach, SendOnce, TryEach};
use crate::{Reason, Rejected};
use crossbeam_channel::Sender;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

impl Handle {
    /// Plans a job for `delay` from now: call [`run`](OneShot::run) or [`send`](OneShot::send) on
    /// it to schedule it.
    pub fn after(&self, delay: Duration) -> OneShot<'_> {
        OneShot { options: Options::new(self, self.now().checked_add(delay).map(Due::at)) }
    }

    /// Plans a job for a point in time: a [`Moment`](crate::Moment) of the service's clock, an
    /// [`Instant`](std::time::Instant), or a [`SystemTime`](std::time::SystemTime), which is a date
    /// and a time of day. One that is past is due at once.
    ///
    /// A job for a `SystemTime` follows the wall clock, see [`When`]. If it is
    /// [moved](JobHandle::refresh) by a delay, it waits for a moment of the service's clock from
    /// then on.
    pub fn at(&self, when: impl Into<When>) -> OneShot<'_> {
        OneShot { options: Options::new(self, when.into().due(self.clock())) }
    }

    /// Plans a job that is run again and again, first a period from now, without end unless
    /// [`times`](Periodic::times) says so.
    pub fn every(&self, period: Duration) -> Periodic<'_> {
        Periodic::new(self, period, self.now().checked_add(period))
    }
}

/// What both kinds of plan have.
struct Options<'h> {
    handle: &'h Handle,
    /// `None` if it is too far away to be named.
    first: Option<Due>,
    name: Option<Arc<str>>,
    key: Option<Key>,
    replace: bool,
    tracked: bool,
    slack: Option<Duration>,
    /// Of each run that is a future.
    limit: Option<Duration>,
    more: Option<Box<More>>,
}

impl<'h> Options<'h> {
    fn new(handle: &'h Handle, first: Option<Due>) -> Self {
        Self {
            handle,
            first,
            name: None,
            key: None,
            replace: false,
            tracked: false,
            slack: None,
            limit: None,
            more: None,
        }
    }

    fn key(&mut self, key: Key, replace: bool) {
        self.key = Some(key);
        self.replace = replace;
    }

    /// Whether it has nothing but a deadline.
    #[inline]
    fn is_plain(&self) -> bool {
        let unnamed = self.name.is_none() && self.key.is_none();
        unnamed && self.slack.is_none() && !self.tracked && self.more.is_none()
    }

    fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    fn ticks(&self) -> Ticks {
        let ticks = self.handle.ticks();
        self.slack.map_or(ticks, |slack| ticks.with_slack(slack))
    }

    fn check(self, repeat: Option<Repeat>) -> Result<Plan, Reason> {
        let ticks = self.ticks();
        let plain = self.is_plain();
        let Self { mut first, name, key, replace, mut more, .. } = self;
        if let Some(more) = &mut more {
            more.late = more.draw();
            first = first.map(|first| first.later(more.late));
        }
        if key.as_ref().is_some_and(|key| key.is_empty()) {
            return Err(Reason::EmptyKey);
        }
        let is_async = more.as_ref().is_some_and(|more| more.is_async);
        if is_async && matches!(self.handle.shared().futures, Futures::Refused) {
            return Err(Reason::NoExecutor);
        }
        let due = first.filter(|first| ticks.reaches(first.deadline)).ok_or(Reason::Overflow)?;
        if let Some(wall) = &due.wall {
            more.get_or_insert_default().wall = Some(Box::clone(wall));
        }
        // All that a plain one-shot job does without.
        let full = !plain || repeat.is_some() || more.is_some();
        let life = full.then(|| Life {
            work: None,
            info: Arc::new(Info::new(name, key)),
            repeat,
            ticks,
            more,
            moved: false,
            ending: None,
        });
        Ok(Plan { due, life, replace })
    }
}

/// The methods that both kinds of plan have.
macro_rules! common_methods {
    () => {
        /// Gives the job a name, for messages and for those who get it back.
        pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
            self.options.name = Some(name.into());
            self
        }

        /// Gives the job a key, under which it can be found, cancelled and moved until its last run
        /// begins. If another job has the key, this one is refused.
        ///
        /// The key is free *before* the closure of the last run is called, so that this can
        /// schedule another job under it; other threads can do so too. Who removes in the closure
        /// what is stored elsewhere under the same key compares [`JobHandle::number`] first, or he
        /// removes what belongs to the next job; the example `session_store` does.
        pub fn key(mut self, key: impl Into<Key>) -> Self {
            self.options.key(key.into(), false);
            self
        }

        /// Gives the job a key; if another job has it, that one is cancelled. If that one is
        /// running, its run goes on. While both exist, which is for an instant, both count for
        /// [`max_jobs`](crate::Builder::max_jobs).
        pub fn replacing(mut self, key: impl Into<Key>) -> Self {
            self.options.key(key.into(), true);
            self
        }

        /// Lets runs be late by as much, so that the driver wakes up once for those that are due
        /// close together: deadlines are rounded up to whole multiples of this. In place of that of
        /// the [service](crate::Builder::slack).
        pub fn slack(mut self, slack: Duration) -> Self {
            self.options.slack = Some(slack);
            self
        }

        /// Tries runs that fail again: those that return an [error](Self::try_run), panic, or reach
        /// their [limit](Self::limit). What is to run once, and is no `try_run`, has no second try.
        ///
        /// Until a try succeeds or the last has failed, the job is not over and keeps its key. A
        /// periodic job keeps its schedule: if its next run is due before another try is, that is
        /// the next try. Tries are runs beside those that [`times`](Periodic::times) counts. Runs
        /// that [overlap](Periodic::run_overlapping) are not tried again.
        pub fn retry(mut self, backoff: Backoff) -> Self {
            self.options.more().retry = Some(backoff);
            self
        }

        /// The runs are futures; how long each may take.
        pub(crate) fn be_async(&mut self) -> Option<Duration> {
            self.options.more().is_async = true;
            self.options.limit
        }

        /// Has runs begin only when the group has a place for them, see [`Group`].
        pub fn group(mut self, group: &Group) -> Self {
            self.options.more().group = Some(group.clone());
            self
        }

        /// Ends each run of an [async job](Self::run_async) after so long: the future is dropped,
        /// and that is [reported](crate::EventKind::TimedOut). A closure cannot be interrupted, and
        /// takes no notice. While the service is being stopped the limit does not hold.
        pub fn limit(mut self, limit: Duration) -> Self {
            self.options.limit = Some(limit);
            self
        }
    };
}

/// A job that is to run once. Nothing is scheduled until [`run`](Self::run) or [`send`](Self::send)
/// is called.
#[must_use = "nothing is scheduled until `run` or `send` is called"]
pub struct OneShot<'h> {
    options: Options<'h>,
}

impl<'h> OneShot<'h> {
    common_methods!();

    /// Has its handles know how it ended, as those of a job with a name, a key or several runs do
    /// anyhow. See [`JobHandle`]. Costs some 200 bytes and an allocation.
    pub fn tracked(mut self) -> Self {
        self.options.tracked = true;
        self
    }

    /// Schedules a closure.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnOnce(&Run<'_>) + Send + 'static,
    {
        let scheduled = self.schedule(CallOnce(function));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.0 })
    }

    /// Schedules a closure that may fail: the error that it returns is [kept](JobHandle::last_error)
    /// and [reported](crate::EventKind::GaveUp), and with [`retry`](Self::retry) it is tried again.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn try_run<F, T, E>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) -> Result<T, E> + Send + 'static,
        E: fmt::Display,
    {
        let scheduled = self.tracked().schedule(TryEach(function));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.0 })
    }

    /// Schedules an async job that may fail: [`run_async`](Self::run_async) with the errors of
    /// [`try_run`](Self::try_run). To reach the [limit](Self::limit) is to fail too.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn try_run_async<F, Fut, T, E>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        E: fmt::Display,
    {
        let limit = self.be_async();
        let scheduled = self.schedule(Async::new(Each(function), limit));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.into_call().0 })
    }

    /// Schedules an async job: the closure is called when the run begins, and the future that it
    /// returns is the run. It is spawned where [`spawn_on`](crate::Builder::spawn_on) says; without
    /// that a worker waits for it.
    ///
    /// As with a closure, the run has ended when the future is ready: [`stop`](crate::Service::stop)
    /// waits for it, panics are caught, and one that takes long is reported. It may have a
    /// [limit](Self::limit). Takes an allocation for the run and some 300 bytes for the job.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn run_async<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let limit = self.be_async();
        let scheduled = self.schedule(Async::new(Once(function), limit));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.into_call().0 })
    }

    /// Schedules the sending of a value, by the driving thread, so that no slow job holds it up. If
    /// the channel is full then, the value is dropped and that is reported: no receiver can hold up
    /// other jobs.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the value in it: see [`Reason`].
    pub fn send<T: Send + 'static>(
        self,
        sender: &Sender<T>,
        value: T,
    ) -> Result<JobHandle, Rejected<T>> {
        let scheduled = self.schedule(SendOnce { sender: sender.clone(), value });
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.value })
    }

    pub(crate) fn schedule<W: Work>(self, work: W) -> Result<JobHandle, (Reason, W)> {
        let shard = self.options.handle.house().here();
        self.schedule_in(shard, work)
    }

    pub(crate) fn schedule_in<W: Work>(
        self,
        shard: u32,
        work: W,
    ) -> Result<JobHandle, (Reason, W)> {
        let Options { handle, first: Some(Due { deadline, wall: None }), .. } = &self.options
        else {
            return self.options.handle.schedule_in(shard, self.options.check(None), work);
        };
        if self.options.is_plain() && handle.ticks().reaches(*deadline) {
            return handle.schedule_plain(shard, *deadline, work);
        }
        handle.schedule_in(shard, self.options.check(None), work)
    }
}

/// A closure that was refused.
fn unshared<F>(function: Arc<F>) -> F {
    Arc::into_inner(function).expect("it has not run, so that there is no other copy")
}

/// A job that is to run again and again. Nothing is scheduled until [`run`](Self::run),
/// [`run_overlapping`](Self::run_overlapping) or [`send`](Self::send) is called.
///
/// By default it runs at a fixed rate: at the first deadline and at each whole number of periods
/// after it, without drift, and each period has its run however late ([`Missed::Burst`]). A job
/// does not overlap with itself: if a run takes longer than the period, the next one waits, and is
/// late.
#[must_use = "nothing is scheduled until `run` or `send` is called"]
pub struct Periodic<'h> {
    options: Options<'h>,
    period: Duration,
    times: Option<u64>,
    pace: Pace,
}

impl<'h> Periodic<'h> {
    pub(crate) fn new(handle: &'h Handle, period: Duration, first: Option<Moment>) -> Self {
        Self {
            options: Options::new(handle, first.map(Due::at)),
            period,
            times: None,
            pace: Pace::Rate(Missed::default()),
        }
    }

    common_methods!();

    /// Has the first run `delay` from now, instead of a period from now.
    pub fn first_after(mut self, delay: Duration) -> Self {
        let first = self.options.handle.now().checked_add(delay);
        self.options.first = first.map(Due::at);
        self
    }

    /// Has the first run at a point in time, see [`Handle::at`]. Those that follow count from there
    /// by the clock of the service.
    pub fn first_at(mut self, when: impl Into<When>) -> Self {
        self.options.first = when.into().due(self.options.handle.clock());
        self
    }

    /// Lets each run be late by anything up to this, by chance and each time anew, so that many who
    /// were started together do not call somewhere together. The schedule stays: nothing drifts,
    /// and what is late by this is not counted as missed. [`Run::deadline`] is with it.
    pub fn jitter(mut self, jitter: Duration) -> Self {
        self.options.more().jitter = jitter;
        self
    }

    /// A rule says when it runs again.
    pub(crate) fn by_rule(mut self) -> Self {
        self.options.more().by_rule = true;
        self
    }

    pub(crate) fn jitter_of(&self) -> Duration {
        self.options.more.as_ref().map_or(Duration::ZERO, |more| more.jitter)
    }

    /// Ends the job after so many runs.
    pub fn times(mut self, runs: u64) -> Self {
        self.times = Some(runs);
        self
    }

    /// Counts the period from the end of one run to the begin of the next. (Of runs that overlap:
    /// from the begin.)
    pub fn fixed_delay(mut self) -> Self {
        self.pace = Pace::Delay;
        self
    }

    /// Runs at a fixed rate, which is the default, and says what becomes of periods that are
    /// missed.
    pub fn missed(mut self, policy: Missed) -> Self {
        self.pace = Pace::Rate(policy);
        self
    }

    /// Schedules a closure. One run at a time.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) + Send + 'static,
    {
        let scheduled = self.schedule(false, CallEach(function));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.0 })
    }

    /// Schedules a closure of which several runs may go on at a time: each begins when its time has
    /// come, if a worker is free, whether or not those before have ended.
    ///
    /// Where none is free, one run waits, and those after it are not handed out before it begins:
    /// they are late, or are left out, as the policy for [missed](Self::missed) periods says. So
    /// they do not pile up, and what waits can be cancelled, moved and given back like the run of
    /// any other job.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn run_overlapping<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: Fn(&Run<'_>) + Send + Sync + 'static,
    {
        let scheduled = self.schedule(true, CallShared(Arc::new(function)));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: unshared(work.0) })
    }

    /// Schedules a closure that may fail: the error that it returns is [kept](JobHandle::last_error)
    /// and [reported](crate::EventKind::GaveUp), and with [`retry`](Self::retry) it is tried again.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn try_run<F, T, E>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) -> Result<T, E> + Send + 'static,
        E: fmt::Display,
    {
        let scheduled = self.schedule(false, TryEach(function));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.0 })
    }

    /// Schedules an async job that may fail: [`run_async`](Self::run_async) with the errors of
    /// [`try_run`](Self::try_run). To reach the [limit](Self::limit) is to fail too.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn try_run_async<F, Fut, T, E>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        E: fmt::Display,
    {
        let limit = self.be_async();
        let scheduled = self.schedule(false, Async::new(Each(function), limit));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.into_call().0 })
    }

    /// Schedules an async job, see [`OneShot::run_async`]. One run at a time: the next begins when
    /// the future of the one before is ready, and periods that pass meanwhile are
    /// [missed](Self::missed) as with a closure.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheelhouse_service::Service;
    ///
    /// # async fn check_health() {}
    /// let service = Service::builder().workers(2).start()?;
    /// let plan = service.handle();
    /// let plan = plan.every(Duration::from_secs(10)).limit(Duration::from_secs(3));
    /// plan.named("health").run_async(|_| async { check_health().await })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn run_async<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnMut(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let limit = self.be_async();
        let scheduled = self.schedule(false, Async::new(Each(function), limit));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.into_call().0 })
    }

    /// Schedules an async job of which several runs may go on at a time, see
    /// [`run_overlapping`](Self::run_overlapping).
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn run_async_overlapping<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: Fn(&Run<'_>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let limit = self.be_async();
        let scheduled = self.schedule(true, Async::new(Beside(Arc::new(function)), limit));
        scheduled.map_err(|(reason, work)| Rejected { reason, job: unshared(work.into_call().0) })
    }

    /// Schedules the sending of a copy of a value, again and again, by the driving thread: to clone
    /// it should take no time, as it does for what is behind an [`Arc`]. If the channel is full,
    /// the copy is dropped and that is reported; if nobody receives any more, the job ends.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the value in it: see [`Reason`].
    pub fn send<T: Clone + Send + 'static>(
        self,
        sender: &Sender<T>,
        value: T,
    ) -> Result<JobHandle, Rejected<T>> {
        let scheduled = self.schedule(false, SendEach { sender: sender.clone(), value });
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.value })
    }

    pub(crate) fn schedule<W: Work>(
        self,
        overlapping: bool,
        work: W,
    ) -> Result<JobHandle, (Reason, W)> {
        let handle = self.options.handle;
        let plan = self.repeat(overlapping).and_then(|repeat| self.options.check(Some(repeat)));
        handle.schedule(plan, work)
    }

    pub(crate) fn handle(&self) -> &'h Handle {
        self.options.handle
    }

    /// The first deadline and what follows it, for those who count the periods themselves.
    pub(crate) fn checked(mut self) -> Result<(Moment, Repeat, Ticks), Reason> {
        let repeat = self.repeat(false)?;
        self.options.more = None;
        let ticks = self.options.ticks();
        Ok((self.options.check(None)?.due.deadline, repeat, ticks))
    }

    fn repeat(&self, overlapping: bool) -> Result<Repeat, Reason> {
        let ticks = self.options.ticks();
        let period = NonZeroU64::new(nanos(self.period).ok_or(Reason::Overflow)?)
            .ok_or(Reason::ZeroPeriod)?;
        if self.period < ticks.length() {
            return Err(Reason::PeriodBelowTick(ticks.length()));
        }
        let times = match self.times {
            None => None,
            Some(runs) => Some(NonZeroU64::new(runs).ok_or(Reason::ZeroTimes)?),
        };
        Ok(Repeat { period, times, pace: self.pace, overlapping, missed: 0 })
    }
}
