//! The steps of carrying out a run.

use super::lead::Member;
use crate::event::EventKind;
use crate::guard::{discard, guarded};
use crate::handle::Handle;
use crate::job::{Id, Info};
use crate::shard::{ActiveRun, RunFacts};
use crate::shared::{Run, RunResult, Shared, Undelivered, Work};
use crate::time::Moment;
use std::sync::Arc;

/// Ends a run on any thread.
pub(super) fn end(timers: &Handle, mut run: ActiveRun<dyn Work>) {
    let (shard, shared) = (run.facts.id.shard(), timers.shared());
    let ended = shared.shards.with(shard, |state| (state.end(&mut run), state.stage));
    match ended {
        (true, _) => clean_up(shared, run, None),
        (false, stage) => shared.shards.notify_stop(stage),
    }
}

/// Finishes a run without the lock: releases the key, drops the work, and hands the run in. `lead`
/// is that of the thread, if it led when the run began.
pub(super) fn clean_up(shared: &Shared, run: ActiveRun<dyn Work>, lead: Option<&Member>) {
    let id = run.facts.id;
    shared.shards.free_key(run.info.as_deref(), id);
    if let Some(work) = run.work {
        as_in_a_run(lead, run.ended, || discard(work));
    }
    shared.shards.hand_in(id, true);
}

/// See [`Member::as_in_a_run`]. `now` is what the clock shows.
fn as_in_a_run(lead: Option<&Member>, now: Moment, call: impl FnOnce()) {
    match lead {
        Some(lead) => lead.as_in_a_run(now.as_nanos(), call),
        None => call(),
    }
}

/// Takes the work for a call. Releases the key before the last run, so that the run can schedule
/// another job under it.
#[inline]
pub(super) fn take_work(shared: &Shared, run: &mut ActiveRun<dyn Work>) -> Box<dyn Work> {
    if run.facts.frees_key() {
        shared.shards.free_key(run.info.as_deref(), run.facts.id);
    }
    run.work.take().expect("a run begins with its work")
}

