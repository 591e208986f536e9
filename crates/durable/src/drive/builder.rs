//! Configuration.

use super::{Durable, Parts, Spawner};
use crate::commit::MOST_IN_BATCH;
use crate::error::StartError;
use crate::handlers::Handlers;
use crate::observe::{Event, Observer};
use crate::store::Store;
use crate::timers::Settings;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_service::{AsyncRun, Backoff, Clock, MonotonicClock};

const ATTEMPTS: u32 = 20;

/// The longest visibility timeout and the longest time between polls: a year. The wheel of the
/// claimer cannot represent times that are centuries away.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// Configures durable timers, and starts them.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_durable::store::MemoryStore;
/// use wheelhouse_durable::{Durable, Handlers};
///
/// let timers = Durable::builder(Handlers::new())
///     .visibility_timeout(Duration::from_secs(60))
///     .workers(8)
///     .on_event(|event| eprintln!("{event}"))
///     .start(MemoryStore::new())?;
/// timers.stop();
/// # Ok::<(), wheelhouse_durable::StartError>(())
/// ```
#[must_use = "nothing is started until `start` is called"]
pub struct Builder {
    handlers: Handlers,
    queue: String,
    clock: Arc<dyn Clock>,
    workers: usize,
    max_in_flight: Option<usize>,
    async_runs: usize,
    spawner: Option<Spawner>,
    settings: Settings,
    observer: Option<Observer>,
}

impl Durable {
    /// Configures workers, timeouts, limits ...
    pub fn builder(handlers: Handlers) -> Builder {
        let settings = Settings {
            visibility: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            backoff: Backoff::new(Duration::from_secs(1)).jitter(0.5).attempts(ATTEMPTS),
            catch_up_rate: None,
            slow_after: Duration::from_secs(30),
            limit: None,
            dead_for: None,
            most_dead: None,
        };
        Builder {
            handlers,
            queue: String::new(),
            clock: Arc::new(MonotonicClock::new()),
            workers: 4,
            max_in_flight: None,
            // One commit renews the leases of all runs.
            async_runs: MOST_IN_BATCH,
            spawner: None,
            settings,
            observer: None,
        }
    }

    /// Starts with the defaults of a [`Builder`], or returns the errors of [`Builder::start`]. For
    /// a SQLite file, use `Durable::open` of the trait `DurableExt` in `wheelhouse-store-sqlite`.
    pub fn start(store: impl Store, handlers: Handlers) -> Result<Self, StartError> {
        Self::builder(handlers).start(store)
    }
}

