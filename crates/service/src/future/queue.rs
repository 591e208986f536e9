//! A queue of values, each with a delay.

use crate::guard::discard;
use crate::handle::Handle;
use crate::job_handle::JobHandle;
use crate::shared::{Run, RunResult, Work};
use crate::work::call_again;
use crate::{ChangeError, Rejected};
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

/// A queue that returns each value after its delay: a [`Stream`] that ends when the queue is empty,
/// and continues when a value is inserted afterwards.
///
/// Values come in the order of their deadlines' ticks; values of one tick come in the order of
/// insertion, unless one was moved. A value whose time has come stays in the queue until it is
/// taken, and can no longer be postponed or removed.
///
/// If several tasks wait for a value, the task that polled last is woken.
///
/// If the service is stopped, the stream ends after the last value whose time had come. The others
/// stay in the queue: [`into_values`](Self::into_values) returns them.
///
/// Dropping the queue drops the values in it.
#[must_use = "a queue does nothing unless it is polled"]
pub struct DelayQueue<T> {
    /// All jobs of a queue are in one shard, so its values have one order, whichever thread inserts
    /// them.
    shard: u32,
    state: Arc<Mutex<State<T>>>,
}

struct State<T> {
    timers: Handle,
    /// Values whose time has come and that were not taken yet, in order.
    due: VecDeque<T>,
    /// The values whose time has not come, by their numbers, with their jobs.
    waiting: HashMap<u64, (JobHandle, T)>,
    /// How many values in `waiting` were left by a service that was stopped: their jobs are gone.
    stranded: usize,
    /// The task that polled last and was not woken since.
    waker: Option<Waker>,
    /// How many values were inserted, which is the number of the next.
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
        let state = State {
            timers: timers.clone(),
            due: VecDeque::new(),
            waiting: HashMap::new(),
            stranded: 0,
            waker: None,
            inserted: 0,
        };
        Self { shard: timers.shards().own_shard(), state: Arc::new(Mutex::new(state)) }
    }

    /// Inserts a value that comes out `delay` from now.
    ///
    /// # Errors
    ///
    /// If the service refuses the job; the error contains the value.
    pub fn insert(&self, delay: Duration, value: T) -> Result<Delayed<T>, Rejected<T>> {
        // The lock is held until the value is in `waiting`: it may be due at once, on another
        // thread.
        let mut state = self.state.lock();
        let number = state.inserted;
        let work = Release { number, has_come: false, state: Arc::clone(&self.state) };
        match state.timers.after(delay).schedule_in(self.shard, work) {
            Ok(job) => {
                state.inserted += 1;
                state.waiting.insert(number, (job.clone(), value));
                // A stream that had ended continues.
                let waker = state.waker.take();
                drop(state);
                waker.into_iter().for_each(Waker::wake);
                Ok(Delayed { job, value: PhantomData })
            }
            Err((reason, work)) => {
                // Dropping `work` takes the lock, to look for its value.
                drop(state);
                drop(work);
                Err(Rejected { reason, job: value })
            }
        }
    }

    /// All values in the queue: first those whose time has come, then the others, in the order of
    /// insertion.
    pub fn into_values(self) -> Vec<T> {
        self.take_all()
    }

    /// The number of values in the queue, including those whose time has come and that were not
    /// taken yet.
    pub fn len(&self) -> usize {
        let state = self.state.lock();
        state.due.len() + state.waiting.len()
    }

    /// Returns `true` if the queue has no value.
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
        if state.waiting.len() == state.stranded {
            return Poll::Ready(None);
        }
        let before = state.waker.replace(context.waker().clone());
        // Without the lock: this may drop a task that owns the queue.
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl<T: Send + 'static> Stream for DelayQueue<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_due(context)
    }
}

impl<T> DelayQueue<T> {
    fn take_all(&self) -> Vec<T> {
        let mut state = self.state.lock();
        let mut values: Vec<_> = state.due.drain(..).collect();
        let mut waiting: Vec<_> = std::mem::take(&mut state.waiting).into_iter().collect();
        state.stranded = 0;
        drop(state);
        waiting.sort_unstable_by_key(|(number, _)| *number);
        values.extend(waiting.into_iter().map(|(_, (job, value))| {
            discard(job.cancel());
            value
        }));
        values
    }
}

impl<T> Drop for DelayQueue<T> {
    fn drop(&mut self) {
        // All values, even if one panics when it is dropped.
        self.take_all().into_iter().for_each(discard);
    }
}

impl<T> fmt::Debug for DelayQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        let (due, waiting) = (state.due.len(), state.waiting.len());
        f.debug_struct("DelayQueue")
            .field("due", &due)
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Delayed<T> {
    /// Removes the value before its time, and returns it.
    ///
    /// # Errors
    ///
    /// If its time has come (the value then comes out of the queue), if it was removed before, or
    /// if the service was stopped (the value stays in the queue). See [`JobHandle::cancel`].
    pub fn remove(&self) -> Result<T, ChangeError> {
        let release = self.job.cancel()?.into_work::<Release<T>>();
        // The value is gone if the queue was dropped at the same time.
        let (_, value) =
            release.state.lock().waiting.remove(&release.number).ok_or(ChangeError::Cancelled)?;
        Ok(value)
    }

    /// Moves the deadline of the value to `delay` from now.
    ///
    /// # Errors
    ///
    /// As with [`remove`](Self::remove), or if the time is out of range: see
    /// [`JobHandle::refresh`].
    pub fn refresh(&self, delay: Duration) -> Result<(), ChangeError> {
        self.job.refresh(delay)
    }

    /// The job that makes the value due.
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

/// The work of the job that makes a value due. This happens when the work is dropped: then the job
/// no longer counts for the limit of the service, and the task that is woken may insert another
/// value.
struct Release<T> {
    number: u64,
    has_come: bool,
    state: Arc<Mutex<State<T>>>,
}

impl<T: Send + 'static> Work for Release<T> {
    fn call(self: Box<Self>, _: &Run<'_>, result: &mut RunResult) {
        call_again(self, result, |work| work.has_come = true);
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn is_awaited(&self) -> bool {
        true
    }
}

impl<T> Drop for Release<T> {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        let mut cancelled = None;
        if !self.has_come && state.timers.is_stopped() {
            // It stays in the queue, unless it was removed.
            state.stranded += usize::from(state.waiting.contains_key(&self.number));
        } else if let Some((_, value)) = state.waiting.remove(&self.number) {
            if self.has_come { state.due.push_back(value) } else { cancelled = Some(value) }
        }
        let waker = state.waker.take();
        drop(state);
        // Also if no value is due: the queue may be empty now.
        waker.into_iter().for_each(Waker::wake);
        drop(cancelled);
    }
}
