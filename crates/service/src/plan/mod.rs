//! Plans: when a job is to run, what it is called, and finally what it is to do.

use crate::Reason;
use crate::handle::Handle;
use crate::job::{Info, Key, More, Repeat, Traits};
use crate::time::{Due, Ticks, When};
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
    /// [moved](crate::JobHandle::refresh) by a delay, it waits for a moment of the service's clock
    /// from then on.
    pub fn at(&self, when: impl Into<When>) -> OneShot<'_> {
        OneShot { options: Options::new(self, when.into().due(self.clock())) }
    }

    /// Plans a job that is run again and again, first a period from now, without end unless
    /// [`times`](crate::Periodic::times) says so.
    pub fn every(&self, period: Duration) -> Periodic<'_> {
        Periodic::new(self, period, self.now().checked_add(period))
    }
}

/// What both kinds of plan have.
struct Options<'h> {
    handle: &'h Handle,
    /// `None` if it is too far away to be named.
    first: Option<Due>,
    /// In a box, so that a plan which has none is small and is seen at a glance.
    extras: Option<Box<Extras>>,
}

/// What few plans have.
#[derive(Default)]
struct Extras {
    name: Option<Arc<str>>,
    key: Option<Key>,
    replace: bool,
    slack: Option<Duration>,
    /// Of each run that is a future.
    limit: Option<Duration>,
    more: Option<Box<More>>,
}

impl Extras {
    /// Whether there is nothing that the job is to keep.
    fn are_none(&self) -> bool {
        let unnamed = self.name.is_none() && self.key.is_none();
        unnamed && self.slack.is_none() && self.more.is_none()
    }
}

impl<'h> Options<'h> {
    #[inline]
    fn new(handle: &'h Handle, first: Option<Due>) -> Self {
        Self { handle, first, extras: None }
    }

    fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    fn more(&mut self) -> &mut More {
        self.extras().more.get_or_insert_default()
    }

    fn ticks(&self) -> Ticks {
        let ticks = self.handle.ticks();
        let slack = self.extras.as_ref().and_then(|extras| extras.slack);
        slack.map_or(ticks, |slack| ticks.with_slack(slack))
    }

    fn check(self, repeat: Option<Repeat>) -> Result<Plan, Reason> {
        let ticks = self.ticks();
        let Self { mut first, extras, .. } = self;
        let extras = extras.map_or_else(Extras::default, |extras| *extras);
        let plain = extras.are_none();
        let Extras { name, key, replace, mut more, .. } = extras;
        if let Some(more) = &mut more {
            more.late = more.draw();
            first = first.map(|first| first.later(more.late));
        }
        if key.as_ref().is_some_and(|key| key.is_empty()) {
            return Err(Reason::EmptyKey);
        }
        let due = first.filter(|first| ticks.reaches(first.deadline)).ok_or(Reason::Overflow)?;
        if let Some(wall) = &due.wall {
            more.get_or_insert_default().wall = Some(Box::clone(wall));
        }
        // All that a plain one-shot job does without.
        let full = !plain || repeat.is_some() || more.is_some();
        let info = || Arc::new(Info::new(name, key));
        let traits = full.then(|| Traits { info: info(), repeat, ticks, more });
        Ok(Plan { due, traits, replace })
    }
}

/// The methods that both kinds of plan have.
macro_rules! common_methods {
    () => {
        /// Gives the job a name, for messages and traces. The [handles](JobHandle) of a named job
        /// return how it ended; a one-shot job without name or key does not keep that. Costs some
        /// 200 bytes and an allocation.
        pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
            self.options.extras().name = Some(name.into());
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
            let extras = self.options.extras();
            (extras.key, extras.replace) = (Some(key.into()), false);
            self
        }

        /// Gives the job a key; if another job has it, that one is cancelled. If that one is
        /// running, its run goes on. While both exist, which is for an instant, both count for
        /// [`max_jobs`](crate::Builder::max_jobs).
        pub fn replacing(mut self, key: impl Into<Key>) -> Self {
            let extras = self.options.extras();
            (extras.key, extras.replace) = (Some(key.into()), true);
            self
        }

        /// Lets runs be late by as much, so that the driver wakes up once for those that are due
        /// close together: deadlines are rounded up to whole multiples of this. A tick by default,
        /// and for [periodic](crate::Periodic) jobs a thousandth of the period, a millisecond at
        /// most.
        pub fn slack(mut self, slack: Duration) -> Self {
            self.options.extras().slack = Some(slack);
            self
        }

        /// Tries runs that fail again: those that return an [error](Self::try_run), panic, or reach
        /// their [limit](Self::limit). A job that is to run once is tried again only if it is
        /// scheduled by `try_run` or `try_run_async`: by `run` its closure is used up.
        ///
        /// Until a try succeeds or the last has failed, the job is not over and keeps its key. A
        /// periodic job keeps its schedule: if its next run is due before another try is, that is
        /// the next try. Tries are runs beside those that [`times`](crate::Periodic::times) counts.
        /// Runs that [overlap](crate::Periodic::run_overlapping) are not tried again.
        pub fn retry(mut self, backoff: Backoff) -> Self {
            self.options.more().retry = Some(backoff);
            self
        }

        /// The runs are futures; how long each may take.
        pub(crate) fn be_async(&mut self) -> Option<Duration> {
            self.options.more().way.is_async = true;
            self.options.extras().limit
        }

        /// Runs begin only when the group has a place for them, see [`Group`].
        pub fn group(mut self, group: &Group) -> Self {
            self.options.more().way.group = Some(group.clone());
            self
        }

        /// Says that the runs may block: they wait for a disk or for another program, say. Then
        /// another thread of the service takes the lead before each, and no other job waits for the
        /// [patience](crate::Builder::workers) that a run has otherwise. Costs the waking of a
        /// thread for each run, some 5 microseconds. Where all threads are in runs, or there is but
        /// one, it changes nothing.
        pub fn blocking(mut self) -> Self {
            self.options.more().way.blocks = true;
            self
        }

        /// Ends each run of an [async job](Self::run_async) after so long: the future is dropped,
        /// and that is [reported](crate::EventKind::TimedOut). A closure cannot be interrupted, and
        /// takes no notice. The limit holds while the service is being stopped, and as long as it
        /// has threads: those end when the runs have that they poll. A run that was given to
        /// [another executor](crate::Builder::spawn_on), and that the stop does not wait for,
        /// has no limit from then on.
        pub fn limit(mut self, limit: Duration) -> Self {
            self.options.extras().limit = Some(limit);
            self
        }
    };
}

/// The methods that all plans have for what may fail.
macro_rules! fallible_methods {
    () => {
        /// Schedules a closure that may fail: the error that it returns is
        /// [kept](JobHandle::last_error) and [reported](crate::EventKind::GaveUp), and with
        /// [`retry`](Self::retry) it is tried again.
        ///
        /// # Errors
        ///
        /// [`Rejected`], with the closure in it: see [`Reason`].
        pub fn try_run<F, T, E>(self, function: F) -> Result<JobHandle, Rejected<F>>
        where
            F: FnMut(&Run<'_>) -> Result<T, E> + Send + 'static,
            E: fmt::Display,
        {
            let scheduled = self.schedule_again(TryEach(function));
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
            let scheduled = self.schedule_again(Async::new(Each(function), limit));
            scheduled.map_err(|(reason, work)| Rejected { reason, job: work.into_call().0 })
        }
    };
}
pub(crate) use fallible_methods;

mod at_once;
mod one_shot;
mod periodic;
mod schedule;

pub use one_shot::OneShot;
pub use periodic::Periodic;
use schedule::Plan;
