//! What waits for the committer.

use crate::store::Change;
use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// The most changes in a commit.
pub(crate) const MOST_IN_BATCH: usize = 1_024;

/// How many changes may wait before callers do.
const MOST_WAITING: usize = 65_536;

/// When a change is committed, among those that wait.
pub(crate) enum Rank {
    /// Before all others.
    First,
    /// In turn, for a caller: refused when the queue is closed.
    Caller,
    /// In turn.
    Usual,
    /// After all others.
    Last,
}

/// Receives the outcome of a change.
pub(crate) trait Receives {
    fn rank(&self) -> Rank;
}

/// Changes, and who receives their outcomes.
pub(crate) struct Batch<R> {
    pub(super) changes: Vec<Change>,
    recipients: Vec<R>,
}

impl<R> Default for Batch<R> {
    fn default() -> Self {
        Self { changes: Vec::new(), recipients: Vec::new() }
    }
}

impl<R> Batch<R> {
    pub(super) fn one(change: Change, recipient: R) -> Self {
        Self { changes: vec![change], recipients: vec![recipient] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn push(&mut self, change: Change, recipient: R) {
        self.changes.push(change);
        self.recipients.push(recipient);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.changes.append(&mut other.changes);
        self.recipients.append(&mut other.recipients);
    }

    pub(super) fn into_pairs(self) -> impl Iterator<Item = (Change, R)> {
        self.changes.into_iter().zip(self.recipients)
    }

    /// Takes out so many, from the beginning.
    fn split(&mut self, most: usize) -> Self {
        let rest = most.min(self.changes.len());
        let (changes, recipients) = (self.changes.split_off(rest), self.recipients.split_off(rest));
        let later = Self { changes, recipients };
        std::mem::replace(self, later)
    }
}

struct Inner<R> {
    /// Renewals of leases, which end while others wait.
    first: Batch<R>,
    waiting: Batch<R>,
    /// Runs that are to begin: last, so that what is cancelled in the same commit does not begin.
    last: Batch<R>,
    /// Callers are refused.
    closed: bool,
    /// All are refused: nothing is committed any more.
    over: bool,
}

impl<R> Inner<R> {
    fn is_empty(&self) -> bool {
        [&self.first, &self.waiting, &self.last].iter().all(|batch| batch.is_empty())
    }
}

/// The queue before the committer.
pub(crate) struct Queue<R> {
    inner: Mutex<Inner<R>>,
    /// Something waits, or the queue was closed.
    work: Condvar,
    /// Something was taken.
    room: Condvar,
}

impl<R> Default for Queue<R> {
    fn default() -> Self {
        let (first, waiting, last) = (Batch::default(), Batch::default(), Batch::default());
        let inner = Inner { first, waiting, last, closed: false, over: false };
        Self { inner: Mutex::new(inner), work: Condvar::new(), room: Condvar::new() }
    }
}

impl<R: Receives> Queue<R> {
    /// Puts a change in. When nothing is committed any more it is dropped, and so are changes of
    /// callers when the queue is closed; a promise that is dropped answers that.
    pub(crate) fn put(&self, change: Change, recipient: R) {
        let mut inner = self.inner.lock();
        let rank = recipient.rank();
        if inner.over || inner.closed && matches!(rank, Rank::Caller) {
            drop(inner);
            return drop(recipient);
        }
        let batch = match rank {
            Rank::First => &mut inner.first,
            Rank::Last => &mut inner.last,
            Rank::Caller | Rank::Usual => &mut inner.waiting,
        };
        batch.push(change, recipient);
        drop(inner);
        self.work.notify_one();
    }

    /// The same for callers, who wait where there are too many.
    pub(crate) fn put_patiently(&self, change: Change, recipient: R) {
        let mut inner = self.inner.lock();
        while inner.waiting.changes.len() >= MOST_WAITING && !inner.closed {
            self.room.wait(&mut inner);
        }
        drop(inner);
        self.put(change, recipient);
    }

    /// No more is taken in; what waits is still committed.
    pub(crate) fn close(&self) {
        self.inner.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inner.lock().closed
    }

    /// The next batch: changes that were kept, and those that have arrived, renewals first and runs
    /// that are to begin last. Waits for one to arrive; if some were kept, for `patience` at most.
    /// `None` when it is closed and empty.
    pub(super) fn take(&self, kept: &mut Batch<R>, patience: Option<Duration>) -> Option<Batch<R>> {
        let mut inner = self.inner.lock();
        while inner.is_empty() {
            match patience {
                None if inner.closed => return None,
                None => self.work.wait(&mut inner),
                Some(patience) => {
                    self.work.wait_for(&mut inner, patience);
                    break;
                }
            }
        }
        let mut batch = std::mem::take(kept);
        batch.append(inner.first.split(MOST_IN_BATCH));
        // One at least: callers are to hear that a store fails which has much to make up for.
        let room = MOST_IN_BATCH.saturating_sub(batch.changes.len()).max(1);
        batch.append(inner.waiting.split(room));
        batch.append(inner.last.split(MOST_IN_BATCH));
        drop(inner);
        self.room.notify_all();
        Some(batch)
    }
}

/// Closes a queue, and drops what is in it.
pub(super) struct CloseOnDrop<'q, R: Receives>(pub(super) &'q Queue<R>);

impl<R: Receives> Drop for CloseOnDrop<'_, R> {
    fn drop(&mut self) {
        self.0.close();
        let mut inner = self.0.inner.lock();
        inner.over = true;
        let take = std::mem::take;
        let left = (take(&mut inner.first), take(&mut inner.waiting), take(&mut inner.last));
        drop(inner);
        drop(left);
    }
}
