//! The handle with which any thread schedules, cancels and moves jobs, and the state behind it.

mod operators;

pub(crate) use operators::Paused;
pub use operators::{JobState, Jobs};

use crate::commit::{AnswerOf, Commit, Queue, SharedStore, answered, random_key};
use crate::error::Error;
use crate::handlers::Handler;
use crate::lease::Flight;
use crate::observe::{Reporter, Snapshot};
use crate::plan::{Policy, Scheduled};
use crate::store::{
    Change, Dead, Entry, Gauges, Key, Kind, Outcome, Put, State, StoreError, Timestamp, When,
};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wheelhouse_service::{Backoff, Clock};

/// Checked settings.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) visibility: Duration,
    pub(crate) poll: Duration,
    pub(crate) backoff: Backoff,
    pub(crate) catch_up_rate: Option<u32>,
    pub(crate) slow_after: Duration,
    pub(crate) limit: Option<Duration>,
    pub(crate) dead_for: Option<Duration>,
    pub(crate) most_dead: Option<usize>,
}

/// The state that all threads of a shard share.
pub(crate) struct Shared {
    pub(crate) queue: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: SharedStore,
    pub(crate) queue_of_changes: Arc<Queue>,
    pub(crate) handlers: BTreeMap<Kind, Handler>,
    pub(crate) settings: Settings,
    pub(crate) flight: Arc<Flight>,
    pub(crate) reporter: Arc<Reporter>,
    pub(crate) paused: RwLock<Paused>,
    /// Figures of the storage.
    pub(crate) gauges: Mutex<Gauges>,
    /// For each kind, how long ago its oldest waiting job could have begun.
    pub(crate) overdue: Mutex<BTreeMap<Kind, Duration>>,
    /// The timers are being stopped: leased jobs that have not begun must be released.
    pub(crate) stopping: AtomicBool,
}

/// The result of a cancellation. It is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cancel {
    /// The job will not begin.
    Cancelled,
    /// A run has begun: it continues, its ack counts, it is not repeated, and no other run follows.
    /// Its handler may not have been called yet. If the program is killed before that, or stopped
    /// by [`stop_within`](crate::Durable::stop_within), the handler is never called. The same holds
    /// if the program gives up the run before that: its lease has run out, its kind was paused, an
    /// earlier run of the key hangs, a run of another store has taken the worker, or the executor
    /// has refused or dropped it.
    Running,
    /// No job has the key.
    Absent,
}

/// Schedules, cancels and moves jobs, from any thread and from handlers. Cheap to clone.
///
/// Most methods return when the change is durable. Methods named `submit` return a [`Commit`] at
/// once. A [callback for events](crate::Builder::on_event) must not wait for a change, since the
/// thread that commits may have called it.
///
/// # Errors
///
/// If the store fails, calls return [`Error::Store`], and changes after a stop [`Error::Stopped`].
/// Calls that take a key also return [`Error::Invalid`]. Each method lists only its other errors.
#[derive(Clone)]
pub struct Timers {
    shards: Arc<[Shared]>,
    /// The shard whose threads have this value.
    own: usize,
}

impl Timers {
    /// Creates a value for the threads of each shard.
    pub(crate) fn of_shards(shards: Vec<Shared>) -> Vec<Self> {
        let shards: Arc<[Shared]> = shards.into();
        (0..shards.len()).map(|own| Self { shards: Arc::clone(&shards), own }).collect()
    }

