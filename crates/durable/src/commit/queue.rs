//! The queue of changes before the committer.

use crate::error::Error;
use crate::observe::{Reporter, count};
use crate::store::{Change, Key, Outcome, Store, StoreError};
use parking_lot::{Condvar, FairMutex, FairMutexGuard, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A connection, used by one thread at a time, in the order of arrival. The order is fair so that a
/// committer with a full queue does not starve the claimer.
pub(crate) type SharedStore = Arc<FairMutex<Box<dyn Store>>>;

/// The most renewals, begins and other changes in a commit, of each.
pub(crate) const MOST_IN_BATCH: usize = 1_024;

/// The most bytes of payloads in a commit: a server must receive a commit within its timeout, and
/// refuses one of a gigabyte.
const MOST_BYTES: usize = 16 << 20;

/// The most changes of callers in the queue. Further callers block.
const MOST_WAITING: usize = 65_536;

/// The position of a change in its batch.
pub(crate) enum Rank {
    First,
    /// In order of arrival. It comes from a caller, so it is refused once the queue is closed.
    Caller,
    Usual,
    Last,
}

/// The receiver of the outcome of a change.
pub(crate) trait Receives: Send {
    fn tell(self: Box<Self>, outcome: Outcome);

    /// The commit failed, but may have taken effect. Returns the change to retry.
    fn fail(self: Box<Self>, error: &Arc<StoreError>) -> Option<Pending>;
}

/// A change to commit, and the receiver of its outcome.
pub(crate) type Pending = (Change, Box<dyn Receives>);

/// Takes out up to `most` changes and [`MOST_BYTES`], from the front. At least one, unless there is
/// none: each payload is smaller.
fn split(changes: &mut Vec<Pending>, most: usize) -> Vec<Pending> {
    let mut bytes = 0;
    let fits = |(change, _): &&Pending| {
        bytes += if let Change::Put(put) = change { put.payload.len() } else { 0 };
        bytes <= MOST_BYTES
    };
    let rest = changes.iter().take(most).take_while(fits).count();
    let later = changes.split_off(rest);
    std::mem::replace(changes, later)
}

#[derive(Default)]
struct Inner {
    /// Renewals of leases: first, since a lease may end while they wait. They form a separate
    /// batch: another change may fail, or wait for a lock, and all leases would be lost.
    first: Vec<Pending>,
    waiting: Vec<Pending>,
    /// Begins of runs: last, so that a job that is cancelled in the same commit does not begin.
    last: Vec<Pending>,
    /// Changes of callers are refused.
    closed: bool,
    /// All changes are refused, since no further batch is committed.
    over: bool,
    /// The committer commits a batch, or keeps changes to retry them.
    busy: bool,
    led: bool,
    /// The last batch of the committer had several changes, so more callers are about to come.
    crowded: bool,
}

impl Inner {
    fn is_empty(&self) -> bool {
        [&self.first, &self.waiting, &self.last].iter().all(|batch| batch.is_empty())
    }
}

pub(crate) struct Queue {
    inner: Mutex<Inner>,
    /// Notified when a change was added, or the queue was closed.
    work: Condvar,
    /// Notified when a batch was taken out, or the queue was closed.
    room: Condvar,
    /// The process that the connection belongs to. A child that was forked shares it, and must not
    /// write to it.
    process: u32,
    store: SharedStore,
    reporter: Arc<Reporter>,
}

impl Queue {
    pub(crate) fn new(store: SharedStore, reporter: Arc<Reporter>) -> Self {
        let (work, room) = (Condvar::new(), Condvar::new());
        let (inner, process) = (Mutex::default(), std::process::id());
        Self { inner, work, room, process, store, reporter }
    }

    /// Adds a change. If no further batch is committed, the change is dropped. If the queue is
    /// closed, changes of callers are dropped. A promise that is dropped returns
    /// [`Error::Stopped`](crate::Error::Stopped) to its caller.
    pub(crate) fn put(&self, rank: Rank, change: Change, recipient: impl Receives + 'static) {
        // Before the lock, which all callers need: this allocates memory.
        let recipient: Box<dyn Receives> = Box::new(recipient);
        let mut inner = self.inner.lock();
        if inner.over || inner.closed && matches!(rank, Rank::Caller) {
            drop(inner);
            return drop(recipient);
        }
        let batch = match rank {
            Rank::First => &mut inner.first,
            Rank::Last => &mut inner.last,
            Rank::Caller | Rank::Usual => &mut inner.waiting,
        };
        batch.push((change, recipient));
        let led = inner.led;
        drop(inner);
        // The end of the turn wakes the committer for the changes that have arrived since.
        if !led {
            self.work.notify_one();
        }
    }

    /// Returns `true` in a child process, which has none of the threads.
    fn is_forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// Like [`put`](Self::put), for callers: blocks while the queue is full.
    pub(crate) fn put_patiently(&self, change: Change, recipient: impl Receives + 'static) {
        let is_full = |inner: &Inner| inner.waiting.len() >= MOST_WAITING && !inner.closed;
        #[cfg(feature = "sim")]
        if let Some(simulation) = crate::simulated::current() {
            simulation.wait(&|| !is_full(&self.inner.lock()));
        }
        self.room.wait_while(&mut self.inner.lock(), |inner| is_full(inner));
        self.put(Rank::Caller, change, recipient);
    }

    /// Returns `true` if a step of the committer would commit a change.
    #[cfg(feature = "sim")]
    pub(crate) fn has_changes(&self) -> bool {
        !self.inner.lock().is_empty()
    }

    /// Refuses further changes of callers. Changes in the queue are still committed.
    pub(crate) fn close(&self) {
        self.inner.lock().closed = true;
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Refuses all further changes, and drops those in the queue.
    pub(super) fn end(&self) {
        self.close();
        let mut inner = self.inner.lock();
        inner.over = true;
        let take = std::mem::take;
        let left = (take(&mut inner.first), take(&mut inner.waiting), take(&mut inner.last));
        // Dropped without the lock: tasks put their ends into the queue.
        drop(inner);
        drop(left);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inner.lock().closed
    }

    /// Returns the next batch: the renewals that have arrived. If there are none: the kept changes,
    /// which it takes, then those that have arrived, with begins last. Waits until a change
    /// arrives, but for at most `patience` if it is given. `None` if the queue is closed and empty.
    pub(super) fn take(
        &self,
        kept: &mut Vec<Pending>,
        patience: Option<Duration>,
    ) -> Option<Vec<Pending>> {
        let mut inner = self.inner.lock();
        inner.busy = !kept.is_empty();
        debug_assert!(!inner.busy || !inner.led, "no caller leads while the committer is busy");
        while inner.is_empty() || inner.led {
            match patience {
                None if inner.closed && !inner.led => return None,
                None => self.work.wait(&mut inner),
                Some(patience) => {
                    self.work.wait_for(&mut inner, patience);
                    break;
                }
            }
        }
        let mut batch = split(&mut inner.first, MOST_IN_BATCH);
        if batch.is_empty() {
            batch = std::mem::take(kept);
            // At least one: callers must see that the store fails, even if the kept changes fill a
            // batch.
            let room = MOST_IN_BATCH.saturating_sub(batch.len()).max(1);
            batch.append(&mut split(&mut inner.waiting, room));
            batch.append(&mut split(&mut inner.last, MOST_IN_BATCH));
            inner.crowded = batch.len() > 1;
        }
        inner.busy = true;
        drop(inner);
        self.room.notify_all();
        Some(batch)
    }

    /// Commits the change of a caller that waits for it on its own thread. That saves two
    /// hand-overs between threads, which take longer than a commit on a fast disk. `None` if a
    /// commit is under way, or changes wait for the committer. Then the change joins the next
    /// batch. Also `None` if several changes shared the last batch: a commit of this one alone
    /// would delay those that come next. `None` in a child that was forked, too.
    pub(crate) fn commit_alone(&self, change: &Change) -> Option<Result<Outcome, Error>> {
        if self.is_forked() {
            return None;
        }
        let mut inner = self.inner.lock();
        if inner.busy || inner.led || inner.crowded || inner.closed || !inner.is_empty() {
            return None;
        }
        inner.led = true;
        drop(inner);
        let (change, turn) = (std::slice::from_ref(change), Some(Turn(self)));
        let outcomes = self.commit_on(self.store.lock(), change, turn);
        Some(outcomes.map(|outcomes| outcomes[0]).map_err(Error::from))
    }

    /// Commits changes of a caller on its own thread, all or none, without waiting for others.
    pub(crate) fn commit_together(&self, changes: &[Change]) -> Result<Vec<Outcome>, Error> {
        if self.is_forked() {
            return Err(Error::Stopped);
        }
        let store = self.store.lock();
        // With the connection, for which a stop waits when the queue is closed.
        if self.is_closed() {
            return Err(Error::Stopped);
        }
        Ok(self.commit_on(store, changes, None)?)
    }

    /// Commits changes, and counts their effects or reports the failure.
    pub(super) fn commit(&self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.commit_on(self.store.lock(), changes, None)
    }

    fn commit_on(
        &self,
        mut store: FairMutexGuard<'_, Box<dyn Store>>,
        changes: &[Change],
        turn: Option<Turn<'_>>,
    ) -> Result<Vec<Outcome>, StoreError> {
        let committed = carry_out(&self.reporter, &mut **store, changes);
        // The connection is free before an observer is called, which may wait for the committer.
        drop((store, turn));
        let outcomes = committed.inspect_err(|error| self.reporter.report_failure(error))?;
        changes.iter().zip(&outcomes).for_each(|(change, outcome)| self.count(change, *outcome));
        Ok(outcomes)
    }

    fn count(&self, change: &Change, outcome: Outcome) {
        let counters = &self.reporter.counters;
        match (change, outcome) {
            // The row of a pause.
            _ if change.key().is_some_and(Key::is_reserved) => {}
            (Change::Put(put), Outcome::Done | Outcome::Replaced) => {
                count(&counters.of(&put.kind).counts.scheduled);
            }
            (Change::Cancel { .. }, Outcome::Cancelled | Outcome::Running) => {
                count(&counters.others.counts.cancelled);
            }
            (Change::Move { .. }, Outcome::Done) => count(&counters.others.counts.refreshed),
            _ => {}
        }
    }
}

/// Commits changes, and counts the commit. The caller reports an error.
pub(crate) fn carry_out(
    reporter: &Reporter,
    store: &mut dyn Store,
    changes: &[Change],
) -> Result<Vec<Outcome>, StoreError> {
    let counters = &reporter.counters;
    let begin = Instant::now();
    let committed = store.commit(changes);
    counters.commit_time.record_micros(begin.elapsed());
    counters.batch.record(u64::try_from(changes.len()).unwrap_or(u64::MAX));
    count(&counters.others.counts.commits);
    committed.and_then(|outcomes| match outcomes.len() == changes.len() {
        true => Ok(outcomes),
        false => Err(StoreError::Damaged("it returns no outcome for a change".to_owned())),
    })
}

/// The turn of a caller that commits its own change. The committer waits until it is dropped.
pub(super) struct Turn<'q>(&'q Queue);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.inner.lock();
        debug_assert!(inner.led, "one turn at a time");
        inner.led = false;
        let is_idle = inner.is_empty() && !inner.closed;
        drop(inner);
        if !is_idle {
            self.0.work.notify_one();
        }
    }
}
