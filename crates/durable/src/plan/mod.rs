//! Plans: when a job runs, under which key, and what happens if it is late.

mod policy;

use policy::check_context;
pub(crate) use policy::{CronRule, Policy, Repeat};
pub use policy::{Late, Missed, Scheduled};

use crate::commit::{AnswerOf, Commit, random_key};
use crate::error::{Error, check_kind};
use crate::store::{Change, InvalidKey, Key, Kind, Outcome, Put, Timestamp, When};
use crate::{MAX_PAYLOAD, Timers};
use std::time::Duration;

/// A job to schedule, made by [`Timers::after`] and similar methods. Call one of the methods that
/// take a kind to schedule it. `A` is their result: the job's key, or after
/// [`keeping`](Self::keeping) and [`updating`](Self::updating) a [`Scheduled`].
#[must_use = "nothing is scheduled until `schedule` or `submit` is called"]
#[derive(Clone, Debug)]
pub struct Plan<'t, A = Key> {
    timers: &'t Timers,
    when: When,
    key: Result<Option<Key>, InvalidKey>,
    replace: bool,
    /// Reads the job that has the key, and leaves it if it has the same schedule.
    updates: bool,
    policy: Policy,
    answer: AnswerOf<A>,
}

impl Timers {
    /// Plans a job for `delay` from now, by the store's clock. A time beyond [`Timestamp::MAX`]
    /// becomes [`Timestamp::MAX`].
    pub fn after(&self, delay: Duration) -> Plan<'_> {
        Plan::new(self, When::After(delay))
    }

    /// Plans a job for a time: a [`SystemTime`](std::time::SystemTime) or a [`Timestamp`]. A past
    /// time is due at once.
    pub fn at(&self, time: impl Into<Timestamp>) -> Plan<'_> {
        Plan::new(self, When::At(time.into()))
    }

    /// Plans a periodic job: the first run is a period from now, and later runs follow at whole
    /// periods after the first, without drift. The job ends when it is cancelled, its handler
    /// returns [`Stop`](crate::Stop), or it [expires](Plan::expires).
    ///
    /// # Errors
    ///
    /// [`Error::Rule`] if the period is zero, or not a whole number of milliseconds.
    pub fn every(&self, period: Duration) -> Result<Plan<'_>, Error> {
        let millis = u64::try_from(period.as_millis()).unwrap_or(u64::MAX);
        if period.is_zero() {
            let why = "the period is zero: for a single run use `after`";
            return Err(Error::Rule(why.into()));
        }
        if !period.subsec_nanos().is_multiple_of(1_000_000) {
            let why =
                format!("the period {period:?} is not a whole number of milliseconds: round it");
            return Err(Error::Rule(why));
        }
        Ok(self.after(period).repeating(Repeat::Every(millis)))
    }

    /// Plans a job for the times of a cron line, in a time zone by its IANA name, such as
    /// `Europe/Berlin`: see [`wheelhouse_service::cron`] for lines and changes of clocks. The name
    /// of the zone and the line are stored, and the program that runs the job reads them. A line
    /// that other versions would read differently is stored in [plain
    /// form](wheelhouse_service::cron::Cron::plain): `22-2` as `22-23,0-2`. This call reads the
    /// store's clock.
    ///
    /// # Errors
    ///
    /// [`Error::Rule`] if the line cannot be read or has no time in the future, or the zone is
    /// unknown.
    #[cfg(feature = "cron")]
    pub fn cron(&self, line: &str, zone: &str) -> Result<Plan<'_>, Error> {
        if zone.contains([';', '=']) {
            return Err(Error::Rule(format!(
                "the time zone '{zone}' is not known: write its IANA name, such as Europe/Berlin"
            )));
        }
        let mut rule = CronRule::new(line, zone).map_err(Error::Rule)?;
        let first = rule.next(self.now()?);
        let none = || {
            Error::Rule(format!(
                "the cron line '{line}' has no time in the future: change its year or date"
            ))
        };
        let (line, zone) = (rule.plain().to_owned(), zone.to_owned());
        Ok(self.at(first.ok_or_else(none)?).repeating(Repeat::Cron { line, zone }))
    }
}

impl<'t> Plan<'t> {
    fn new(timers: &'t Timers, when: When) -> Self {
        let answer = |outcome, key: &Key| match outcome {
            Outcome::Duplicate => Err(Error::Duplicate(key.clone())),
            _ => Ok(key.clone()),
        };
        let policy = Policy::default();
        Self { timers, when, key: Ok(None), replace: false, updates: false, policy, answer }
    }

    fn repeating(mut self, repeat: Repeat) -> Self {
        self.policy.repeat = Some(repeat);
        self
    }

