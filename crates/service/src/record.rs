//! What is known of one job: the meeting point of those who hold its handle, the driver, and the worker that runs it.
//!
//! All that can happen to a job is a change of its *phase* under its own lock, which is held for a few instructions and
//! never while code of the user runs (but for a [`Clock`] of theirs, where the job waits for a time of the wall clock). So each
//! question has one answer, given at once and to all: of a cancellation and a run that race, the one that gets the lock first wins, and
//! the other is told.
//!
//! ```text
//!            come_due             begin                end, last run
//!  Pending ───────────▶ Due ───────────▶ Running ─────────────────────▶ Finished
//!     ▲ ▲                │ │                │
//!     │ └── reschedule ──┘ │ begin: overlap │ end, more runs to come
//!     └────────────────────┴────────────────┘
//!
//!  Pending, Due ── cancel ──▶ Cancelled        Pending, Due ── take_back ──▶ Stopped
//!  Running ── cancel, then end ──▶ Cancelled   Running ── end, when stopped ──▶ Stopped
//! ```
//!
//! *Due* is a run that was handed to a worker and has not begun. It can be cancelled and moved until it begins; its
//! *turn* then is over, and the worker, which was given the number of the turn, finds nothing to do.
//!
//! A job whose runs may overlap waits for its next run from when one begins; the last is as that of any other. So of each job
//! at most one run waits for a worker, whatever its period, and what can be done to it is the same.
//!
//! The work of a job lies in its record too, behind a lock of its own that is held while it runs. Nobody ever waits for that lock, as the
//! phase says who may touch the work: while a run goes on, that run; once the job was cancelled or taken back, the caller who did that.
//!
//! The driver is told of changes by being sent the record: *look at this*. What it has to do follows from what it
//! finds, so that messages need no order among themselves and it does not matter if there is one too many.

use crate::due::Due;
use crate::repeat::Repeat;
use crate::scheduler::JobIndex;
use crate::shared::Shared;
use crate::sync::{Mutex, MutexGuard};
use crate::work::{Holder, Work};
use crate::{ChangeError, Clock, Key, Moment, Run};
use std::sync::Arc;
use std::time::SystemTime;

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Pending,
    Due,
    Running,
    Finished,
    Cancelled,
    Stopped,
}

impl Phase {
    /// Whether no run will follow.
    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled | Self::Stopped)
    }
}

/// One job, in one piece: `W` is what it does.
pub(crate) struct Record<W: ?Sized = dyn Holder> {
    /// Here and not beside each reference to the job: a reference to it that comes and goes is counted in a place that all threads write to.
    pub(crate) shared: Arc<Shared>,
    /// Counts the jobs of a service from 1.
    pub(crate) number: u64,
    /// Few jobs are called anything.
    tags: Option<Box<Tags>>,
    state: Mutex<State>,
    work: parking_lot::Mutex<W>,
}

pub(crate) struct State {
    pub(crate) phase: Phase,
    /// When the next run is due; while one goes on, when that was, unless `moved`.
    pub(crate) due: Due,
    /// Where the driver keeps the job; it alone writes this. `None` until the job has been taken in, and after it was let go.
    pub(crate) place: Option<JobIndex>,
    /// Runs that have begun.
    pub(crate) runs: u64,
    /// Counts how often a run was handed to a worker.
    turn: u64,
    /// While a run goes on: `due` is where the next run was moved to.
    moved: bool,
    /// While a run goes on: no other follows, and this is what becomes of the job.
    ending: Option<Phase>,
    /// It is in the intake.
    pub(crate) queued: bool,
    /// The driver has not let go of it: it is in the intake, or among the jobs that were taken in.
    pub(crate) held: bool,
    /// Its runs are done in an instant, see [`Work::is_brief`].
    brief: bool,
    repeat: Option<Box<Repeat>>,
}

/// What the driver is to do with a job whose timer has fired.
pub(crate) enum Popped {
    /// Nothing: it was cancelled, or the driver has not heard yet what became of it.
    Nothing,
    /// Start the timer again, for this moment: the job was moved, or the wall clock does not show its time yet.
    Moved(Moment),
    /// Hand out a run, which begins with this turn; and whether it is brief.
    Due(u64, bool),
}

/// A run that begins.
pub(crate) struct Begun {
    /// What is to be done, if that is not the work in the record but another of the same.
    pub(crate) fork: Option<Box<dyn Work>>,
    pub(crate) deadline: Moment,
    /// What the wall clock was to show then, if the job waited for that.
    pub(crate) time: Option<SystemTime>,
    pub(crate) started: Moment,
    /// The number of the run, counted from 1.
    pub(crate) number: u64,
    /// Periods that were left out before it.
    pub(crate) missed: u64,
    /// No other run follows, unless it is the run itself that schedules one.
    pub(crate) last: bool,
    /// The job waits for its next run already, which is due then: this one has no end that matters to it.
    pub(crate) next: Option<Moment>,
}

