//! A run: what the job is told of it, and what an executor gets to carry out.

use crate::record::{Begun, Ended, Phase, Record, Times};
use crate::shared::{discard, guarded};
use crate::{EventKind, Handle, JobHandle, Moment};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What a job is told about the run it is in.
#[derive(Debug)]
pub struct Run<'a> {
    pub(crate) job: &'a JobHandle,
    pub(crate) deadline: Moment,
    pub(crate) time: Option<SystemTime>,
    pub(crate) started: Moment,
    pub(crate) number: u64,
    pub(crate) missed: u64,
    pub(crate) last: bool,
}

impl Run<'_> {
    /// The job itself.
    pub fn job(&self) -> &JobHandle {
        self.job
    }

    /// The service, to schedule other jobs.
    pub fn timers(&self) -> Handle {
        Handle::new(Arc::clone(self.job.shared()))
    }

    /// When this run was due.
    pub fn deadline(&self) -> Moment {
        self.deadline
    }

    /// The time of the wall clock that this run was due at; `None` if it was due at a moment. A run that comes late, after the machine
    /// was suspended say, so knows which week its report is of.
    pub fn time(&self) -> Option<SystemTime> {
        self.time
    }

    /// When it began.
    pub fn started(&self) -> Moment {
        self.started
    }

    /// How long after its time it began: at most a tick, unless something was busy.
    pub fn lateness(&self) -> Duration {
        self.started.saturating_since(self.deadline)
    }

    /// The number of this run, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// How many periods were left out just before this run, see [`Missed::Skip`](crate::Missed::Skip).
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Whether this is the last run, as far as is known when it begins.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// Ends a periodic job: no run follows this one, and with it the job is finished.
    pub fn end(&self) {
        // The answer says that this run goes on, which is known here. Only a job whose runs overlap gives its work back.
        discard(self.job.shared().end_as(Phase::Finished, self.job.record()));
    }

    pub(crate) fn undelivered(&self, what: EventKind) {
        self.job.shared().report(self.job, what);
    }
}

/// A run whose time has come, for an [`Executor`](crate::Executor) to carry out on whatever thread it likes.
///
/// Until it begins, the job can still be cancelled or moved; then [`run`](Self::run) does nothing. Dropping it instead
/// of running it is reported as [`EventKind::Abandoned`]; a periodic job goes on with its next period.
#[must_use = "a run that is dropped is reported as abandoned"]
pub struct DueRun {
    record: Arc<Record>,
    /// The run begins unless this turn is over. `None` when it has begun, or was found to be over.
    turn: Option<u64>,
    brief: bool,
}

impl DueRun {
    pub(crate) fn new(record: &Arc<Record>, turn: u64, brief: bool) -> Self {
        record.shared.runs.hand_out();
        Self { record: Arc::clone(record), turn: Some(turn), brief }
    }

    /// The job.
    pub fn job(&self) -> JobHandle {
        JobHandle::new(Arc::clone(&self.record))
    }

    /// Whether it is done in an instant, and needs no worker.
    pub(crate) fn is_brief(&self) -> bool {
        self.brief
    }

    /// Carries it out on this thread. Returns when the job does; if it panics, that is caught and reported.
    pub fn run(mut self) {
        if let Some(begun) = self.begin() {
            self.carry_out(begun, |deadline| {
                self.record.shared.send(&self.record, deadline);
            });
        }
    }

    /// Carries it out on the driving thread. The answer is the job, if the driver is to look at it.
    pub(crate) fn run_here(mut self) -> Option<Arc<Record>> {
        let begun = self.begin()?;
        self.carry_out(begun, |_| ());
        Some(Arc::clone(&self.record))
    }

    fn begin(&mut self) -> Option<Begun> {
        self.record.shared.runs.enter();
        self.record.begin(self.turn.take()?, self.record.shared.now())
    }

    /// Runs the job. Calls `tell` when the driver is to look at it, with the deadline of the next run if there is one: before
    /// the run, if the next may go on beside it, else after.
    fn carry_out(&self, begun: Begun, tell: impl Fn(Option<Moment>)) {
        if begun.last {
            // Before it runs, so that it can schedule another job under its own key.
            self.record.shared.free_key(&self.record);
        }
        let goes_on = begun.next.is_some();
        if goes_on {
            tell(begun.next);
        }
        let times = self.call(begun);
        if !goes_on {
            let ended = self.record.end(times, || self.record.shared.is_over());
            tell(self.follow_up(ended));
        }
    }

    /// Calls the job, and records and reports how that went.
    fn call(&self, begun: Begun) -> Times {
        let Begun { mut fork, deadline, time, started, number, missed, last, .. } = begun;
        let shared = &self.record.shared;
        let job = self.job();
        shared.counters.runs.count();
        shared.counters.missed.add(missed);
        let run = Run { job: &job, deadline, time, started, number, missed, last };
        let key = shared.runs.begin(&self.record, started);
        let outcome = guarded(|| match &mut fork {
            Some(work) => work.call(&run),
            None => self.record.call(&run),
        });
        let told = shared.runs.end(key);
        if told {
            // The driver, which had no need to watch what waits for this worker, now has.
            shared.signal.wake();
        }
        let ended = shared.now();
        let took = ended.saturating_since(started);
        shared.measure(run.lateness(), took);
        if let Err(message) = outcome {
            shared.report(&job, EventKind::Panicked(message));
        }
        if took > shared.slow_after() {
            if !told {
                shared.counters.slow.count();
            }
            shared.report(&job, EventKind::Slow(took));
        }
        discard(fork);
        Times { deadline, started, ended }
    }

    /// Does what the end of a run asks for; when the next is due.
    fn follow_up(&self, ended: Ended) -> Option<Moment> {
        match ended {
            Ended::Again(deadline) => Some(deadline),
            Ended::Over(phase) => {
                self.record.shared.retire(&self.record, phase);
                guarded(|| self.record.drop_work()).unwrap_or_default();
                None
            }
        }
    }

    fn abandon(&self, turn: u64) {
        let shared = &self.record.shared;
        let Some(ended) = self.record.abandon(turn, shared.now(), || shared.is_over()) else {
            return;
        };
        shared.report(&self.job(), EventKind::Abandoned);
        let deadline = self.follow_up(ended);
        shared.send(&self.record, deadline);
    }
}

impl Drop for DueRun {
    fn drop(&mut self) {
        // If it was carried out, that is when it was entered.
        if let Some(turn) = self.turn.take() {
            self.record.shared.runs.enter();
            self.abandon(turn);
        }
        self.record.shared.runs.hand_in();
    }
}

impl fmt::Debug for DueRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DueRun").field(&self.job()).finish()
    }
}
