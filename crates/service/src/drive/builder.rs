//! Configuration.

use super::executor::{Executor, Pool, Runner};
use super::{AsyncRun, Scheduler, Service};
use crate::handle::{Futures, Observer, Shared, Spawner};
use crate::shard::{House, JobIndex, Wheel};
use crate::time::{Clock, MonotonicClock, Ticks};
use crate::{BuildError, Event};
use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use wheelhouse_core::Timer;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

/// The most jobs a service may be allowed: half of what a backend holds.
const MOST_JOBS: usize = 1 << 31;

/// The most shards that pay by default.
const MOST_SHARDS: usize = 64;

/// Configures a [`Scheduler`] or a [`Service`].
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::Service;
///
/// let service = Service::builder()
///     .tick(Duration::from_millis(10))
///     .workers(4)
///     .max_jobs(500_000)
///     .on_event(|event| eprintln!("{event}"))
///     .start()?;
/// # drop(service);
/// # Ok::<(), wheelhouse_service::BuildError>(())
/// ```
///
/// On another backend, any [`Timer<JobIndex>`](wheelhouse_core::Timer):
///
/// ```
/// use wheelhouse_hierarchical_wheel::HierarchicalWheel;
/// use wheelhouse_service::Scheduler;
///
/// let backend = HierarchicalWheel::builder().slots_per_level(64).build()?;
/// let scheduler = Scheduler::builder().backend(backend).build()?;
/// # drop(scheduler);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is built until `build` or `start` is called"]
pub struct Builder {
    backend: Option<Box<dyn Wheel>>,
    shards: Option<usize>,
    tick: Duration,
    slack: Duration,
    timer_slack: Option<Duration>,
    clock: Arc<dyn Clock>,
    /// `None` is for what is started to choose.
    inline: Option<bool>,
    workers: Option<usize>,
    executor: Option<Box<dyn Executor>>,
    spawner: Option<Spawner>,
    limit: Option<usize>,
    slow_after: Duration,
    observer: Option<Observer>,
}

impl Builder {
    /// The most that [`max_jobs`](Self::max_jobs) takes.
    pub const MOST_JOBS: usize = MOST_JOBS;

    pub(super) fn new() -> Self {
        Self {
            backend: None,
            shards: None,
            tick: Duration::from_micros(50),
            slack: Duration::ZERO,
            timer_slack: None,
            clock: Arc::new(MonotonicClock::new()),
            inline: None,
            workers: None,
            executor: None,
            spawner: None,
            limit: None,
            slow_after: Duration::from_secs(1),
            observer: None,
        }
    }

    /// What holds the timers, in one shard; a [`HierarchicalWheel`] for each shard by default.
    pub fn backend(mut self, backend: impl Timer<JobIndex> + Send + 'static) -> Self {
        self.backend = Some(Box::new(backend));
        self
    }

    /// How many shards jobs lie in, for a service with a thread: by default as many as there are
    /// processors, and one for a [`Scheduler`]. Each is a lock and a wheel; a thread schedules in
    /// one of them, so that more threads than shards meet there. Zero is taken for one, as a
    /// [backend](Self::backend) that was given is.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// How long a tick lasts: 50 microseconds by default. Deadlines are rounded up to it, so that a
    /// job begins up to a tick after its time and never before. A finer tick costs nothing where
    /// nothing is due; a coarser one wakes the thread less often, and so does a
    /// [`slack`](Self::slack).
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// Lets runs be late by as much, so that the thread wakes up once for those that are due close
    /// together: deadlines are rounded up to whole multiples of this. None by default, but for
    /// [periodic](crate::Periodic) jobs. A job may have [its own](crate::OneShot::slack). Periods
    /// may be shorter.
    ///
    /// Beside a coarser tick, this leaves the resolution as it is for the jobs that need it.
    pub fn slack(mut self, slack: Duration) -> Self {
        self.slack = slack;
        self
    }

