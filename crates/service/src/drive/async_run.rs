//! A run that is a future, for any executor of futures.

use super::due_run::{self, DueRun, RunSpan};
use crate::event::EventKind;
use crate::future::Sleep;
use crate::guard::{discard, guarded};
use crate::handle::Handle;
use crate::job::{GroupPermit, Id, Info};
use crate::job_handle::JobHandle;
use crate::shard::ActiveRun;
use crate::shared::{RunFuture, RunResult, Work};
use std::fmt;
use std::mem::replace;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A run of an async job: a future to be polled until it is ready, by the executor of
/// [`Builder::spawn_on`](crate::Builder::spawn_on), or else by the thread that leads.
///
/// The run begins with the first poll. Until then the job can be cancelled or moved; then the
/// future does nothing. Dropping it before it is ready is reported as [`EventKind::Abandoned`]; a
/// periodic job continues with its next period. Panics are caught and do not reach the executor.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct AsyncRun {
    timers: Handle,
    state: State,
    /// It is polled by the leading thread, and counted there.
    counted: bool,
}

enum State {
    Due(DueRun),
    /// In a box, so that the future is small before it begins.
    InProgress(Box<InProgress>),
    Over,
}

struct InProgress {
    run: ActiveRun<dyn Work>,
    future: RunFuture,
    /// Ready when the run has reached its limit.
    limit: Option<Sleep>,
    result: RunResult,
    span: RunSpan,
    /// Its place in a group. Released last.
    permit: Option<GroupPermit>,
}

impl AsyncRun {
    pub(super) fn new(run: DueRun, counted: bool) -> Self {
        if counted {
            run.timers.shards().ready.add_task();
        }
        Self { timers: run.timers.clone(), state: State::Due(run), counted }
    }

    fn id_and_info(&self) -> Option<(Id, &Option<Arc<Info>>)> {
        match &self.state {
            State::Due(due) => Some((due.handed_out().id, &due.handed_out().info)),
            State::InProgress(state) => Some((state.run.facts.id, &state.run.info)),
            State::Over => None,
        }
    }

    /// The job. `None` when the run is over.
    pub fn job(&self) -> Option<JobHandle> {
        self.id_and_info().map(|(id, info)| self.timers.job_handle(id, info.clone()))
    }
}

fn begin(timers: &Handle, mut due: DueRun) -> Option<Box<InProgress>> {
    let mut run = due.begin()?;
    let work = due_run::take_work(timers.shared(), &mut run);
    let mut result = RunResult::default();
    let (facts, info) = (run.facts, run.info.as_ref());
    let (future, span) = due_run::call_in_span(timers, facts, info, run.started, |run| {
        work.call_async(run, &mut result)
    });
    let permit = due.permit.take();
    match future {
        Ok(Some(future)) => {
            let limit = future.limit.map(|limit| timers.sleep(limit).limiting_run());
            Some(Box::new(InProgress { run, future, limit, result, span, permit }))
        }
        // It panicked, or had nothing to await.
        other => {
            let called = other.map(drop).map_err(EventKind::Panicked);
            due_run::finish(timers, &mut run, None, called, result);
            due_run::end(timers, run);
            None
        }
    }
}

impl InProgress {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), EventKind>> {
        let entered = self.span.enter();
        let polled = guarded(|| self.future.future.as_mut().poll(context));
        drop(entered);
        match polled {
            Err(message) => return Poll::Ready(Err(EventKind::Panicked(message))),
            Ok(Poll::Ready(outcome)) => {
                self.result.error = outcome.err();
                return Poll::Ready(Ok(()));
            }
            Ok(Poll::Pending) => {}
        }
        let (Some(limit), Some(sleep)) = (self.future.limit, &mut self.limit) else {
            return Poll::Pending;
        };
        match Pin::new(sleep).poll(context) {
            Poll::Ready(Ok(())) => Poll::Ready(Err(EventKind::TimedOut(limit))),
            // The service has ended, and no thread is left to enforce the limit; or the limit is
            // out of range. Then there is no limit.
            Poll::Ready(Err(_)) => {
                self.limit = None;
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn end(self, timers: &Handle, outcome: Result<(), EventKind>) {
        let Self { mut run, future, limit, result, span, permit } = self;
        // The future and what it owns are dropped before the run is over.
        let entered = span.enter();
        discard(future);
        drop(entered);
        drop(limit);
        due_run::finish(timers, &mut run, None, outcome, result);
        due_run::end(timers, run);
        drop(permit);
    }
}

impl Future for AsyncRun {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let _inside = self.timers.shards().enter(self.id_and_info().map(|(id, _)| id));
        let in_progress = match replace(&mut self.state, State::Over) {
            State::Due(due) => begin(&self.timers, due),
            State::InProgress(in_progress) => Some(in_progress),
            State::Over => None,
        };
        let Some(mut in_progress) = in_progress else { return Poll::Ready(()) };
        match in_progress.poll(context) {
            Poll::Ready(outcome) => {
                in_progress.end(&self.timers, outcome);
                Poll::Ready(())
            }
            Poll::Pending => {
                self.state = State::InProgress(in_progress);
                Poll::Pending
            }
        }
    }
}

impl Drop for AsyncRun {
    fn drop(&mut self) {
        match replace(&mut self.state, State::Over) {
            State::InProgress(state) => {
                let shards = self.timers.shards();
                let id = state.run.facts.id;
                let _inside = shards.enter(Some(id));
                shards.with(id.shard(), |state| state.counts.abandoned += 1);
                state.end(&self.timers, Err(EventKind::Abandoned));
            }
            other => drop(other),
        }
        if self.counted {
            self.timers.shards().ready.remove_task();
        }
    }
}

impl fmt::Debug for AsyncRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncRun").field(&self.job()).finish()
    }
}
