//! A run for an executor, and the steps of carrying out a run on any thread.

use crate::EventKind;
use crate::guard::{discard, guarded};
use crate::handle::{Anchor, Back, Handle, Run, Shared, Work};
use crate::job::{Group, Id, Info, Seat, Turn, Way};
use crate::job_handle::JobHandle;
use crate::observe::RunSpan;
use crate::shard::{Begun, Done, Leftover};
use crate::time::Moment;
use std::fmt;
use std::sync::Arc;

/// A run whose time has come, for an [`Executor`](crate::Executor) to carry out on any thread.
///
/// Until it begins, the job can still be cancelled or moved; then [`run`](Self::run) does nothing.
/// Dropping it instead of running it is reported as [`EventKind::Abandoned`]; a periodic job
/// continues with its next period.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct DueRun {
    timers: Handle,
    id: Id,
    info: Option<Arc<Info>>,
    /// The run begins unless this turn is over. `None` after it has begun, or was found to be over.
    turn: Option<Turn>,
    way: Way,
    /// Its place in a group. Released last.
    seat: Option<Seat>,
}

impl DueRun {
    pub(crate) fn new(
        timers: Handle,
        id: Id,
        info: Option<Arc<Info>>,
        turn: Turn,
        way: Way,
    ) -> Self {
        Self { timers, id, info, turn: Some(turn), way, seat: None }
    }

    /// The job.
    pub fn job(&self) -> JobHandle {
        self.timers.job_handle(self.id, self.info.clone())
    }

    /// Returns `true` if its plan says that it may block.
    pub(super) fn blocks(&self) -> bool {
        self.way.blocks
    }

    /// The group in which it needs a place.
    pub(super) fn group(&self) -> Option<Group> {
        self.way.group.clone()
    }

    pub(super) fn seat(&mut self) -> &mut Option<Seat> {
        &mut self.seat
    }

    /// Returns `true` if it is a future, `false` if it is a closure.
    pub(super) fn is_async(&self) -> bool {
        self.way.is_async
    }

    /// Carries it out on this thread, and returns when the job does. A panic is caught and
    /// reported.
    pub fn run(mut self) {
        let _inside = self.timers.house().enter();
        if let Some(begun) = self.begin() {
            carry_out(&self.timers, begun);
        }
    }

    pub(super) fn timers(&self) -> &Handle {
        &self.timers
    }

    /// Begins the run, unless its turn is over.
    pub(super) fn begin(&mut self) -> Option<Begun<dyn Work>> {
        let turn = self.turn.take()?;
        let shared = self.timers.shared();
        let now = shared.house.now();
        let begun = shared.house.with(self.id.shard(), |core| {
            let begun = core.begin_turn(self.id, turn, now);
            if begun.is_none() {
                core.hand_in(false);
            }
            begun.map(|(begun, _)| begun).ok_or(core.stage())
        });
        begun.map_err(|stage| shared.house.handed_in(stage)).ok()
    }
}

impl Drop for DueRun {
    fn drop(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let (shared, shard) = (self.timers.shared(), self.id.shard());
        let _inside = shared.house.enter();
        let now = shared.house.now();
        match shared.house.with(shard, |core| core.abandon(self.id, turn, now)) {
            None => shared.house.hand_in(shard, false),
            Some(leftover) => {
                shared.report(self.job(), EventKind::Abandoned);
                clear(shared, self.id, leftover);
            }
        }
    }
}

impl fmt::Debug for DueRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DueRun").field(&self.job()).finish()
    }
}

/// Carries out a run, to its end.
fn carry_out(timers: &Handle, begun: Begun<dyn Work>) {
    let (done, _) = call(timers, begun, timers.house().now(), None);
    end(timers, done);
}

/// Ends a run that was handed out.
pub(super) fn end(timers: &Handle, done: Done<dyn Work>) {
    let (id, shared) = (done.id, timers.shared());
    match shared.house.with(id.shard(), |core| core.end(done).ok_or(core.stage())) {
        Ok(leftover) => clear(shared, id, leftover),
        Err(stage) => shared.house.handed_in(stage),
    }
}

/// The argument of the job's closure.
pub(super) fn run_of<'a>(
    anchor: &'a Anchor,
    begun: &'a Begun<dyn Work>,
    started: Moment,
) -> Run<'a> {
    let Begun { id, ref info, deadline, time, number, missed, last, .. } = *begun;
    let Begun { extra, stale, tries, .. } = *begun;
    let (info, attempt) = (info.as_ref(), tries.0);
    Run { anchor, id, info, deadline, time, started, number, missed, last, extra, stale, attempt }
}

