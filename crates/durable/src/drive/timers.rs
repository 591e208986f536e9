//! The handle with which any thread schedules, cancels and moves jobs.

use super::shard::shard_of;
use super::{Jobs, Shared};
use crate::commit::{Commit, Then};
use crate::error::Error;
use crate::observe::Snapshot;
use crate::plan::{Plan, Repeat};
use crate::store::{Change, Dead, Entry, Key, Outcome, Put, State, Timestamp, When};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What became of a cancellation. It is decided when it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cancel {
    /// The job will not begin.
    Cancelled,
    /// The job has begun: this run continues and its ack counts; it is not repeated, and no other
    /// follows. Its handler may not have been called yet, and never is if the program is killed
    /// before that, or stopped by [`stop_within`](crate::Durable::stop_within).
    Running,
    /// No job has the key.
    Absent,
}

/// Schedules, cancels and moves jobs, from every thread and from handlers. Cheap to clone.
///
/// Methods that wait return when what they did is durable; those called `submit` return at once
/// with a [`Commit`]. An observer of events must not wait for either: it is called by the thread
/// that commits.
#[derive(Clone)]
pub struct Timers {
    shards: Arc<[Shared]>,
    /// The shard whose threads have this value.
    own: usize,
}

impl Timers {
    /// Of each shard, for its threads.
    pub(super) fn of_shards(shards: Vec<Shared>) -> Vec<Self> {
        let shards: Arc<[Shared]> = shards.into();
        (0..shards.len()).map(|own| Self { shards: Arc::clone(&shards), own }).collect()
    }

