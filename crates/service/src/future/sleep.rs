//! A future that is ready at a given time, and a time limit for another future.

use crate::Reason;
use crate::guard::discard;
use crate::handle::Handle;
use crate::job::{Ending, Id};
use crate::shard::Shards;
use crate::shared::{ServiceRef, Work};
use crate::time::{Due, Moment};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Ready at its deadline, and never before. Ready with an error if the service is stopped or has no
/// room for the job. From [`Handle::sleep`] or [`Handle::sleep_until`].
///
/// The first poll schedules it, and dropping it cancels it. A poll after it was ready returns the
/// same result again. While it waits, it is a job that stores the waker, without an allocation.
#[must_use = "a future does nothing unless it is polled"]
pub struct Sleep {
    service: ServiceRef,
    /// `None` if it is out of range.
    deadline: Option<Moment>,
    state: State,
    /// It waits even if the limit of jobs is reached.
    pub(crate) unlimited: bool,
    /// It is the limit of a run, which waits even if the service stops.
    pub(crate) limits_run: bool,
}

enum State {
    Idle,
    Waiting(Id),
    Ready(Result<(), Reason>),
}

impl Sleep {
    fn new(timers: &Handle, deadline: Option<Moment>) -> Self {
        let service = Arc::clone(timers.service_ref(timers.shards().own_shard()));
        Self { service, deadline, state: State::Idle, unlimited: false, limits_run: false }
    }

    /// The deadline; `None` if that is out of range.
    pub fn deadline(&self) -> Option<Moment> {
        self.deadline
    }

    /// Sets the deadline to `delay` from now, also if it was ready before. While it waits, this is
    /// as cheap as [`JobHandle::refresh`](crate::JobHandle::refresh).
    pub fn reset(&mut self, delay: Duration) {
        self.reset_to(self.shards().now().checked_add(delay));
    }

    pub(super) fn shards(&self) -> &Shards<dyn Work> {
        &self.service.shards
    }

    pub(super) fn reset_to(&mut self, deadline: Option<Moment>) {
        self.deadline = deadline;
        if let State::Waiting(id) = self.state
            && self.service.shards.move_to(id, deadline.map(Due::at), true).is_ok()
        {
            return;
        }
        self.end_wait();
    }

    fn end_wait(&mut self) {
        if let State::Waiting(id) = std::mem::replace(&mut self.state, State::Idle) {
            // If this comes too late, a task is woken for nothing. The waker is dropped without the
            // lock: dropping it runs code of the executor.
            let shards = &self.service.shards;
            discard(shards.with(id.shard(), |state| state.end_as(id, Ending::Cancelled)));
        }
    }

    fn begin_wait(&self, context: &Context<'_>) -> State {
        let shards = self.shards();
        let reachable = self.deadline.filter(|deadline| shards.ticks.reaches(*deadline));
        let Some(deadline) = reachable else { return State::Ready(Err(Reason::Overflow)) };
        let waker = context.waker().clone();
        let scheduled = shards.schedule_wake(deadline, waker, self.unlimited, self.limits_run);
        scheduled.map_or_else(
            |reason| {
                shards.with(shards.own_shard(), |state| state.counts.rejected += 1);
                State::Ready(Err(reason))
            },
            State::Waiting,
        )
    }

    /// The result of a wait that has ended.
    fn answer(&self) -> Result<(), Reason> {
        let shards = self.shards();
        let came = self.deadline.is_some_and(|deadline| deadline <= shards.now());
        if shards.is_closed() && !came { Err(Reason::Stopped) } else { Ok(()) }
    }
}

impl Future for Sleep {
    type Output = Result<(), Reason>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.state {
            State::Idle => self.state = self.begin_wait(context),
            State::Waiting(id) => {
                let waker = context.waker();
                let before = self.service.shards.with(id.shard(), |state| state.listen(id, waker));
                if before.is_none() {
                    self.state = State::Ready(self.answer());
                }
            }
            State::Ready(_) => {}
        }
        match self.state {
            State::Ready(answer) => Poll::Ready(answer),
            _ => Poll::Pending,
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.end_wait();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// Why a future was dropped before it was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutError {
    /// The limit was reached.
    Elapsed,
    /// The service has no room for the job, or was stopped.
    Refused(Reason),
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elapsed => f.write_str("the time limit has elapsed"),
            Self::Refused(reason) => write!(f, "no timeout can be set: {reason}"),
        }
    }
}

impl Error for TimeoutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Elapsed => None,
            Self::Refused(reason) => Some(reason),
        }
    }
}

impl Handle {
    /// A future that is ready `delay` from now.
    pub fn sleep(&self, delay: Duration) -> Sleep {
        Sleep::new(self, self.now().checked_add(delay))
    }

    /// A future that is ready at a [`Moment`].
    pub fn sleep_until(&self, moment: Moment) -> Sleep {
        Sleep::new(self, Some(moment))
    }

    /// Awaits a future, but no longer than `limit` from now; then the future is dropped. If the
    /// future is ready at once, nothing is scheduled. A limit that is out of range, such as
    /// [`Duration::MAX`], never ends it.
    ///
    /// # Errors
    ///
    /// If the limit is reached, or the service is stopped or has no room for the job.
    pub fn timeout<F: Future>(
        &self,
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, TimeoutError>> + use<F> {
        // Outside of the async block: the limit counts from the call, not from the first poll.
        let sleep = self.sleep(limit);
        async move {
            let (mut sleep, mut future) = (pin!(sleep), pin!(future));
            poll_fn(|context| {
                // The future first: if both are ready, it was in time.
                if let Poll::Ready(output) = future.as_mut().poll(context) {
                    return Poll::Ready(Ok(output));
                }
                match sleep.as_mut().poll(context) {
                    Poll::Ready(Ok(())) => Poll::Ready(Err(TimeoutError::Elapsed)),
                    Poll::Pending | Poll::Ready(Err(Reason::Overflow)) => Poll::Pending,
                    Poll::Ready(Err(reason)) => Poll::Ready(Err(TimeoutError::Refused(reason))),
                }
            })
            .await
        }
    }
}
