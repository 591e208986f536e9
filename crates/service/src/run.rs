//! The run that a job is in: its properties, and how to end the job from inside.

use crate::handle::Handle;
use crate::job::Ending;
use crate::job_handle::JobHandle;
use crate::shared::Run;
use crate::time::Moment;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

impl Run<'_> {
    /// The handle of the job.
    pub fn job(&self) -> JobHandle {
        let id = self.facts.id;
        let known = || self.service.shards.with(id.shard(), |state| state.info(id));
        JobHandle::new(Arc::clone(self.service), id, self.info.cloned().or_else(known))
    }

    /// A handle of the service, to schedule other jobs. If many runs need one, moving a clone of
    /// [`Handle`] into the closure costs less.
    pub fn timers(&self) -> Handle {
        Handle::new(self.service)
    }

    /// When this run was due.
    pub fn deadline(&self) -> Moment {
        self.facts.deadline
    }

    /// The wall-clock time at which this run was due, for a [retry](Self::attempt) that of the
    /// first attempt, so that a late report can tell which week it covers. `None` if it was due at
    /// a moment, or comes from [`run_now`](JobHandle::run_now).
    pub fn time(&self) -> Option<SystemTime> {
        self.facts.time
    }

    /// When it began.
    pub fn started(&self) -> Moment {
        self.started
    }

    /// How long after its deadline it began: up to a tick or the [slack](crate::OneShot::slack) of
    /// the job, and longer if no thread was free.
    pub fn lateness(&self) -> Duration {
        self.started.saturating_since(self.facts.deadline)
    }

    /// The number of this run, counted from 1.
    pub fn number(&self) -> u64 {
        self.facts.number
    }

    /// The number of this attempt, counted from 1. It is higher if the job has a
    /// [retry](crate::OneShot::retry) and the runs before failed.
    pub fn attempt(&self) -> u32 {
        self.facts.attempt
    }

    /// The number of periods that were skipped just before this run, see [`Missed`](crate::Missed).
    pub fn missed(&self) -> u64 {
        self.facts.missed
    }

    /// Returns `true` if no run of the schedule follows this one, as known when it begins.
    pub fn is_last(&self) -> bool {
        self.facts.last
    }

    /// Ends the job: no run follows this one, not even a retry, and the job is
    /// [finished](crate::Status::Finished) when this run ends.
    ///
    /// The future of an async job cannot keep the `Run`. It captures [`job`](Self::job) instead and
    /// calls [`JobHandle::cancel`], which returns [`Running`](crate::ChangeError::Running): this
    /// run continues, and no other follows.
    pub fn end(&self) {
        // An error: the job is running, or was returned and is run by hand.
        drop(self.job().end_as(Ending::Finished));
    }
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Run").field(&self.job()).field(&self.number()).finish()
    }
}