    /// What the threads of a shard share.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shards[self.own]
    }

    /// A name that no other shard has.
    pub(crate) fn named(&self, what: &str) -> String {
        if self.shards.len() == 1 { what.to_owned() } else { format!("{what}-{}", self.own + 1) }
    }

    /// All of them.
    pub(super) fn shards(&self) -> &[Shared] {
        &self.shards
    }

    fn shard(&self, key: &Key) -> &Shared {
        &self.shards[shard_of(key.as_bytes(), self.shards.len())]
    }

    /// Which of the stores that it was [started](crate::Builder::start_shards) with a key belongs
    /// to, from 0 (messages count from 1): for changes that are committed in a transaction of
    /// yours.
    ///
    /// # Errors
    ///
    /// A key that cannot be.
    pub fn shard_of(&self, key: impl AsRef<[u8]>) -> Result<usize, Error> {
        Ok(shard_of(Key::new(key)?.as_bytes(), self.shards.len()))
    }

    /// Plans a job for so long from now, by the store's clock. Longer than [`Timestamp::MAX`] is
    /// that.
    pub fn after(&self, delay: Duration) -> Plan<'_> {
        Plan::new(self, When::After(delay))
    }

    /// Plans a job for a time: a [`SystemTime`](std::time::SystemTime) or a [`Timestamp`]. One that
    /// is past is due at once.
    pub fn at(&self, time: impl Into<Timestamp>) -> Plan<'_> {
        Plan::new(self, When::At(time.into()))
    }

    /// Plans a job that comes again and again, first a period from now: at whole multiples of the
    /// period, without drift. It ends when it is cancelled, its handler says [`Stop`], or it
    /// [expires](Plan::expires).
    ///
    /// [`Stop`]: crate::Stop
    ///
    /// # Errors
    ///
    /// A period that is no whole number of milliseconds, or zero.
    pub fn every(&self, period: Duration) -> Result<Plan<'_>, Error> {
        let millis = u64::try_from(period.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 || !period.subsec_nanos().is_multiple_of(1_000_000) {
            let why = format!("a period of {period:?}: one of whole milliseconds is wanted");
            return Err(Error::Rule(why));
        }
        Ok(self.after(Duration::from_millis(millis)).repeat(Repeat::Every(millis)))
    }

    /// Plans a job for the times of a cron line, in a time zone by its IANA name, such as
    /// `Europe/Berlin`: see [`wheelhouse_service::cron`] for lines and changes of clocks. Name and
    /// line are stored, and the program that runs the job reads them. A line that other versions
    /// would read differently is stored in [plain form](wheelhouse_service::cron::Cron::plain):
    /// `22-2` as `22-23,0-2`. Asks the store for its clock.
    ///
    /// # Errors
    ///
    /// A line that cannot be read or names no time in the future, an unknown zone,
    /// [`Error::Store`].
    #[cfg(feature = "cron")]
    pub fn cron(&self, line: &str, zone: &str) -> Result<Plan<'_>, Error> {
        if zone.contains([';', '=']) {
            return Err(Error::Rule(format!("the time zone '{zone}' is not known")));
        }
        let mut rule = crate::claim::CronRule::new(line, zone).map_err(Error::Rule)?;
        let first = rule.next(self.now()?);
        let none = || Error::Rule(format!("the cron line '{line}' names no time in the future"));
        let (line, zone) = (rule.plain().to_owned(), zone.to_owned());
        Ok(self.at(first.ok_or_else(none)?).repeat(Repeat::Cron { line, zone }))
    }

    /// The store's clock, rounded down; of several stores that of the first which answers.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub fn now(&self) -> Result<Timestamp, Error> {
        let mut failed = Vec::new();
        for shard in &*self.shards {
            let asked = shard.store.lock().now();
            match asked {
                Ok(now) => {
                    // The caller does not see these, and some errors come once.
                    let report = |(shard, error): (&Shared, _)| shard.report_failure(&error);
                    failed.into_iter().for_each(report);
                    return Ok(now);
                }
                Err(error) => failed.push((shard, error)),
            }
        }
        Err(failed.into_iter().next().map_or(Error::Stopped, |(_, error)| Error::from(error)))
    }

    /// Cancels a job, and waits until that is durable.
    ///
    /// # Errors
    ///
    /// A key that cannot be; [`Error::Store`]; [`Error::Stopped`].
    pub fn cancel(&self, key: impl AsRef<[u8]>) -> Result<Cancel, Error> {
        self.submit_cancel(key)?.wait()
    }

    /// The same without waiting.
    ///
    /// # Errors
    ///
    /// A key that cannot be.
    pub fn submit_cancel(&self, key: impl AsRef<[u8]>) -> Result<Commit<Cancel>, Error> {
        let key = Key::new(key)?;
        Ok(self.submit(&key, Change::Cancel { key: key.clone() }, |outcome, _| match outcome {
            Outcome::Cancelled => Ok(Cancel::Cancelled),
            Outcome::Running => Ok(Cancel::Running),
            _ => Ok(Cancel::Absent),
        }))
    }

    /// Moves a job to so long from now, and waits until that is durable.
    ///
    /// # Errors
    ///
    /// [`Error::Absent`]; [`Error::Running`], if it has begun; a key that cannot be;
    /// [`Error::Store`]; [`Error::Stopped`].
    pub fn refresh(&self, key: impl AsRef<[u8]>, delay: Duration) -> Result<(), Error> {
        self.submit_move(key, When::After(delay))?.wait()
    }

    /// Moves a job to a time or by a delay, without waiting.
    ///
    /// # Errors
    ///
    /// A key that cannot be. What else can go wrong, the [`Commit`] says: see
    /// [`refresh`](Self::refresh).
    pub fn submit_move(&self, key: impl AsRef<[u8]>, when: When) -> Result<Commit<()>, Error> {
        let key = Key::new(key)?;
        Ok(self.submit(
            &key,
            Change::Move { key: key.clone(), when },
            |outcome, key| match outcome {
                Outcome::Done => Ok(()),
                Outcome::Running => Err(Error::Running(key.clone())),
                _ => Err(Error::Absent(key.clone())),
            },
        ))
    }

    /// Makes a job of a dead letter again, due so long from now, and waits until that is durable.
    ///
    /// # Errors
    ///
    /// [`Error::Absent`], [`Error::Duplicate`] if a job has its key, [`Error::Store`],
    /// [`Error::Stopped`].
    pub fn revive(&self, dead: &Dead, delay: Duration) -> Result<(), Error> {
        let (generation, when) = (dead.job.generation, When::After(delay));
        let revive = Change::Revive { generation, when };
        let commit = self.submit(&dead.job.key, revive, |outcome, key| match outcome {
            Outcome::Done => Ok(()),
            Outcome::Duplicate => Err(Error::Duplicate(key.clone())),
            _ => Err(Error::Absent(key.clone())),
        });
        commit.wait()
    }

    /// Removes a dead letter, and waits until that is durable; false if it is gone already.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], [`Error::Stopped`].
    pub fn forget(&self, dead: &Dead) -> Result<bool, Error> {
        let forget = Change::Forget { generation: dead.job.generation };
        self.submit(&dead.job.key, forget, |outcome, _| Ok(outcome == Outcome::Done)).wait()
    }

    /// The job that has a key, as the store has it.
    ///
    /// # Errors
    ///
    /// A key that cannot be; [`Error::Store`].
    pub fn find(&self, key: impl AsRef<[u8]>) -> Result<Option<Entry>, Error> {
        let key = Key::new(key)?;
        Ok(self.shard(&key).store.lock().find(&key)?)
    }

    /// The jobs of all stores, to be filtered and iterated. For people and repairs: it reads every
    /// row, however few are wanted.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use wheelhouse_durable::store::MemoryStore;
    /// use wheelhouse_durable::JobState;
    /// # use wheelhouse_durable::{Durable, Handlers};
    /// # let timers = Durable::start(MemoryStore::new(), Handlers::new())?;
    /// timers.after(Duration::from_secs(9)).key("order-17").schedule_bytes("close/1", "")?;
    /// timers.after(Duration::from_secs(9)).key("user-3").schedule_bytes("close/1", "")?;
    /// for job in timers.jobs().prefix("order-").kind("close/1").state(JobState::Pending) {
    ///     timers.cancel(job?.key)?;
    /// }
    /// assert_eq!(timers.jobs().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs::new(self)
    }

    /// The change that makes this the schedule of its key; `None` if it is already.
    pub(crate) fn update(&self, put: Put) -> Result<Option<Put>, Error> {
        let Some(row) = self.find(&put.key)? else { return Ok(Some(put)) };
        let is_same =
            row.kind == put.kind && row.payload == put.payload && row.policy == put.policy;
        // A job that was cancelled while it ran has no next occurrence: its row goes with the run.
        let is_cancelled = matches!(row.state, State::Closed(_));
        if is_same && !is_cancelled {
            return Ok(None);
        }
        let mut store = self.shard(&put.key).store.lock();
        let now = store.now()?;
        // A missed run is not forgotten. A run in progress was not missed, but one whose lease has
        // run out was interrupted. The row of a replaced job is the newer one, which has not begun.
        let is_missed = row.due <= now
            && match row.state {
                State::Pending | State::Leased(_) | State::Replaced(_) => true,
                State::Begun(lease) => lease.until <= now,
                State::Closed(_) => false,
            };
        Ok(Some(if is_missed { Put { when: When::At(row.due), ..put } } else { put }))
    }

    /// Dead letters, the first `max` after that of a generation. Of several stores a few more,
    /// where letters of several have the same one.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub fn dead(&self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, Error> {
        let mut dead = Vec::new();
        for shard in &*self.shards {
            shard.store.lock().dead(after, max, &mut |its| dead.push(its.clone()))?;
        }
        let generation = |dead: &Dead| dead.job.generation;
        dead.sort_by_key(generation);
        if let Some(last) = max.checked_sub(1).and_then(|last| dead.get(last)).map(generation) {
            dead.truncate(dead.partition_point(|dead| generation(dead) <= last));
        }
        Ok(dead)
    }

    /// Whether the timers are being stopped, or have been: no more runs begin, and one that takes
    /// long may end early.
    pub fn is_stopped(&self) -> bool {
        self.shared().stopping.load(Ordering::SeqCst)
    }

    /// Counters and distributions of this program.
    pub fn snapshot(&self) -> Snapshot {
        let in_flight = self.shards.iter().map(|shard| shard.flight.count()).sum();
        let mut snapshot = self.shared().counters.snapshot(in_flight);
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

    pub(crate) fn submit<T>(
        &self,
        key: &Key,
        change: Change,
        answer: fn(Outcome, &Key) -> Result<T, Error>,
    ) -> Commit<T> {
        if key.is_reserved() {
            return Commit::refused(key.clone(), Error::Absent(key.clone()));
        }
        let (commit, promise) = Commit::new(key.clone(), answer);
        self.shard(key).queue_of_changes.put_patiently(change, Then::Tell(promise));
        commit
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("snapshot", &self.snapshot()).finish_non_exhaustive()
    }
}
