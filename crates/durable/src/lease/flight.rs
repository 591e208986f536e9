//! The jobs in flight: leased by this program, and not ended.

use super::{JobLease, Lane, Mark, Paces};
use crate::MAX_PAYLOAD;
use crate::observe::Reporter;
use crate::store::{ClaimLimit, Entry, Key, Leased, Token};
use crossbeam_channel::Sender;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use wheelhouse_service::{Clock, Moment, Waker};

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
        let (count, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { most, at_once, count, bytes, waits: AtomicBool::new(false) }
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
    pub(crate) fn waker(&self, message: Message) -> Waker {
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
