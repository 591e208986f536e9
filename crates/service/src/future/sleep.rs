//! A future that is ready at a moment.

use crate::work::Work;
use crate::{Handle, JobHandle, Moment, Reason, Run};
use parking_lot::Mutex;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Ready when its time has come, and never before; an error if the service refuses to wait or is stopped. From
/// [`Handle::sleep`] or [`Handle::sleep_until`].
///
/// It is scheduled when it is polled first, and cancelled when it is dropped. Polled again after it was ready, it
/// answers the same.
#[must_use = "a future does nothing unless it is polled"]
pub struct Sleep {
    timers: Handle,
    /// `None` if it is too far away to be named.
    deadline: Option<Moment>,
    wait: Option<Wait>,
}

/// A wait that has begun.
struct Wait {
    job: JobHandle,
    bell: Arc<Bell>,
}

impl Sleep {
    fn new(timers: &Handle, deadline: Option<Moment>) -> Self {
        Self { timers: timers.clone(), deadline, wait: None }
    }

    /// When it is going to be ready; `None` if that is too far away to be named.
    pub fn deadline(&self) -> Option<Moment> {
        self.deadline
    }

    /// Has it wait until `delay` from now instead, whether or not it was ready before. While it waits, that is as cheap as
    /// [`JobHandle::refresh`].
    pub fn reset(&mut self, delay: Duration) {
        self.reset_to(self.timers.now().checked_add(delay));
    }

    pub(super) fn now(&self) -> Moment {
        self.timers.now()
    }

    pub(super) fn reset_to(&mut self, deadline: Option<Moment>) {
        self.deadline = deadline;
        let moved = match (&self.wait, deadline) {
            (Some(wait), Some(deadline)) => wait.job.reschedule(deadline).is_ok(),
            _ => false,
        };
        if !moved {
            self.end_wait();
        }
    }

    fn end_wait(&mut self) {
        if let Some(Wait { job, bell }) = self.wait.take() {
            bell.silence();
            // If it is too late for that, the bell rings for nobody.
            drop(job.cancel());
        }
    }

    fn begin_wait(&self) -> Result<Wait, Reason> {
        let bell = Arc::new(Bell::default());
        let deadline = self.deadline.ok_or(Reason::Overflow)?;
        match self
            .timers
            .at(deadline)
            .schedule(Striker { bell: Arc::clone(&bell), answer: Err(Reason::Stopped) })
        {
            Ok(job) => Ok(Wait { job, bell }),
            Err((reason, _)) => Err(reason),
        }
    }
}

impl Future for Sleep {
    type Output = Result<(), Reason>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.wait.is_none() {
            match self.begin_wait() {
                Ok(wait) => self.wait = Some(wait),
                Err(reason) => return Poll::Ready(Err(reason)),
            }
        }
        match &self.wait {
            Some(wait) => wait.bell.listen(context.waker()),
            None => Poll::Pending,
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

/// Where the job meets the future.
#[derive(Default)]
struct Bell(Mutex<Sound>);

enum Sound {
    /// Nothing has happened; this task wants to know when it does.
    Quiet(Option<Waker>),
    Rung(Result<(), Reason>),
}

impl Default for Sound {
    fn default() -> Self {
        Self::Quiet(None)
    }
}

impl Bell {
    /// Answers whoever waits. The first answer stands.
    fn ring(&self, answer: Result<(), Reason>) {
        let mut sound = self.0.lock();
        if let Sound::Quiet(waker) = &mut *sound {
            let waker = waker.take();
            *sound = Sound::Rung(answer);
            drop(sound);
            // Without the lock: what a waker does is up to the executor.
            waker.into_iter().for_each(Waker::wake);
        }
    }

    fn listen(&self, waker: &Waker) -> Poll<Result<(), Reason>> {
        match &mut *self.0.lock() {
            Sound::Rung(answer) => Poll::Ready(*answer),
            Sound::Quiet(Some(known)) if known.will_wake(waker) => Poll::Pending,
            Sound::Quiet(known) => {
                *known = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// Nobody listens any more.
    fn silence(&self) {
        *self.0.lock() = Sound::Rung(Ok(()));
    }
}

/// The job that rings, when it is dropped: then it no longer counts for the limit of the service, and the task that is woken may wait
/// again. One that is dropped without being run leaves nobody waiting.
struct Striker {
    bell: Arc<Bell>,
    answer: Result<(), Reason>,
}

impl Work for Striker {
    fn call(&mut self, _: &Run<'_>) {
        self.answer = Ok(());
    }

    fn is_brief(&self) -> bool {
        true
    }

    fn is_awaited(&self) -> bool {
        true
    }
}

impl Drop for Striker {
    fn drop(&mut self) {
        self.bell.ring(self.answer);
    }
}

impl Handle {
    /// A future that is ready `delay` from now.
    pub fn sleep(&self, delay: Duration) -> Sleep {
        Sleep::new(self, self.now().checked_add(delay))
    }

    /// A future that is ready at a moment.
    pub fn sleep_until(&self, moment: Moment) -> Sleep {
        Sleep::new(self, Some(moment))
    }
}
