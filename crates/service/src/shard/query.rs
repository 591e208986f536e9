//! The state of jobs, for callers, and the list of all jobs.

use super::handover::ShardWork;
use super::state::{Body, Other, ShardState, Slot, TimerState};
use crate::job::{Id, Info, Status};
use crate::time::Due;
use std::sync::Arc;

/// The most entries that are visited under one lock.
const PORTION: u32 = 256;

/// A job, and the part that its handles share.
pub(crate) type Listed = (Id, Option<Arc<Info>>);

impl<W: ShardWork + ?Sized> ShardState<W> {
    pub(crate) fn status(&self, id: Id) -> Option<Status> {
        self.slots.of(id).map(|slot| self.status_of(slot))
    }

    pub(super) fn status_of(&self, slot: &Slot<W>) -> Status {
        match self.job_states.of(slot) {
            _ if self.is_running(slot) => Status::Running,
            Some(job) if job.is_paused() => Status::Paused,
            _ => Status::Pending,
        }
    }

    /// The next deadline of a pending job, and the wall-clock time that it waits for.
    pub(crate) fn due(&self, id: Id) -> Option<Due> {
        let slot = self.slots.of(id).filter(|slot| self.status_of(slot) == Status::Pending)?;
        let wall = self.job_states.of(slot).and_then(|job| job.wall());
        Some(Due { deadline: slot.deadline, wall: wall.cloned().map(Box::new) })
    }

    /// The part of a job that its handles share. `None` for a plain job.
    pub(crate) fn info(&self, id: Id) -> Option<Arc<Info>> {
        Some(Arc::clone(&self.job_states.of(self.slots.of(id)?)?.info))
    }

    /// How many runs of a job that is not plain have begun. `None` if it is over.
    pub(crate) fn runs_of(&self, id: Id) -> Option<u64> {
        Some(self.job_states.of(self.slots.of(id)?)?.runs)
    }

    /// Returns `true` if the run in progress, which has failed, is retried. `None` if the job has
    /// no retry. Asked when the run ends: it may have ended its job, or the service is being
    /// stopped.
    pub(crate) fn is_retried(&self, id: Id) -> Option<bool> {
        let job = self.job_states.of(self.slots.of(id)?)?;
        job.rare.as_ref()?.retry?;
        Some(job.tries().1 && !self.stage.is_over())
    }

    /// Returns `true` if the key of a job is not free: its last run has not begun.
    pub(crate) fn has_key(&self, id: Id) -> bool {
        let job = self.slots.of(id).and_then(|slot| self.job_states.of(slot));
        job.is_some_and(|job| !job.is_running() || job.another_may_follow())
    }

    #[inline]
    pub(super) fn is_running(&self, slot: &Slot<W>) -> bool {
        match (&slot.timer, &slot.body) {
            (TimerState::Wheel(_), _) => false,
            (_, Body::Plain(_) | Body::Other(Other::Wake(..))) => false,
            (_, Body::Other(Other::Gone)) => true,
            (_, Body::Other(Other::Full { job, .. })) => self.job_states[*job].is_running(),
        }
    }

    /// The number of jobs for which a drain waits: all except futures and the jobs of excused runs.
    pub(super) fn to_drain(&self) -> usize {
        let excused = self.runs.excused().filter_map(|id| self.slots.of(id));
        let running = excused.filter(|slot| self.is_running(slot)).count();
        (self.slots.len() - self.wakers.len()).saturating_sub(running)
    }

    fn is_async(&self, id: Id) -> bool {
        let rare = || self.job_states.of(self.slots.of(id)?)?.rare.as_deref();
        rare().is_some_and(|rare| rare.dispatch.is_async)
    }

    /// Excuses the async runs in progress.
    pub(super) fn excuse_async_runs(&mut self) {
        let runs: Vec<_> = self.runs.watched().filter(|id| self.is_async(*id)).collect();
        runs.into_iter().for_each(|id| self.runs.excuse(id));
    }

    /// The jobs among the next entries from `from` on, and the entry to continue with. Futures are
    /// not listed.
    pub(crate) fn list(&self, from: u32) -> (Vec<Listed>, Option<u32>) {
        let upto = from.saturating_add(PORTION);
        let mut found = Vec::new();
        for index in from..upto.min(self.slots.end()) {
            let Some(slot) = self.slots.get(index) else { continue };
            if !matches!(slot.body, Body::Other(Other::Wake(..))) {
                let info = self.job_states.of(slot).map(|job| Arc::clone(&job.info));
                found.push((self.id_of(slot.number, index), info));
            }
        }
        (found, (upto < self.slots.end()).then_some(upto))
    }
}
