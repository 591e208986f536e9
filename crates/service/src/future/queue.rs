//! Values that come out of a queue when their time has come.

use crate::shared::discard;
use crate::work::Work;
use crate::{ChangeError, Handle, JobHandle, Rejected, Run};
use futures_core::Stream;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A queue whose values come out when their times have come: a [`Stream`] that ends when nothing is in the queue, and goes on when
/// something is put in afterwards.
///
/// They come in the order of their deadlines' ticks, and of one tick, where none was moved, in the order in which they were put in. A
/// value whose time has come stays in the queue until it is taken; it can then be neither put off nor removed any more.
///
/// Of the tasks that wait for a value, the one is woken that polled last.
///
/// If the service is stopped, each value that still waits is in one of the [jobs that it gives back](crate::Stopped::jobs), and
/// counted in the queue as before: whoever [runs](crate::Job::run) such a job has the value come out at once, and whoever drops it
/// drops the value. So the stream ends when that has been done with all of them.
///
/// Dropping the queue drops the values in it, but for those that a service gave back: they are with their jobs.
#[must_use = "a queue is of no use unless it is polled"]
pub struct DelayQueue<T> {
    timers: Handle,
    state: Arc<Mutex<State<T>>>,
}

struct State<T> {
    /// Values whose time has come and that were not taken yet, the next in front.
    due: VecDeque<T>,
    /// The jobs that bring the values whose time has not come, by the numbers of the values. A value itself is in its job; it is
    /// counted here until the job has run or was dropped.
    waiting: HashMap<u64, JobHandle>,
    /// The task that polled last and was not woken since.
    waker: Option<Waker>,
    /// How many values were put in: the number of the next.
    inserted: u64,
}

/// The handle of a value in a [`DelayQueue`]. Dropping it does nothing to the value.
pub struct Delayed<T> {
    job: JobHandle,
    value: PhantomData<fn() -> T>,
}

impl<T: Send + 'static> DelayQueue<T> {
    /// An empty queue.
    pub fn new(timers: &Handle) -> Self {
        let state = State { due: VecDeque::new(), waiting: HashMap::new(), waker: None, inserted: 0 };
        Self { timers: timers.clone(), state: Arc::new(Mutex::new(state)) }
    }

    /// Puts a value in that comes out `delay` from now.
    ///
    /// # Errors
    ///
    /// If the service refuses it; the value is in the error.
    pub fn insert(&self, delay: Duration, value: T) -> Result<Delayed<T>, Rejected<T>> {
        // Held until the value is among those that wait: it may come out at once, on another thread.
        let mut state = self.state.lock();
        let number = state.inserted;
        let work = Release { number, value: Some(value), state: Arc::clone(&self.state) };
        match self.timers.after(delay).schedule(work) {
            Ok(job) => {
                state.inserted += 1;
                state.waiting.insert(number, job.clone());
                // A stream that had ended goes on.
                let waker = state.waker.take();
                drop(state);
                waker.into_iter().for_each(Waker::wake);
                Ok(Delayed { job, value: PhantomData })
            }
            Err((reason, mut work)) => Err(Rejected { reason, job: work.value.take().expect("it has not come out") }),
        }
    }

    /// How many values are in the queue: those that wait for their time, and those whose time has come and that were not taken yet.
    pub fn len(&self) -> usize {
        let state = self.state.lock();
        state.due.len() + state.waiting.len()
    }

    /// Whether no value is in the queue.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for the next value; `None` if the queue is empty.
    pub async fn next(&mut self) -> Option<T> {
        poll_fn(|context| self.poll_due(context)).await
    }

    fn poll_due(&self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.state.lock();
        if let Some(value) = state.due.pop_front() {
            return Poll::Ready(Some(value));
        }
        if state.waiting.is_empty() {
            return Poll::Ready(None);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<T: Send + 'static> Stream for DelayQueue<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_due(context)
    }
}

impl<T> Drop for DelayQueue<T> {
    fn drop(&mut self) {
        let waiting = std::mem::take(&mut self.state.lock().waiting);
        // Each, even if a value panics when it is dropped.
        waiting.into_values().for_each(|job| discard(job.cancel()));
    }
}

impl<T> fmt::Debug for DelayQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        let (due, waiting) = (state.due.len(), state.waiting.len());
        f.debug_struct("DelayQueue").field("due", &due).field("waiting", &waiting).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Delayed<T> {
    /// Takes the value out before its time.
    ///
    /// # Errors
    ///
    /// If its time has come, so that it is to be taken from the queue; if it was removed before, or is given back by a service that was
    /// stopped: see [`JobHandle::cancel`].
    pub fn remove(&self) -> Result<T, ChangeError> {
        let mut release = self.job.cancel()?.into_work::<Release<T>>().expect("the work of this job");
        let value = release.value.take().expect("it has not come out");
        release.forget();
        Ok(value)
    }

    /// Has the value come out `delay` from now instead.
    ///
    /// # Errors
    ///
    /// As with [`remove`](Self::remove), or if there is no such time: see [`JobHandle::refresh`].
    pub fn refresh(&self, delay: Duration) -> Result<(), ChangeError> {
        self.job.refresh(delay)
    }

    /// The job that brings the value.
    pub fn job(&self) -> &JobHandle {
        &self.job
    }
}

impl<T> Clone for Delayed<T> {
    fn clone(&self) -> Self {
        Self { job: self.job.clone(), value: PhantomData }
    }
}

impl<T> fmt::Debug for Delayed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Delayed").field(&self.job).finish()
    }
}

/// What the job that brings a value does.
struct Release<T> {
    number: u64,
    /// `None` when it has come out, or was removed.
    value: Option<T>,
    state: Arc<Mutex<State<T>>>,
}

impl<T> Release<T> {
    /// The value waits no more. Wakes the task, which may find that there is nothing left to wait for.
    fn forget(&mut self) {
        self.leave(|_| ());
    }

    fn leave(&mut self, then: impl FnOnce(&mut VecDeque<T>)) {
        let mut state = self.state.lock();
        state.waiting.remove(&self.number);
        then(&mut state.due);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T: Send + 'static> Work for Release<T> {
    fn call(&mut self, _: &Run<'_>) {
        if let Some(value) = self.value.take() {
            self.leave(|due| due.push_back(value));
        }
    }

    fn is_brief(&self) -> bool {
        true
    }
}

/// A value that is dropped with its job, because the service was stopped.
impl<T> Drop for Release<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            self.forget();
            drop(value);
        }
    }
}
