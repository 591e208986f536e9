//! The run that a handler is called for.

use crate::Timers;
use crate::observe::JobName;
use crate::store::{Again, Change, Key, Kind, Leased, Timestamp, Token};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_service::Moment;

/// A job that this program has leased: the state that its run, the claimer and the committer share.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) name: JobName,
    pub(crate) token: Token,
    /// When the lease ends, by this program's clock. It is computed from the time before the claim
    /// or renewal was sent, so it is never later than the end by the store's clock.
    until: AtomicU64,
    superseded: AtomicBool,
    closed: AtomicBool,
    /// The run has begun.
    begun: AtomicBool,
    /// The longest time that the handler may take.
    limit: Option<Duration>,
    /// When its handler was called, by this program's clock, plus 1. 0: not called yet.
    called: AtomicU64,
    /// Already reported: the run is slow; the run has reached its limit.
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

    /// Records that the store has counted the attempt. `is_closed`: the job was cancelled or
    /// replaced before.
    pub(crate) fn begin(&self, is_closed: bool) {
        self.closed.fetch_or(is_closed, Ordering::Relaxed);
        let before = self.begun.swap(true, Ordering::Relaxed);
        debug_assert!(!before && !self.ended.load(Ordering::Relaxed), "leased, and not begun");
    }

    /// Records that the handler is called.
    pub(crate) fn call(&self, now: Moment) {
        debug_assert!(self.begun.load(Ordering::Relaxed), "it is called once it has begun");
        self.called.store(now.as_nanos().saturating_add(1), Ordering::Relaxed);
    }

    /// Returns the time that the handler has worked, if it is longer than `slow_after`, and its
    /// limit, if it has reached that. Each is returned once for a run.
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

    /// Returns `true` if the run has reached its limit, so that its lease is not renewed.
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

    /// Records that another worker has the job. Returns `true` the first time.
    pub(crate) fn supersede(&self) -> bool {
        !self.superseded.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if another worker has the job, or may have it.
    pub(crate) fn is_lost(&self, now: Moment) -> bool {
        self.superseded.load(Ordering::Relaxed)
            || self.until.load(Ordering::Relaxed) <= now.as_nanos()
    }
}

/// The run that a handler is called for: its job, its attempt, and the state of its lease.
pub struct DurableRun<'a> {
    pub(crate) timers: &'a Timers,
    pub(crate) leased: &'a Leased,
    pub(crate) held: &'a Held,
    pub(crate) missed: u64,
    /// The next occurrence, for the ack of this run.
    pub(crate) again: Option<Again>,
    pub(crate) started: Timestamp,
}

impl DurableRun<'_> {
    /// The key of the job.
    pub fn key(&self) -> &Key {
        &self.leased.job.key
    }

    /// The kind of the job, by which this handler was chosen.
    pub fn kind(&self) -> &Kind {
        &self.leased.job.kind
    }

    /// The generation of the job: each scheduling in a store has a different number.
    pub fn generation(&self) -> u64 {
        self.leased.job.generation
    }

    /// The number of this occurrence of a periodic job, from 0.
    pub fn occurrence(&self) -> u64 {
        self.leased.job.occurrence
    }

    /// The number of the attempt at this occurrence, from 1. An attempt is counted just before the
    /// handler is called, so an attempt whose process was killed counts too.
    pub fn attempt(&self) -> u32 {
        self.leased.job.attempt
    }

    /// The fencing token. If a resource refuses tokens lower than the highest it has seen, only the
    /// newest run can change it. Tokens of one store can be compared with each other; [several
    /// stores](crate::Builder::start_shards) number their tokens separately.
    pub fn token(&self) -> Token {
        self.leased.token
    }

    /// The queue, key, generation and occurrence: the same in all attempts at this occurrence, and
    /// different in any other. An effect that is applied once for each of these strings is applied
    /// once for each occurrence.
    pub fn idempotency_key(&self) -> String {
        let queue = &self.timers.shared().queue;
        format!("{queue}/{}/{}/{}", self.key(), self.generation(), self.occurrence())
    }

    /// When this occurrence was due, by the store's clock.
    pub fn due(&self) -> Timestamp {
        self.leased.job.due
    }

    /// How late the run was when it was handed out, by the store's clock.
    pub fn lateness(&self) -> Duration {
        self.started.saturating_since(self.due())
    }

    /// The number of occurrences that were skipped because this run is late: it stands for them
    /// too. 0 with [`Missed::Burst`](crate::Missed::Burst).
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns `true` if another worker has the job now, or may have it: the lease has run out,
    /// because it could not be renewed, or because the run took longer than its
    /// [limit](crate::Builder::limit). Effects from here on may take place twice. The ack of this
    /// run is refused if another worker has claimed the job. O(1).
    pub fn is_superseded(&self) -> bool {
        self.held.is_lost(self.timers.shared().clock.now())
    }

    /// Returns `true` if the job was cancelled or replaced since this run began. This program
    /// learns of that within a third of the
    /// [visibility timeout](crate::Builder::visibility_timeout). The run is not repeated, whether
    /// it succeeds or fails.
    pub fn is_cancelled(&self) -> bool {
        self.held.closed.load(Ordering::Relaxed)
    }

    /// The timers, to schedule other jobs.
    pub fn timers(&self) -> &Timers {
        self.timers
    }

    /// The change that ends this run as a success. If the effects of a handler are in the store's
    /// own database, the handler commits this change in one transaction with them, and returns
    /// [`Next::Acked`](super::Next::Acked). Then the effects take place once. If the outcome of the
    /// change is not `Done`, another worker has the job, and the handler must roll the transaction
    /// back.
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