/// What follows a run.
pub(crate) enum Ended {
    /// Another, and the driver is to look at it by then.
    Again(Moment),
    /// Nothing. The work is the caller's, to be dropped without the lock of the state.
    Over(Phase),
}

/// A job that will not be run, with the right to its work.
pub(crate) struct Taken {
    pub(crate) deadline: Moment,
    pub(crate) runs: u64,
    /// The driver has it, and is to be told.
    pub(crate) placed: bool,
}

/// When a run was due, and when it began and ended.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) deadline: Moment,
    pub(crate) started: Moment,
    pub(crate) ended: Moment,
}

impl<W: Work> Record<Option<W>> {
    pub(crate) fn new(
        shared: Arc<Shared>,
        number: u64,
        tags: Tags,
        due: Due,
        repeat: Option<Repeat>,
        work: W,
    ) -> Self {
        let state = State {
            phase: Phase::Pending,
            due,
            place: None,
            runs: 0,
            turn: 0,
            moved: false,
            ending: None,
            queued: false,
            held: true,
            brief: work.is_brief(),
            repeat: repeat.map(Box::new),
        };
        let tags = (tags.name.is_some() || tags.key.is_some()).then(|| Box::new(tags));
        Self {
            shared,
            number,
            tags,
            state: Mutex::new(state),
            work: parking_lot::Mutex::new(Some(work)),
        }
    }
}

impl Record {
    pub(crate) fn name(&self) -> Option<&str> {
        self.tags.as_ref()?.name.as_deref()
    }

    pub(crate) fn key(&self) -> Option<&Key> {
        self.tags.as_ref()?.key.as_ref()
    }

    /// Runs the work. For who has the right to it, as are the next three.
    pub(crate) fn call(&self, run: &Run<'_>) {
        self.work.lock().call(run);
    }

    /// See [`Work::is_awaited`].
    pub(crate) fn is_awaited(&self) -> bool {
        self.work.lock().is_awaited()
    }

    /// Drops the work. It may panic in that.
    pub(crate) fn drop_work(&self) {
        self.work.lock().clear();
    }

    /// Takes the work out, if it is of this type and was not dropped.
    pub(crate) fn take_work<W: Work>(&self) -> Option<W> {
        self.work.lock().as_any_mut().downcast_mut::<Option<W>>()?.take()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Puts the job in the intake by `send`, unless it is there; whether it is there now. Under the lock, so that who finds it there
    /// can rely on that: when the driver takes it out and looks, it sees what was done before.
    pub(crate) fn queue(&self, send: impl FnOnce() -> bool) -> bool {
        let mut state = self.lock();
        state.queued = state.queued || send();
        state.queued
    }

    /// Ends the job: it was cancelled, or is finished as one of its runs says. The answer of a running job is `Running`, and no run
    /// follows.
    pub(crate) fn end_as(&self, phase: Phase) -> Result<Taken, ChangeError> {
        let mut state = self.lock();
        // The last run is no less finished for having been cancelled too late.
        if state.phase == Phase::Running && state.another_follows() {
            state.ending = Some(phase);
        }
        state.take(phase, true)
    }

    /// Takes the job away if it will not be run because the service stops: one that is pending, and with `due` also one
    /// that was handed to a worker and has not begun.
    pub(crate) fn take_back(&self, due: bool) -> Option<Taken> {
        self.lock().take(Phase::Stopped, due).ok()
    }

    /// The same for a job that has never run; whether it was taken.
    pub(crate) fn take_back_unrun(&self) -> bool {
        let mut state = self.lock();
        state.runs == 0 && state.take(Phase::Stopped, true).is_ok()
    }

    /// Moves the next run. Answers whether the driver is to look at the job. `closed` is asked under the lock, as by
    /// [`come_due`](Self::come_due): what is pending when the service has been stopped has no run and is given back.
    pub(crate) fn reschedule(
        &self,
        due: Due,
        closed: impl FnOnce() -> bool,
    ) -> Result<bool, ChangeError> {
        let mut state = self.lock();
        let look = match state.phase {
            Phase::Pending if closed() => return Err(ChangeError::Stopped),
            // A timer that fires before the new deadline is noticed when it does: a refresh to a later time, which is what
            // sessions do all the time, costs no message.
            Phase::Pending => due.deadline < state.due.deadline,
            Phase::Due => {
                state.phase = Phase::Pending;
                true
            }
            Phase::Running if state.another_follows() => {
                state.moved = true;
                false
            }
            over => return Err(refusal(over)),
        };
        state.due = due;
        Ok(look)
    }

    /// The timer of the job has fired, which was set to `fired`; for the driver it is `now`. A job that was moved beyond that is not
    /// due, even if its new time has come too: those between the two are before it.
    pub(crate) fn come_due(
        &self,
        fired: Moment,
        now: Moment,
        clock: &dyn Clock,
        closed: impl FnOnce() -> bool,
    ) -> Popped {
        let mut state = self.lock();
        if state.phase != Phase::Pending || closed() {
            return Popped::Nothing;
        }
        state.due.deadline = state.due.reckoned(clock);
        if state.due.deadline > fired {
            return Popped::Moved(state.due.look_by(|| now));
        }
        state.phase = Phase::Due;
        state.turn += 1;
        Popped::Due(state.turn, state.brief)
    }

    /// Begins a run, unless the turn is over: it was cancelled, moved, or taken back.
    pub(crate) fn begin(&self, turn: u64, now: Moment) -> Option<Begun> {
        let mut state = self.lock();
        if state.phase != Phase::Due || state.turn != turn {
            return None;
        }
        state.runs += 1;
        if let Some((next, missed)) = state.overlapping(now)
            && let Some(fork) = self.work.lock().fork()
        {
            let begun = state.begun(Some(fork), now, Some(next));
            state.phase = Phase::Pending;
            state.wait_for(next, missed);
            return Some(begun);
        }
        state.phase = Phase::Running;
        Some(state.begun(None, now, None))
    }

    /// Ends a run. `stopped` is asked under the lock, and says whether the service has taken back for the last time: if it has
    /// not, it will find the job pending.
    pub(crate) fn end(&self, times: Times, stopped: impl FnOnce() -> bool) -> Ended {
        let mut state = self.lock();
        if let Some(phase) = state.ending {
            return state.over(phase);
        }
        if !state.another_follows() {
            return state.over(Phase::Finished);
        }
        if stopped() {
            return state.over(Phase::Stopped);
        }
        state.arm(times)
    }

    /// A run was dropped before it began. A periodic job goes on, any other is over. `None` if the turn was over already.
    pub(crate) fn abandon(
        &self,
        turn: u64,
        now: Moment,
        stopped: impl FnOnce() -> bool,
    ) -> Option<Ended> {
        let mut state = self.lock();
        if state.phase != Phase::Due || state.turn != turn {
            return None;
        }
        if state.repeat.is_none() || stopped() {
            let phase = if state.repeat.is_none() { Phase::Cancelled } else { Phase::Stopped };
            return Some(state.over(phase));
        }
        let times = Times { deadline: state.due.deadline, started: now, ended: now };
        Some(state.arm(times))
    }
}

/// What a job is called.
#[derive(Default)]
pub(crate) struct Tags {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) key: Option<Key>,
}

