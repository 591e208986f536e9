//! What waits for the committer.

use super::Promise;
use crate::claim::{Ended, Renewed, Task};
use crate::store::Change;
use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// The most changes in a commit.
pub(crate) const MOST_IN_BATCH: usize = 1_024;

/// How many changes may wait before callers do.
const MOST_WAITING: usize = 65_536;

/// Whom to tell of an outcome.
pub(crate) enum Then {
    Tell(Promise),
    Ended(Ended),
    Renewed(Renewed),
    /// A run that is to begin.
    Begun(Box<Task>),
    /// A dead letter is kept no longer.
    Forgotten,
}

/// Changes, and whom to tell.
#[derive(Default)]
pub(crate) struct Batch {
    pub(super) changes: Vec<Change>,
    thens: Vec<Then>,
}

impl Batch {
    pub(super) fn one(change: Change, then: Then) -> Self {
        Self { changes: vec![change], thens: vec![then] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn push(&mut self, change: Change, then: Then) {
        self.changes.push(change);
        self.thens.push(then);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.changes.append(&mut other.changes);
        self.thens.append(&mut other.thens);
    }

    pub(super) fn into_pairs(self) -> impl Iterator<Item = (Change, Then)> {
        self.changes.into_iter().zip(self.thens)
    }

    /// Takes out so many, from the beginning.
    fn split(&mut self, most: usize) -> Self {
        let rest = most.min(self.changes.len());
        let later =
            Self { changes: self.changes.split_off(rest), thens: self.thens.split_off(rest) };
        std::mem::replace(self, later)
    }
}

#[derive(Default)]
struct Inner {
    /// Renewals of leases, which end while others wait.
    first: Batch,
    waiting: Batch,
    /// Runs that are to begin: last, so that what is cancelled in the same commit does not begin.
    last: Batch,
    /// Callers are refused.
    closed: bool,
    /// All are refused: nothing is committed any more.
    over: bool,
}

impl Inner {
    fn is_empty(&self) -> bool {
        [&self.first, &self.waiting, &self.last].iter().all(|batch| batch.is_empty())
    }
}

/// The queue before the committer.
#[derive(Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    /// Something waits, or the queue was closed.
    work: Condvar,
    /// Something was taken.
    room: Condvar,
}

impl Queue {
    /// Puts a change in. When nothing is committed any more it is dropped, and so are changes of
    /// callers when the queue is closed; a promise that is dropped answers that.
    pub(crate) fn put(&self, change: Change, then: Then) {
        let mut inner = self.inner.lock();
        if inner.over || inner.closed && matches!(then, Then::Tell(_)) {
            drop(inner);
            return drop(then);
        }
        let batch = match then {
            Then::Renewed(_) => &mut inner.first,
            Then::Begun(_) => &mut inner.last,
            _ => &mut inner.waiting,
        };
        batch.push(change, then);
        drop(inner);
        self.work.notify_one();
    }

    /// The same for callers, who wait where there are too many.
    pub(crate) fn put_patiently(&self, change: Change, then: Then) {
        let mut inner = self.inner.lock();
        while inner.waiting.changes.len() >= MOST_WAITING && !inner.closed {
            self.room.wait(&mut inner);
        }
        drop(inner);
        self.put(change, then);
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
    pub(super) fn take(&self, kept: &mut Batch, patience: Option<Duration>) -> Option<Batch> {
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
pub(super) struct CloseOnDrop<'q>(pub(super) &'q Queue);

impl Drop for CloseOnDrop<'_> {
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
