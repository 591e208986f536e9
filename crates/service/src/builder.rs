//! Configuration.

use crate::executor::{Executor, Pool, Runner};
use crate::shared::Shared;
use crate::time::Ticks;
use crate::{BuildError, Clock, Event, JobIndex, MonotonicClock, Scheduler, Service};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_core::Timer;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

/// The most jobs a service may be allowed: half of what a backend holds, so that it cannot overflow while cancelled
/// jobs wait to be cleared away.
pub(crate) const MOST_JOBS: usize = 1 << 31;

/// What is told of what goes wrong.
type Observer = Box<dyn Fn(&Event) + Send + Sync>;

/// What handles and workers need to know of the configuration.
pub(crate) struct Settings {
    pub(crate) limit: usize,
    pub(crate) slow_after: Duration,
    pub(crate) observer: Option<Observer>,
}

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
/// On another backend, any `Timer<JobIndex>`:
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
pub struct Builder<B = HierarchicalWheel<JobIndex>> {
    backend: B,
    tick: Duration,
    clock: Arc<dyn Clock>,
    workers: Option<usize>,
    executor: Option<Box<dyn Executor>>,
    settings: Settings,
}

impl Builder {
    /// The most that [`max_jobs`](Self::max_jobs) takes.
    pub const MOST_JOBS: usize = MOST_JOBS;

    pub(crate) fn new() -> Self {
        Self {
            backend: HierarchicalWheel::new(),
            tick: Duration::from_millis(1),
            clock: Arc::new(MonotonicClock::new()),
            workers: None,
            executor: None,
            settings: Settings {
                limit: MOST_JOBS,
                slow_after: Duration::from_secs(1),
                observer: None,
            },
        }
    }
}

impl<B> Builder<B> {
    /// What holds the timers; a [`HierarchicalWheel`] by default.
    pub fn backend<C: Timer<JobIndex>>(self, backend: C) -> Builder<C> {
        let Self { tick, clock, workers, executor, settings, .. } = self;
        Builder { backend, tick, clock, workers, executor, settings }
    }

    /// How long a tick lasts: a millisecond by default. Deadlines are rounded up to it, so that a job begins up to a
    /// tick after its time and never before. A finer tick costs nothing where nothing is due; a coarser one wakes the
    /// thread less often.
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// Where the time comes from; a [`MonotonicClock`] by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Runs jobs on so many threads, instead of on the one that drives. Then a slow job delays no other as long as a
    /// worker is free, and never a future or a value that is sent: these are brought by the thread that drives. Zero is refused. Of this and
    /// [`executor`](Self::executor), the one called last holds.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self.executor = None;
        self
    }

    /// Runs closures where this says, instead of on the thread that drives. That one brings what needs no more than an instant:
    /// values that are sent, and futures. Of this and [`workers`](Self::workers), the one called last holds.
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executor = Some(Box::new(executor));
        self.workers = None;
        self
    }

    /// How many jobs may be scheduled at a time: pending, due, and running. [`Builder::MOST_JOBS`] by default, which is
    /// also the most. Zero is refused.
    ///
    /// This bounds the memory too. A job that is over makes room at once, but something of it stays until the driver looks: of
    /// those there may be as many again (1,024 where fewer are allowed), and if a job holds up the driver for so long that there
    /// are more, new ones are refused.
    pub fn max_jobs(mut self, jobs: usize) -> Self {
        self.settings.limit = jobs;
        self
    }

    /// Runs that take longer than this are reported; a second by default. Zero is refused.
    pub fn slow_after(mut self, time: Duration) -> Self {
        self.settings.slow_after = time;
        self
    }

    /// What is to be called when something goes wrong in a job, on the thread where it does: it should return soon. It may
    /// do anything that a job may, also stop the service.
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.settings.observer = Some(Box::new(observer));
        self
    }
}

#[cfg(feature = "record")]
impl<B: Timer<JobIndex>> Builder<B> {
    /// Records what the service does with its timers in a file, as a trace to be replayed on other
    /// backends (feature `record`). What is there already is overwritten. Call it after
    /// [`backend`](Self::backend), which would take the recorder away again, and after
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
    ) -> Result<Builder<wheelhouse_record::Recorder<B>>, wheelhouse_record::Error> {
        let Self { backend, tick, clock, workers, executor, settings } = self;
        let recording = wheelhouse_record::Recorder::builder().tick(tick);
        let backend = recording.note("the timers of a service").create(path, backend)?;
        Ok(Builder { backend, tick, clock, workers, executor, settings })
    }
}

impl<B: Timer<JobIndex>> Builder<B> {
    /// Builds a scheduler without a thread. Workers, if any are wanted, are started.
    ///
    /// # Errors
    ///
    /// A tick that cannot be, a pool of no workers, a limit of zero or one that is too high, runs that are slow after no time, or a thread that
    /// cannot be started.
    pub fn build(self) -> Result<Scheduler<B>, BuildError> {
        let ticks = Ticks::new(self.tick).ok_or(BuildError::Tick(self.tick))?;
        if self.settings.limit == 0 {
            return Err(BuildError::NoJobs);
        }
        if self.settings.limit > MOST_JOBS {
            return Err(BuildError::Limit(self.settings.limit));
        }
        if self.settings.slow_after.is_zero() {
            return Err(BuildError::SlowAfterZero);
        }
        let runner = match (self.executor, self.workers) {
            (Some(executor), _) => Runner::Custom(executor),
            (None, Some(workers)) => Runner::Workers(Pool::new(workers)?),
            (None, None) => Runner::Inline,
        };
        let (shared, intake) = Shared::new(self.clock, ticks, self.settings);
        Ok(Scheduler::with_parts(shared, intake, self.backend, runner))
    }
}

impl<B: Timer<JobIndex> + Send + 'static> Builder<B> {
    /// Builds a scheduler and starts it.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build).
    pub fn start(self) -> Result<Service, BuildError> {
        self.build()?.start()
    }
}

impl<B> fmt::Debug for Builder<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("tick", &self.tick)
            .field("workers", &self.workers)
            .field("max_jobs", &self.settings.limit)
            .field("slow_after", &self.settings.slow_after)
            .finish_non_exhaustive()
    }
}
