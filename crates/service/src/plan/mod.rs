//! Plans: when a job runs, its options, and finally its work.

use crate::handle::Handle;
use crate::job::{Info, Key, RareState, Repeat, draw_jitter};
use crate::shared::Run;
use crate::time::{Due, Ticks, When};
use crate::{Reason, Rejected};
use std::sync::Arc;
use std::time::Duration;

impl Handle {
    /// Plans a job for `delay` from now.
    pub fn after(&self, delay: Duration) -> OneShot<'_> {
        OneShot { options: Options::new(self, self.now().checked_add(delay).map(Due::at)) }
    }

    /// Plans a job for a point in time, see [`When`]. A past time is due at once. A job for a time
    /// of the wall clock that is [moved](crate::JobHandle::refresh) by a delay follows the clock of
    /// the service from then on.
    pub fn at(&self, when: impl Into<When>) -> OneShot<'_> {
        OneShot { options: Options::new(self, when.into().due(self.clock())) }
    }

    /// Plans a periodic job. Its first run is a period from now, and it runs indefinitely unless
    /// [`times`](crate::Periodic::times) is set.
    pub fn every(&self, period: Duration) -> Periodic<'_> {
        Periodic::new(self, period, self.now().checked_add(period))
    }

    /// Runs a closure as soon as a thread of the service is free. Its deadline is the last tick
    /// that has been reached, so it does not wait for the next one, unlike a plan with a delay of
    /// zero. For jobs that are already due when they reach the program, such as jobs read from a
    /// store.
    ///
    /// It is a job like any other. A panic is caught and reported. A [stop](crate::Service::stop)
    /// returns it if it has not begun. It counts towards [`max_jobs`](crate::Builder::max_jobs). It
    /// waits while all jobs are [paused](Self::pause).
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn execute<F>(&self, function: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce(&Run<'_>) + Send + 'static,
    {
        self.at_once().run(function).map(drop)
    }

    /// Runs an async job as soon as a thread is free, as [`execute`](Self::execute) runs a closure:
    /// see [`run_async`](crate::OneShot::run_async).
    ///
    /// # Errors
    ///
    /// Those of [`execute`](Self::execute).
    pub fn execute_async<F, Fut>(&self, function: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.at_once().run_async(function).map(drop)
    }

    fn at_once(&self) -> OneShot<'_> {
        let ticks = self.ticks();
        self.at(ticks.instant(ticks.reached(self.now())))
    }
}

/// The parts of all kinds of plan.
pub(crate) struct Options<'h> {
    pub(crate) handle: &'h Handle,
    /// `None` if it is out of range.
    first: Option<Due>,
    /// In a box: a plan without options is small, and the compiler sees cheaply that it has none.
    rare_options: Option<Box<RareOptions>>,
}

#[derive(Default)]
pub(crate) struct RareOptions {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) key: Option<Key>,
    pub(crate) replace: bool,
    pub(crate) slack: Option<Duration>,
    /// The time limit of each async run.
    pub(crate) limit: Option<Duration>,
    rare: Option<Box<RareState>>,
}

impl<'h> Options<'h> {
    #[inline]
    pub(crate) fn new(handle: &'h Handle, first: Option<Due>) -> Self {
        Self { handle, first, rare_options: None }
    }

    pub(crate) fn rare_options(&mut self) -> &mut RareOptions {
        self.rare_options.get_or_insert_default()
    }

    pub(crate) fn rare_state(&mut self) -> &mut RareState {
        self.rare_options().rare.get_or_insert_default()
    }

    /// Drops the retry, if there is one: the work is never called again.
    pub(crate) fn drop_retry(&mut self) {
        let rare = self.rare_options.as_mut().and_then(|options| options.rare.as_mut());
        rare.into_iter().for_each(|rare| rare.retry = None);
    }

    fn ticks(&self) -> Ticks {
        let ticks = self.handle.ticks();
        let slack = self.rare_options.as_ref().and_then(|options| options.slack);
        slack.map_or(ticks, |slack| ticks.with_slack(slack))
    }

