//! What this program has leased and not ended.

use super::Message;
use crate::handlers::Held;
use crate::store::Token;
use crossbeam_channel::Sender;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// See the [module](self).
pub(crate) struct Flight {
    /// Jobs that were claimed and whose end is not committed: their leases are renewed.
    held: Mutex<HashMap<Token, Arc<Held>>>,
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
        Self { held: Mutex::default(), waits: AtomicBool::new(false), most, low, claimer }
    }

    /// How many may be claimed. `None` if the claimer is to wait: it is told.
    pub(super) fn room(&self) -> Option<usize> {
        let count = self.count();
        if count <= self.low {
            return Some(self.most - count);
        }
        self.waits.store(true, Ordering::SeqCst);
        // It may have sunk just before that.
        let count = self.count();
        let told = count <= self.low && self.waits.swap(false, Ordering::SeqCst);
        told.then(|| self.most - count)
    }

    pub(super) fn begin(self: &Arc<Self>, held: &Arc<Held>) -> Flown {
        self.held.lock().insert(held.token, Arc::clone(held));
        Flown { flight: Arc::clone(self), token: held.token }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.held.lock().len()
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
}

impl Drop for Flown {
    fn drop(&mut self) {
        let count = {
            let mut held = self.flight.held.lock();
            held.remove(&self.token);
            held.len()
        };
        if count <= self.flight.low && self.flight.waits.swap(false, Ordering::SeqCst) {
            self.flight.claimer.send(Message::Ask).unwrap_or_default();
        }
    }
}