/// Why a job in this phase can be neither cancelled nor moved.
fn refusal(phase: Phase) -> ChangeError {
    match phase {
        Phase::Pending | Phase::Due | Phase::Running => ChangeError::Running,
        Phase::Finished => ChangeError::Finished,
        Phase::Cancelled => ChangeError::Cancelled,
        Phase::Stopped => ChangeError::Stopped,
    }
}

impl State {
    /// Whether another run follows the one that goes on.
    pub(crate) fn another_follows(&self) -> bool {
        self.ending.is_none()
            && self.repeat.as_ref().is_some_and(|repeat| !repeat.is_last(self.runs))
    }

    /// Takes the work of a job that waits for its run.
    fn take(&mut self, phase: Phase, due: bool) -> Result<Taken, ChangeError> {
        if !(self.phase == Phase::Pending || due && self.phase == Phase::Due) {
            return Err(refusal(self.phase));
        }
        self.phase = phase;
        Ok(Taken { deadline: self.due.deadline, runs: self.runs, placed: self.place.is_some() })
    }

    fn over(&mut self, phase: Phase) -> Ended {
        self.phase = phase;
        self.ending = None;
        Ended::Over(phase)
    }

    /// The run that begins, `runs` being its number.
    fn begun(
        &mut self,
        fork: Option<Box<dyn Work>>,
        started: Moment,
        next: Option<Moment>,
    ) -> Begun {
        let last = !self.another_follows();
        let missed = self.repeat.as_mut().map_or(0, |repeat| std::mem::take(&mut repeat.missed));
        Begun {
            fork,
            deadline: self.due.deadline,
            time: self.due.time(),
            started,
            number: self.runs,
            missed,
            last,
            next,
        }
    }

    /// If the run goes on beside those to come: when the next is due, and how many periods are left out before that. `None` if the
    /// job has no such runs, or this is the last.
    fn overlapping(&self, now: Moment) -> Option<(Moment, u64)> {
        let repeat = self
            .repeat
            .as_ref()
            .filter(|repeat| repeat.overlapping && !repeat.is_last(self.runs))?;
        repeat.next(self.due.deadline, now, now)
    }

    /// Makes the job wait for its next run, if there is a moment for it.
    fn arm(&mut self, Times { deadline, started, ended }: Times) -> Ended {
        if !std::mem::take(&mut self.moved) {
            let next =
                self.repeat.as_ref().and_then(|repeat| repeat.next(deadline, started, ended));
            let Some((next, missed)) = next else { return self.over(Phase::Finished) };
            self.wait_for(next, missed);
        }
        self.phase = Phase::Pending;
        Ended::Again(self.due.look_by(|| ended))
    }

    fn wait_for(&mut self, deadline: Moment, missed: u64) {
        self.due = Due::at(deadline);
        if let Some(repeat) = &mut self.repeat {
            repeat.missed = missed;
        }
    }
}
