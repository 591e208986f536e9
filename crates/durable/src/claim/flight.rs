//! What this program has leased and not ended.

use super::Message;
use super::waiting::Waiting;
use crate::MAX_PAYLOAD;
use crate::handlers::Held;
use crate::store::{ClaimLimit, Key, Token};
use crossbeam_channel::Sender;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use wheelhouse_service::Moment;

/// The most bytes of payloads in flight.
const MOST_BYTES: usize = 16 << 20;

/// See the [module](self).
pub(crate) struct Flight {
    /// Jobs that were claimed and whose end is not committed: their leases are renewed.
    held: Mutex<HashMap<Token, Arc<Held>>>,
    /// The bytes of their payloads.
    bytes: AtomicUsize,
    /// The claimer waits for room.
    waits: AtomicBool,
    most: usize,
    workers: usize,
    waiting: Arc<Waiting>,
    claimer: Sender<Message>,
}

impl Flight {
    pub(crate) fn new(
        most: usize,
        workers: usize,
        waiting: Arc<Waiting>,
        claimer: Sender<Message>,
    ) -> Self {
        let (held, bytes, waits) = (Mutex::default(), AtomicUsize::new(0), AtomicBool::new(false));
        Self { held, bytes, waits, most, workers, waiting, claimer }
    }

    /// The limit of the next claim. `None` if the claimer must wait; then it gets a message.
    pub(super) fn room(&self) -> Option<ClaimLimit> {
        self.free().or_else(|| {
            self.waits.store(true, Ordering::SeqCst);
            // It may have sunk just before that.
            self.free().filter(|_| self.waits.swap(false, Ordering::SeqCst))
        })
    }

    /// The room for more jobs; `None` while it is too small for a claim to be worth while.
    fn free(&self) -> Option<ClaimLimit> {
        let ahead = self.waiting.leased_ahead(self.workers);
        let (count, most) = (self.count(), self.most.min(ahead));
        // As long as each worker has the next job waiting, claims may wait to be larger.
        let low = (most / 2).max((2 * self.workers).min(most) - 1);
        if count > low {
            return None;
        }
        let bytes = MOST_BYTES.saturating_sub(self.bytes.load(Ordering::SeqCst));
        // A claim may bring one job in any case, so there is room for any payload.
        (bytes >= MAX_PAYLOAD).then_some(ClaimLimit { jobs: most - count, bytes })
    }

    pub(super) fn begin(self: &Arc<Self>, held: &Arc<Held>, bytes: usize) -> Flown {
        let before = self.held.lock().insert(held.token, Arc::clone(held));
        debug_assert!(before.is_none(), "a store draws no token twice: {:?}", held.token);
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
        Flown { flight: Arc::clone(self), token: held.token, bytes }
    }

    /// Wakes the claimer to look for pauses.
    pub(crate) fn look(&self) {
        self.claimer.send(Message::Watch).unwrap_or_default();
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.held.lock().len()
    }

    /// The runs that have lost their leases and whose handlers have not returned, by their keys. A
    /// key has one at the most, as no other run of it begins until that returns.
    pub(super) fn hanging(&self, now: Moment) -> HashMap<Key, Arc<Held>> {
        let held = self.held.lock();
        let hangs = held.values().filter(|held| held.is_in_handler() && held.is_lost(now));
        hangs.map(|held| (held.name.key.clone(), Arc::clone(held))).collect()
    }

    pub(super) fn held(&self) -> Vec<Arc<Held>> {
        self.held.lock().values().cloned().collect()
    }
}

/// A job in flight; dropped when its end is committed, or it is given up. Until then its lease is
/// renewed: an end may wait in the queue, behind more than the store commits within a lease.
pub(crate) struct Flown {
    flight: Arc<Flight>,
    token: Token,
    bytes: usize,
}

impl Drop for Flown {
    fn drop(&mut self) {
        let flight = &self.flight;
        let held = flight.held.lock().remove(&self.token);
        debug_assert!(held.is_some(), "it is in flight until this is dropped");
        let before = flight.bytes.fetch_sub(self.bytes, Ordering::SeqCst);
        debug_assert!(before >= self.bytes, "`begin` has added them");
        let waits = flight.waits.load(Ordering::SeqCst) && flight.free().is_some();
        if waits && flight.waits.swap(false, Ordering::SeqCst) {
            flight.claimer.send(Message::Ask).unwrap_or_default();
        }
    }
}
