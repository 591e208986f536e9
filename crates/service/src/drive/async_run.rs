//! A run that is a future, for any executor of futures.

use super::due_run::{self, DueRun};
use super::span::RunSpan;
use crate::event::EventKind;
use crate::future::Sleep;
use crate::guard::{discard, guarded};
use crate::handle::Handle;
use crate::job::GroupPermit;
use crate::job_handle::JobHandle;
use crate::shard::Begun;
use crate::shared::{RunFuture, RunResult, Work};
use crate::time::Moment;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A run of an async job: a future to be polled until it is ready, by the executor of
/// [`Builder::spawn_on`](crate::Builder::spawn_on), or else by the thread that leads.
///
/// The run begins with the first poll. Until then the job can be cancelled or moved; then the
/// future does nothing. Dropping it before it is ready is reported as [`EventKind::Abandoned`]; a
/// periodic job continues with its next period. Panics are caught and do not reach the executor.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct AsyncRun {
    state: State,
}

enum State {
    Due(DueRun),
    /// In a box, so that the future is small before it begins.
    InProgress(Box<InProgress>),
    Over,
}

struct InProgress {
    timers: Handle,
    begun: Begun<dyn Work>,
    started: Moment,
    run: RunFuture,
    /// Ready when the run has reached its limit.
    limit: Option<Sleep>,
    result: RunResult,
    span: RunSpan,
    /// Its place in a group. Released last.
    permit: Option<GroupPermit>,
}

impl AsyncRun {
    pub(super) fn new(run: DueRun) -> Self {
        Self { state: State::Due(run) }
    }

    /// The job. `None` when the run is over.
    pub fn job(&self) -> Option<JobHandle> {
        match &self.state {
            State::Due(run) => Some(run.job()),
            State::InProgress(in_progress) => Some(in_progress.job()),
            State::Over => None,
        }
    }
}

/// Begins a run, unless its turn is over.
fn begin(mut due: DueRun) -> Option<Box<InProgress>> {
    let timers = due.timers().clone();
    let mut begun = due.begin()?;
    let started = timers.now();
    due_run::free_key(timers.shared(), &begun);
    let work = begun.work.take().expect("a run begins with its work");
    let (mut result, mut run) = (RunResult::default(), None);
    let (outcome, span) = {
        let its = due_run::run_of(timers.service_ref(begun.facts.id.shard()), &begun, started);
        let span = RunSpan::of(&its);
        let entered = span.enter();
        let outcome = guarded(|| run = work.call_async(&its, &mut result));
        drop(entered);
        (outcome, span)
    };
    let Some(run) = run else {
        let outcome = outcome.map_err(EventKind::Panicked);
        due_run::end(&timers, due_run::finish(&timers, begun, (started, None), outcome, result).0);
        return None;
    };
    let limit = run.limit.map(|limit| timers.sleep(limit).limiting_run());
    Some(Box::new(InProgress {
        timers,
        begun,
        started,
        run,
        limit,
        result,
        span,
        permit: due.permit().take(),
    }))
}

impl InProgress {
    fn job(&self) -> JobHandle {
        self.timers.job_handle(self.begun.facts.id, self.begun.info.clone())
    }

    /// Polls the future. Returns the result if it has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), EventKind>> {
        let entered = self.span.enter();
        let polled = guarded(|| self.run.future.as_mut().poll(context));
        drop(entered);
        match polled {
            Err(message) => return Poll::Ready(Err(EventKind::Panicked(message))),
            Ok(Poll::Ready(outcome)) => {
                self.result.error = outcome.err();
                return Poll::Ready(due_run::outcome_of(&self.begun, &mut self.result));
            }
            Ok(Poll::Pending) => {}
        }
        let (Some(limit), Some(sleep)) = (self.run.limit, &mut self.limit) else {
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

    fn end(self, outcome: Result<(), EventKind>) {
        let Self { timers, begun, started, run, limit, result, span, permit } = self;
        // The future and what it owns are dropped before the run is over.
        let entered = span.enter();
        discard(run);
        drop(entered);
        drop(limit);
        due_run::end(&timers, due_run::finish(&timers, begun, (started, None), outcome, result).0);
        drop(permit);
    }
}

impl Future for AsyncRun {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let state = std::mem::replace(&mut self.state, State::Over);
        let timers = match &state {
            State::Due(due) => due.timers().clone(),
            State::InProgress(in_progress) => in_progress.timers.clone(),
            State::Over => return Poll::Ready(()),
        };
        let _inside = timers.shards().enter();
        let in_progress = match state {
            State::Due(due) => begin(due),
            State::InProgress(in_progress) => Some(in_progress),
            State::Over => None,
        };
        let Some(mut in_progress) = in_progress else { return Poll::Ready(()) };
        match in_progress.poll(context) {
            Poll::Ready(outcome) => {
                in_progress.end(outcome);
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
        if let State::InProgress(in_progress) = std::mem::replace(&mut self.state, State::Over) {
            let timers = in_progress.timers.clone();
            let _inside = timers.shards().enter();
            timers
                .shards()
                .with(in_progress.begun.facts.id.shard(), |state| state.counts.abandoned += 1);
            in_progress.end(Err(EventKind::Abandoned));
        }
    }
}

impl fmt::Debug for AsyncRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncRun").field(&self.job()).finish()
    }
}
