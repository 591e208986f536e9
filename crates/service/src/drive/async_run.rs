//! A run that was handed out, as a future for any executor. The run of a closure in a group is one
//! too, and ready after one poll. The leading thread polls these futures, unless the runs of async
//! jobs are spawned on the user's runtime.

use super::carry_out::{self, RunSpan};
use crate::event::EventKind;
use crate::future::Sleep;
use crate::guard::{discard, guarded};
use crate::handle::Handle;
use crate::job::{GroupPermit, Id};
use crate::shard::{ActiveRun, HandedOut, ReadyTask, TaskKind};
use crate::shared::{RunFuture, RunResult, Work};
use crate::time::Moment;
use std::fmt;
use std::mem::replace;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A run of an async job: a future to be polled until it is ready, by the executor of
/// [`Builder::spawn_on`](crate::Builder::spawn_on), or else by the thread that leads.
///
/// The run begins with the first poll. Until then the job can be cancelled or moved; then the
/// future does nothing. Dropping it before it is ready is reported as [`EventKind::Abandoned`], and
/// is a failed attempt if the job has a [retry](crate::OneShot::retry); a periodic job continues
/// with its next period. Panics are caught and do not reach the executor.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct AsyncRun {
    timers: Handle,
    state: State,
    /// Its place in a group. Released last.
    pub(super) permit: Option<GroupPermit>,
    /// It is a future that the leading thread polls, and counted there.
    counted: bool,
}

enum State {
    Due(HandedOut),
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
}

impl AsyncRun {
    pub(super) fn new(timers: Handle, run: HandedOut) -> Self {
        Self { timers, state: State::Due(run), permit: None, counted: false }
    }

    /// The kind of task that the run is for the leading thread.
    pub(super) fn kind(&self) -> TaskKind {
        match &self.state {
            State::Due(run) if !run.dispatch.is_async => {
                TaskKind::Closure { blocks: run.dispatch.blocks }
            }
            _ => TaskKind::Future,
        }
    }

    /// Returns `true` if its job was cancelled, moved or paused before it began.
    pub(super) fn is_over(&self) -> bool {
        let State::Due(HandedOut { id, turn, .. }) = self.state else { return false };
        !self.timers.shards().with(id.shard(), |state| state.is_turn(id, turn))
    }

    fn id(&self) -> Option<Id> {
        match &self.state {
            State::Due(run) => Some(run.id),
            State::InProgress(state) => Some(state.run.facts.id),
            State::Over => None,
        }
    }
}

/// Begins a run, unless its turn is over. `None` if it has ended.
fn begin(timers: &Handle, due: HandedOut) -> Option<Box<InProgress>> {
    let HandedOut { id, turn, dispatch, .. } = due;
    let (shards, now) = (timers.shards(), timers.now());
    let Some(mut run) = shards.with(id.shard(), |state| state.begin_turn(id, turn, now)) else {
        shards.hand_in(id, false);
        return None;
    };
    run.started = shards.now();
    let work = carry_out::take_work(timers.shared(), &mut run);
    let mut result = RunResult::default();
    let (facts, info) = (run.facts, run.info.as_ref());
    let (future, span) = carry_out::call_in_span(timers, facts, info, run.started, |run| {
        if dispatch.is_async {
            return work.call_async(run, &mut result);
        }
        work.call(run, &mut result);
        None
    });
    match future {
        Ok(Some(future)) => {
            let mut limit = future.limit.map(|limit| timers.sleep(limit));
            limit.iter_mut().for_each(|it| (it.unlimited, it.limits_run) = (true, true));
            Some(Box::new(InProgress { run, future, limit, result, span }))
        }
        // It panicked, or there is nothing to await.
        other => {
            let called = other.map(drop).map_err(EventKind::Panicked);
            carry_out::finish(timers, &mut run, None, called, result);
            carry_out::end(timers, run);
            None
        }
    }
}