    pub(crate) fn check(self, repeat: Option<Repeat>) -> Result<Plan, Reason> {
        let (ticks, mut first) = (self.ticks(), self.first);
        let RareOptions { name, key, replace, mut rare, .. } =
            self.rare_options.map_or_else(RareOptions::default, |options| *options);
        if let Some(rare) = &mut rare {
            rare.planned.jitter_delay = draw_jitter(rare.jitter);
            first = first.map(|first| first.delayed_by(rare.planned.jitter_delay));
        }
        if key.as_ref().is_some_and(|key| key.is_empty()) {
            return Err(Reason::EmptyKey);
        }
        let due = first.filter(|first| ticks.reaches(first.deadline)).ok_or(Reason::Overflow)?;
        if let Some(wall) = &due.wall {
            rare.get_or_insert_default().planned.wall = Some(Box::clone(wall));
        }
        Ok(Plan { due, info: Info::new(name, key), repeat, ticks, rare, replace })
    }
}

/// The methods of all kinds of plan.
macro_rules! common_methods {
    () => {
        /// Gives the job a name, for messages and traces. The [handles](JobHandle) of a named job
        /// return how it ended; a one-shot job without name or key does not keep its outcome. Costs
        /// some 200 bytes and an allocation.
        pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
            self.options.rare_options().name = Some(name.into());
            self
        }

        /// Gives the job a unique key, under which it can be found, cancelled and moved until its
        /// last run begins. If another job has the key, this one is refused.
        ///
        /// The key is free *before* the closure of the last run is called, so that the closure can
        /// schedule another job under it. Other threads can do so too. If the closure removes data
        /// under the same key elsewhere, compare [`JobHandle::number`] first, as the example
        /// `session_store` does: the data may be that of the next job.
        pub fn key(mut self, key: impl Into<Key>) -> Self {
            let rare_options = self.options.rare_options();
            (rare_options.key, rare_options.replace) = (Some(key.into()), false);
            self
        }

        /// Gives the job a key. If another job has the key, that job is cancelled; if it is
        /// running, its run continues. For an instant both exist, and both count for
        /// [`max_jobs`](crate::Builder::max_jobs).
        pub fn replacing(mut self, key: impl Into<Key>) -> Self {
            let rare_options = self.options.rare_options();
            (rare_options.key, rare_options.replace) = (Some(key.into()), true);
            self
        }

        /// Allows runs to be late by up to `slack`, so that the driver wakes up once for jobs that
        /// are due close together: deadlines are rounded up to whole multiples of it. The default
        /// is a tick, and for [periodic](crate::Periodic) jobs a thousandth of the period, a
        /// millisecond at most.
        pub fn slack(mut self, slack: Duration) -> Self {
            self.options.rare_options().slack = Some(slack);
            self
        }

        /// Retries runs that fail: runs that return an [error](Self::try_run), panic, or exceed
        /// their [limit](Self::limit). A one-shot job is retried only if it is scheduled by
        /// `try_run` or `try_run_async`: the closure of `run` can be called only once.
        ///
        /// Until an attempt succeeds or the last has failed, the job is not over and keeps its key.
        /// A periodic job keeps its schedule: if its next run is due before the retry, that run is
        /// the next attempt. Retries are additional to the runs that
        /// [`times`](crate::Periodic::times) counts.
        pub fn retry(mut self, backoff: Backoff) -> Self {
            self.options.rare_state().retry = Some(backoff);
            self
        }

        /// Declares that the runs are futures. Returns their time limit.
        pub(crate) fn be_async(&mut self) -> Option<Duration> {
            self.options.rare_state().dispatch.is_async = true;
            self.options.rare_options().limit
        }

        /// Runs begin only when the group has a free place, see [`Group`].
        pub fn group(mut self, group: &Group) -> Self {
            self.options.rare_state().dispatch.group = Some(group.clone());
            self
        }

        /// Declares that the runs may block, for instance because they wait for a disk. Another
        /// thread then takes the lead before each run, so other jobs do not even wait for the
        /// [patience](crate::Builder::workers). To wake that thread costs the leader some 5
        /// microseconds. It has no effect if all threads are in runs, or if there is only one.
        pub fn blocking(mut self) -> Self {
            self.options.rare_state().dispatch.blocks = true;
            self
        }

        /// Ends each run of an [async job](Self::run_async) after `limit`: the future is dropped,
        /// which is [reported](crate::EventKind::TimedOut). Closures cannot be interrupted, and
        /// ignore the limit. The limit holds until the threads of the service have ended, so only a
        /// run on [another executor](crate::Builder::spawn_on) can outlive it.
        pub fn limit(mut self, limit: Duration) -> Self {
            self.options.rare_options().limit = Some(limit);
            self
        }

        /// Schedules a closure that may fail. An error that it returns is
        /// [kept](JobHandle::last_error) and [reported](crate::EventKind::GaveUp), and with
        /// [`retry`](Self::retry) the run is retried.
        pub fn try_run<F, T, E>(self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) -> Result<T, E> + Send + 'static,
            E: fmt::Display,
        {
            self.schedule_again(CallEach(function)).map_err(|rejected| rejected.map(|work| work.0))
        }

        /// Schedules an async job that may fail: [`run_async`](Self::run_async) with the errors of
        /// [`try_run`](Self::try_run). A run that exceeds its [limit](Self::limit) has failed too.
        pub fn try_run_async<F, Fut, T, E>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) -> Fut + Send + 'static,
            Fut: Future<Output = Result<T, E>> + Send + 'static,
            E: fmt::Display,
        {
            let limit = self.be_async();
            self.schedule_again(AsyncEach { function, limit })
                .map_err(|rejected| rejected.map(|work| work.function))
        }
    };
}

