//! The jobs in flight: leased by this program, and not ended.

use super::pace::Paces;
use crate::MAX_PAYLOAD;
use crate::handlers::{Held, Lane};
use crate::observe::{JobName, Reporter};
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
    /// Renew leases.
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

/// See the [module](self).
pub(crate) struct Flight {
    /// Jobs that were claimed and whose ends are not committed. Their leases are renewed, the
    /// oldest first.
    held: Mutex<BTreeMap<Token, Arc<Held>>>,
    /// By [`Lane`].
    bounds: [Bound; 2],
    paces: Arc<Paces>,
    claimer: Sender<Message>,
    clock: Arc<dyn Clock>,
    reporter: Arc<Reporter>,
}

/// The limits of a lane, and its jobs in flight.
pub(crate) struct Bound {
    most: usize,
    /// The most that run at a time.
    at_once: usize,
    /// The number of jobs.
    count: AtomicUsize,
    /// The bytes of their payloads.
    bytes: AtomicUsize,
    /// The claimer waits for room.
    waits: AtomicBool,
}

impl Bound {
    pub(crate) fn new(most: usize, at_once: usize) -> Self {
        let (count, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { most, at_once, count, bytes, waits: AtomicBool::new(false) }
    }
}

impl Flight {
    pub(crate) fn new(
        bounds: [Bound; 2],
        paces: Arc<Paces>,
        claimer: Sender<Message>,
        clock: Arc<dyn Clock>,
        reporter: Arc<Reporter>,
    ) -> Self {
        Self { held: Mutex::default(), bounds, paces, claimer, clock, reporter }
    }

    pub(super) fn paces(&self) -> &Paces {
        &self.paces
    }

    /// Returns the limit of the next claim of a lane. `None` if the claimer must wait: it receives
    /// a message when there is room.
    pub(super) fn room(&self, lane: Lane) -> Option<ClaimLimit> {
        self.free(lane).or_else(|| {
            let waits = &self.bounds[lane as usize].waits;
            waits.store(true, Ordering::SeqCst);
            // Checked again: a job may have ended just before `waits` was set.
            self.free(lane).filter(|_| waits.swap(false, Ordering::SeqCst))
        })
    }

    /// Returns the room for more jobs. `None` while it is too small for a claim to be worthwhile.
    fn free(&self, lane: Lane) -> Option<ClaimLimit> {
        let Bound { most, at_once, count, bytes, .. } = &self.bounds[lane as usize];
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

    pub(super) fn begin(self: &Arc<Self>, held: &Arc<Held>, bytes: usize) -> Flown {
        let before = self.held.lock().insert(held.token, Arc::clone(held));
        debug_assert!(before.is_none(), "a store draws no token twice: {:?}", held.token);
        let bound = &self.bounds[held.lane as usize];
        bound.bytes.fetch_add(bytes, Ordering::SeqCst);
        bound.count.fetch_add(1, Ordering::SeqCst);
        Flown { flight: Arc::clone(self), held: Arc::clone(held), bytes }
    }

    /// Sends a message to the claimer.
    pub(crate) fn tell(&self, message: Message) {
        self.claimer.send(message).unwrap_or_default();
    }

    /// Returns a callback that sends a message to the claimer.
    pub(crate) fn waker(&self, message: Message) -> Waker {
        let claimer = self.claimer.clone();
        Arc::new(move || claimer.send(message).unwrap_or_default())
    }

    pub(super) fn claimer(&self) -> &Sender<Message> {
        &self.claimer
    }

    /// The number of jobs in flight.
    pub(crate) fn count(&self) -> usize {
        self.held.lock().len()
    }

    /// Returns the runs in progress that have lost their leases, and whose keys a claim has leased,
    /// by key. If it has leased the same occurrence, the lease is lost, although this program's
    /// clock may not show it: the store's clock was set ahead, or the machine was suspended.
    pub(super) fn hanging(&self, leased: &[Leased], now: Moment) -> HashMap<Key, Arc<Held>> {
        let claimed: HashMap<&Key, &Entry> =
            leased.iter().map(|its| (&its.job.key, &its.job)).collect();
        let is_of = |job: &Entry, name: &JobName| {
            (job.generation, job.occurrence) == (name.generation, name.occurrence)
        };
        let held = self.held.lock();
        let hangs = held.values().filter(|held| {
            let job = claimed.get(&held.name.key).filter(|_| held.is_running());
            job.is_some_and(|job| held.is_lost(now) || is_of(job, &held.name))
        });
        hangs.map(|held| (held.name.key.clone(), Arc::clone(held))).collect()
    }

    pub(super) fn held(&self) -> Vec<Arc<Held>> {
        self.held.lock().values().cloned().collect()
    }

    /// Marks all futures in flight as abandoned, so that they are dropped.
    pub(crate) fn abandon(&self) {
        let held = self.held().into_iter();
        held.filter(|held| held.lane == Lane::Futures).for_each(|held| held.abandon());
    }
}

/// A job in flight. It is dropped when the end of the job is committed or given up. Until then the
/// lease is renewed: the end may wait in the queue for longer than a lease lasts.
pub(crate) struct Flown {
    flight: Arc<Flight>,
    held: Arc<Held>,
    bytes: usize,
}

impl Flown {
    pub(super) fn held(&self) -> &Held {
        &self.held
    }

    /// Returns `true` if another worker has the job, or may have it.
    pub(super) fn is_lost(&self) -> bool {
        self.held.is_lost(self.flight.clock.now())
    }

    pub(super) fn reporter(&self) -> &Reporter {
        &self.flight.reporter
    }
}

impl Drop for Flown {
    fn drop(&mut self) {
        let (flight, lane) = (&self.flight, self.held.lane);
        let held = flight.held.lock().remove(&self.held.token);
        debug_assert!(held.is_some(), "it is in flight until this is dropped");
        let Bound { count, bytes, waits, .. } = &flight.bounds[lane as usize];
        let before = bytes.fetch_sub(self.bytes, Ordering::SeqCst);
        debug_assert!(before >= self.bytes, "`begin` has added them");
        let before = count.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "`begin` has counted it");
        if waits.load(Ordering::SeqCst)
            && flight.free(lane).is_some()
            && waits.swap(false, Ordering::SeqCst)
        {
            flight.tell(Message::Ask);
        }
    }
}
