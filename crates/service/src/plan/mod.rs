//! Plans: when a job runs, its options, and finally its work. A plan is checked and scheduled in a
//! shard, or its work is returned to the caller.

mod methods;

pub(crate) use methods::{common_methods, repeated_methods};

use crate::guard::discard;
use crate::handle::Handle;
use crate::job::{
    Backoff, Group, Info, JobState, Key, Missed, Pace, RareState, Repeat, draw_jitter,
};
use crate::job_handle::JobHandle;
use crate::shared::{Run, Work, unboxed};
use crate::time::{Due, Moment, Ticks, When};
use crate::work::{AsyncEach, AsyncOnce, CallEach, CallOnce, SendEach, SendOnce};
use crate::{Reason, Rejected};
use crossbeam_channel::Sender;
use std::fmt;
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
        let mut options = Options::new(self, self.now().checked_add(period).map(Due::at));
        // A job with a period of a second can be a millisecond late. Without this, a run of 100,000
        // such jobs took five times the processor time, since each tick had its own wake-up.
        options.rare_options().slack = Some((period / 1_000).min(Duration::from_millis(1)));
        Periodic { options, period, times: None, pace: Pace::Rate(Missed::default()) }
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

    /// Schedules a plain job, on the shortest path, since most jobs are plain. The deadline must
    /// have a tick.
    #[inline(always)]
    pub(crate) fn schedule_plain<W: Work>(
        &self,
        shard: u32,
        deadline: Moment,
        work: W,
    ) -> Result<JobHandle, Rejected<W>> {
        let (service, mut refused) = (self.service_ref(shard), None);
        let id = service.shards.schedule_plain(shard, deadline, Box::new(work), &mut refused);
        let job = id.map(|id| JobHandle::new(Arc::clone(service), id, None));
        job.ok_or_else(|| {
            let (reason, work) = refused.expect("a refused job comes with its reason");
            self.rejected(shard, reason, unboxed(work))
        })
    }

    #[cold]
    fn rejected<J>(&self, shard: u32, reason: Reason, job: J) -> Rejected<J> {
        self.shards().with(shard, |state| state.counts.rejected += 1);
        Rejected { reason, job }
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
    /// A job that has the key is replaced.
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

    /// Checks the plan, and returns when the first run is due, and how it is rounded.
    fn check(&mut self) -> Result<(Due, Ticks), Reason> {
        let (mut ticks, mut first) = (self.handle.ticks(), self.first.take());
        if let Some(options) = &mut self.rare_options {
            ticks = options.slack.map_or(ticks, |slack| ticks.with_slack(slack));
            if let Some(rare) = &mut options.rare {
                rare.planned.jitter_delay = draw_jitter(rare.jitter);
                first = first.map(|first| first.delayed_by(rare.planned.jitter_delay));
            }
            if options.key.as_ref().is_some_and(|key| key.is_empty()) {
                return Err(Reason::EmptyKey);
            }
        }
        let due = first.filter(|first| ticks.reaches(first.deadline)).ok_or(Reason::Overflow)?;
        Ok((due, ticks))
    }

    /// Checks the plan and schedules the job, or returns its work.
    #[inline(never)]
    pub(crate) fn schedule<W: Work>(
        mut self,
        repeat: Result<Option<Repeat>, Reason>,
        work: W,
    ) -> Result<JobHandle, Rejected<W>> {
        let (handle, shard) = (self.handle, self.handle.shards().own_shard());
        let checked = repeat.and_then(|repeat| Ok((repeat, self.check()?)));
        let (repeat, (due, ticks)) = match checked {
            Ok(checked) => checked,
            Err(reason) => return Err(handle.rejected(shard, reason, work)),
        };
        let RareOptions { name, key, replace, mut rare, .. } =
            self.rare_options.map_or_else(RareOptions::default, |options| *options);
        if let Some(wall) = &due.wall {
            rare.get_or_insert_default().planned.wall = Some(Box::clone(wall));
        }
        let (info, work): (_, Box<dyn Work>) = (Arc::new(Info::new(name, key)), Box::new(work));
        let key = info.key.clone().map(|key| (key, replace));
        let mut job = JobState::new(work, Arc::clone(&info), ticks);
        (job.repeat, job.rare) = (repeat, rare);
        match handle.shards().schedule(shard, &due, key, job) {
            Ok((id, replaced)) => {
                // Last, and without a lock: dropping the replaced work runs code of the user, which
                // may do anything, such as panic.
                discard(replaced.map(|replaced| handle.job_handle(replaced, None).cancel()));
                Ok(handle.job_handle(id, Some(info)))
            }
            Err((reason, job)) => {
                let work = job.into_work().expect("no run has it");
                Err(handle.rejected(shard, reason, unboxed(work)))
            }
        }
    }
}

