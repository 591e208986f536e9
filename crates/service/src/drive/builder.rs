//! Configuration.

use super::executor::{Executor, Runner};
use super::lead::MOST_THREADS;
use super::{AsyncRun, ReadyQueue, Scheduler, Service};
use crate::handle::{Observer, Shared, Spawner};
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

/// The fewest and the most shards by default. A thread that is interrupted while it holds the lock
/// of its shard holds up all others that schedule there: with more threads than shards, that is a
/// slice of the scheduler.
const SHARDS: (usize, usize) = (4, 64);

/// The fewest threads by default. One that sleeps costs nothing but its stack, and on a machine of
/// two processors two jobs that block would otherwise hold up all others.
const FEWEST_THREADS: usize = 4;

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
    clock: Arc<dyn Clock>,
    /// `None` is for what is started to choose.
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
            clock: Arc::new(MonotonicClock::new()),
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

    /// The number of shards of a service: by default as many as there are processors, four
    /// at least, and one for a [`Scheduler`]. Each is a lock and a wheel; a thread schedules in
    /// one of them, so that more threads than shards meet there. Zero is taken for one, as a
    /// [backend](Self::backend) that was given is.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// How long a tick lasts: 50 microseconds by default. Deadlines are rounded up to it, so that a
    /// job begins up to a tick after its time and never before. A finer tick costs nothing where
    /// nothing is due; a coarser one wakes the leader less often, and so does the
    /// [`slack`](crate::OneShot::slack) of jobs that need not be so exact.
    ///
    /// Linux may wake up a thread 50 microseconds later than asked for (its *timer slack*), to put
    /// wake-ups of the machine together. With a tick shorter than that, the threads of a
    /// [`Service`] ask for the tick instead, where that is allowed.
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// Where the time comes from; a [`MonotonicClock`] by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// How many threads a [`Service`] has: as many as there are processors by default, and four at
    /// least. As many jobs run at once, at most. Zero is refused. A [`Scheduler`] has none until it
    /// is [started](Scheduler::start).
    ///
    /// One thread leads: it takes out what is due and runs it, so that a brief job costs no
    /// hand-over. Another stands by. When the leader has been in one run for 200 microseconds, the
    /// *patience*, the other takes the lead, and the run continues on its own thread. So a slow job
    /// delays others by the patience while a thread is free, and one whose plan is
    /// [`blocking`](crate::OneShot::blocking) by the waking of a thread, some 50 microseconds.
    /// If runs take more than 30 microseconds on average, the lead changes before each of them.
    /// Briefer runs follow each other on one thread, so together they use one processor at most.
    ///
    /// When all threads are in slow runs, what comes due waits until one of them ends: the counter
    /// [`held_up`](crate::Counts::held_up) says how often. With one thread each job waits for the
    /// one before.
    ///
    /// **Its cost**: while jobs run, the thread that stands by wakes up once in the patience; while
    /// none does, never.
    ///
    /// Of this and [`executor`](Self::executor), the one called last holds.
    pub fn workers(mut self, workers: usize) -> Self {
        (self.workers, self.executor) = (Some(workers), None);
        self
    }

    /// Runs closures where this says, instead of on the threads of the service, which then are one.
    /// That one brings what needs no more than an instant: values that are sent, and futures; and
    /// it polls async jobs, unless they are [spawned elsewhere](Self::spawn_on).
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        self.workers = None;
        self.executor = Some(Box::new(executor));
        self
    }

    /// Hands the runs of [async jobs](crate::OneShot::run_async) to an executor of futures: each is
    /// one, to be polled until it is ready. The closure is called by the thread that leads and must
    /// return soon. Without this, that thread polls the futures itself: no thread waits for one,
    /// and futures that need the reactor or the timers of a runtime are spawned there.
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
    /// Builds a scheduler without a thread.
    ///
    /// # Errors
    ///
    /// A tick that cannot be, no threads or too many, a limit of zero or one that is too high, or
    /// runs that are slow after no time.
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
        let threads = self.workers.unwrap_or(1);
        if threads == 0 || threads > MOST_THREADS {
            return Err(BuildError::Workers(threads));
        }
        let runner = self.executor.map_or(Runner::Here, Runner::Custom);
        let wheel = || -> Box<dyn Wheel> { Box::new(HierarchicalWheel::new()) };
        let own_wheels = self.backend.is_none();
        let wheels = match self.backend {
            Some(backend) => vec![backend],
            None => (0..self.shards.unwrap_or(1).max(1)).map(|_| wheel()).collect(),
        };
        let house = House::new(self.clock, ticks, wheels, own_wheels, self.limit);
        let (slow_after, observer, spawner) = (self.slow_after, self.observer, self.spawner);
        let ready = ReadyQueue::default();
        let shared = Arc::new(Shared { house, slow_after, observer, spawner, ready });
        Ok(Scheduler::new(&shared, runner, threads))
    }

    /// Builds a service and starts it.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build), or a thread that cannot be started.
    pub fn start(mut self) -> Result<Service, BuildError> {
        let processors = available_parallelism().map_or(1, NonZero::get);
        self.shards.get_or_insert(processors.clamp(SHARDS.0, SHARDS.1));
        if self.executor.is_none() {
            self.workers.get_or_insert(processors.clamp(FEWEST_THREADS, MOST_THREADS));
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