/// Calls the job, and reports failures. Returns `true` if something was reported. `thread` is the
/// thread that led when the run began.
pub(super) fn call(
    timers: &Handle,
    mut begun: Begun<dyn Work>,
    started: Moment,
    thread: Option<usize>,
) -> (Done<dyn Work>, bool) {
    let work = begun.work.take();
    free_key(timers.shared(), &begun);
    let mut back = Back::default();
    let outcome = {
        let run = run_of(timers.anchor(begun.id.shard()), &begun, started);
        let span = RunSpan::of(&run);
        let _entered = span.enter();
        guarded(|| work.into_iter().for_each(|work| work.call(&run, &mut back)))
    };
    let outcome = outcome.map_err(EventKind::Panicked).and_then(|()| result(&begun, &mut back));
    finish(timers, begun, (started, thread), outcome, back)
}

/// Calls a plain job, on the shortest path. Returns when it ended, and `true` if something was
/// reported.
#[inline]
pub(super) fn call_plain(
    timers: &Handle,
    (id, deadline): (Id, Moment),
    (started, thread): (Moment, usize),
    work: impl FnOnce(&Run<'_>, &mut Back),
) -> (Moment, bool) {
    let shared = timers.shared();
    let mut back = Back::default();
    let outcome = {
        let run = Run::plain(timers.anchor(id.shard()), id, deadline, started);
        let span = RunSpan::of(&run);
        let _entered = span.enter();
        guarded(|| work(&run, &mut back))
    };
    let ended = shared.house.now();
    let is_slow = ended.saturating_since(started) > shared.slow_after;
    if outcome.is_ok() && !is_slow && back.error.is_none() && back.work.is_none() {
        return (ended, false);
    }
    let begun = Begun::plain(id, deadline, None);
    let outcome = outcome.map_err(EventKind::Panicked).and_then(|()| result(&begun, &mut back));
    let (done, told) = finish(timers, begun, (started, Some(thread)), outcome, back);
    discard(done.work);
    (done.ended, told)
}

/// The result to report of a run that returned.
#[inline]
pub(super) fn result(begun: &Begun<dyn Work>, back: &mut Back) -> Result<(), EventKind> {
    match back.error.take() {
        None => Ok(()),
        Some(error) if begun.tries.1 => Err(EventKind::Failed(error)),
        Some(error) => Err(EventKind::GaveUp(error)),
    }
}

/// Releases the key before the last run, so that the run can schedule another job under it.
#[inline]
pub(super) fn free_key(shared: &Shared, begun: &Begun<dyn Work>) {
    if begun.frees_key {
        shared.house.free_key(begun.info.as_deref(), begun.id);
    }
}

/// Reports the result of a run that has just ended. Returns `true` if something was reported.
pub(super) fn finish(
    timers: &Handle,
    begun: Begun<dyn Work>,
    (started, thread): (Moment, Option<usize>),
    outcome: Result<(), EventKind>,
    back: Back,
) -> (Done<dyn Work>, bool) {
    let Begun { id, info, deadline, beside, stale, watch, tries, .. } = begun;
    let shared = timers.shared();
    let mut told_before =
        watch.is_some_and(|key| shared.house.with(id.shard(), |core| core.runs.unwatch(key)));
    let ended = shared.house.now();
    let took = ended.saturating_since(started);
    let told = outcome.is_err() || took > shared.slow_after;
    let failed = outcome.is_err();
    if told {
        let info = info.or_else(|| shared.house.with(id.shard(), |core| core.info(id)));
        let job = || timers.job_handle(id, info.clone());
        if let Err(kind) = outcome {
            if let Some(info) = &info {
                info.fail(kind.reason());
            }
            // These two events say whether a retry follows. The others need a `GaveUp` in addition.
            let says_so = matches!(kind, EventKind::Failed(_) | EventKind::GaveUp(_));
            let gave_up = (tries.0 > 1 && !tries.1 && !says_so).then(|| kind.reason());
            shared.house.with(id.shard(), |core| core.counts.failed += u64::from(says_so));
            shared.report(job(), kind);
            gave_up.into_iter().for_each(|why| shared.report(job(), EventKind::GaveUp(why)));
        }
        if took > shared.slow_after {
            let unwatch =
                |thread| shared.house.with(id.shard(), |core| core.runs.unwatch_thread(thread));
            told_before |= thread.is_some_and(unwatch);
            if !told_before {
                shared.house.with(id.shard(), |core| core.counts.slow += 1);
            }
            shared.report(job(), EventKind::Slow(took));
        }
    }
    (Done { id, work: back.work, deadline, started, ended, beside, failed, stale }, told)
}

/// Finishes a run without the lock: releases the key, drops the work, and hands the run in.
pub(super) fn clear(shared: &Shared, id: Id, leftover: Leftover<dyn Work>) {
    shared.house.free_key(leftover.info.as_deref(), id);
    discard(leftover.work);
    shared.house.hand_in(id.shard(), true);
}