/// The methods of plans whose jobs have several runs.
macro_rules! repeated_methods {
    () => {
        /// Ends the job after this number of runs.
        pub fn times(mut self, runs: u64) -> Self {
            self.times = Some(runs);
            self
        }

        /// Delays each run by a random time up to `jitter`, drawn for each run, so that many jobs
        /// that started together do not all run at the same moment. The schedule does not drift,
        /// and a run that is late because of jitter does not count as missing periods.
        /// [`Run::deadline`] includes the jitter.
        pub fn jitter(mut self, jitter: Duration) -> Self {
            self.options.rare_state().jitter = jitter;
            self
        }

        /// Schedules a closure. One run at a time.
        pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) + Send + 'static,
        {
            self.schedule_again(CallEach(function)).map_err(|rejected| rejected.map(|work| work.0))
        }

        /// Schedules an async job, see [`OneShot::run_async`](crate::OneShot::run_async). One run
        /// at a time: a run ends when its future is ready.
        pub fn run_async<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) -> Fut + Send + 'static,
            Fut: Future<Output = ()> + Send + 'static,
        {
            let limit = self.be_async();
            self.schedule_again(AsyncEach { function, limit })
                .map_err(|rejected| rejected.map(|work| work.function))
        }

        /// Sends a copy of a value at each time, from the thread that leads; at the times of a
        /// rule from where closures run, since the rule is your code. Cloning the value should be
        /// cheap, as for a value behind an [`Arc`]. If the channel is full, the copy is dropped,
        /// which is [reported](crate::EventKind::ChannelFull). If the receiver is gone, the job
        /// ends.
        pub fn send<T: Clone + Send + 'static>(
            self,
            sender: &Sender<T>,
            value: T,
        ) -> Result<JobHandle, Rejected<T>> {
            self.schedule_again(SendEach { sender: sender.clone(), value })
                .map_err(|rejected| rejected.map(|work| work.value))
        }
    };
}
pub(crate) use {common_methods, repeated_methods};

mod one_shot;
mod periodic;
mod schedule;

pub use one_shot::OneShot;
pub use periodic::Periodic;
use schedule::Plan;
