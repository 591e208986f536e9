//! A run as an executor gets it, and how runs are carried out, wherever that is.

use crate::EventKind;
use crate::handle::{Handle, Run, Shared, Work, discard, guarded};
use crate::job::{Id, Info};
use crate::job_handle::JobHandle;
use crate::shard::{Begun, Done, Leftover};
use crate::time::Moment;
use std::fmt;
use std::sync::Arc;

/// A run whose time has come, for an [`Executor`](crate::Executor) to carry out on whatever thread
/// it likes.
///
/// Until it begins, the job can still be cancelled or moved; then [`run`](Self::run) does nothing.
/// Dropping it instead of running it is reported as [`EventKind::Abandoned`]; a periodic job goes
/// on with its next period.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct DueRun {
    timers: Handle,
    id: Id,
    info: Option<Arc<Info>>,
    /// The run begins unless this turn is over. `None` when it has begun, or was found to be over.
    turn: Option<u32>,
}

impl DueRun {
    pub(super) fn new(timers: Handle, id: Id, info: Option<Arc<Info>>, turn: u32) -> Self {
        Self { timers, id, info, turn: Some(turn) }
    }

    /// The job.
    pub fn job(&self) -> JobHandle {
        self.timers.job_handle(self.id, self.info.clone())
    }

    /// Carries it out on this thread. Returns when the job does; if it panics, that is caught and
    /// reported.
    pub fn run(mut self) {
        let Some(turn) = self.turn.take() else { return };
        let shared = self.timers.shared();
        let _inside = shared.house.enter();
        let now = shared.house.now();
        let begun = shared.house.with(self.id.shard, |core| {
            let begun = core.begin_turn(self.id, turn, now);
            if begun.is_none() {
                core.hand_in(false);
            }
            begun.map(|(begun, _)| begun).ok_or(core.stage())
        });
        match begun {
            Ok(begun) => carry_out(&self.timers, begun),
            Err(stage) => shared.house.handed_in(stage),
        }
    }
}

impl Drop for DueRun {
    fn drop(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let (shared, shard) = (self.timers.shared(), self.id.shard);
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
    let (id, shared) = (begun.id, timers.shared());
    let (done, _) = call(timers, begun, shared.house.now());
    match shared.house.with(id.shard, |core| core.end(done).ok_or(core.stage())) {
        Ok(leftover) => clear(shared, id, leftover),
        Err(stage) => shared.house.handed_in(stage),
    }
}

/// Calls the job, and reports how that went. And whether there was something to be reported.
pub(super) fn call(
    timers: &Handle,
    begun: Begun<dyn Work>,
    started: Moment,
) -> (Done<dyn Work>, bool) {
    let Begun { id, work, info, deadline, time, number, missed, last, beside, watch } = begun;
    let (shared, anchor) = (timers.shared(), timers.anchor(id.shard));
    if last {
        // Before it runs, so that it can schedule another job under its own key.
        shared.house.free_key(info.as_deref(), id);
    }
    let run =
        Run { anchor, id, info: info.as_ref(), deadline, time, started, number, missed, last };
    let mut back = None;
    let outcome = guarded(|| work.call(&run, &mut back));
    let told_before =
        watch.is_some_and(|key| shared.house.with(id.shard, |core| core.runs.unwatch(key)));
    if told_before {
        // The driver, which had no need to watch what waits for this worker, now has.
        shared.house.signal.wake();
    }
    let ended = shared.house.now();
    let took = ended.saturating_since(started);
    let told = outcome.is_err() || took > shared.slow_after;
    if let Err(message) = outcome {
        shared.report(run.job(), EventKind::Panicked(message));
    }
    if took > shared.slow_after {
        if !told_before {
            shared.house.with(id.shard, |core| core.counts.slow += 1);
        }
        shared.report(run.job(), EventKind::Slow(took));
    }
    (Done { id, work: back, deadline, started, ended, beside }, told)
}

/// Does what is left to be done when a run has ended.
pub(super) fn clear(shared: &Shared, id: Id, leftover: Leftover<dyn Work>) {
    shared.house.free_key(leftover.info.as_deref(), id);
    discard(leftover.work);
    shared.house.hand_in(id.shard, true);
}