    /// The state that the threads of this shard share.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shards[self.own]
    }

    pub(crate) fn has_several_stores(&self) -> bool {
        self.shards.len() > 1
    }

    /// Returns `what`, with the number of the shard if there are several.
    pub(crate) fn named(&self, what: &str) -> String {
        if self.has_several_stores() { format!("{what}-{}", self.own + 1) } else { what.to_owned() }
    }

    fn shard(&self, key: &Key) -> &Shared {
        &self.shards[key.shard_of(self.shards.len())]
    }

    /// Returns the index, from 0, of the [store](crate::Builder::start_shards) that keeps a key:
    /// for changes that you commit in your own transaction. Messages count stores from 1.
    pub fn shard_of(&self, key: impl AsRef<[u8]>) -> Result<usize, Error> {
        Ok(Key::new(key)?.shard_of(self.shards.len()))
    }

    /// The store's clock, rounded down. With several stores, the clock of the first that answers.
    pub fn now(&self) -> Result<Timestamp, Error> {
        let mut failed: Vec<(&Shared, StoreError)> = Vec::new();
        for shard in &*self.shards {
            let asked = shard.store.lock().now();
            match asked {
                Ok(now) => {
                    // The caller does not see these errors, and some are returned only once.
                    for (shard, error) in failed {
                        shard.reporter.report_failure(&error);
                    }
                    return Ok(now);
                }
                Err(error) => failed.push((shard, error)),
            }
        }
        Err(failed.into_iter().next().map_or(Error::Stopped, |(_, error)| error.into()))
    }

    /// Schedules up to 512 jobs in one commit, and waits until it is durable. After a crash either
    /// all of them exist or none. The jobs are made by [`Plan::put`](crate::Plan::put). One whose
    /// key is taken stays out, or replaces the other job, as its plan says.
    ///
    /// Takes as long as one commit. Changes that were submitted before, and not waited for, may be
    /// committed later.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use wheelhouse_durable::store::MemoryStore;
    /// # use wheelhouse_durable::{Durable, Handlers, Scheduled};
    /// # let timers = Durable::start(MemoryStore::new(), Handlers::new())?;
    /// let (hour, day) = (Duration::from_secs(3_600), Duration::from_secs(86_400));
    /// let remind = timers.after(hour).key("remind 17").put("remind/1", "17")?;
    /// let close = timers.after(day).key("close 17").put("close/1", "17")?;
    /// assert_eq!(timers.schedule_all([remind, close])?, [Scheduled::Created; 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Store`], also if the jobs are too many, or belong to several
    /// [stores](Self::shard_of); [`Error::Invalid`] if a key is reserved.
    pub fn schedule_all(
        &self,
        jobs: impl IntoIterator<Item = Put>,
    ) -> Result<Vec<Scheduled>, Error> {
        /// A store on Redis carries out more changes in several steps.
        const MOST: usize = 512;
        let refused = |why: String| Err(Error::from(StoreError::Refused(why)));
        let jobs: Vec<Put> = jobs.into_iter().collect();
        let Some(first) = jobs.first() else { return Ok(Vec::new()) };
        if jobs.len() > MOST {
            return refused(format!("{} jobs in one commit: at most {MOST}", jobs.len()));
        }
        if let Some(job) = jobs.iter().find(|job| job.key.is_reserved()) {
            return Err(Error::reserved(&job.key));
        }
        let shard = self.shard(&first.key);
        if jobs.iter().any(|job| !std::ptr::eq(self.shard(&job.key), shard)) {
            let why = "the jobs of one commit belong to several stores: choose keys with the same \
                       `shard_of`";
            return refused(why.into());
        }
        let changes: Vec<Change> = jobs.into_iter().map(Change::Put).collect();
        let outcomes = shard.queue_of_changes.commit_together(&changes)?;
        Ok(outcomes.into_iter().map(Scheduled::of).collect())
    }

    /// Cancels a job.
    pub fn cancel(&self, key: impl AsRef<[u8]>) -> Result<Cancel, Error> {
        let key = Key::new(key)?;
        self.commit(&key, Change::Cancel { key: key.clone() }, cancel_of)
    }

    /// Like [`cancel`](Self::cancel), but returns a [`Commit`] at once.
    pub fn submit_cancel(&self, key: impl AsRef<[u8]>) -> Commit<Cancel> {
        match Key::new(key) {
            Ok(key) => self.submit(&key.clone(), Change::Cancel { key }, cancel_of),
            Err(error) => Commit::told(random_key(), Err(error.into()), cancel_of),
        }
    }

    /// Moves a job to `delay` from now.
    ///
    /// # Errors
    ///
    /// [`Error::Absent`]; [`Error::Running`] if the run has begun.
    pub fn refresh(&self, key: impl AsRef<[u8]>, delay: Duration) -> Result<(), Error> {
        let (key, when) = (Key::new(key)?, When::After(delay));
        self.commit(&key, Change::Move { key: key.clone(), when }, moved_of)
    }

    /// Moves a job to a time, or to a delay from now, like [`refresh`](Self::refresh), but returns
    /// a [`Commit`] at once.
    pub fn submit_move(&self, key: impl AsRef<[u8]>, when: When) -> Commit<()> {
        match Key::new(key) {
            Ok(key) => self.submit(&key.clone(), Change::Move { key, when }, moved_of),
            Err(error) => Commit::told(random_key(), Err(error.into()), moved_of),
        }
    }

    /// Turns a dead letter back into a job that is due `delay` from now. The job has a new
    /// generation, and so a new [idempotency key](crate::DurableRun::idempotency_key): if an
    /// attempt of the dead letter has had its effect, that can take place again.
    ///
    /// # Errors
    ///
    /// [`Error::Absent`]; [`Error::Duplicate`] if a job has its key.
    pub fn revive(&self, dead: &Dead, delay: Duration) -> Result<(), Error> {
        let (generation, when) = (dead.job.generation, When::After(delay));
        let revive = Change::Revive { generation, when };
        self.commit(&dead.job.key, revive, |outcome, key| match outcome {
            Outcome::Done => Ok(()),
            Outcome::Duplicate => Err(Error::Duplicate(key.clone())),
            _ => Err(Error::Absent(key.clone())),
        })
    }

    /// Removes a dead letter. Returns `false` if it is already gone.
    pub fn forget(&self, dead: &Dead) -> Result<bool, Error> {
        let forget = Change::Forget { generation: dead.job.generation };
        self.commit(&dead.job.key, forget, |outcome, _| Ok(outcome == Outcome::Done))
    }

    /// The job that has the key, as it is stored.
    pub fn find(&self, key: impl AsRef<[u8]>) -> Result<Option<Entry>, Error> {
        let key = Key::new(key)?;
        Ok(self.shard(&key).store.lock().find(&key)?)
    }

    /// Returns the change that makes this the schedule of its key. `None` if it is already.
    pub(crate) fn update(&self, put: Put) -> Result<Option<Put>, Error> {
        let Some(row) = self.find(&put.key)? else { return Ok(Some(put)) };
        let is_same = row.kind == put.kind
            && row.payload == put.payload
            && Policy::is_same_schedule(&row.policy, &put.policy);
        // A job that was cancelled while it ran has no next occurrence: its row is removed when the
        // run ends.
        let is_cancelled = matches!(row.state, State::Closed(_));
        if is_same && !is_cancelled {
            return Ok(None);
        }
        let mut store = self.shard(&put.key).store.lock();
        let now = store.now()?;
        // A missed run must still take place. A run in progress was not missed, but a run whose
        // lease has run out was interrupted. The row of a replaced job is the newer one, which has
        // not begun.
        let is_missed = row.due <= now
            && match row.state {
                State::Pending | State::Leased(_) | State::Replaced(_) => true,
                State::Begun(lease) => lease.until <= now,
                State::Closed(_) => false,
            };
        Ok(Some(if is_missed { Put { when: When::At(row.due), ..put } } else { put }))
    }

    /// Up to `max` dead letters, in the order of their generations, beginning after the generation
    /// `after`. With several stores a few more are returned if letters of several stores have the
    /// same generation.
    pub fn dead(&self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, Error> {
        let mut dead = Vec::new();
        for shard in &*self.shards {
            dead.extend(shard.store.lock().dead(after, max)?);
        }
        let generation = |dead: &Dead| dead.job.generation;
        dead.sort_by_key(generation);
        if let Some(last) = max.checked_sub(1).and_then(|last| dead.get(last)).map(generation) {
            dead.truncate(dead.partition_point(|dead| generation(dead) <= last));
        }
        Ok(dead)
    }

    /// Returns `true` if the timers are being stopped or have been stopped. No more runs begin. A
    /// long run can check this to end early.
    pub fn is_stopped(&self) -> bool {
        self.shared().stopping.load(Ordering::SeqCst)
    }

    /// Counters and distributions of this program.
    pub fn snapshot(&self) -> Snapshot {
        let in_flight = self.shards.iter().map(|shard| shard.flight.leases.lock().len()).sum();
        let mut snapshot = self.shared().reporter.counters.snapshot(in_flight);
        for shard in &*self.shards {
            for (name, value) in &*shard.gauges.lock() {
                *snapshot.store.entry(name).or_default() += value;
            }
            for (kind, overdue) in &*shard.overdue.lock() {
                snapshot.overdue = snapshot.overdue.max(*overdue);
                let its = snapshot.kinds.get_mut(kind).into_iter();
                its.for_each(|its| its.overdue = its.overdue.max(*overdue));
            }
        }
        snapshot
    }

    pub(crate) fn submit<T>(&self, key: &Key, change: Change, answer: AnswerOf<T>) -> Commit<T> {
        if key.is_reserved() {
            return Commit::told(key.clone(), Err(Error::Absent(key.clone())), answer);
        }
        let (commit, promise) = Commit::new(key.clone(), answer);
        self.shard(key).queue_of_changes.put_patiently(change, promise);
        commit
    }

    /// Like [`submit`](Self::submit), and waits until the change is durable.
    pub(crate) fn commit<T>(
        &self,
        key: &Key,
        change: Change,
        answer: AnswerOf<T>,
    ) -> Result<T, Error> {
        if !key.is_reserved()
            && let Some(outcome) = self.shard(key).queue_of_changes.commit_alone(&change)
        {
            return answered(outcome, key, answer);
        }
        self.submit(key, change, answer).wait()
    }
}

fn cancel_of(outcome: Outcome, _: &Key) -> Result<Cancel, Error> {
    Ok(match outcome {
        Outcome::Cancelled => Cancel::Cancelled,
        Outcome::Running => Cancel::Running,
        _ => Cancel::Absent,
    })
}

fn moved_of(outcome: Outcome, key: &Key) -> Result<(), Error> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Running => Err(Error::Running(key.clone())),
        _ => Err(Error::Absent(key.clone())),
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("snapshot", &self.snapshot()).finish_non_exhaustive()
    }
}
