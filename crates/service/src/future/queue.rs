//! Values that come out of a queue when their time has come.

use crate::guard::discard;
use crate::handle::{Back, Handle, Run, Work};
use crate::job_handle::JobHandle;
use crate::work::call_again;
use crate::{ChangeError, Rejected};
use futures_core::Stream;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A queue whose values come out when their times have come: a [`Stream`] that ends when nothing is
/// in the queue, and goes on when something is put in afterwards.
///
/// They come in the order of their deadlines' ticks, and of one tick, where none was moved, in the
/// order in which they were put in. A value whose time has come stays in the queue until it is
/// taken; it can then be neither put off nor removed any more.
///
/// Of the tasks that wait for a value, the one is woken that polled last.
///
/// If the service is stopped, the stream ends with the last value whose time had come. What still
/// waits stays in the queue, for [`into_values`](Self::into_values).
///
/// Dropping the queue drops the values in it.
#[must_use = "a queue is of no use unless it is polled"]
pub struct DelayQueue<T> {
    /// All jobs of a queue are in one, so that its values are in one order, whoever puts them in.
    shard: u32,
    state: Arc<Mutex<State<T>>>,
}

struct State<T> {
    timers: Handle,
    /// Values whose time has come and that were not taken yet, the next in front.
    due: VecDeque<T>,
    /// The values whose time has not come, by their numbers, and the jobs that bring them.
    waiting: HashMap<u64, (JobHandle, T)>,
    /// How many of these wait for ever, as their jobs were taken back by a service that was
    /// stopped.
    stranded: usize,
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
        let state = State {
            timers: timers.clone(),
            due: VecDeque::new(),
            waiting: HashMap::new(),
            stranded: 0,
            waker: None,
            inserted: 0,
        };
        Self { shard: timers.house().here(), state: Arc::new(Mutex::new(state)) }
    }

    /// Puts a value in that comes out `delay` from now.
    ///
    /// # Errors
    ///
    /// If the service refuses it; the value is in the error.
    pub fn insert(&self, delay: Duration, value: T) -> Result<Delayed<T>, Rejected<T>> {
        // Held until the value is among those that wait: it may come out at once, on another
        // thread.
        let mut state = self.state.lock();
        let number = state.inserted;
        let work = Release { number, has_come: false, state: Arc::clone(&self.state) };
        match state.timers.after(delay).schedule_in(self.shard, work) {
            Ok(job) => {
                state.inserted += 1;
                state.waiting.insert(number, (job.clone(), value));
                // A stream that had ended goes on.
                let waker = state.waker.take();
                drop(state);
                waker.into_iter().for_each(Waker::wake);
                Ok(Delayed { job, value: PhantomData })
            }
            Err((reason, work)) => {
                // It looks for its value, under the lock.
                drop(state);
                drop(work);
                Err(Rejected { reason, job: value })
            }
        }
    }

    /// All values in the queue: first those whose time has come, then the others, in the order in
    /// which they were put in.
    pub fn into_values(self) -> Vec<T> {
        self.take_all()
    }

    /// How many values are in the queue: those that wait for their time, and those whose time has
    /// come and that were not taken yet.
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
        if state.waiting.len() == state.stranded {
            return Poll::Ready(None);
        }
        let before = state.waker.replace(context.waker().clone());
        // With it a task may go, and what that has of this queue.
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
        // Each, even if a value panics when it is dropped.
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
    /// Takes the value out before its time.
    ///
    /// # Errors
    ///
    /// If its time has come, so that it is to be taken from the queue; if it was removed before; or
    /// if the service was stopped, where it stays in the queue: see [`JobHandle::cancel`].
    pub fn remove(&self) -> Result<T, ChangeError> {
        let release = self.job.cancel()?.into_work::<Release<T>>().expect("the work of this job");
        // It is gone if the queue was dropped at the same time.
        let (_, value) =
            release.state.lock().waiting.remove(&release.number).ok_or(ChangeError::Cancelled)?;
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

/// The job that brings a value. It does so when it is dropped, which is when it no longer counts
/// for the limit of the service: the task that is woken may put in another.
struct Release<T> {
    number: u64,
    has_come: bool,
    state: Arc<Mutex<State<T>>>,
}

impl<T: Send + 'static> Work for Release<T> {
    fn call(self: Box<Self>, _: &Run<'_>, back: &mut Back) {
        call_again(self, back, |work| work.has_come = true);
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn is_brief(&self) -> bool {
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
        match state.waiting.get(&self.number) {
            Some(_) if !self.has_come && state.timers.is_stopped() => state.stranded += 1,
            // It was removed, or the queue was dropped.
            None => {}
            Some(_) => {
                let value = state.waiting.remove(&self.number).map(|(_, value)| value);
                if self.has_come { state.due.extend(value) } else { cancelled = value }
            }
        }
        let waker = state.waker.take();
        drop(state);
        // The task may find that there is nothing left to wait for.
        waker.into_iter().for_each(Waker::wake);
        drop(cancelled);
    }
}
