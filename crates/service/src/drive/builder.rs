//! Configuration.

use super::async_run::{AsyncRun, Spawner};
use super::scheduler::Scheduler;
use super::service::Service;
use crate::error::{BuildError, MOST_JOBS, MOST_THREADS};
use crate::handle::Handle;
use crate::shard::{DynTimer, JobIndex, Shards, default_wheel};
use crate::shared::{Event, Observer, Shared};
use crate::time::{Clock, MonotonicClock, Ticks};
use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use wheelhouse_core::Timer;

/// The fewest and the most shards by default. A thread that is preempted while it holds the lock of
/// its shard delays all other threads that schedule there, by a time slice of the operating system.
/// More shards make this rarer.
const SHARDS: (usize, usize) = (4, 64);

/// The fewest threads by default. A sleeping thread costs only its stack. On a machine with two
/// processors, two jobs that block would otherwise delay all others.
const FEWEST_THREADS: usize = 4;

/// Configures a [`Scheduler`] or a [`Service`]. On a custom backend, any
/// [`Timer<JobIndex>`](wheelhouse_core::Timer):
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
    backend: Option<Box<DynTimer>>,
    shards: Option<usize>,
    tick: Duration,
    clock: Arc<dyn Clock>,
    /// `None`: the default of the service or scheduler.
    workers: Option<usize>,
    spawner: Spawner,
    limit: Option<usize>,
    slow_after: Duration,
    observer: Option<Observer>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            backend: None,
            shards: None,
            tick: Duration::from_micros(50),
            clock: Arc::new(MonotonicClock::new()),
            workers: None,
            spawner: None,
            limit: None,
            slow_after: Duration::from_secs(1),
            observer: None,
        }
    }

    /// Sets the backend for the timers, and uses a single shard. By default each shard has a
    /// [`HierarchicalWheel`](wheelhouse_hierarchical_wheel::HierarchicalWheel). A recorder of
    /// `wheelhouse-record` is a backend too: it records the timers of the service as a trace, to be
    /// replayed on other backends.
    pub fn backend(mut self, backend: impl Timer<JobIndex> + Send + 'static) -> Self {
        self.backend = Some(Box::new(backend));
        self
    }

    /// Sets the number of shards: locks with a wheel each. By default a service has one for each
    /// processor, from 4 to 64, and a [`Scheduler`] has one. A thread schedules in one shard. Zero
    /// counts as one. Ignored if a [backend](Self::backend) is set.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// Sets the length of a tick: 50 microseconds by default. Deadlines are rounded up to it, so a
    /// job begins up to a tick after its time and never before. An idle service pays nothing for a
    /// finer tick. A coarser tick wakes the leader less often. So does the
    /// [`slack`](crate::OneShot::slack) of jobs that need not be so exact.
    ///
    /// Linux may wake up a thread 50 microseconds late (its *timer slack*), to combine wake-ups of
    /// the machine. With a shorter tick, the threads of a [`Service`] reduce their timer slack to
    /// the tick, if that is allowed.
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// Sets the clock: a [`MonotonicClock`] by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the number of threads of a [`Service`]: by default one for each processor, and at least
    /// four. At most that many closures run at once. Zero is refused. A [`Scheduler`] has no
    /// threads.
    ///
    /// One thread leads: it takes out the due jobs and runs them. Another stands by. When the
    /// leader has been in one run for 200 microseconds, the *patience*, the other takes the lead,
    /// and the run continues on its own thread. So while a thread is free, a slow job delays others
    /// by the patience plus waking that thread, some 50 microseconds. A job whose plan is
    /// [`blocking`](crate::OneShot::blocking) delays them by the waking alone. If runs take more
    /// than 30 microseconds on average, the lead changes before each of them. Briefer runs follow
    /// one another on one thread, so together they use one processor at most.
    ///
    /// When all threads are in slow runs, jobs that come due wait until one of the runs ends. The
    /// counter [`delayed_others`](crate::Counts::delayed_others) counts this. With one thread each
    /// job waits for the one before.
    ///
    /// **Cost**: while jobs run, the standby wakes up every 200 microseconds. While none runs, it
    /// does not wake up.
    ///
    /// To run closures elsewhere, plan them as async jobs, and see [`spawn_on`](Self::spawn_on).
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Spawns the runs of [async jobs](crate::OneShot::run_async) elsewhere: `spawn` receives each
    /// run as a future, to be polled until it is ready. Without `spawn_on`, the leader polls the
    /// futures itself: a waiting future occupies no thread, but futures that need the reactor or
    /// the timers of a runtime do not work there.
    ///
    /// The leader calls `spawn` between two runs, so nothing else comes due until it returns.
    /// It must not block, nor stop the service. If it drops the run, the same holds for the
    /// destructors of the job and for [`on_event`](Self::on_event).
    ///
    /// [`Service::stop`] waits for these runs as for others. Dropping the service does not, since
    /// they belong to the executor. A [recipe](crate#recipes) shows it with tokio.
    pub fn spawn_on(mut self, spawn: impl Fn(AsyncRun) + Send + Sync + 'static) -> Self {
        self.spawner = Some(Box::new(spawn));
        self
    }

    /// Limits the jobs that are scheduled at a time: pending, due, and running. By default there is
    /// no limit. The highest limit is 2^31. Zero is refused.
    ///
    /// Sleeps and other futures count too; see [`DelayQueue`](crate::future::DelayQueue) for that
    /// of a queue. A time limit of an async run counts, and is never refused. A job that is over
    /// makes room at once. With a limit all threads write to one counter.
    pub fn max_jobs(mut self, jobs: usize) -> Self {
        self.limit = Some(jobs);
        self
    }

    /// Sets the time after which a run is reported as slow: a second by default. Zero is refused.
    pub fn slow_after(mut self, time: Duration) -> Self {
        self.slow_after = time;
        self
    }

    /// Sets a callback for failures of jobs. It is called on the thread on which a job fails, and
    /// should return soon. It may do all that a job may do, even stop the service.
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Builds a scheduler, which has no thread.
    ///
    /// # Errors
    ///
    /// If the tick is out of range, the number of threads or jobs is zero or too high, or
    /// [`slow_after`](Self::slow_after) is zero.
    pub fn build(self) -> Result<Scheduler, BuildError> {
        self.checked().map(|(timers, spawner)| Scheduler::new(timers, spawner))
    }

    /// Builds a service and starts its threads.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build), or if a thread cannot be started.
    pub fn start(mut self) -> Result<Service, BuildError> {
        let processors = available_parallelism().map_or(1, NonZero::get);
        self.shards.get_or_insert(processors.clamp(SHARDS.0, SHARDS.1));
        let default = processors.clamp(FEWEST_THREADS, MOST_THREADS);
        let threads = *self.workers.get_or_insert(default);
        let (timers, spawner) = self.checked()?;
        Service::on_threads(timers, &Arc::new(spawner), threads)
    }

    fn checked(self) -> Result<(Handle, Spawner), BuildError> {
        let ticks = Ticks::new(self.tick).ok_or(BuildError::Tick(self.tick))?;
        if let Some(limit) = self.limit.filter(|limit| !(1..=MOST_JOBS).contains(limit)) {
            return Err(BuildError::Limit(limit));
        }
        if self.slow_after.is_zero() {
            return Err(BuildError::SlowAfterZero);
        }
        if let Some(threads) = self.workers.filter(|its| !(1..=MOST_THREADS).contains(its)) {
            return Err(BuildError::Workers(threads));
        }
        let own_wheels = self.backend.is_none();
        let wheels = match self.backend {
            Some(backend) => vec![backend],
            None => (0..self.shards.unwrap_or(1).max(1)).map(|_| default_wheel()).collect(),
        };
        let shards = Shards::new(self.clock, ticks, wheels, own_wheels, self.limit);
        let (slow_after, observer) = (self.slow_after, self.observer);
        let timers = Handle::new(&Arc::new(Shared { shards, slow_after, observer }));
        Ok((timers, self.spawner))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("tick", &self.tick).finish_non_exhaustive()
    }
}