    /// How much later than asked for Linux may wake up the driving thread of a [`Service`], to put
    /// wake-ups of the machine together: 50 microseconds unless this says otherwise, and a
    /// nanosecond at least. On other systems it does nothing, nor where it is forbidden.
    ///
    /// What the system adds to lateness is on top of the [tick](Self::tick); a short tick without
    /// this is in vain in part. With a tick of 50 us and 100,000 runs a second, a nanosecond of
    /// timer slack instead of 50 us brought the median of lateness from 83 us down to 52 us, and
    /// took 5.2 us of processor time a run instead of 3.2 (Linux, 2 processors of an AMD EPYC).
    pub fn timer_slack(mut self, slack: Duration) -> Self {
        self.timer_slack = Some(slack);
        self
    }

    /// Where the time comes from; a [`MonotonicClock`] by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Runs jobs on so many threads. Then a slow job delays no other as long as a worker is free,
    /// and never a future or a value that is sent: these are brought by the thread that drives. By
    /// default a [`Service`] has as many as there are processors, and two at least. Zero is
    /// refused.
    ///
    /// **Its cost** is a hand-over for each run of a closure: a thread is woken, and the two
    /// contend for the lock of the shard. Where all jobs are short, [`inline`](Self::inline) has
    /// more runs a second and is in time more closely.
    ///
    /// Of this, [`inline`](Self::inline) and [`executor`](Self::executor), the one called last
    /// holds.
    pub fn workers(mut self, workers: usize) -> Self {
        (self.inline, self.workers, self.executor) = (Some(false), Some(workers), None);
        self
    }

    /// Runs jobs on the thread that drives, as a [`Scheduler`] does by default: the fastest way for
    /// jobs that are short, and one that is slow delays all others. Async jobs are refused, unless
    /// they are [spawned elsewhere](Self::spawn_on).
    pub fn inline(mut self) -> Self {
        (self.inline, self.workers, self.executor) = (Some(true), None, None);
        self
    }

    /// Runs closures where this says, instead of on the thread that drives. That one brings what
    /// needs no more than an instant: values that are sent, and futures.
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        (self.inline, self.workers) = (Some(false), None);
        self.executor = Some(Box::new(executor));
        self
    }

    /// Hands the runs of [async jobs](crate::OneShot::run_async) to an executor of futures: each is
    /// one, to be polled until it is ready. The closure is called by the driver and must return
    /// soon. Without this, such a run occupies a worker that waits for it.
    ///
    /// [`Service::stop`] waits for these runs as for others. Dropping the service does not: they
    /// are the executor's.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheelhouse_service::{Service, Stop};
    ///
    /// let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    /// let tokio = runtime.handle().clone();
    /// let service = Service::builder().spawn_on(move |run| drop(tokio.spawn(run))).start()?;
    ///
    /// let (sender, done) = std::sync::mpsc::channel();
    /// service.handle().after(Duration::from_millis(1)).run_async(move |run| {
    ///     let job = run.job();
    ///     async move {
    ///         tokio::task::yield_now().await;
    ///         sender.send(format!("{job} was awaited")).unwrap_or_default();
    ///     }
    /// })?;
    /// assert_eq!(done.recv()?, "job number 1 was awaited");
    /// assert!(service.stop(Stop::Wait).jobs.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn_on(mut self, spawn: impl Fn(AsyncRun) + Send + Sync + 'static) -> Self {
        self.spawner = Some(Box::new(spawn));
        self
    }

    /// How many jobs may be scheduled at a time: pending, due, and running. [`Builder::MOST_JOBS`]
    /// by default, which is also the most. Zero is refused.
    ///
    /// This bounds the memory too: a job that is over makes room at once. With a limit all threads
    /// write to one count.
    pub fn max_jobs(mut self, jobs: usize) -> Self {
        self.limit = Some(jobs);
        self
    }

    /// Runs that take longer than this are reported; a second by default. Zero is refused.
    pub fn slow_after(mut self, time: Duration) -> Self {
        self.slow_after = time;
        self
    }

    /// What is to be called when something goes wrong in a job, on the thread where it does: it
    /// should return soon. It may do anything that a job may, also stop the service.
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }
}