/// A run was dropped before it began.
fn abandon(timers: &Handle, HandedOut { id, turn, info, .. }: HandedOut) {
    let shared = timers.shared();
    let now = shared.shards.now();
    match shared.shards.with(id.shard(), |state| state.abandon(id, turn, now)) {
        None => shared.shards.hand_in(id, false),
        Some((run, gave_up)) => {
            let job = timers.job_handle(id, Some(info));
            job.fail(EventKind::Abandoned);
            if gave_up {
                job.fail(EventKind::GaveUp(EventKind::Abandoned.reason()));
            }
            carry_out::clean_up(shared, run, None);
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
        let Self { mut run, future, limit, result, span } = self;
        // The future and what it owns are dropped before the run is over.
        let entered = span.enter();
        discard(future);
        drop(entered);
        drop(limit);
        carry_out::finish(timers, &mut run, None, outcome, result);
        carry_out::end(timers, run);
    }
}

impl Future for AsyncRun {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let inside = self.timers.shards().enter(self.id());
        let in_progress = match replace(&mut self.state, State::Over) {
            State::Due(due) => begin(&self.timers, due),
            State::InProgress(in_progress) => Some(in_progress),
            State::Over => None,
        };
        if let Some(mut in_progress) = in_progress {
            match in_progress.poll(context) {
                Poll::Ready(outcome) => in_progress.end(&self.timers, outcome),
                Poll::Pending => {
                    self.state = State::InProgress(in_progress);
                    return Poll::Pending;
                }
            }
        }
        // The next run of the group does not begin inside of this one, which a stop would excuse.
        drop(inside);
        drop(self.permit.take());
        Poll::Ready(())
    }
}

impl Drop for AsyncRun {
    fn drop(&mut self) {
        if let Some(id) = self.id() {
            let inside = self.timers.shards().enter(Some(id));
            match replace(&mut self.state, State::Over) {
                State::Due(due) => abandon(&self.timers, due),
                State::InProgress(state) => {
                    self.timers.shards().with(id.shard(), |state| state.counts.abandoned += 1);
                    state.end(&self.timers, Err(EventKind::Abandoned));
                }
                State::Over => {}
            }
            drop(inside);
        }
        drop(self.permit.take());
        if self.counted {
            self.timers.shards().ready.remove_task();
        }
    }
}

impl fmt::Debug for AsyncRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncRun").field(&self.id()).finish()
    }
}

/// Spawns async runs on the user's runtime. Without it, the leading thread polls them.
pub(super) type Spawner = Option<Box<dyn Fn(AsyncRun) + Send + Sync>>;

/// Carries out a run that needs no place in a group, or has one.
pub(super) fn spawn(spawner: &Spawner, run: AsyncRun) {
    match (spawner, run.kind()) {
        // If it panics, the run is dropped and reported, and the driver continues.
        (Some(spawn), TaskKind::Future) => guarded(|| spawn(run)).unwrap_or_default(),
        (_, kind) => spawn_here(run, kind),
    }
}

/// Makes a run a task of the leading thread, which polls it whenever it is woken.
fn spawn_here(mut run: AsyncRun, kind: TaskKind) {
    let timers = run.timers.clone();
    if matches!(kind, TaskKind::Future) {
        // A future may wait elsewhere between two polls, so it is counted.
        timers.shards().ready.add_task();
        run.counted = true;
    }
    let schedule = move |task: ReadyTask| match timers.shards().ready.push(task) {
        Ok(()) => timers.shards().signal.earlier(Moment::ORIGIN),
        // The queue is closed. Dropped without a lock, since it owns values of the user.
        Err(task) => drop(task),
    };
    let (runnable, task) = async_task::Builder::new().metadata(kind).spawn(|_| run, schedule);
    task.detach();
    runnable.schedule();
}

/// Closes the queue, and drops the runs in it, which are reported.
pub(super) fn close_ready(timers: &Handle) {
    timers.shards().ready.close().into_iter().for_each(drop);
}
