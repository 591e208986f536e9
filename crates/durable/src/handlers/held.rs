//! A job that this program has leased: the state that its run, the claimer and the committer share.

use super::Lane;
use crate::observe::JobName;
use crate::store::Token;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;
use wheelhouse_service::Moment;
use wheelhouse_service::internal::guarded;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) name: JobName,
    pub(crate) token: Token,
    /// Where its handler runs.
    pub(crate) lane: Lane,
    /// When the lease ends, by this program's clock. It is computed from the time before the claim
    /// or renewal was sent, so it is never later than the end by the store's clock.
    until: AtomicU64,
    superseded: AtomicBool,
    closed: AtomicBool,
    /// The run has begun.
    begun: AtomicBool,
    /// The longest time that the handler may take.
    limit: Option<Duration>,
    /// The context of the job.
    pub(crate) context: BTreeMap<String, String>,
    /// When its handler was called, by this program's clock, plus 1. 0: not called yet.
    called: AtomicU64,
    /// The run was reported as still running.
    was_slow: AtomicBool,
    /// The run has reached its limit, which is reported once.
    timed_out: AtomicBool,
    /// The run has ended; its end may not be committed yet.
    ended: AtomicBool,
    /// The program no longer waits for this run.
    is_abandoned: AtomicBool,
    /// Wakes the future of the handler.
    waker: Mutex<Option<Waker>>,
}

impl Held {
    pub(crate) fn new(
        name: JobName,
        (token, lane): (Token, Lane),
        until: Moment,
        (limit, context): (Option<Duration>, BTreeMap<String, String>),
    ) -> Self {
        Self {
            name,
            token,
            lane,
            until: AtomicU64::new(until.as_nanos()),
            superseded: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            begun: AtomicBool::new(false),
            limit,
            context,
            called: AtomicU64::new(0),
            was_slow: AtomicBool::new(false),
            timed_out: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            is_abandoned: AtomicBool::new(false),
            waker: Mutex::new(None),
        }
    }

    /// The longest time that the handler may take.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit
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
        let is_slow = took > slow_after && !self.was_slow.swap(true, Ordering::Relaxed);
        let limit = self.limit.filter(|limit| took >= *limit && self.time_out());
        (is_slow.then_some(took), limit)
    }

    /// Records that the program no longer waits for the run. Its future is dropped.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::SeqCst)
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

    /// Returns `true` if the run has reached its limit, so that its lease is not renewed.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }

    /// Returns `true` if the run has begun and not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.begun.load(Ordering::Relaxed) && !self.ended.load(Ordering::Relaxed)
    }

    /// Returns `true` if its handler was called and has not returned.
    pub(crate) fn is_in_handler(&self) -> bool {
        self.called.load(Ordering::Relaxed) != 0 && !self.ended.load(Ordering::Relaxed)
    }

    /// Records that the run has reached its limit. Returns `true` the first time.
    pub(crate) fn time_out(&self) -> bool {
        !self.timed_out.swap(true, Ordering::Relaxed)
    }

    /// When the lease ends.
    pub(crate) fn until(&self) -> Moment {
        Moment::from_nanos(self.until.load(Ordering::Relaxed))
    }

    pub(crate) fn extend(&self, until: Moment) {
        self.until.fetch_max(until.as_nanos(), Ordering::Relaxed);
    }

    /// Records that another worker has the job, and wakes the future of an async handler, which is
    /// then dropped. Returns `true` the first time.
    pub(crate) fn supersede(&self) -> bool {
        let is_new = !self.superseded.swap(true, Ordering::SeqCst);
        self.wake();
        is_new
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the job was cancelled or replaced since the run began.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Returns `true` if another worker has the job, or may have it.
    pub(crate) fn is_lost(&self, now: Moment) -> bool {
        self.superseded.load(Ordering::SeqCst)
            || self.until.load(Ordering::Relaxed) <= now.as_nanos()
    }
}