impl Builder {
    /// Sets the prefix of each [idempotency key](crate::DurableRun::idempotency_key): empty by
    /// default. Needed if jobs of several stores have effects on one resource. All programs on a
    /// store must set the same name. It must not contain `/` if jobs of several queues have
    /// effects on one resource: a slash ends the name.
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.queue = name.into();
        self
    }

    /// Sets how long a lease lasts after a claim or a renewal: 30 s by default. Leases are renewed
    /// after each third of this time, until the end of the run is committed. If a program dies, its
    /// jobs wait for up to this time. A program that stalls for longer loses its jobs to other
    /// programs.
    pub fn visibility_timeout(mut self, timeout: Duration) -> Self {
        self.settings.visibility = timeout;
        self
    }

    /// Sets the number of threads that run handlers: 4 by default. They also poll the futures of
    /// [async handlers](Handlers::on_async), or [pass them on](Self::spawn_on).
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the most runs of [async handlers](Handlers::on_async) that are in flight at a time:
    /// 1,024 by default. No more of their jobs are leased, so other programs run the rest. One
    /// commit renews the leases of 1,024 runs.
    pub fn async_runs(mut self, runs: usize) -> Self {
        self.async_runs = runs;
        self
    }

    /// Hands the runs of [async handlers](Handlers::on_async) to an executor, which polls each
    /// until it is ready. Without this, the [`workers`](Self::workers) poll them: there, futures
    /// that need the reactor or the timers of a runtime panic. The function must return soon.
    /// [`Handlers::on_async`] has an example with tokio.
    ///
    /// If the executor drops a run before it began, the job is released, and due again after a
    /// third of the [visibility timeout](Self::visibility_timeout); an
    /// [event](crate::EventKind::Dropped) reports it. If it drops it later, the run has failed, and
    /// is retried.
    pub fn spawn_on(mut self, spawn: impl Fn(AsyncRun) + Send + Sync + 'static) -> Self {
        self.spawner = Some(Box::new(spawn));
        self
    }

    /// Sets the most jobs that this program leases at a time, including those that wait for a
    /// worker: 64 for each worker by default. A higher limit allows larger claims. Jobs of async
    /// handlers have [a separate limit](Self::async_runs). For each of the two, at most 16 MiB of
    /// payloads are leased from a store at a time.
    ///
    /// Beyond one job for each worker, no more are leased than the workers can begin within a tenth
    /// of a second, judging by earlier runs. So other programs run jobs whose handlers take long.
    pub fn max_in_flight(mut self, jobs: usize) -> Self {
        self.max_in_flight = Some(jobs);
        self
    }

    /// Sets the most jobs per second that are handed out more than a second late: no limit by
    /// default. This protects what the handlers depend on from a backlog after downtime. The rate
    /// must exceed that of new jobs and retries, or the backlog grows.
    ///
    /// It holds on average. A claim that expects no late job may find up to 512, for example
    /// retries that are due at one time. Then no job is handed out until the rate allows the next.
    pub fn catch_up_rate(mut self, jobs_a_second: u32) -> Self {
        self.settings.catch_up_rate = Some(jobs_a_second);
        self
    }

    /// Sets the delays before retries, and after how many attempts a job becomes a dead letter. By
    /// default the first delay is a second, later ones up to an hour, with a jitter of a half. A
    /// backoff without [`attempts`](Backoff::attempts), or with `u32::MAX`, has 20. A job can have
    /// [its own limit](crate::Plan::max_attempts).
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        let is_unlimited = backoff.most_attempts() == u32::MAX;
        self.settings.backoff = if is_unlimited { backoff.attempts(ATTEMPTS) } else { backoff };
        self
    }

    /// Sets the time after which a handler is reported as
    /// [`StillRunning`](crate::EventKind::StillRunning), and as [`Slow`](crate::EventKind::Slow)
    /// when it ends: 30 s by default. Handlers are checked at each [poll](Self::poll).
    pub fn slow_after(mut self, time: Duration) -> Self {
        self.settings.slow_after = time;
        self
    }

    /// Sets a time limit for each run: none by default. A job can have [its
    /// own](crate::Plan::limit). An [event](crate::EventKind::TimedOut) reports a run that reaches
    /// its limit.
    ///
    /// A thread cannot be interrupted, so a closure continues and keeps its worker. Its lease is no
    /// longer renewed, and runs out within the [visibility timeout](Self::visibility_timeout). From
    /// then on [`is_superseded`](crate::DurableRun::is_superseded) returns `true`, and another
    /// worker takes the job over, with the next attempt. If the handler returns before, its result
    /// counts.
    ///
    /// The future of an [async handler](Handlers::on_async) is dropped at its limit. This counts as
    /// a failure: the job is retried with backoff, without waiting for its lease.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.settings.limit = Some(limit);
        self
    }

    /// Sets how long dead letters are kept: for ever by default. Older ones are removed within a
    /// minute, by any program that has handlers. It reads all dead letters each time.
    pub fn dead_letters_for(mut self, time: Duration) -> Self {
        self.settings.dead_for = Some(time);
        self
    }

    /// Sets the most dead letters that a store keeps: all by default. If there are more, the oldest
    /// are removed as by [`dead_letters_for`](Self::dead_letters_for).
    pub fn most_dead_letters(mut self, letters: usize) -> Self {
        self.settings.most_dead = Some(letters);
        self
    }

    /// Sets how often the store is polled although no job is known to be due: once a second by
    /// default. This finds jobs of other programs if the store cannot notify.
    pub fn poll(mut self, each: Duration) -> Self {
        self.settings.poll = each;
        self
    }

    /// Sets the clock by which this program sleeps and measures time. The store's clock decides
    /// which jobs are due.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets a callback for failures that no call can return, and for failed commits. The threads
    /// that commit, claim, run and schedule call it, so it should return soon. It must not wait for
    /// a commit, nor for a lock that is held while a job is scheduled.
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Starts to run the jobs of all kinds that have a handler, including those that are overdue.
    ///
    /// # Errors
    ///
    /// If a kind has two handlers, a setting is out of range, the store cannot be reached or cannot
    /// open a second connection, the store is one of several
    /// ([`StoreError::Refused`](crate::store::StoreError::Refused)), or a thread cannot be started.
    pub fn start(self, store: impl Store) -> Result<Durable, StartError> {
        self.start_shards([store])
    }

    /// Starts on several stores, for more jobs than one server can take. The key of a job decides
    /// which store keeps it. Each store has its own committer and claimer, so a store that is
    /// unreachable delays only its own jobs. All stores share the `workers`. `max_in_flight`,
    /// `async_runs` and `catch_up_rate` are divided among the stores, at least 1 for each.
    ///
    /// All programs must start with the same stores in the same order, which cannot change: each
    /// store remembers which shard it is.
    ///
    /// ```
    /// use wheelhouse_durable::store::MemoryStore;
    /// use wheelhouse_durable::{Durable, Handlers};
    ///
    /// // Or `PostgresStore::builder(url, queue)?.connect_later()?`, or the same with `RedisStore`.
    /// let stores = [MemoryStore::new(), MemoryStore::new()];
    /// let timers = Durable::builder(Handlers::new()).start_shards(stores)?;
    /// timers.after(std::time::Duration::from_secs(9)).key("order-17").schedule_bytes("a/1", "")?;
    /// assert!(timers.find("order-17")?.is_some()); // whichever store it is in
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The start succeeds if at least one store can be reached, and the others were built with
    /// `connect_later` (`RedisStore` and `PostgresStore`): `connect` fails while its server is
    /// unreachable. A store that is empty while others have jobs is reported
    /// ([`StoreFailed`](crate::EventKind::StoreFailed)) and used as a new one.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start); if there is no store, or none can be reached;
    /// [`StoreError::Refused`](crate::store::StoreError::Refused) if a store is a different shard,
    /// or has jobs and is no shard.
    pub fn start_shards(
        self,
        stores: impl IntoIterator<Item = impl Store>,
    ) -> Result<Durable, StartError> {
        let parts = self.checked()?;
        let boxed = |store| -> Box<dyn Store> { Box::new(store) };
        let stores: Vec<_> = stores.into_iter().map(boxed).collect();
        if stores.is_empty() {
            return Err(StartError::Setting("no stores: jobs are kept in one at least".into()));
        }
        Durable::assemble(stores, parts)
    }

    pub(crate) fn checked(self) -> Result<Parts, StartError> {
        let Self { handlers, queue, clock, workers, async_runs, spawner, .. } = self;
        let Self { max_in_flight, settings, observer, .. } = self;
        let max_in_flight = max_in_flight.unwrap_or(workers.saturating_mul(64));
        let refused = [
            (workers == 0, "no workers: handlers need one at least"),
            (max_in_flight == 0, "`max_in_flight` of zero: no job would ever be leased"),
            (async_runs == 0, "`async_runs` of zero: no async handler would ever run"),
            (settings.catch_up_rate == Some(0), "`catch_up_rate` of zero: leave it out"),
            (settings.poll < Duration::from_millis(1), "`poll` below a millisecond"),
            (settings.poll > LONGEST, "`poll` above a year: set a year at most"),
            (settings.slow_after.is_zero(), "a `slow_after` of zero: each run would be reported"),
            (settings.limit == Some(Duration::ZERO), "a `limit` of zero: leave it out for none"),
            (
                settings.visibility < Duration::from_millis(3),
                "a `visibility_timeout` below 3 ms cannot be renewed",
            ),
            (
                settings.visibility > LONGEST,
                "a `visibility_timeout` above a year: leases are renewed, so use less",
            ),
        ];
        if let Some((_, why)) = refused.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Err(StartError::Setting(why.to_owned()));
        }
        let handlers = handlers.checked()?;
        let limits = [(max_in_flight, workers), (async_runs, async_runs)];
        Ok(Parts { handlers, queue, clock, limits, spawner, settings, observer })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("handlers", &self.handlers).finish_non_exhaustive()
    }
}
