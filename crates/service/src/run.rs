//! What a job is told of the run it is in, and what it can do from there.

use crate::EventKind;
use crate::guard::discard;
use crate::handle::{Anchor, Handle, Run};
use crate::job::{Ending, Id};
use crate::job_handle::JobHandle;
use crate::time::{Due, Moment};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

impl<'a> Run<'a> {
    /// The only run of a job that has nothing but a deadline.
    pub(crate) fn plain(anchor: &'a Anchor, id: Id, deadline: Moment, started: Moment) -> Self {
        let (info, time, missed, last) = (None, None, 0, true);
        let (number, attempt, extra, stale) = (1, 1, false, false);
        Self {
            anchor,
            id,
            info,
            deadline,
            time,
            started,
            number,
            missed,
            last,
            extra,
            stale,
            attempt,
        }
    }
}

impl Run<'_> {
    /// The job itself.
    pub fn job(&self) -> JobHandle {
        let known = || self.anchor.house.with(self.id.shard(), |core| core.info(self.id));
        JobHandle::new(Arc::clone(self.anchor), self.id, self.info.cloned().or_else(known))
    }

    /// The service, to schedule other jobs. Where many do, a clone of one [`Handle`] costs less.
    pub fn timers(&self) -> Handle {
        Handle::new(self.anchor)
    }

    /// When this run was due.
    pub fn deadline(&self) -> Moment {
        self.deadline
    }

    /// The time of the wall clock that this run was due at, and of [another try](Self::attempt)
    /// that at which the first was; `None` if it was due at a moment, or [was to be
    /// now](JobHandle::run_now). A run that comes late, after the machine was suspended say, so
    /// knows which week its report is of.
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

    /// Which try this is, counted from 1: above that if runs before it failed and the job
    /// [tries again](crate::OneShot::retry).
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How many periods were left out just before this run, see
    /// [`Missed::Skip`](crate::Missed::Skip).
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Whether this is the last run, as far as is known when it begins.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// Ends a periodic job: no run follows this one, and with it the job is finished.
    pub fn end(&self) {
        // The answer says that this run goes on, which is known here. Only a job whose runs overlap
        // gives its work back.
        discard(self.job().end_as(Ending::Finished));
    }

    /// Has the job wait for a time of the wall clock with its next run, because its own rule says
    /// so, and so much later; false if there is no such time.
    pub(crate) fn wait_for_wall(&self, time: SystemTime, late: Duration) -> bool {
        let house = &self.anchor.house;
        let due = Due::at_time(&*house.clock, time).map(|due| due.later(late));
        house.move_to(self.id, due, false).is_ok()
    }

    pub(crate) fn wall(&self) -> SystemTime {
        self.anchor.house.clock.wall()
    }

    pub(crate) fn undelivered(&self, what: EventKind) {
        self.anchor.report(self.job(), what);
    }
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("job", &self.job())
            .field("number", &self.number)
            .field("deadline", &self.deadline)
            .field("started", &self.started)
            .finish_non_exhaustive()
    }
}
