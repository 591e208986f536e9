//! A run for an executor, and the steps of carrying out a run on any thread.

use super::span::RunSpan;
use crate::event::EventKind;
use crate::guard::{discard, guarded};
use crate::handle::Handle;
use crate::job::{Dispatch, GroupPermit, Id, Info};
use crate::job_handle::JobHandle;
use crate::shard::{Begun, Cleanup, EndedRun, HandedOut, ReadyItem, RunFacts};
use crate::shared::{Run, RunResult, ServiceRef, Shared, Work};
use crate::time::Moment;
use std::fmt;
use std::sync::Arc;

/// A run whose time has come, for an [executor](crate::Builder::executor) to carry out on any
/// thread.
///
/// Until it begins, the job can still be cancelled or moved; then [`run`](Self::run) does nothing.
/// Dropping it instead of running it is reported as [`EventKind::Abandoned`]; a periodic job
/// continues with its next period.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct DueRun {
    timers: Handle,
    /// `None` after it has begun, or was found to be over, or was passed on.
    run: Option<HandedOut>,
    /// Its place in a group. Released last.
    permit: Option<GroupPermit>,
}

impl DueRun {
    pub(super) fn new(timers: Handle, run: HandedOut, permit: Option<GroupPermit>) -> Self {
        Self { timers, run: Some(run), permit }
    }

    /// The job.
    pub fn job(&self) -> JobHandle {
        let HandedOut { id, info, .. } = self.handed_out();
        self.timers.job_handle(*id, info.clone())
    }

    fn handed_out(&self) -> &HandedOut {
        self.run.as_ref().expect("its owner has it until it begins or is passed on")
    }

    pub(super) fn dispatch(&self) -> &Dispatch {
        &self.handed_out().dispatch
    }

    pub(super) fn permit(&mut self) -> &mut Option<GroupPermit> {
        &mut self.permit
    }

    /// Passes it on to the leading thread.
    pub(super) fn into_ready(mut self) -> Option<ReadyItem> {
        let permit = self.permit.take();
        self.run.take().map(|run| ReadyItem::Run(run, permit))
    }

    /// Carries it out on this thread, and returns when the job does. A panic is caught and
    /// reported.
    pub fn run(mut self) {
        let _inside = self.timers.shards().enter();
        if let Some(begun) = self.begin() {
            let (done, _) = call(&self.timers, begun, self.timers.now(), None);
            end(&self.timers, done);
        }
    }

    pub(super) fn timers(&self) -> &Handle {
        &self.timers
    }

    /// Begins the run, unless its turn is over.
    pub(super) fn begin(&mut self) -> Option<Begun<dyn Work>> {
        let HandedOut { id, turn, .. } = self.run.take()?;
        let shards = self.timers.shards();
        let now = shards.now();
        let begun = shards.with(id.shard(), |state| {
            let begun = state.begin_turn(id, turn, now);
            if begun.is_none() {
                state.hand_in(false);
            }
            begun.ok_or(state.stage())
        });
        begun.map_err(|stage| shards.handed_in(stage)).ok()
    }
}

impl Drop for DueRun {
    fn drop(&mut self) {
        let Some(HandedOut { id, turn, info, .. }) = self.run.take() else { return };
        let shared = self.timers.shared();
        let _inside = shared.shards.enter();
        let now = shared.shards.now();
        match shared.shards.with(id.shard(), |state| state.abandon(id, turn, now)) {
            None => shared.shards.hand_in(id.shard(), false),
            Some(cleanup) => {
                shared.report(self.timers.job_handle(id, info), EventKind::Abandoned);
                clean_up(shared, id, cleanup);
            }
        }
    }
}

impl fmt::Debug for DueRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DueRun").field(&self.job()).finish()
    }
}

/// Ends a run that was handed out.
pub(super) fn end(timers: &Handle, done: EndedRun<dyn Work>) {
    let (id, shared) = (done.id, timers.shared());
    match shared.shards.with(id.shard(), |state| state.end(done).ok_or(state.stage())) {
        Ok(cleanup) => clean_up(shared, id, cleanup),
        Err(stage) => shared.shards.handed_in(stage),
    }
}

/// The argument of the job's closure.
pub(super) fn run_of<'a>(
    service: &'a ServiceRef,
    begun: &'a Begun<dyn Work>,
    started: Moment,
) -> Run<'a> {
    Run { service, info: begun.info.as_ref(), started, facts: begun.facts }
}

/// Calls the job, and reports failures. Returns `true` if something was reported. `thread` is the
/// thread that led when the run began.
pub(super) fn call(
    timers: &Handle,
    mut begun: Begun<dyn Work>,
    started: Moment,
    thread: Option<usize>,
) -> (EndedRun<dyn Work>, bool) {
    let work = begun.work.take().expect("a run begins with its work");
    free_key(timers.shared(), &begun);
    let mut result = RunResult::default();
    let outcome = {
        let run = run_of(timers.service_ref(begun.facts.id.shard()), &begun, started);
        let span = RunSpan::of(&run);
        let _entered = span.enter();
        guarded(|| work.call(&run, &mut result))
    };
    let outcome =
        outcome.map_err(EventKind::Panicked).and_then(|()| outcome_of(&begun, &mut result));
    finish(timers, begun, (started, thread), outcome, result)
}

