//! The result of a submitted change: a thread waits for it, or a task awaits it.

use super::queue::{Pending, Receives};
use crate::error::Error;
use crate::store::{Key, Outcome, StoreError};
use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use wheelhouse_service::internal::guarded;

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

    /// The key of the job: the given one, or a random one if there was none or it was refused.
    pub fn key(&self) -> &Key {
        &self.key
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