/// A plan of a job that runs once. Nothing is scheduled until [`run`](Self::run) or
/// [`send`](Self::send) is called. If such a call fails, its error has the
/// [`Reason`](crate::Reason), and the closure or value.
#[must_use = "nothing is scheduled until `run` or `send` is called"]
pub struct OneShot<'h> {
    options: Options<'h>,
}

impl<'h> OneShot<'h> {
    common_methods!();

    /// Schedules a closure.
    #[inline]
    pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnOnce(&Run<'_>) + Send + 'static,
    {
        let shard = self.options.handle.shards().own_shard();
        let (work, job) = (CallOnce(function), |CallOnce(function)| function);
        // Two returns: a common result of both branches would pass through memory.
        match self.plain() {
            Ok((handle, deadline)) => {
                handle.schedule_plain(shard, deadline, work).map_err(|rejected| rejected.map(job))
            }
            Err(plan) => plan.schedule_once(work).map_err(|rejected| rejected.map(job)),
        }
    }

    /// Schedules an async job: the closure is called when the run begins, and the future that it
    /// returns is the run. It is spawned where [`spawn_on`](crate::Builder::spawn_on) says. Without
    /// that the threads of the service poll it. They belong to no runtime: a future that needs one,
    /// such as tokio's `sleep`, panics there.
    ///
    /// As with a closure, [`stop`](crate::Service::stop) waits for the run, panics are caught, and
    /// a slow run is reported. Takes an allocation for the run and some 300 bytes for the job.
    pub fn run_async<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let limit = self.be_async();
        self.schedule_once(AsyncOnce { function, limit })
            .map_err(|rejected| rejected.map(|work| work.function))
    }

    /// Sends a value at the deadline, from the thread that leads. If the channel is full then, the
    /// value is dropped, which is reported: no receiver can delay other jobs.
    pub fn send<T: Send + 'static>(
        self,
        sender: &Sender<T>,
        value: T,
    ) -> Result<JobHandle, Rejected<T>> {
        let (shard, sender) = (self.options.handle.shards().own_shard(), sender.clone());
        let work = SendOnce { sender, value };
        let scheduled = match self.plain() {
            Ok((handle, deadline)) => handle.schedule_plain(shard, deadline, work),
            Err(plan) => plan.schedule_once(work),
        };
        scheduled.map_err(|rejected| rejected.map(|work| work.value))
    }

    /// Schedules a job that may fail: it keeps its last error for its handles.
    fn schedule_again<W: Work>(mut self, work: W) -> Result<JobHandle, Rejected<W>> {
        self.options.rare_state();
        self.options.schedule(Ok(None), work)
    }

    /// Schedules work that cannot be called again, so without a retry.
    #[inline(never)]
    fn schedule_once<W: Work>(mut self, work: W) -> Result<JobHandle, Rejected<W>> {
        let rare = self.options.rare_options.as_mut().and_then(|options| options.rare.as_mut());
        rare.into_iter().for_each(|rare| rare.retry = None);
        self.options.schedule(Ok(None), work)
    }

    /// Returns the deadline, if the plan has nothing else, and the deadline has a tick.
    #[inline]
    fn plain(self) -> Result<(&'h Handle, Moment), Self> {
        match self.options {
            Options { handle, first: Some(Due { deadline, wall: None }), rare_options: None }
                if handle.ticks().reaches(deadline) =>
            {
                Ok((handle, deadline))
            }
            options => Err(Self { options }),
        }
    }
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

impl Periodic<'_> {
    common_methods!();
    repeated_methods!();

    /// Sets the first run to `delay` from now, instead of a period from now.
    pub fn first_after(mut self, delay: Duration) -> Self {
        let first = self.options.handle.now().checked_add(delay);
        self.options.first = first.map(Due::at);
        self
    }

    /// Sets the first run to a point in time, see [`When`]. The following runs count from there, by
    /// the clock of the service. With a past time the first run is due at once, and is late: the
    /// policy for [missed](Self::missed) periods applies.
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

    /// Returns when the first run is due and the rule for the next ones, for callers that count the
    /// periods themselves.
    pub(crate) fn checked(mut self) -> Result<(Due, Repeat), Reason> {
        let repeat = self.repeat()?;
        self.options.rare_options().rare = None;
        Ok((self.options.check()?.0, repeat))
    }

    fn schedule_again<W: Work>(self, work: W) -> Result<JobHandle, Rejected<W>> {
        let repeat = self.repeat().map(Some);
        self.options.schedule(repeat, work)
    }

    fn repeat(&self) -> Result<Repeat, Reason> {
        let tick = self.options.handle.ticks().length();
        Repeat::new(self.period, self.times, self.pace, tick)
    }
}
