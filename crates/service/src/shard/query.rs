//! The state of jobs, for callers, and the list of all jobs.

use super::state::{Body, Other, ShardState, Slot, TimerState};
use super::work::ShardWork;
use crate::job::{Id, Info, Status};
use crate::time::Due;
use std::sync::Arc;

/// The most entries that are visited under one lock.
const PORTION: u32 = 256;

/// A job, and the part that its handles share.
pub(crate) type Listed = (Id, Option<Arc<Info>>);

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// The state of a job. `None` if it is over.
    pub(crate) fn status(&mut self, id: Id) -> Option<Status> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number)?;
        Some(match () {
            () if self.is_running(slot) => Status::Running,
            () if self.is_paused(slot) => Status::Paused,
            () => Status::Pending,
        })
    }

    /// The next deadline of a pending job, and the wall-clock time that it waits for.
    pub(crate) fn due(&self, id: Id) -> Option<Due> {
        let slot = self.slots.get(id.index()).filter(|slot| slot.number == id.number)?;
        let pending = !self.is_running(slot) && !self.is_paused(slot);
        let wall = slot.job_state().and_then(|job| self.job_states[job].wall());
        let wall = wall.cloned().map(Box::new);
        pending.then_some(Due { deadline: slot.deadline, wall })
    }

    /// The part of a job that its handles share. `None` for a plain job.
    pub(crate) fn info(&mut self, id: Id) -> Option<Arc<Info>> {
        let job = self.slot(id)?.job_state()?;
        Some(Arc::clone(&self.job_states[job].info))
    }

    /// How many runs of a job that is not plain have begun. `None` if it is over.
    pub(crate) fn runs_of(&mut self, id: Id) -> Option<u64> {
        let job = self.slot(id)?.job_state()?;
        Some(self.job_states[job].runs)
    }

    pub(super) fn is_paused(&self, slot: &Slot<W>) -> bool {
        slot.job_state().is_some_and(|job| self.job_states[job].is_paused())
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

    /// The jobs among the next entries from `from` on, and the entry to continue with. Futures are
    /// not listed.
    pub(crate) fn list(&self, from: u32) -> (Vec<Listed>, Option<u32>) {
        let upto = from.saturating_add(PORTION);
        let mut found = Vec::new();
        for index in from..upto.min(self.slots.end()) {
            let Some(slot) = self.slots.get(index) else { continue };
            let id = Id::new(slot.number, index, self.shard());
            match &slot.body {
                Body::Plain(work) if !work.is_awaited() => found.push((id, None)),
                Body::Other(Other::Gone) => found.push((id, None)),
                Body::Other(Other::Full { job, .. }) => {
                    found.push((id, Some(Arc::clone(&self.job_states[*job].info))));
                }
                _ => {}
            }
        }
        (found, (upto < self.slots.end()).then_some(upto))
    }
}
