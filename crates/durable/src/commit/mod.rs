//! The committer: one thread that commits the changes of all other threads. Also the result of a
//! submitted change, which a thread waits for, or a task awaits.
//!
//! ```text
//!  schedule ─┐                        one batch
//!  cancel   ─┼─▶ queue ──▶ committer ──────────▶ store ──▶ outcomes ──▶ waiting callers
//!  ack      ─┘     ▲                               │
//!                  └─── changes that arrive ◀──────┘  form the next batch
//! ```
//!
//! The committer never waits for a batch to grow. A caller that waits for its change commits it on
//! its own thread if the committer has nothing to do.
//!
//! If the store fails, waiting callers receive the error. No caller waits for the end of a run, so
//! the committer keeps that change and retries it: without its ack, a job that has succeeded would
//! run again. A failed commit may have taken effect. So if a retried end finds that its run has
//! already ended, and its lease has not run out, the failed commit has ended it. If the store
//! refuses an end for good, the committer gives it up, since the store would refuse each batch that
//! contains it. If the begin of a run fails, the job is released, and the committer keeps its
//! release in the same way.

mod queue;

pub(crate) use queue::{MOST_IN_BATCH, Pending, Queue, Rank, Receives, SharedStore, carry_out};

use crate::error::Error;
use crate::store::{Key, Outcome, StoreError};
use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use wheelhouse_service::internal::guarded;

/// How often the ends of runs are retried when the program stops.
const LAST_TRIES: u32 = 3;

/// Returns the pause before the next call of a store after `failures` failures in a row.
pub(crate) fn pause(failures: u32) -> Duration {
    Duration::from_millis(25 << failures.min(6))
}

/// The state of the committer's thread. When it is dropped, the queue is closed: also if the thread
/// panics, no caller waits for it any more.
pub(crate) struct Committer {
    pub(crate) queue: Arc<Queue>,
    kept: Vec<Pending>,
    /// The number of times in a row that a commit has failed.
    failures: u32,
    /// The number of failed commits since the queue was closed.
    last_tries: u32,
}

impl Committer {
    pub(crate) fn new(queue: Arc<Queue>) -> Self {
        Self { queue, kept: Vec::new(), failures: 0, last_tries: 0 }
    }

    pub(crate) fn run(mut self) {
        while self.step(self.pause()) {}
    }

    /// Returns the longest time until the next step. `None` if no changes are kept.
    pub(crate) fn pause(&self) -> Option<Duration> {
        (!self.kept.is_empty()).then(|| pause(self.failures))
    }

    /// Waits for changes, but for at most `patience` if it is given, and commits them together with
    /// those that are kept. Returns `false` when the thread is to end.
    pub(crate) fn step(&mut self, mut patience: Option<Duration>) -> bool {
        let batch = loop {
            let Some(batch) = self.queue.take(&mut self.kept, patience) else { return false };
            if self.kept.is_empty() {
                break batch;
            }
            // If changes are still kept, these are renewals, which are not retried. The kept
            // changes follow at once: renewals may arrive before each pause has ended. Not during
            // a stop, whose tries are few.
            let retried = commit(&self.queue, batch);
            debug_assert!(retried.is_empty(), "a renewal is not retried");
            if self.queue.is_closed() {
                return true;
            }
            patience = Some(Duration::ZERO);
        };
        self.kept = commit(&self.queue, batch);
        self.failures = if self.kept.is_empty() { 0 } else { self.failures + 1 };
        self.last_tries += u32::from(self.failures > 0 && self.queue.is_closed());
        self.last_tries <= LAST_TRIES
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.queue.end();
    }
}

/// Commits a batch, and passes on the outcomes. Returns the changes to retry.
fn commit(queue: &Queue, batch: Vec<Pending>) -> Vec<Pending> {
    let (changes, recipients): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    match queue.commit(&changes) {
        Ok(outcomes) => {
            recipients.into_iter().zip(outcomes).for_each(|(its, outcome)| its.tell(outcome));
            Vec::new()
        }
        // The store refuses at least one change for good. Each half of the batch is committed by
        // itself, so that few commits find it.
        Err(error) if !error.is_transient() && changes.len() > 1 => {
            let mut batch: Vec<Pending> = changes.into_iter().zip(recipients).collect();
            let rest = batch.split_off(batch.len() / 2);
            let mut kept = commit(queue, batch);
            kept.append(&mut commit(queue, rest));
            kept
        }
        Err(error) => {
            let error = Arc::new(error);
            recipients.into_iter().filter_map(|recipient| recipient.fail(&error)).collect()
        }
    }
}

/// Makes the answer to a caller of the outcome of its change to the job of a key.
pub(crate) type AnswerOf<T> = fn(Outcome, &Key) -> Result<T, Error>;

