//! The queue of changes before the committer.

use super::Promise;
use crate::claim::{Ended, Renewed, Task};
use crate::store::Change;
use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// The most changes in a commit.
pub(crate) const MOST_IN_BATCH: usize = 1_024;

/// The most changes of callers in the queue. Further callers block.
const MOST_WAITING: usize = 65_536;

/// The receiver of an outcome.
pub(crate) enum Then {
    Tell(Promise),
    Ended(Ended),
    Renewed(Renewed),
    /// A run that begins by the change.
    Begun(Box<Task>),
    /// No receiver: a dead letter that the claimer removes.
    Forgotten,
}

/// Changes, and the receivers of their outcomes.
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

    /// Takes out up to `most` changes, from the front.
    fn split(&mut self, most: usize) -> Self {
        let rest = most.min(self.changes.len());
        let later =
            Self { changes: self.changes.split_off(rest), thens: self.thens.split_off(rest) };
        std::mem::replace(self, later)
    }
}

#[derive(Default)]
struct Inner {
    /// Renewals of leases: first, since a lease may end while they wait.
    first: Batch,
    waiting: Batch,
    /// Begins of runs: last, so that a job that is cancelled in the same commit does not begin.
    last: Batch,
    /// Changes of callers are refused.
    closed: bool,
    /// All changes are refused, since no further batch is committed.
    over: bool,
}

impl Inner {
    fn is_empty(&self) -> bool {
        [&self.first, &self.waiting, &self.last].iter().all(|batch| batch.is_empty())
    }
}

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    /// Notified when a change was added, or the queue was closed.
    work: Condvar,
    /// Notified when a batch was taken out, or the queue was closed.
    room: Condvar,
}

impl Queue {
    /// Adds a change. If no further batch is committed, the change is dropped. If the queue is
    /// closed, changes of callers are dropped. A promise that is dropped returns
    /// [`Error::Stopped`](crate::Error::Stopped) to its caller.
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

    /// Like [`put`](Self::put), for callers: blocks while the queue is full.
    pub(crate) fn put_patiently(&self, change: Change, then: Then) {
        let mut inner = self.inner.lock();
        while inner.waiting.changes.len() >= MOST_WAITING && !inner.closed {
            self.room.wait(&mut inner);
        }
        drop(inner);
        self.put(change, then);
    }

    /// Refuses further changes of callers. Changes in the queue are still committed.
    pub(crate) fn close(&self) {
        self.inner.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.inner.lock().closed
    }

    /// Returns the next batch: the kept changes, then those that have arrived, with renewals first
    /// and begins last. Waits until a change arrives, but for at most `patience` if it is given.
    /// `None` if the queue is closed and empty.
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
        // At least one: callers must see that the store fails, even if the kept changes fill a
        // batch.
        let room = MOST_IN_BATCH.saturating_sub(batch.changes.len()).max(1);
        batch.append(inner.waiting.split(room));
        batch.append(inner.last.split(MOST_IN_BATCH));
        drop(inner);
        self.room.notify_all();
        Some(batch)
    }
}

/// Closes a queue when it is dropped, and drops the changes in it.
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