#[inline]
pub(super) fn call_in_span<T>(
    timers: &Handle,
    facts: RunFacts,
    info: Option<&Arc<Info>>,
    started: Moment,
    code: impl FnOnce(&Run<'_>) -> T,
) -> (Result<T, String>, RunSpan) {
    let service = timers.service_ref(facts.id.shard());
    let run = Run { service, info, started, facts };
    let span = RunSpan::of(&run);
    let entered = span.enter();
    let called = guarded(|| code(&run));
    drop(entered);
    (called, span)
}

/// Calls the job on the leading thread, and reports failures. Returns `true` if something was
/// reported.
pub(super) fn call(timers: &Handle, run: &mut ActiveRun<dyn Work>, lead: &Member) -> bool {
    let work = take_work(timers.shared(), run);
    let mut result = RunResult::default();
    let (called, _) = call_in_span(timers, run.facts, run.info.as_ref(), run.started, |run| {
        work.call(run, &mut result);
    });
    finish(timers, run, Some(lead), called.map_err(EventKind::Panicked), result)
}

/// Calls a plain job, on the shortest path. Returns when it ended, and `true` if something was
/// reported.
#[inline]
pub(super) fn call_plain(
    timers: &Handle,
    (id, deadline): (Id, Moment),
    (started, lead): (Moment, &Member),
    work: Box<dyn Work>,
) -> (Moment, bool) {
    let shared = timers.shared();
    let mut result = RunResult::default();
    let facts = RunFacts::single(id, deadline);
    let (called, _) = call_in_span(timers, facts, None, started, |run| {
        work.call(run, &mut result);
    });
    let ended = shared.shards.now();
    let is_slow = ended.saturating_since(started) > shared.slow_after;
    if called.is_ok() && !is_slow && result.error.is_none() && result.work.is_none() {
        return (ended, false);
    }
    let (mut run, called) =
        (ActiveRun::new(facts, None, None), called.map_err(EventKind::Panicked));
    run.started = started;
    let reported = finish(timers, &mut run, Some(lead), called, result);
    discard(run.work);
    (run.ended, reported)
}

/// Reports the result of a run that has just ended. Returns `true` if something was reported.
pub(super) fn finish(
    timers: &Handle,
    run: &mut ActiveRun<dyn Work>,
    lead: Option<&Member>,
    called: Result<(), EventKind>,
    result: RunResult,
) -> bool {
    let id = run.facts.id;
    let (shared, shards, info) = (timers.shared(), timers.shards(), run.info.take());
    // A run of the leading thread is watched only if it has lost the lead.
    let unwatch = || shards.with(id.shard(), |state| state.runs.unwatch(id));
    let mut reported_before = lead.is_none() && unwatch();
    run.ended = shards.now();
    run.work = result.work;
    run.failed = called.is_err() || result.error.is_some();
    let took = run.ended.saturating_since(run.started);
    let is_slow = took > shared.slow_after;
    if !run.failed && !is_slow && result.undelivered.is_none() {
        return false;
    }
    let info = info.or_else(|| shards.with(id.shard(), |state| state.info(id)));
    as_in_a_run(lead, run.ended, || {
        if let Some(Undelivered(kind, value)) = result.undelivered.map(|it| *it) {
            shared.report(timers.job_handle(id, info.clone()), kind);
            discard(value);
        }
        if run.failed {
            report_failure(timers, id, info.as_ref(), called, result.error);
        }
        if is_slow {
            shards.with(id.shard(), |state| {
                reported_before |= state.runs.unwatch(id);
                state.counts.slow += u64::from(!reported_before);
            });
            shared.report(timers.job_handle(id, info), EventKind::Slow(took));
        }
    });
    true
}

/// Reports a run that failed, if it did: it was not carried out to its end, or returned this error.
fn report_failure(
    timers: &Handle,
    id: Id,
    info: Option<&Arc<Info>>,
    called: Result<(), EventKind>,
    error: Option<String>,
) {
    let shared = timers.shared();
    let is_retried = shared.shards.with(id.shard(), |state| state.is_retried(id));
    // These two events say whether a retry follows. The others need a `GaveUp` in addition.
    let says_so = called.is_ok();
    let failed = |error| match is_retried {
        Some(true) => EventKind::Failed(error),
        _ => EventKind::GaveUp(error),
    };
    let Some(kind) = called.err().or(error.map(failed)) else { return };
    let job = || timers.job_handle(id, info.cloned());
    if let Some(info) = info {
        info.fail(kind.reason());
    }
    let gave_up = (is_retried == Some(false) && !says_so).then(|| kind.reason());
    shared.shards.with(id.shard(), |state| state.counts.failed += u64::from(says_so));
    shared.report(job(), kind);
    gave_up.into_iter().for_each(|why| shared.report(job(), EventKind::GaveUp(why)));
}

/// The span of a run: `run`, at the level `INFO`, with the job, the number of the run and of the
/// attempt, and its lateness. Without the feature it is nothing.
pub(super) struct RunSpan(#[cfg(feature = "tracing")] tracing::Span);

impl RunSpan {
    /// Without a subscriber, this costs only the check for one. If that panics, there is no span.
    pub(super) fn of(run: &Run<'_>) -> Self {
        let _ = run;
        Self(
            #[cfg(feature = "tracing")]
            guarded(|| {
                tracing::info_span!(
                    "run",
                    job = %run.job(),
                    number = run.number(),
                    attempt = run.attempt(),
                    lateness = ?run.lateness(),
                )
            })
            .unwrap_or(tracing::Span::none()),
        )
    }

    pub(super) fn enter(&self) -> impl Sized + '_ {
        #[cfg(feature = "tracing")]
        return self.0.enter();
    }
}