enum State {
    Waiting(Option<Waker>),
    Told(Result<Outcome, Error>),
}

struct Slot {
    state: Mutex<State>,
    told: Condvar,
}

impl Slot {
    fn wait(&self) {
        let is_told = |state: &State| matches!(state, State::Told(_));
        #[cfg(feature = "sim")]
        if let Some(simulation) = crate::simulated::current() {
            return simulation.wait(&|| is_told(&self.state.lock()));
        }
        self.told.wait_while(&mut self.state.lock(), |state| !is_told(state));
    }
}

/// The committer's end. It is kept once. If it is dropped before, the caller gets
/// [`Error::Stopped`].
pub(crate) struct Promise {
    slot: Option<Arc<Slot>>,
}

impl Promise {
    fn keep(&mut self, outcome: Result<Outcome, Error>) {
        let Some(slot) = self.slot.take() else { return };
        let before = std::mem::replace(&mut *slot.state.lock(), State::Told(outcome));
        slot.told.notify_all();
        if let State::Waiting(Some(waker)) = before {
            // A waker that panics must not end the thread of the committer.
            guarded(|| waker.wake()).unwrap_or_default();
        }
    }
}

impl Receives for Promise {
    fn tell(mut self: Box<Self>, outcome: Outcome) {
        self.keep(Ok(outcome));
    }

    fn fail(mut self: Box<Self>, error: &Arc<StoreError>) -> Option<Pending> {
        self.keep(Err(Error::Store(Arc::clone(error))));
        None
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.keep(Err(Error::Stopped));
    }
}

/// A change that is being committed: call [`wait`](Self::wait) on a thread, or `.await` it on any
/// executor. The change is committed even if no caller waits, but only the result shows that it is
/// durable.
#[must_use = "the change is durable when this returns success: wait for it or await it"]
pub struct Commit<T> {
    slot: Arc<Slot>,
    key: Key,
    answer: AnswerOf<T>,
}

impl<T> Commit<T> {
    fn of(state: State, key: Key, answer: AnswerOf<T>) -> Self {
        let slot = Slot { state: Mutex::new(state), told: Condvar::new() };
        Self { slot: Arc::new(slot), key, answer }
    }

    pub(crate) fn new(key: Key, answer: AnswerOf<T>) -> (Self, Promise) {
        let commit = Self::of(State::Waiting(None), key, answer);
        let slot = Some(Arc::clone(&commit.slot));
        (commit, Promise { slot })
    }

    /// Creates the result of a change that needs no commit, or was refused.
    pub(crate) fn told(key: Key, outcome: Result<Outcome, Error>, answer: AnswerOf<T>) -> Self {
        Self::of(State::Told(outcome), key, answer)
    }

    /// Waits until the change is durable or has failed. In an async task, `.await` it instead.
    ///
    /// # Errors
    ///
    /// Those of the call that made it; [`Error::Store`] if the commit failed; [`Error::Stopped`].
    pub fn wait(self) -> Result<T, Error> {
        self.slot.wait();
        match &*self.slot.state.lock() {
            State::Told(outcome) => answered(outcome.clone(), &self.key, self.answer),
            // The simulated program was killed.
            State::Waiting(_) => Err(Error::Stopped),
        }
    }
}

/// Returns the answer of a call to its caller, by the outcome of its change.
pub(crate) fn answered<T>(
    outcome: Result<Outcome, Error>,
    key: &Key,
    answer: AnswerOf<T>,
) -> Result<T, Error> {
    #[cfg(feature = "sim")]
    if let (Some(simulation), Ok(outcome)) = (crate::simulated::current(), &outcome) {
        simulation.told(key, *outcome);
    }
    outcome.and_then(|outcome| answer(outcome, key))
}

impl<T> Future for Commit<T> {
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.slot.state.lock();
        match &mut *state {
            State::Told(outcome) => Poll::Ready(answered(outcome.clone(), &self.key, self.answer)),
            State::Waiting(waker) => {
                let before = waker.replace(context.waker().clone());
                // Dropped without the lock: the waker may be the last reference to a task and its
                // futures.
                drop(state);
                drop(before);
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for Commit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commit").field("key", &self.key).finish_non_exhaustive()
    }
}

/// A unique key: 128 bits of the hasher that the standard library seeds at random.
pub(crate) fn random_key() -> Key {
    let random = || {
        #[cfg(feature = "sim")]
        if let Some(simulation) = crate::simulated::current() {
            return simulation.random();
        }
        RandomState::new().hash_one(Instant::now())
    };
    Key::new(format!("{:016x}{:016x}", random(), random())).expect("32 bytes")
}
