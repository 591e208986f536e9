//! The leases of this program: the state that a run, the claimer and the committer share, and what
//! limits how many jobs are leased.

mod flight;
mod pace;

pub(crate) use flight::{Flight, InFlight, LaneLimit, Message};
pub(crate) use pace::{AHEAD, Paces};

use crate::observe::JobName;
use crate::store::{Entry, Outcome, Token};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;
use wheelhouse_service::Moment;
use wheelhouse_service::internal::guarded;

/// An event in the life of the run, at most once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// The store has counted the attempt.
    Begun,
    /// The run has ended; its end may not be committed yet.
    Ended,
    /// Another worker has the job, or may have it.
    Superseded,
    /// The job was cancelled or replaced.
    Closed,
    /// The run was reported as still running.
    Slow,
    /// The run has reached its limit, so its lease is not renewed.
    TimedOut,
    /// The program no longer waits for the run.
    Abandoned,
    /// The handler has taken its ack, and may have committed it.
    Acked,
}

/// Where runs take place. Each lane has its own limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// On the threads of the pool. A thread is in one run at a time.
    Threads,
    /// As futures. More futures than threads may be in flight.
    Futures,
}

impl Lane {
    pub(crate) const ALL: [Self; 2] = [Self::Threads, Self::Futures];
}

/// The lease of a job by this program, and the state of its run.
#[derive(Debug)]
pub(crate) struct JobLease {
    pub(crate) name: JobName,
    pub(crate) token: Token,
    /// The length of its payload.
    bytes: usize,
    /// Where its handler runs.
    pub(crate) lane: Lane,
    /// When the lease ends, by this program's clock. It is computed from the time before the claim
    /// or renewal was sent, so it is never later than the end by the store's clock.
    until: AtomicU64,
    /// The [`Mark`]s, one bit each.
    marks: AtomicU16,
    /// The longest time that the handler may take.
    pub(crate) limit: Option<Duration>,
    pub(crate) context: BTreeMap<String, String>,
    /// When its handler was called, by this program's clock, plus 1. 0: not called yet.
    called: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl JobLease {
    pub(crate) fn new(
        job: &Entry,
        token: Token,
        lane: Lane,
        until: Moment,
        limit: Option<Duration>,
        context: BTreeMap<String, String>,
    ) -> Self {
        Self {
            name: JobName::of(job),
            token,
            bytes: job.payload.len(),
            lane,
            until: AtomicU64::new(until.as_nanos()),
            marks: AtomicU16::new(0),
            limit,
            context,
            called: AtomicU64::new(0),
            waker: Mutex::new(None),
        }
    }

    pub(crate) fn has(&self, mark: Mark) -> bool {
        self.marks.load(Ordering::SeqCst) & 1 << mark as u8 != 0
    }

    /// Returns `true` the first time.
    pub(crate) fn mark(&self, mark: Mark) -> bool {
        self.marks.fetch_or(1 << mark as u8, Ordering::SeqCst) & 1 << mark as u8 == 0
    }

    pub(crate) fn call(&self, now: Moment) {
        debug_assert!(self.has(Mark::Begun), "it is called once it has begun");
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
        if called == 0 || self.has(Mark::Ended) {
            return (None, None);
        }
        let took = Duration::from_nanos(now.as_nanos().saturating_sub(called - 1));
        let is_slow = took > slow_after && self.mark(Mark::Slow);
        let limit = self.limit.filter(|limit| took >= *limit && self.mark(Mark::TimedOut));
        (is_slow.then_some(took), limit)
    }

    /// Stores the waker of the current poll. The future calls this before it checks whether it must
    /// end, so a change after that check finds the waker.
    pub(crate) fn wake_by(&self, waker: &Waker) {
        let mut its = self.waker.lock();
        if its.as_ref().is_some_and(|its| its.will_wake(waker)) {
            return;
        }
        let before = its.replace(waker.clone());
        // Dropped without the lock: the waker may be the last reference to a task and its futures.
        drop(its);
        drop(before);
    }

    /// Wakes the future, if there is one, to check whether it must end.
    pub(crate) fn wake(&self) {
        let waker = self.waker.lock().take();
        waker.into_iter().for_each(|waker| guarded(|| waker.wake()).unwrap_or_default());
    }

    pub(crate) fn is_running(&self) -> bool {
        self.has(Mark::Begun) && !self.has(Mark::Ended)
    }

    /// Returns `true` if its handler was called and has not returned.
    pub(crate) fn is_in_handler(&self) -> bool {
        self.called.load(Ordering::Relaxed) != 0 && !self.has(Mark::Ended)
    }

    pub(crate) fn until(&self) -> Moment {
        Moment::from_nanos(self.until.load(Ordering::Relaxed))
    }

    /// The renewal of the lease until this moment had this outcome. Returns `true` if that shows
    /// that the run has lost its lease.
    pub(crate) fn renew(&self, until: Moment, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Done | Outcome::Closed => {
                self.until.fetch_max(until.as_nanos(), Ordering::Relaxed);
                if outcome == Outcome::Closed {
                    self.mark(Mark::Closed);
                }
                false
            }
            // Another transaction has the row, perhaps that of the handler with its ack.
            Outcome::Running => false,
            // The handler may have ended the run.
            _ if self.has(Mark::Acked) => false,
            // Only for a run in progress. If the run has ended since, the outcome of its end shows
            // whether the lease was lost. If it has not begun, the job may have been cancelled, and
            // the outcome of its `Begin` shows that.
            _ => self.is_running() && self.supersede(),
        }
    }

    /// Records that another worker has the job, and wakes the future of an async handler, which is
    /// then dropped. Returns `true` the first time.
    pub(crate) fn supersede(&self) -> bool {
        let is_new = self.mark(Mark::Superseded);
        self.wake();
        is_new
    }

    /// Returns `true` if another worker has the job, or may have it.
    pub(crate) fn is_lost(&self, now: Moment) -> bool {
        self.has(Mark::Superseded) || self.until() <= now
    }
}