#[cfg(feature = "record")]
impl Builder {
    /// Records what the service does with its timers in a file, as a trace to be replayed on other
    /// backends (feature `record`), in one shard. What is there already is overwritten. Call it
    /// after [`backend`](Self::backend), which would take the recorder away again, and after
    /// [`tick`](Self::tick), whose length the trace names.
    ///
    /// The trace is complete when the scheduler is dropped, or at 100 million bytes. A full disk
    /// ends the recording and nothing else. For another limit, or to be told how the recording
    /// ended, give [`backend`](Self::backend) a recorder made with `wheelhouse_record::Builder`.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or written.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheelhouse_service::Scheduler;
    ///
    /// # let path = std::env::temp_dir().join(format!("wheelhouse-{}.trace", std::process::id()));
    /// let scheduler = Scheduler::builder().record_to(&path)?.build()?;
    /// scheduler.handle().after(Duration::from_secs(30)).run(|_| println!("expired"))?;
    /// drop(scheduler); // the trace is whole
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record_to(
        self,
        path: impl AsRef<std::path::Path>,
    ) -> Result<Self, wheelhouse_record::Error> {
        let recording = wheelhouse_record::Recorder::builder().tick(self.tick);
        let backend = self.backend.unwrap_or_else(|| Box::new(HierarchicalWheel::new()));
        let backend = recording.note("the timers of a service").create(path, backend)?;
        Ok(Self { backend: Some(Box::new(backend)), ..self })
    }
}

impl Builder {
    /// Builds a scheduler without a thread. Workers, if any are wanted, are started.
    ///
    /// # Errors
    ///
    /// A tick that cannot be, a pool of no workers, a limit of zero or one that is too high, runs
    /// that are slow after no time, or a thread that cannot be started.
    pub fn build(self) -> Result<Scheduler, BuildError> {
        let ticks = Ticks::new(self.tick).ok_or(BuildError::Tick(self.tick))?;
        match self.limit {
            Some(0) => return Err(BuildError::NoJobs),
            Some(limit) if limit > MOST_JOBS => return Err(BuildError::Limit(limit)),
            _ => {}
        }
        if self.slow_after.is_zero() {
            return Err(BuildError::SlowAfterZero);
        }
        let runner = match (self.executor, self.workers) {
            (Some(executor), _) => Runner::Custom(executor),
            (None, Some(workers)) => Runner::Workers(Pool::new(workers)?),
            (None, None) => Runner::Inline,
        };
        let wheel = || -> Box<dyn Wheel> { Box::new(HierarchicalWheel::new()) };
        let wheels = match self.backend {
            Some(backend) => vec![backend],
            None => (0..self.shards.unwrap_or(1).max(1)).map(|_| wheel()).collect(),
        };
        let house = House::new(self.clock, ticks.with_slack(self.slack), wheels, self.limit);
        let futures = match self.spawner {
            Some(spawner) => Futures::Spawned(spawner),
            None if runner.is_inline() => Futures::Refused,
            None => Futures::LikeClosures,
        };
        let (slow_after, observer) = (self.slow_after, self.observer);
        let shared = Shared { house, slow_after, observer, futures };
        Ok(Scheduler::new(&Arc::new(shared), runner, self.timer_slack))
    }

    /// Builds a service and starts it: with [workers](Self::workers), unless something else was
    /// chosen.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build).
    pub fn start(mut self) -> Result<Service, BuildError> {
        let processors = available_parallelism().map_or(1, NonZero::get);
        self.shards.get_or_insert(processors.min(MOST_SHARDS));
        if self.inline.is_none() {
            self.workers = Some(processors.max(2));
        }
        self.build()?.start()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("tick", &self.tick)
            .field("workers", &self.workers)
            .field("max_jobs", &self.limit)
            .field("slow_after", &self.slow_after)
            .finish_non_exhaustive()
    }
}
