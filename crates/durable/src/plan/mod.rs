//! Plans: when a job is to run, under which key, and what becomes of it if it is late.

mod policy;

pub use policy::{Late, Missed};
pub(crate) use policy::{Policy, Repeat};

use crate::commit::Commit;
use crate::error::Error;
use crate::store::{Change, InvalidKey, Key, Kind, Outcome, Put, Timestamp, When, is_kind};
use crate::{MAX_PAYLOAD, Timers};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// A job that is to be scheduled: from [`Timers::after`] and its like. Nothing is scheduled until
/// one of the methods is called that take a kind. `A` is what those answer: the job's key, or for
/// [`keeping`](Self::keeping) and [`updating`](Self::updating) what was done.
#[must_use = "nothing is scheduled until `schedule` or `submit` is called"]
#[derive(Clone, Debug)]
pub struct Plan<'t, A = Key> {
    timers: &'t Timers,
    when: When,
    key: Result<Option<Key>, InvalidKey>,
    if_taken: IfTaken,
    policy: Policy,
    answer: fn(Outcome, &Key) -> Result<A, Error>,
}

/// The result of a plan that is made at each start of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheduled {
    /// No job had the key: this one was scheduled.
    Created,
    /// A job had the key and stays as it is.
    Kept,
    /// A job had the key and was changed.
    Changed,
}

/// What becomes of a plan under whose key there is a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IfTaken {
    Refuse,
    Replace,
    Keep,
    Update,
}

impl<'t> Plan<'t> {
    pub(crate) fn new(timers: &'t Timers, when: When) -> Self {
        let (key, if_taken, policy) = (Ok(None), IfTaken::Refuse, Policy::default());
        let answer = |outcome, key: &Key| match outcome {
            Outcome::Duplicate => Err(Error::Duplicate(key.clone())),
            _ => Ok(key.clone()),
        };
        Self { timers, when, key, if_taken, policy, answer }
    }

    pub(crate) fn repeat(mut self, repeat: Repeat) -> Self {
        self.policy.repeat = Some(repeat);
        self
    }

    /// Gives the job a key, by which it can be cancelled and moved; without one it gets 128 random
    /// bits. If a job has the key, this one is refused: [`Error::Duplicate`].
    pub fn key(self, key: impl AsRef<[u8]>) -> Self {
        self.named(key, IfTaken::Refuse)
    }

    fn named(self, key: impl AsRef<[u8]>, if_taken: IfTaken) -> Self {
        Self { key: Key::new(key).map(Some), if_taken, ..self }
    }

    fn standing(self, key: impl AsRef<[u8]>, if_taken: IfTaken) -> Plan<'t, Scheduled> {
        let Self { timers, when, policy, .. } = self;
        let answer = |outcome, _: &Key| match outcome {
            Outcome::Duplicate => Ok(Scheduled::Kept),
            Outcome::Replaced => Ok(Scheduled::Changed),
            _ => Ok(Scheduled::Created),
        };
        Plan { timers, when, key: Key::new(key).map(Some), if_taken, policy, answer }
    }

    /// Gives the job a key; if a job has it, this one takes its place. If that one is running, its
    /// run goes on and is not repeated, and this one begins after it. A periodic job starts anew:
    /// occurrences that were due and had not begun are dropped with the old one.
    pub fn replacing(self, key: impl AsRef<[u8]>) -> Self {
        self.named(key, IfTaken::Replace)
    }

    /// Gives the job a key; if a job has it, that one stays as it is, and this plan is dropped. For
    /// what a program schedules at each start: it is scheduled by the first, and what was missed
    /// while no program ran is not forgotten. Returns which of the two was done.
    pub fn keeping(self, key: impl AsRef<[u8]>) -> Plan<'t, Scheduled> {
        self.standing(key, IfTaken::Keep)
    }

    /// Gives the job a key, and says that this is its schedule now. If a job has the key with the
    /// same kind, payload, rule and limits, it stays as it is; if one of them differs, the job is
    /// changed: a changed cron line takes effect, and an occurrence that was missed while no
    /// program ran still takes place, and so does a run that a crash interrupted, if its lease has
    /// run out. If the job is running, that run continues and the new schedule begins after it. A
    /// job that was cancelled while it runs is scheduled again. Returns what was done.
    ///
    /// Reads the job from the store first. If an overdue occurrence is handed out in that moment,
    /// it may run twice. A change during a run replaces the job, so that run is not repeated: if it
    /// fails, or its program was killed and the lease still lasts, the next run is the first of the
    /// new schedule.
    ///
    /// ```
    /// # use wheelhouse_durable::store::MemoryStore;
    /// # use wheelhouse_durable::{Durable, Handlers, Scheduled};
    /// # use std::time::Duration;
    /// # let timers = Durable::start(MemoryStore::new(), Handlers::new())?;
    /// let hourly = || timers.every(Duration::from_secs(3_600));
    /// assert_eq!(hourly()?.updating("sync").schedule_bytes("sync/1", "")?, Scheduled::Created);
    /// assert_eq!(hourly()?.updating("sync").schedule_bytes("sync/1", "")?, Scheduled::Kept);
    /// let daily = timers.every(Duration::from_secs(86_400))?;
    /// assert_eq!(daily.updating("sync").schedule_bytes("sync/1", "")?, Scheduled::Changed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn updating(self, key: impl AsRef<[u8]>) -> Plan<'t, Scheduled> {
        self.standing(key, IfTaken::Update)
    }
}

