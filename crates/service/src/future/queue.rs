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
/// A queue has its own wheel, which keeps its memory until the queue is dropped. For the service
/// the queue is one [`Sleep`], however many values it has: they do not count for
/// [`max_jobs`](crate::Builder::max_jobs), and the sleep is never refused. The counts of the
/// service show that sleep: each wait is scheduled; a wait that is moved to another value is
/// rescheduled, and one that ends because the queue is empty is cancelled. If several tasks wait
/// for a value, the task that polled last is woken.
///
/// If the service is stopped, the stream ends after the last value whose time has come. The others
/// stay in the queue: [`into_values`](Self::into_values) returns them. A
/// [drain](crate::Stop::Drain) does not wait for values, and the queue accepts more until the drain
/// is over. Dropping the queue drops the values in it.
#[must_use = "a queue does nothing unless it is polled"]
pub struct DelayQueue<T> {
    /// Until the first value is due.
    sleep: Sleep,
    shared: Arc<Shared<T>>,
}

/// The part of a queue that the handles of its values refer to.
struct Shared<T> {
    timers: Handle,
    state: Mutex<State<T>>,
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
    id: TimerId,
    shared: Arc<Shared<T>>,
}

/// The tick of a time from `now`. `None` if it is out of range.
fn tick_after(timers: &Handle, now: Moment, delay: Duration) -> Option<Tick> {
    let (ticks, deadline) = (timers.ticks(), now.checked_add(delay)?);
    ticks.reaches(deadline).then(|| ticks.not_before(deadline))
}

fn tick_now(timers: &Handle) -> Tick {
    timers.ticks().reached(timers.now())
}

/// A wheel without values. Each slot of its first level takes as much memory as a value.
fn wheel<T>(slots: usize, now: Tick) -> HierarchicalWheel<T> {
    let wheel = HierarchicalWheel::builder().slots_per_level(slots).start(now).build();
    wheel.expect("the number of slots is a power of two")
}

impl<T> DelayQueue<T> {
    /// An empty queue.
    pub fn new(timers: &Handle) -> Self {
        let state = State { values: wheel(16, tick_now(timers)), waker: None, until: Tick::MAX };
        let mut sleep = timers.sleep(Duration::ZERO);
        sleep.unlimited = true;
        let shared = Shared { timers: timers.clone(), state: Mutex::new(state) };
        Self { sleep, shared: Arc::new(shared) }
    }

    /// Inserts a value that comes out `delay` from now.
    ///
    /// # Errors
    ///
    /// If the service has been stopped, or the time is out of range; the error contains the value.
    pub fn insert(&self, delay: Duration, value: T) -> Result<Delayed<T>, Rejected<T>> {
        let timers = &self.shared.timers;
        if timers.is_stopped() {
            return Err(Rejected { reason: Reason::Stopped, job: value });
        }
        let Some(tick) = tick_after(timers, timers.now(), delay) else {
            return Err(Rejected { reason: Reason::Overflow, job: value });
        };
        let mut state = self.shared.state.lock();
        let id = state.values.insert(tick, value);
        State::changed(state);
        Ok(Delayed { id, shared: Arc::clone(&self.shared) })
    }

    /// All values in the queue, in the order of their deadlines.
    pub fn into_values(self) -> Vec<T> {
        self.take_all()
    }

    /// The number of values in the queue, including those whose time has come and that were not
    /// taken yet.
    pub fn len(&self) -> usize {
        self.shared.state.lock().values.len()
    }

    /// Returns `true` if the queue has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for the next value; `None` if the queue is empty.
    pub async fn next(&mut self) -> Option<T> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Removes the values, and releases what the handles of values would keep.
    fn take_all(&self) -> Vec<T> {
        let (empty, mut values) = (wheel(2, 0), Vec::new());
        let mut state = self.shared.state.lock();
        let mut wheel = std::mem::replace(&mut state.values, empty);
        let waker = state.waker.take();
        drop(state);
        // Without the lock: dropping a waker runs code of the executor.
        discard(waker);
        wheel.advance(Tick::MAX, |expired| values.push(expired.value));
        values
    }
}

impl<T> Stream for DelayQueue<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Self { sleep, shared } = &mut *self;
        let mut reached = tick_now(&shared.timers);
        loop {
            let mut state = shared.state.lock();
            if let Some(due) = state.values.pop_expired(reached) {
                return Poll::Ready(Some(due.value));
            }
            let Some(next) = state.values.next_wakeup() else {
                drop(state);
                sleep.reset_to(None);
                return Poll::Ready(None);
            };
            state.until = next;
            let wakes_it = state.waker.as_ref().is_some_and(|it| it.will_wake(context.waker()));
            let new = (!wakes_it).then(|| context.waker().clone());
            let before = new.and_then(|new| state.waker.replace(new));
            // Without the lock: this may drop a task that owns the queue.
            drop(state);
            drop(before);
            let until = Some(shared.timers.ticks().instant(next));
            if sleep.deadline() != until {
                sleep.reset_to(until);
            }
            // Even if the waker stays: the sleep may be over before its time by the clock.
            match Pin::new(&mut *sleep).poll(context) {
                // The clock may be behind the moment of a poll of a scheduler.
                Poll::Ready(Ok(())) => reached = reached.max(next),
                Poll::Ready(Err(_stopped)) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
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
        let mut state = self.pending(self.shared.timers.now())?;
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
        let timers = &self.shared.timers;
        let now = timers.now();
        let mut state = self.pending(now)?;
        if timers.is_stopped() {
            return Err(ChangeError::Stopped);
        }
        let tick = tick_after(timers, now, delay).ok_or(ChangeError::Overflow)?;
        let moved = state.values.postpone(self.id, tick);
        debug_assert!(moved, "it is pending");
        State::changed(state);
        Ok(())
    }

    /// The tick at which the value is due; `None` if its time has come, or it is no longer in the
    /// queue.
    pub fn deadline(&self) -> Option<Moment> {
        let timers = &self.shared.timers;
        let tick = self.pending(timers.now()).ok()?.values.deadline(self.id)?;
        Some(timers.ticks().instant(tick))
    }

    /// The state of the queue, if the time of this value has not come by `now`.
    fn pending(&self, now: Moment) -> Result<MutexGuard<'_, State<T>>, ChangeError> {
        let reached = self.shared.timers.ticks().reached(now);
        let state = self.shared.state.lock();
        let is_pending = state.values.deadline(self.id).is_some_and(|tick| tick > reached);
        if is_pending { Ok(state) } else { Err(ChangeError::Over) }
    }
}

impl<T> fmt::Debug for Delayed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delayed").field("deadline", &self.deadline()).finish_non_exhaustive()
    }
}
