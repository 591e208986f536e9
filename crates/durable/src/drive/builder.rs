//! Configuration.

use super::durable::{Parts, assemble};
use super::{Durable, Observer, Settings};
use crate::error::StartError;
use crate::handlers::Handlers;
use crate::observe::Event;
use crate::store::{Backoff, Store};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_service::{Clock, MonotonicClock};

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
    settings: Settings,
    observer: Option<Observer>,
}

impl Builder {
    pub(super) fn new(handlers: Handlers) -> Self {
        let backoff =
            Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(3_600) };
        let settings = Settings {
            visibility: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            max_attempts: 20,
            backoff,
            catch_up_rate: None,
            slow_after: Duration::from_secs(30),
            limit: None,
            dead_for: None,
            most_dead: None,
        };
        Self {
            handlers,
            queue: String::new(),
            clock: Arc::new(MonotonicClock::new()),
            workers: 4,
            max_in_flight: None,
            settings,
            observer: None,
        }
    }

    /// The name in front of each [idempotency key](crate::DurableRun::idempotency_key); empty by
    /// default. For effects that several stores have in common; all programs on one store say the
    /// same.
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.queue = name.into();
        self
    }

    /// How long a job is invisible to others after a claim: 30 s by default. It is renewed at a
    /// third of that until the end of the run is committed; so it is how long a job waits whose
    /// program has died, and for how long one may stall without losing its jobs.
    pub fn visibility_timeout(mut self, timeout: Duration) -> Self {
        self.settings.visibility = timeout;
        self
    }

    /// How many threads run handlers: 4 by default.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// How many jobs this program leases at a time at the most, those that wait for a worker among
    /// them: 64 for each worker by default. More make larger claims.
    ///
    /// No more are leased than the workers are expected to begin within a tenth of a second, by how
    /// long runs have taken, and one for each worker at least: where handlers take long, other
    /// programs may have a free worker. At most 16 MiB of payloads of a store are leased at a time.
    pub fn max_in_flight(mut self, jobs: usize) -> Self {
        self.max_in_flight = Some(jobs);
        self
    }

    /// How many jobs a second are handed out that are more than a second late; without a limit by
    /// default. So a backlog after downtime does not fall upon what the handlers need. More than
    /// what comes in, or the backlog grows.
    pub fn catch_up_rate(mut self, jobs_a_second: u32) -> Self {
        self.settings.catch_up_rate = Some(jobs_a_second);
        self
    }

    /// How many attempts a job has before it is a dead letter: 20 by default. A job may have [its
    /// own](crate::Plan::max_attempts).
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.settings.max_attempts = attempts;
        self
    }

    /// How long after a first failure a job is tried again, which doubles with each attempt, up to
    /// a longest: 1 s and an hour by default. Of each, between a half and all, at random.
    pub fn backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.settings.backoff = Backoff { first, longest };
        self
    }

    /// How long a handler may work until it is reported as
    /// [still running](crate::EventKind::StillRunning), and as [slow](crate::EventKind::Slow) when
    /// it ends: 30 s by default. It is looked at as often as the store is [asked](Self::poll).
    pub fn slow_after(mut self, time: Duration) -> Self {
        self.settings.slow_after = time;
        self
    }

    /// How long a run may take; without a limit by default. A job may have [its
    /// own](crate::Plan::limit). A run that has taken as long is reported as [timed
    /// out](crate::EventKind::TimedOut), and its lease is not renewed any more: when that has run
    /// out, at the latest after the [visibility timeout](Self::visibility_timeout), another worker
    /// takes the job over, with the next attempt, and
    /// [`is_superseded`](crate::DurableRun::is_superseded) tells the run.
    ///
    /// No thread can be ended from outside: a handler that never returns keeps its worker. If it
    /// does return before another took the job over, its end counts.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.settings.limit = Some(limit);
        self
    }

    /// How long dead letters are kept: for ever by default. Those that are older are removed within
    /// a minute, by a program that has handlers, which reads all dead letters for that.
    pub fn dead_letters_for(mut self, time: Duration) -> Self {
        self.settings.dead_for = Some(time);
        self
    }

    /// How many dead letters a store keeps: all by default. The oldest of more than that are
    /// removed within a minute, as those of [`dead_letters_for`](Self::dead_letters_for).
    pub fn most_dead_letters(mut self, letters: usize) -> Self {
        self.settings.most_dead = Some(letters);
        self
    }

    /// How often the store is asked though nothing said that something is due: once a second by
    /// default. A net below, for stores that cannot tell of what other programs schedule.
    pub fn poll(mut self, each: Duration) -> Self {
        self.settings.poll = each;
        self
    }

    /// The clock by which this program sleeps and measures. What is due, the store's clock decides.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// What is to be called when something goes wrong that no call could tell. It is called by the
    /// threads that commit, claim and run: it should return soon, and must not wait for a commit.
    pub fn on_event(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Starts: from here on jobs of the kinds that have handlers are run, those too that are due
    /// since before.
    ///
    /// # Errors
    ///
    /// Two handlers for one kind, an alias without one, a setting of zero, a store that cannot be
    /// asked or opened twice, one that is a [shard](StartError::Shard), a thread that cannot be
    /// started.
    pub fn start(self, store: impl Store) -> Result<Durable, StartError> {
        self.start_shards([store])
    }

    /// Starts on several stores: a job lies in the one that its key belongs to, and each has a
    /// committer and a claimer of its own, so that one that is away holds up its own jobs alone.
    /// For more jobs than one server takes: several Redis, databases, or queues in them.
    ///
    /// All programs start with the same stores in the same order, which never changes: each store
    /// remembers which shard it is. `workers` are those of all; `max_in_flight` and `catch_up_rate`
    /// are divided among the stores, with one at least for each.
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
    /// A store that cannot be reached holds up its own jobs alone. That holds at the start too, if
    /// another can be reached, and if its builder was told to `connect_later` (`RedisStore` and
    /// `PostgresStore`): `connect` fails while the server is away. A store that is empty while
    /// others have jobs is reported ([`StoreFailed`](crate::EventKind::StoreFailed)) and used as a
    /// new one.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start); no store, or none that can be reached;
    /// [`StartError::Shard`], if a store is another shard, or has jobs and is none.
    pub fn start_shards(
        self,
        stores: impl IntoIterator<Item = impl Store>,
    ) -> Result<Durable, StartError> {
        let Self { handlers, queue, clock, workers, max_in_flight, settings, observer } = self;
        let max_in_flight = max_in_flight.unwrap_or(workers.saturating_mul(64));
        let refuse = |wrong, why| if wrong { Err(StartError::Setting(why)) } else { Ok(()) };
        refuse(workers == 0, "no workers: handlers need one at least")?;
        refuse(max_in_flight == 0, "`max_in_flight` of zero: no job would ever be leased")?;
        refuse(settings.max_attempts == 0, "`max_attempts` of zero: no job would ever run")?;
        refuse(settings.catch_up_rate == Some(0), "`catch_up_rate` of zero: leave it out")?;
        refuse(settings.poll < Duration::from_millis(1), "`poll` below a millisecond")?;
        refuse(
            settings.slow_after.is_zero(),
            "a `slow_after` of zero: each run would be reported",
        )?;
        refuse(settings.limit == Some(Duration::ZERO), "a `limit` of zero: leave it out for none")?;
        let short = settings.visibility < Duration::from_millis(3);
        refuse(short, "a `visibility_timeout` below 3 ms cannot be renewed")?;
        let handlers = handlers.checked()?;
        let boxed = |store| -> Box<dyn Store> { Box::new(store) };
        let stores: Vec<_> = stores.into_iter().map(boxed).collect();
        refuse(stores.is_empty(), "no stores: jobs are kept in one at least")?;
        assemble(
            stores,
            Parts { handlers, queue, clock, workers, max_in_flight, settings, observer },
        )
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("handlers", &self.handlers)
            .field("workers", &self.workers)
            .field("max_in_flight", &self.max_in_flight)
            .finish_non_exhaustive()
    }
}