impl<A> Plan<'_, A> {
    /// What becomes of it if it is late: [`Late::Run`] by default.
    pub fn late(mut self, late: Late) -> Self {
        self.policy.late = late;
        self
    }

    /// Does not run at or after this time: it is a dead letter then. A periodic job has no
    /// occurrence after it.
    pub fn expires(mut self, time: impl Into<Timestamp>) -> Self {
        self.policy.expires = Some(time.into());
        self
    }

    /// How many attempts there are, in place of [`Builder::max_attempts`].
    ///
    /// [`Builder::max_attempts`]: crate::Builder::max_attempts
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.policy.max_attempts = Some(attempts.max(1));
        self
    }

    /// How long a run may take, instead of [`Builder::limit`], rounded up to a millisecond. A
    /// program of an older version leaves the job alone.
    ///
    /// [`Builder::limit`]: crate::Builder::limit
    pub fn limit(mut self, limit: Duration) -> Self {
        self.policy.limit = Some(limit.max(Duration::from_millis(1)));
        self
    }

    /// What becomes of the occurrences of a periodic job that were missed: [`Missed::Once`] by
    /// default.
    pub fn missed(mut self, missed: Missed) -> Self {
        self.policy.missed = missed;
        self
    }

    /// What schedules it, as a [`Change::Put`], for a store that commits it in a transaction of
    /// yours.
    ///
    /// # Errors
    ///
    /// If key, kind or payload are refused.
    pub fn put(self, kind: impl Into<Kind>, payload: impl Into<Vec<u8>>) -> Result<Put, Error> {
        let (kind, payload) = (kind.into(), payload.into());
        if !is_kind(&kind) {
            return Err(Error::Kind(kind));
        }
        if payload.len() > MAX_PAYLOAD {
            return Err(Error::Payload(format!(
                "a payload of {} bytes, and at most {MAX_PAYLOAD} are allowed: store it elsewhere \
                 and schedule where it is",
                payload.len()
            )));
        }
        let key = self.key?.unwrap_or_else(made_key);
        if key.is_reserved() {
            return Err(Error::Reserved(key));
        }
        Ok(Put {
            key,
            kind,
            payload,
            policy: self.policy.to_text(),
            when: self.when,
            replace: matches!(self.if_taken, IfTaken::Replace | IfTaken::Update),
        })
    }

    /// Schedules it with bytes as its payload, and waits until that is durable. Its key comes back.
    /// In an async task, [`submit_bytes`](Self::submit_bytes) and await.
    ///
    /// # Errors
    ///
    /// [`Error::Duplicate`]; if key, kind or payload are refused; [`Error::Store`];
    /// [`Error::Stopped`].
    pub fn schedule_bytes(
        self,
        kind: impl Into<Kind>,
        payload: impl Into<Vec<u8>>,
    ) -> Result<A, Error> {
        self.submit_bytes(kind, payload).wait()
    }

    /// The same without waiting: the answer is to be waited for or awaited. Those submitted
    /// together are committed together. Waits where 65,536 changes are not committed yet.
    pub fn submit_bytes(self, kind: impl Into<Kind>, payload: impl Into<Vec<u8>>) -> Commit<A> {
        let (timers, answer, updates) =
            (self.timers, self.answer, self.if_taken == IfTaken::Update);
        let key = self.key.clone().ok().flatten();
        let put = self.put(kind, payload);
        let put = if updates { put.and_then(|put| timers.update(put)) } else { put.map(Some) };
        match put {
            Ok(Some(put)) => timers.submit(&put.key.clone(), Change::Put(put), answer),
            Ok(None) => Commit::told(key.unwrap_or_else(made_key), Outcome::Duplicate, answer),
            Err(error) => Commit::refused(key.unwrap_or_else(made_key), error),
        }
    }

    /// Schedules it with a payload that is stored as JSON, and waits until that is durable. Its key
    /// comes back.
    ///
    /// # Errors
    ///
    /// Those of [`schedule_bytes`](Self::schedule_bytes); a payload that JSON cannot express.
    #[cfg(feature = "serde")]
    pub fn schedule<T: serde::Serialize + ?Sized>(
        self,
        kind: impl Into<Kind>,
        payload: &T,
    ) -> Result<A, Error> {
        self.submit(kind, payload).wait()
    }

    /// The same without waiting, see [`submit_bytes`](Self::submit_bytes).
    #[cfg(feature = "serde")]
    pub fn submit<T: serde::Serialize + ?Sized>(
        self,
        kind: impl Into<Kind>,
        payload: &T,
    ) -> Commit<A> {
        match serde_json::to_vec(payload) {
            Ok(payload) => self.submit_bytes(kind, payload),
            Err(error) => {
                let key = self.key.ok().flatten().unwrap_or_else(made_key);
                let why = format!("the payload cannot be written as JSON: {error}");
                Commit::refused(key, Error::Payload(why))
            }
        }
    }
}

/// A key that nobody else has: 128 bits of the hasher that the standard library seeds at random.
fn made_key() -> Key {
    let (high, low) = (random(), random());
    Key::new(format!("{high:016x}{low:016x}")).expect("32 bytes")
}

fn random() -> u64 {
    RandomState::new().hash_one(Instant::now())
}
