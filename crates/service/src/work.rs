//! The work of jobs: closures that run once or repeatedly, and values to be sent.

use crate::event::EventKind;
use crate::shard::TakenWork;
use crate::shared::{Run, RunResult, Work};
use crossbeam_channel::{Sender, TrySendError};
use std::fmt::Display;
use std::sync::Arc;

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
pub(crate) fn call_again<W: Work>(work: Box<W>, result: &mut RunResult, call: impl FnOnce(&mut W)) {
    let mut work = PutBack { work: Some(work), result };
    call(work.work.as_mut().expect("it is put back at the end of this call"));
}

/// The result of a run.
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

/// A closure that runs once.
pub(crate) struct CallOnce<F>(pub(crate) F);

impl<F: FnOnce(&Run<'_>) + Send + 'static> Work for CallOnce<F> {
    fn call(self: Box<Self>, run: &Run<'_>, _: &mut RunResult) {
        (self.0)(run);
    }
}

/// A closure that runs repeatedly, one run at a time, and may fail.
pub(crate) struct CallEach<F>(pub(crate) F);

impl<F, T: RunOutput> Work for CallEach<F>
where
    F: FnMut(&Run<'_>) -> T + Send + 'static,
{
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        let mut error = None;
        call_again(self, result, |work| error = (work.0)(run).into_result().err());
        result.error = error;
    }
}

/// A closure whose runs may overlap.
pub(crate) struct CallShared<F>(pub(crate) Arc<F>);

impl<F: Fn(&Run<'_>) + Send + Sync + 'static> Work for CallShared<F> {
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        call_again(self, result, |work| (work.0)(run));
    }

    fn fork(&self) -> Option<Box<dyn Work>> {
        Some(Box::new(Self(Arc::clone(&self.0))))
    }
}

/// A value to be sent once.
pub(crate) struct SendOnce<T> {
    pub(crate) sender: Sender<T>,
    pub(crate) value: T,
}

impl<T: Send + 'static> Work for SendOnce<T> {
    fn call(self: Box<Self>, run: &Run<'_>, _: &mut RunResult) {
        send(&self.sender, self.value, run);
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
        call_again(self, result, |work| send(&work.sender, work.value.clone(), run));
    }

    fn is_instant(&self) -> bool {
        true
    }
}

/// Sends without waiting, so that a slow receiver does not delay other jobs.
fn send<T>(sender: &Sender<T>, value: T, run: &Run<'_>) {
    match sender.try_send(value) {
        Ok(()) => {}
        Err(TrySendError::Full(_)) => run.undelivered(EventKind::ChannelFull),
        Err(TrySendError::Disconnected(_)) => {
            run.end();
            run.undelivered(EventKind::ChannelClosed);
        }
    }
}

impl TakenWork<dyn Work> {
    /// Runs the work, or wakes the task.
    pub(crate) fn call(self, run: &Run<'_>, result: &mut RunResult) {
        match self {
            Self::Work(work) => work.call(run, result),
            Self::Wake(waker) => waker.wake(),
        }
    }
}
