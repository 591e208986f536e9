//! What a handler is told of the run it is in.

use crate::Timers;
use crate::observe::JobName;
use crate::store::{Again, Change, Key, Kind, Leased, Timestamp, Token};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_service::Moment;

/// A job that this program has leased: what its run, the claimer and the committer share of it.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) name: JobName,
    pub(crate) token: Token,
    /// When the lease ends by the clock of this program, counted from before the store was asked.
    until: AtomicU64,
    superseded: AtomicBool,
    closed: AtomicBool,
    /// The run has begun.
    begun: AtomicBool,
    /// How long it may take.
    limit: Option<Duration>,
    /// When its handler was called, by the clock of this program and with 1 added; 0 before.
    called: AtomicU64,
    /// Reported: the run takes long; it takes too long.
    told: [AtomicBool; 2],
    /// The run has ended; its end may not be committed yet.
    ended: AtomicBool,
}

impl Held {
    pub(crate) fn new(name: JobName, token: Token, until: Moment, limit: Option<Duration>) -> Self {
        Self {
            name,
            token,
            until: AtomicU64::new(until.as_nanos()),
            superseded: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            limit,
            called: AtomicU64::new(0),
            told: [AtomicBool::new(false), AtomicBool::new(false)],
            ended: AtomicBool::new(false),
        }
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// The store has counted the attempt. `is_closed`: the job was cancelled since.
    pub(crate) fn begin(&self, is_closed: bool) {
        self.closed.fetch_or(is_closed, Ordering::Relaxed);
        let before = self.begun.swap(true, Ordering::Relaxed);
        debug_assert!(!before && !self.ended.load(Ordering::Relaxed), "leased, and not begun");
    }

    /// Its handler is called.
    pub(crate) fn call(&self, now: Moment) {
        debug_assert!(self.begun.load(Ordering::Relaxed), "it is called once it has begun");
        self.called.store(now.as_nanos().saturating_add(1), Ordering::Relaxed);
    }

    /// How long the handler has been working, if it takes longer than `slow_after`, and its limit,
    /// if it has reached that: each is returned once.
    pub(crate) fn takes_long(
        &self,
        now: Moment,
        slow_after: Duration,
    ) -> (Option<Duration>, Option<Duration>) {
        let called = self.called.load(Ordering::Relaxed);
        if called == 0 || self.ended.load(Ordering::Relaxed) {
            return (None, None);
        }
        let took = Duration::from_nanos(now.as_nanos().saturating_sub(called - 1));
        let is_new = |which: usize| !self.told[which].swap(true, Ordering::Relaxed);
        let slow = (took > slow_after && is_new(0)).then_some(took);
        (slow, self.limit.filter(|limit| took >= *limit && is_new(1)))
    }

    /// Returns `true` if the run has reached its limit: its lease is not renewed.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.told[1].load(Ordering::Relaxed)
    }

    /// Returns `true` if the run has begun and not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.begun.load(Ordering::Relaxed) && !self.ended.load(Ordering::Relaxed)
    }

    /// Returns `true` if its handler was called and has not returned.
    pub(crate) fn is_in_handler(&self) -> bool {
        self.called.load(Ordering::Relaxed) != 0 && !self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn extend(&self, until: Moment) {
        self.until.fetch_max(until.as_nanos(), Ordering::Relaxed);
    }

    /// Remembers that somebody else has the job; true if that is new.
    pub(crate) fn supersede(&self) -> bool {
        !self.superseded.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether somebody else has it, or may have it.
    pub(crate) fn is_lost(&self, now: Moment) -> bool {
        self.superseded.load(Ordering::Relaxed)
            || self.until.load(Ordering::Relaxed) <= now.as_nanos()
    }
}

/// What a handler is told about the run it is in.
pub struct DurableRun<'a> {
    pub(crate) timers: &'a Timers,
    pub(crate) leased: &'a Leased,
    pub(crate) held: &'a Held,
    pub(crate) missed: u64,
    /// What the ack of this run says of the next occurrence.
    pub(crate) again: Option<Again>,
    pub(crate) started: Timestamp,
}

impl DurableRun<'_> {
    /// The name of the job.
    pub fn key(&self) -> &Key {
        &self.leased.job.key
    }

    /// The kind of the job, by which this handler was chosen.
    pub fn kind(&self) -> &Kind {
        &self.leased.job.kind
    }

    /// Which scheduling this is: no two of a store have the same.
    pub fn generation(&self) -> u64 {
        self.leased.job.generation
    }

    /// Which occurrence of a periodic job, from 0.
    pub fn occurrence(&self) -> u64 {
        self.leased.job.occurrence
    }

    /// The number of the attempt at this occurrence, from 1. An attempt counts just before the
    /// handler is called, so that one whose process was killed counts too.
    pub fn attempt(&self) -> u32 {
        self.leased.job.attempt
    }

    /// The fencing token: a resource that refuses tokens lower than the highest it has seen is
    /// touched by the newest run alone. Tokens of one store can be compared, and those of one key;
    /// each of [several stores](crate::Builder::start_shards) has its own.
    pub fn token(&self) -> Token {
        self.leased.token
    }

    /// The same in all attempts at this occurrence, and in nothing else: queue, key, generation and
    /// occurrence. An effect that is made once for each of these is made once.
    pub fn idempotency_key(&self) -> String {
        let queue = &self.timers.shared().queue;
        format!("{queue}/{}/{}/{}", self.key(), self.generation(), self.occurrence())
    }

    /// When this occurrence was due, by the store's clock.
    pub fn due(&self) -> Timestamp {
        self.leased.job.due
    }

    /// How long after that the run was handed out, by the store's clock.
    pub fn lateness(&self) -> Duration {
        self.started.saturating_since(self.due())
    }

    /// How many occurrences were left out because this run is late: it stands for them too. 0 with
    /// [`Missed::Burst`](crate::Missed::Burst).
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns `true` if another worker has the job now, or may have: the lease has run out, since
    /// it could not be renewed, or was not because the run took longer than its
    /// [limit](crate::Builder::limit). The effects of this run from here on are made twice; its ack
    /// is refused. O(1).
    pub fn is_superseded(&self) -> bool {
        self.held.is_lost(self.timers.shared().clock.now())
    }

    /// Whether the job was cancelled or replaced since this run began, as far as it is known: at
    /// the latest a third of the [visibility timeout](crate::Builder::visibility_timeout) after.
    /// The run may end as it likes; it is not repeated.
    pub fn is_cancelled(&self) -> bool {
        self.held.closed.load(Ordering::Relaxed)
    }

    /// The timers, to schedule other jobs.
    pub fn timers(&self) -> &Timers {
        self.timers
    }

    /// What ends this run as a success. A handler whose effects lie in the store's own database
    /// commits it in one transaction with them, and returns [`Next::Acked`](super::Next::Acked):
    /// then the effects are made once. If the answer is not `Done`, somebody else has the job: it
    /// rolls the transaction back.
    pub fn ack(&self) -> Change {
        let (key, token) = (self.key().clone(), self.token());
        Change::Ack { key, token, again: self.again }
    }
}

impl fmt::Debug for DurableRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurableRun")
            .field("key", self.key())
            .field("kind", self.kind())
            .field("generation", &self.generation())
            .field("occurrence", &self.occurrence())
            .field("attempt", &self.attempt())
            .field("token", &self.token())
            .finish_non_exhaustive()
    }
}
