//! A queue of values, each with a delay.

use super::Sleep;
use crate::guard::discard;
use crate::handle::Handle;
use crate::time::Moment;
use crate::{ChangeError, Reason, Rejected};
use futures_core::Stream;
use parking_lot::{Mutex, MutexGuard};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use wheelhouse_core::{Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

/// A queue that returns each value after its delay: a [`Stream`] that ends when the queue is empty,
/// and continues when a value is inserted afterwards.
///
/// Values come in the order of their deadlines' ticks; values of one tick come in the order of
/// insertion, unless one was moved. A value whose time has come stays in the queue until it is
/// taken, and can no longer be postponed or removed.
///
/// A queue has its own wheel. For the service it is one future, which waits even if the limit of
/// jobs is reached. If several tasks wait for a value, the task that polled last is woken.
///
/// If the service is stopped, the stream ends after the last value whose time has come. The others
/// stay in the queue: [`into_values`](Self::into_values) returns them. Dropping the queue drops the
/// values in it.
#[must_use = "a queue does nothing unless it is polled"]
pub struct DelayQueue<T> {
    timers: Handle,
    /// Until the first value is due.
    sleep: Sleep,
    state: Arc<Mutex<State<T>>>,
}

struct State<T> {
    values: HierarchicalWheel<T>,
    /// The task that polled last and was not woken since, and until when it sleeps.
    waker: Option<Waker>,
    until: Tick,
}

impl<T> State<T> {
    /// Wakes the task if it sleeps too long, or waits for nothing.
    fn changed(mut state: MutexGuard<'_, Self>) {
        let (next, until) = (state.values.next_wakeup(), state.until);
        let waker = state.waker.take_if(|_| next.is_none_or(|next| next < until));
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// The handle of a value in a [`DelayQueue`]. Dropping it does nothing to the value.
pub struct Delayed<T> {
    timers: Handle,
    id: TimerId,
    state: Arc<Mutex<State<T>>>,
}

/// The tick of a time from now. `None` if it is out of range.
fn tick_after(timers: &Handle, delay: Duration) -> Option<Tick> {
    let (ticks, deadline) = (timers.ticks(), timers.now().checked_add(delay)?);
    ticks.reaches(deadline).then(|| ticks.not_before(deadline))
}

fn tick_now(timers: &Handle) -> Tick {
    timers.ticks().reached(timers.now())
}

impl<T> DelayQueue<T> {
    /// An empty queue.
    pub fn new(timers: &Handle) -> Self {
        let values = HierarchicalWheel::new();
        let state = State { values, waker: None, until: Tick::MAX };
        let sleep = timers.sleep(Duration::ZERO).without_limit();
        Self { timers: timers.clone(), sleep, state: Arc::new(Mutex::new(state)) }
    }

    /// Inserts a value that comes out `delay` from now.
    ///
    /// # Errors
    ///
    /// If the service has been stopped, or the time is out of range; the error contains the value.
    pub fn insert(&self, delay: Duration, value: T) -> Result<Delayed<T>, Rejected<T>> {
        if self.timers.is_stopped() {
            return Err(Rejected { reason: Reason::Stopped, job: value });
        }
        let Some(tick) = tick_after(&self.timers, delay) else {
            return Err(Rejected { reason: Reason::Overflow, job: value });
        };
        let mut state = self.state.lock();
        let id = state.values.insert(tick, value);
        State::changed(state);
        Ok(Delayed { timers: self.timers.clone(), id, state: Arc::clone(&self.state) })
    }

    /// All values in the queue, in the order of their deadlines.
    pub fn into_values(self) -> Vec<T> {
        self.take_all()
    }

    /// The number of values in the queue, including those whose time has come and that were not
    /// taken yet.
    pub fn len(&self) -> usize {
        self.state.lock().values.len()
    }

    /// Returns `true` if the queue has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for the next value; `None` if the queue is empty.
    pub async fn next(&mut self) -> Option<T> {
        poll_fn(|context| self.poll_due(context)).await
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut reached = tick_now(&self.timers);
        loop {
            let mut state = self.state.lock();
            if let Some(due) = state.values.pop_expired(reached) {
                return Poll::Ready(Some(due.value));
            }
            let Some(next) = state.values.next_wakeup() else {
                drop(state);
                self.sleep.reset_to(None);
                return Poll::Ready(None);
            };
            state.until = next;
            let before = state.waker.replace(context.waker().clone());
            // Without the lock: this may drop a task that owns the queue.
            drop(state);
            drop(before);
            let until = Some(self.timers.ticks().instant(next));
            if self.sleep.deadline() != until {
                self.sleep.reset_to(until);
            }
            match Pin::new(&mut self.sleep).poll(context) {
                // The clock may be behind the moment of a poll of a scheduler.
                Poll::Ready(Ok(())) => reached = reached.max(next),
                Poll::Ready(Err(_stopped)) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn take_all(&self) -> Vec<T> {
        let mut values = Vec::new();
        self.state.lock().values.advance(Tick::MAX, |expired| values.push(expired.value));
        values
    }
}

impl<T> Stream for DelayQueue<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_due(context)
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
        f.debug_struct("DelayQueue").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<T> Delayed<T> {
    /// Removes the value before its time, and returns it.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Over`]: its time has come, or it is no longer in the queue.
    pub fn remove(&self) -> Result<T, ChangeError> {
        let mut state = self.pending()?;
        let value = state.values.cancel(self.id).expect("it is pending");
        State::changed(state);
        Ok(value)
    }

    /// Moves the deadline of the value to `delay` from now.
    ///
    /// # Errors
    ///
    /// As with [`remove`](Self::remove). Or [`Stopped`](ChangeError::Stopped): the service has been
    /// stopped; [`Overflow`](ChangeError::Overflow): the time is out of range.
    pub fn refresh(&self, delay: Duration) -> Result<(), ChangeError> {
        let mut state = self.pending()?;
        if self.timers.is_stopped() {
            return Err(ChangeError::Stopped);
        }
        let tick = tick_after(&self.timers, delay).ok_or(ChangeError::Overflow)?;
        let moved = state.values.postpone(self.id, tick);
        debug_assert!(moved, "it is pending");
        State::changed(state);
        Ok(())
    }

    /// The tick at which the value is due; `None` if its time has come, or it is no longer in the
    /// queue.
    pub fn deadline(&self) -> Option<Moment> {
        let tick = self.pending().ok()?.values.deadline(self.id)?;
        Some(self.timers.ticks().instant(tick))
    }

    /// The state of the queue, if the time of this value has not come.
    fn pending(&self) -> Result<MutexGuard<'_, State<T>>, ChangeError> {
        let state = self.state.lock();
        let deadline = state.values.deadline(self.id);
        let is_pending = deadline.is_some_and(|deadline| deadline > tick_now(&self.timers));
        if is_pending { Ok(state) } else { Err(ChangeError::Over) }
    }
}

impl<T> Clone for Delayed<T> {
    fn clone(&self) -> Self {
        Self { timers: self.timers.clone(), id: self.id, state: Arc::clone(&self.state) }
    }
}

impl<T> fmt::Debug for Delayed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delayed").field("deadline", &self.deadline()).finish_non_exhaustive()
    }
}