    /// Sets the key, by which the job can be cancelled and moved. If a job has the key already, the
    /// plan is refused with [`Error::Duplicate`]. A job without a key gets one of 128 random bits.
    pub fn key(self, key: impl AsRef<[u8]>) -> Self {
        Self { key: Key::new(key).map(Some), replace: false, ..self }
    }

    /// Sets the key, and replaces the job that has it, if there is one. If that job is running, its
    /// run continues and is not repeated, and the new job begins after it. If that job is periodic,
    /// its occurrences that were due and had not begun are dropped.
    pub fn replacing(self, key: impl AsRef<[u8]>) -> Self {
        Self { key: Key::new(key).map(Some), replace: true, ..self }
    }

    /// Sets the key. If a job has it already, that job stays as it is, and this plan is dropped.
    /// For jobs that a program schedules at each start: the first start creates the job, and an
    /// occurrence that was missed while no program ran still takes place. The result is
    /// [`Created`](Scheduled::Created) or [`Kept`](Scheduled::Kept).
    pub fn keeping(self, key: impl AsRef<[u8]>) -> Plan<'t, Scheduled> {
        self.at_each_start(key, false)
    }

    /// Sets the key, and makes this plan the schedule of the job that has it. If that job has the
    /// same kind, payload, rule and limits, it stays as it is. Otherwise it is changed:
    ///
    /// * A changed cron line takes effect.
    /// * An occurrence that was missed while no program ran still takes place. So does a run that a
    ///   crash interrupted, if its lease has run out.
    /// * If the job is running, that run continues, and the new schedule begins after it.
    /// * A job that was cancelled while it runs is scheduled again.
    ///
    /// The result is [`Created`](Scheduled::Created), [`Kept`](Scheduled::Kept) or
    /// [`Changed`](Scheduled::Changed).
    ///
    /// Reads the job from the store first. If an overdue occurrence is handed out at that moment,
    /// it may run twice. A change during a run replaces the job, so that run is not repeated. If it
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
        self.at_each_start(key, true)
    }

    fn at_each_start(self, key: impl AsRef<[u8]>, updates: bool) -> Plan<'t, Scheduled> {
        let Self { timers, when, policy, .. } = self;
        let answer = |outcome, _: &Key| Ok(Scheduled::of(outcome));
        let key = Key::new(key).map(Some);
        Plan { timers, when, key, replace: updates, updates, policy, answer }
    }
}

