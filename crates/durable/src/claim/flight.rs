//! What this program has leased and not ended.

use super::Message;
use crate::handlers::Held;
use crate::store::Token;
use crossbeam_channel::Sender;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// See the [module](self).
pub(crate) struct Flight {
    /// The leases to be renewed.
    held: Mutex<HashMap<Token, Arc<Held>>>,
    /// Jobs that were claimed and whose end is not committed.
    count: AtomicUsize,
    /// The claimer waits for room.
    waits: AtomicBool,
    most: usize,
    /// At this count the claimer that waits is told.
    low: usize,
    claimer: Sender<Message>,
}

impl Flight {
    pub(crate) fn new(most: usize, workers: usize, claimer: Sender<Message>) -> Self {
        // As long as each worker has the next job waiting, claims may wait to be larger.
        let low = (most / 2).max((2 * workers).min(most) - 1);
        let (count, waits) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { held: Mutex::default(), count, waits, most, low, claimer }
    }

    /// How many may be claimed. `None` if the claimer is to wait: it is told.
    pub(super) fn room(&self) -> Option<usize> {
        let count = self.count.load(Ordering::SeqCst);
        if count <= self.low {
            return Some(self.most - count);
        }
        self.waits.store(true, Ordering::SeqCst);
        // It may have sunk just before that.
        let count = self.count.load(Ordering::SeqCst);
        let told = count <= self.low && self.waits.swap(false, Ordering::SeqCst);
        told.then(|| self.most - count)
    }

    pub(super) fn begin(self: &Arc<Self>) -> Flown {
        self.count.fetch_add(1, Ordering::SeqCst);
        Flown { flight: Arc::clone(self) }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    pub(super) fn hold(&self, held: &Arc<Held>) {
        self.held.lock().insert(held.token, Arc::clone(held));
    }

    pub(super) fn let_go(&self, held: &Held) {
        self.held.lock().remove(&held.token);
    }

    pub(super) fn is_held(&self, held: &Held) -> bool {
        self.held.lock().contains_key(&held.token)
    }

    pub(super) fn held(&self) -> Vec<Arc<Held>> {
        self.held.lock().values().cloned().collect()
    }
}

/// A job in flight; dropped when its end is committed, or it is given up.
pub(crate) struct Flown {
    flight: Arc<Flight>,
}

impl Drop for Flown {
    fn drop(&mut self) {
        let before = self.flight.count.fetch_sub(1, Ordering::SeqCst);
        if before - 1 <= self.flight.low && self.flight.waits.swap(false, Ordering::SeqCst) {
            self.flight.claimer.send(Message::Ask).unwrap_or_default();
        }
    }
}
