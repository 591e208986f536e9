//! The leases of this program: the state that a run, the claimer and the committer share, and what
//! limits how many jobs are leased.

mod pace;

pub(crate) use pace::{AHEAD, Paces};

use crate::MAX_PAYLOAD;
use crate::observe::{JobName, Reporter};
use crate::store::{ClaimLimit, Entry, Key, Leased, Outcome, Token};
use crossbeam_channel::Sender;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;
use wheelhouse_service::internal::guarded;
use wheelhouse_service::{Clock, Moment};

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

/// The most bytes of payloads in flight in a lane.
const MOST_BYTES: usize = 16 << 20;

/// A message to the claimer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The clock was set, or the wheel has an earlier deadline: poll it.
    Look,
    /// A job may be due, or there is room again: claim.
    Ask,
    Renew,
    /// Look for slow runs and for pauses.
    Watch,
    /// Look for kinds without a handler, and for dead letters to remove.
    LookForKinds,
    /// Make the next step of the look for dead letters.
    Letters,
    /// Lease no more jobs, and continue to renew leases.
    Stop,
    /// No job is in flight any more: end the thread.
    Over,
}

pub(crate) struct Flight {
    /// The leases of jobs that were claimed and whose ends are not committed. They are renewed, the
    /// oldest first.
    pub(crate) leases: Mutex<BTreeMap<Token, Arc<JobLease>>>,
    /// By [`Lane`].
    pub(crate) limits: [LaneLimit; 2],
    pub(crate) paces: Arc<Paces>,
    pub(crate) claimer: Sender<Message>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) reporter: Arc<Reporter>,
}

/// The limits of a lane, and its jobs in flight.
#[derive(Default)]
pub(crate) struct LaneLimit {
    most: usize,
    /// The most that run at a time.
    at_once: usize,
    count: AtomicUsize,
    /// The bytes of their payloads.
    bytes: AtomicUsize,
    /// The claimer waits for room.
    waits: AtomicBool,
}

impl LaneLimit {
    pub(crate) fn new(most: usize, at_once: usize) -> Self {
        Self { most, at_once, ..Self::default() }
    }
}

impl Flight {
    /// Returns the limit of the next claim of a lane. `None` if the claimer must wait: it receives
    /// a message when there is room.
    pub(crate) fn room(&self, lane: Lane) -> Option<ClaimLimit> {
        self.free(lane).or_else(|| {
            let waits = &self.limits[lane as usize].waits;
            waits.store(true, Ordering::SeqCst);
            // Checked again: a job may have ended just before `waits` was set.
            self.free(lane).filter(|_| waits.swap(false, Ordering::SeqCst))
        })
    }

    /// Returns the room for more jobs. `None` while it is too small for a claim to be worthwhile.
    fn free(&self, lane: Lane) -> Option<ClaimLimit> {
        let LaneLimit { most, at_once, count, bytes, .. } = &self.limits[lane as usize];
        let ahead = self.paces.leased_ahead(lane, *at_once);
        let (count, most) = (count.load(Ordering::SeqCst), (*most).min(ahead));
        // While each worker has a next job, claims wait so that they become larger.
        let low = (most / 2).max(at_once.saturating_mul(2).min(most) - 1);
        if count > low {
            return None;
        }
        let bytes = MOST_BYTES.saturating_sub(bytes.load(Ordering::SeqCst));
        // A claim may return one job in any case, so there must be room for any payload.
        (bytes >= MAX_PAYLOAD).then_some(ClaimLimit { bytes, ..ClaimLimit::jobs(most - count) })
    }

    pub(crate) fn begin(self: &Arc<Self>, lease: &Arc<JobLease>) -> InFlight {
        let before = self.leases.lock().insert(lease.token, Arc::clone(lease));
        debug_assert!(before.is_none(), "a store draws no token twice: {:?}", lease.token);
        let limit = &self.limits[lease.lane as usize];
        limit.bytes.fetch_add(lease.bytes, Ordering::SeqCst);
        limit.count.fetch_add(1, Ordering::SeqCst);
        InFlight { flight: Arc::clone(self), lease: Arc::clone(lease) }
    }

    pub(crate) fn tell(&self, message: Message) {
        self.claimer.send(message).unwrap_or_default();
    }

    /// Returns a callback that sends a message to the claimer.
    pub(crate) fn waker(&self, message: Message) -> wheelhouse_service::Waker {
        let claimer = self.claimer.clone();
        Arc::new(move || claimer.send(message).unwrap_or_default())
    }

    /// Returns the runs in progress that have lost their leases, and whose keys a claim has leased,
    /// by key. If it has leased the same occurrence, the lease is lost, although this program's
    /// clock may not show it: the store's clock was set ahead, or the machine was suspended.
    pub(crate) fn hanging(&self, leased: &[Leased], now: Moment) -> HashMap<Key, Arc<JobLease>> {
        let claimed: HashMap<&Key, &Entry> =
            leased.iter().map(|its| (&its.job.key, &its.job)).collect();
        let leases = self.leases.lock();
        let hangs = leases.values().filter(|lease| {
            let name = &lease.name;
            claimed.get(&name.key).filter(|_| lease.is_running()).is_some_and(|job| {
                let is_same =
                    (job.generation, job.occurrence) == (name.generation, name.occurrence);
                is_same || lease.is_lost(now)
            })
        });
        hangs.map(|lease| (lease.name.key.clone(), Arc::clone(lease))).collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<JobLease>> {
        self.leases.lock().values().cloned().collect()
    }

    /// Marks all futures in flight as abandoned, so that they are dropped.
    pub(crate) fn abandon(&self) {
        for lease in self.all().iter().filter(|lease| lease.lane == Lane::Futures) {
            lease.mark(Mark::Abandoned);
            lease.wake();
        }
    }
}

/// A job in flight. It is dropped when the end of the job is committed or given up. Until then the
/// lease is renewed: the end may wait in the queue for longer than a lease lasts.
pub(crate) struct InFlight {
    pub(crate) flight: Arc<Flight>,
    pub(crate) lease: Arc<JobLease>,
}

impl InFlight {
    /// Returns `true` if another worker has the job, or may have it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lease.is_lost(self.flight.clock.now())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let Self { flight, lease } = self;
        let before = flight.leases.lock().remove(&lease.token);
        debug_assert!(before.is_some(), "it is in flight until this is dropped");
        let LaneLimit { count, bytes, waits, .. } = &flight.limits[lease.lane as usize];
        let before = bytes.fetch_sub(lease.bytes, Ordering::SeqCst);
        debug_assert!(before >= lease.bytes, "`begin` has added them");
        let before = count.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "`begin` has counted it");
        if waits.load(Ordering::SeqCst)
            && flight.free(lease.lane).is_some()
            && waits.swap(false, Ordering::SeqCst)
        {
            flight.tell(Message::Ask);
        }
    }
}
