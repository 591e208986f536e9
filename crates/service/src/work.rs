//! The work of jobs: closures that run once or repeatedly, values to be sent, and closures that
//! return futures.

use crate::event::EventKind;
use crate::shared::{Run, RunFuture, RunResult, Undelivered, Work};
use crossbeam_channel::{Sender, TrySendError};
use std::fmt::Display;
use std::time::Duration;

/// Puts work back after it was called, also if it panics.
struct PutBack<'a, W: Work> {
    work: Option<Box<W>>,
    result: &'a mut RunResult,
}

impl<W: Work> Drop for PutBack<'_, W> {
    fn drop(&mut self) {
        self.result.work = self.work.take().map(|work| work as Box<dyn Work>);
    }
}

/// Calls work that is called again later.
pub(crate) fn call_again<W: Work, T>(
    work: Box<W>,
    result: &mut RunResult,
    call: impl FnOnce(&mut W, &mut RunResult) -> T,
) -> T {
    let mut guard = PutBack { work: Some(work), result };
    let PutBack { work, result } = &mut guard;
    call(work.as_mut().expect("it is put back at the end of this call"), result)
}

pub(crate) trait RunOutput {
    /// Returns the error as text, if the run failed.
    fn into_result(self) -> Result<(), String>;
}

impl RunOutput for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<T, E: Display> RunOutput for Result<T, E> {
    fn into_result(self) -> Result<(), String> {
        self.map(drop).map_err(|error| error.to_string())
    }
}

pub(crate) struct CallOnce<F>(pub(crate) F);

impl<F: FnOnce(&Run<'_>) + Send + 'static> Work for CallOnce<F> {
    fn call(self: Box<Self>, run: &Run<'_>, _: &mut RunResult) {
        (self.0)(run);
    }
}

/// A closure that runs repeatedly, and may fail.
pub(crate) struct CallEach<F>(pub(crate) F);

impl<F, T: RunOutput> Work for CallEach<F>
where
    F: FnMut(&Run<'_>) -> T + Send + 'static,
{
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        call_again(self, result, |work, result| {
            result.error = (work.0)(run).into_result().err();
        });
    }
}

pub(crate) struct SendOnce<T> {
    pub(crate) sender: Sender<T>,
    pub(crate) value: T,
}

impl<T: Send + 'static> Work for SendOnce<T> {
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        result.undelivered = send(&self.sender, self.value, run);
    }

    fn is_instant(&self) -> bool {
        true
    }
}

/// A value. A copy is sent in each run.
pub(crate) struct SendEach<T> {
    pub(crate) sender: Sender<T>,
    pub(crate) value: T,
}

impl<T: Clone + Send + 'static> Work for SendEach<T> {
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        call_again(self, result, |work, result| {
            result.undelivered = send(&work.sender, work.value.clone(), run);
        });
    }

    fn is_instant(&self) -> bool {
        true
    }
}

/// Sends without waiting, so that a slow receiver does not delay other jobs. If the value was not
/// delivered, returns it, and what to report.
fn send<T: Send + 'static>(
    sender: &Sender<T>,
    value: T,
    run: &Run<'_>,
) -> Option<Box<Undelivered>> {
    let (kind, value) = match sender.try_send(value) {
        Ok(()) => return None,
        Err(TrySendError::Full(value)) => (EventKind::ChannelFull, value),
        Err(TrySendError::Disconnected(value)) => {
            run.end();
            (EventKind::ChannelClosed, value)
        }
    };
    Some(Box::new(Undelivered(kind, Box::new(value))))
}

/// A closure that is called once and returns a future, and the time limit of that.
pub(crate) struct AsyncOnce<F> {
    pub(crate) function: F,
    pub(crate) limit: Option<Duration>,
}

/// The same for a closure that is called again when the run before has ended.
pub(crate) struct AsyncEach<F> {
    pub(crate) function: F,
    pub(crate) limit: Option<Duration>,
}

impl<F, Fut> Work for AsyncOnce<F>
where
    F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
    Fut: Future<Output: RunOutput> + Send + 'static,
{
    fn call_async(self: Box<Self>, run: &Run<'_>, _: &mut RunResult) -> Option<RunFuture> {
        Some(run_future((self.function)(run), self.limit))
    }
}

impl<F, Fut> Work for AsyncEach<F>
where
    F: FnMut(&Run<'_>) -> Fut + Send + 'static,
    Fut: Future<Output: RunOutput> + Send + 'static,
{
    fn call_async(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) -> Option<RunFuture> {
        let limit = self.limit;
        Some(run_future(call_again(self, result, |work, _| (work.function)(run)), limit))
    }
}

fn run_future(
    future: impl Future<Output: RunOutput> + Send + 'static,
    limit: Option<Duration>,
) -> RunFuture {
    RunFuture { future: Box::pin(async { future.await.into_result() }), limit }
}