impl<A> Plan<'_, A> {
    /// Sets what happens to a late run: [`Late::Run`] by default.
    pub fn late(mut self, late: Late) -> Self {
        self.policy.late = late;
        self
    }

    /// Sets a time at and after which the job does not run: it becomes a dead letter instead. A
    /// periodic job has no occurrence at or after this time, and ends.
    pub fn expires(mut self, time: impl Into<Timestamp>) -> Self {
        self.policy.expires = Some(time.into());
        self
    }

    /// Sets the number of attempts, instead of that of
    /// [`Builder::backoff`](crate::Builder::backoff).
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.policy.max_attempts = Some(attempts.max(1));
        self
    }

    /// Sets how long a run may take, instead of [`Builder::limit`](crate::Builder::limit), rounded
    /// up to a millisecond. Programs of versions without this limit do not run the job.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.policy.limit = Some(limit.max(Duration::from_millis(1)));
        self
    }

    /// Sets what happens to missed occurrences of a periodic job: [`Missed::Once`] by default.
    pub fn missed(mut self, missed: Missed) -> Self {
        self.policy.missed = missed;
        self
    }

    /// Adds an entry to the context of the job: short texts, stored next to the payload, that each
    /// run reads by [`DurableRun::context`](crate::DurableRun::context). Use it for values that all
    /// handlers share, such as the `traceparent` of the request that schedules the job.
    ///
    /// A name has 1 to 64 letters, digits, `-`, `_` or `.`. A value has no zero byte. All entries
    /// together have at most 4 KiB. A program of an older version does not run the job.
    /// [`updating`](Self::updating) ignores the context.
    ///
    /// ```
    /// # use wheelhouse_durable::store::MemoryStore;
    /// # use wheelhouse_durable::{Durable, Handlers, Next};
    /// # let (sender, received) = std::sync::mpsc::channel();
    /// let handlers = Handlers::new().on_bytes("mail/1", move |run, _| {
    ///     sender.send(run.context("traceparent").map(str::to_owned))?;
    ///     Ok(Next::Done)
    /// });
    /// let timers = Durable::start(MemoryStore::new(), handlers)?;
    /// let plan = timers.after(std::time::Duration::ZERO).context("traceparent", "00-4bf9-01");
    /// plan.schedule_bytes("mail/1", "")?;
    /// assert_eq!(received.recv()?.as_deref(), Some("00-4bf9-01"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn context(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.policy.context.insert(name.into(), value.into());
        self
    }

    /// Returns the plan as a [`Put`], the content of a [`Change::Put`]: for a store that commits it
    /// in your transaction. A plan with [`updating`](Plan::updating) then replaces the job in any
    /// case, as with [`replacing`](Plan::replacing), since the job is not read.
    ///
    /// # Errors
    ///
    /// If the key, kind or payload is refused.
    pub fn put(self, kind: impl Into<Kind>, payload: impl Into<Vec<u8>>) -> Result<Put, Error> {
        let (kind, payload) = (kind.into(), payload.into());
        check_kind(&kind).map_err(Error::Invalid)?;
        if payload.len() > MAX_PAYLOAD {
            return Err(Error::Payload(format!(
                "a payload of {} bytes is too long, at most {MAX_PAYLOAD} are allowed: store it \
                 elsewhere and schedule a reference to it",
                payload.len()
            )));
        }
        check_context(&self.policy.context).map_err(Error::Invalid)?;
        let key = self.key?.unwrap_or_else(random_key);
        if key.is_reserved() {
            return Err(Error::reserved(&key));
        }
        let (policy, when, replace) = (self.policy.to_text(), self.when, self.replace);
        Ok(Put { key, kind, payload, policy, when, replace })
    }

    /// Schedules the job with bytes as its payload, and blocks until that is durable. In an async
    /// task, await [`submit_bytes`](Self::submit_bytes) instead.
    ///
    /// # Errors
    ///
    /// [`Error::Duplicate`]; if the key, kind or payload is refused; [`Error::Store`];
    /// [`Error::Stopped`].
    pub fn schedule_bytes(
        self,
        kind: impl Into<Kind>,
        payload: impl Into<Vec<u8>>,
    ) -> Result<A, Error> {
        let (timers, answer) = (self.timers, self.answer);
        match self.changed(kind, payload) {
            Ok(put) => timers.commit(&put.key.clone(), Change::Put(put), answer),
            Err(result) => result.wait(),
        }
    }

    /// Like [`schedule_bytes`](Self::schedule_bytes), but returns a [`Commit`] to wait for or to
    /// await. Plans submitted together are committed together. Blocks only while 65,536 changes are
    /// not committed yet. With [`updating`](Self::updating), it reads the store first.
    pub fn submit_bytes(self, kind: impl Into<Kind>, payload: impl Into<Vec<u8>>) -> Commit<A> {
        let (timers, answer) = (self.timers, self.answer);
        match self.changed(kind, payload) {
            Ok(put) => timers.submit(&put.key.clone(), Change::Put(put), answer),
            Err(result) => result,
        }
    }

    /// Returns the job to put, or the result if there is nothing to put.
    fn changed(self, kind: impl Into<Kind>, payload: impl Into<Vec<u8>>) -> Result<Put, Commit<A>> {
        let (timers, answer, updates) = (self.timers, self.answer, self.updates);
        let key = self.key.clone().ok().flatten();
        let put = self.put(kind, payload);
        let put = if updates { put.and_then(|put| timers.update(put)) } else { put.map(Some) };
        let key = || key.unwrap_or_else(random_key);
        match put {
            Ok(Some(put)) => Ok(put),
            told => Err(Commit::told(key(), told.map(|_| Outcome::Duplicate), answer)),
        }
    }

    /// Schedules the job with a payload that is stored as JSON, and blocks until that is durable.
    ///
    /// # Errors
    ///
    /// The errors of [`schedule_bytes`](Self::schedule_bytes); a payload that JSON cannot express.
    #[cfg(feature = "serde")]
    pub fn schedule<T: serde::Serialize + ?Sized>(
        self,
        kind: impl Into<Kind>,
        payload: &T,
    ) -> Result<A, Error> {
        let payload = serde_json::to_vec(payload).map_err(unwritable)?;
        self.schedule_bytes(kind, payload)
    }

    /// Like [`schedule`](Self::schedule), but returns a [`Commit`]: see
    /// [`submit_bytes`](Self::submit_bytes).
    #[cfg(feature = "serde")]
    pub fn submit<T: serde::Serialize + ?Sized>(
        self,
        kind: impl Into<Kind>,
        payload: &T,
    ) -> Commit<A> {
        match serde_json::to_vec(payload) {
            Ok(payload) => self.submit_bytes(kind, payload),
            Err(error) => {
                let key = self.key.ok().flatten().unwrap_or_else(random_key);
                Commit::told(key, Err(unwritable(error)), self.answer)
            }
        }
    }
}

#[cfg(feature = "serde")]
fn unwritable(error: serde_json::Error) -> Error {
    Error::Payload(format!("the payload cannot be written as JSON: {error}"))
}