/// Calls a plain job, on the shortest path. Returns when it ended, and `true` if something was
/// reported.
#[inline]
pub(super) fn call_plain(
    timers: &Handle,
    (id, deadline): (Id, Moment),
    (started, thread): (Moment, usize),
    work: Box<dyn Work>,
) -> (Moment, bool) {
    let shared = timers.shared();
    let mut result = RunResult::default();
    let outcome = {
        let (service, facts) = (timers.service_ref(id.shard()), RunFacts::single(id, deadline));
        let run = Run { service, info: None, started, facts };
        let span = RunSpan::of(&run);
        let _entered = span.enter();
        guarded(|| work.call(&run, &mut result))
    };
    let ended = shared.shards.now();
    let is_slow = ended.saturating_since(started) > shared.slow_after;
    if outcome.is_ok() && !is_slow && result.error.is_none() && result.work.is_none() {
        return (ended, false);
    }
    let begun = Begun::plain(id, deadline, None);
    let outcome =
        outcome.map_err(EventKind::Panicked).and_then(|()| outcome_of(&begun, &mut result));
    let (done, reported) = finish(timers, begun, (started, Some(thread)), outcome, result);
    discard(done.work);
    (done.ended, reported)
}

/// The result to report of a run that returned.
#[inline]
pub(super) fn outcome_of(begun: &Begun<dyn Work>, result: &mut RunResult) -> Result<(), EventKind> {
    match result.error.take() {
        None => Ok(()),
        Some(error) if begun.is_retried => Err(EventKind::Failed(error)),
        Some(error) => Err(EventKind::GaveUp(error)),
    }
}

/// Releases the key before the last run, so that the run can schedule another job under it.
#[inline]
pub(super) fn free_key(shared: &Shared, begun: &Begun<dyn Work>) {
    if begun.frees_key {
        shared.shards.free_key(begun.info.as_deref(), begun.facts.id);
    }
}

/// Reports the result of a run that has just ended. Returns `true` if something was reported.
pub(super) fn finish(
    timers: &Handle,
    begun: Begun<dyn Work>,
    (started, thread): (Moment, Option<usize>),
    outcome: Result<(), EventKind>,
    result: RunResult,
) -> (EndedRun<dyn Work>, bool) {
    let Begun { facts, info, overlaps, watch, is_retried, .. } = begun;
    let RunFacts { id, deadline, attempt, asks_rule_only, .. } = facts;
    let shards = timers.shards();
    let mut reported_before =
        watch.is_some_and(|key| shards.with(id.shard(), |state| state.runs.unwatch(key)));
    let ended = shards.now();
    let took = ended.saturating_since(started);
    let (failed, is_slow) = (outcome.is_err(), took > timers.shared().slow_after);
    if failed || is_slow {
        let info = info.or_else(|| shards.with(id.shard(), |state| state.info(id)));
        if let Err(kind) = outcome {
            report_failure(timers, id, info.as_ref(), kind, attempt > 1 && !is_retried);
        }
        if is_slow {
            let unwatch =
                |thread| shards.with(id.shard(), |state| state.runs.unwatch_thread(thread));
            reported_before |= thread.is_some_and(unwatch);
            if !reported_before {
                shards.with(id.shard(), |state| state.counts.slow += 1);
            }
            timers.shared().report(timers.job_handle(id, info), EventKind::Slow(took));
        }
    }
    let work = result.work;
    let done = EndedRun { id, work, deadline, started, ended, overlaps, failed, asks_rule_only };
    (done, failed || is_slow)
}

/// Reports a run that failed. `gave_up` is set if it was a retry, and no other follows.
fn report_failure(
    timers: &Handle,
    id: Id,
    info: Option<&Arc<Info>>,
    kind: EventKind,
    gave_up: bool,
) {
    let shared = timers.shared();
    let job = || timers.job_handle(id, info.cloned());
    if let Some(info) = info {
        info.fail(kind.reason());
    }
    // These two events say whether a retry follows. The others need a `GaveUp` in addition.
    let says_so = matches!(kind, EventKind::Failed(_) | EventKind::GaveUp(_));
    let gave_up = (gave_up && !says_so).then(|| kind.reason());
    shared.shards.with(id.shard(), |state| state.counts.failed += u64::from(says_so));
    shared.report(job(), kind);
    gave_up.into_iter().for_each(|why| shared.report(job(), EventKind::GaveUp(why)));
}

/// Finishes a run without the lock: releases the key, drops the work, and hands the run in.
pub(super) fn clean_up(shared: &Shared, id: Id, cleanup: Cleanup<dyn Work>) {
    shared.shards.free_key(cleanup.info.as_deref(), id);
    discard(cleanup.work);
    shared.shards.hand_in(id.shard(), true);
}
