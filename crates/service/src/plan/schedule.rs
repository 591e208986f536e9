//! Schedules a checked plan in a shard, or returns the work to the caller.

use crate::guard::discard;
use crate::handle::Handle;
use crate::instant::{self, InstantWork};
use crate::job::{JobParts, JobState};
use crate::shard::NewJob;
use crate::shared::Work;
use crate::time::{Due, Moment};
use crate::{JobHandle, Reason};
use std::sync::Arc;

/// A plan that has been checked.
pub(crate) struct Plan {
    pub(crate) due: Due,
    /// `None` for a plain job.
    pub(crate) parts: Option<JobParts>,
    /// A job that has the key is replaced.
    pub(crate) replace: bool,
}

impl Handle {
    /// Schedules a job, or returns its work.
    pub(crate) fn schedule<W: Work>(
        &self,
        plan: Result<Plan, Reason>,
        work: W,
    ) -> Result<JobHandle, (Reason, W)> {
        self.schedule_in(self.shards().own_shard(), plan, work)
    }

    /// The same, in a shard.
    pub(crate) fn schedule_in<W: Work>(
        &self,
        shard: u32,
        plan: Result<Plan, Reason>,
        work: W,
    ) -> Result<JobHandle, (Reason, W)> {
        let Plan { due, parts, replace } = match plan {
            Ok(plan) => plan,
            Err(reason) => return Err(self.rejected(shard, reason, work)),
        };
        let Some(parts) = parts else { return self.schedule_plain(shard, due.deadline, work) };
        let info = Arc::clone(&parts.info);
        let key = info.key.clone().map(|key| (key, replace));
        let work: Box<dyn Work> = Box::new(work);
        let new = NewJob::Full(JobState::new(work, parts));
        match self.shards().schedule(shard, &due, key, new) {
            Ok((id, replaced)) => {
                // Last, and without a lock: dropping the replaced work runs code of the user, which
                // may do anything, such as panic.
                discard(replaced.map(|replaced| self.job_handle(replaced, None).cancel()));
                Ok(self.job_handle(id, Some(info)))
            }
            Err((reason, NewJob::Full(job))) => {
                let work = job.into_work().expect("no run has it");
                Err(self.rejected(shard, reason, unboxed(work)))
            }
            Err((_, NewJob::Wake { .. })) => unreachable!("it comes back as it was given"),
        }
    }

    /// The same for a plain job, on the shortest path, since most jobs are plain. The deadline must
    /// have a tick.
    #[inline(always)]
    pub(crate) fn schedule_plain<W: Work>(
        &self,
        shard: u32,
        deadline: Moment,
        work: W,
    ) -> Result<JobHandle, (Reason, W)> {
        let (service, mut refused) = (self.service_ref(shard), None);
        let id = service.shards.schedule_plain(shard, deadline, Box::new(work), &mut refused);
        let job = id.map(|id| JobHandle::new(Arc::clone(service), id, None));
        job.ok_or_else(|| {
            let (reason, work) = refused.expect("a refused job comes with its reason");
            self.rejected(shard, reason, unboxed(work))
        })
    }

    /// The same for instant work, without a box. If there is no slab for its type, it is scheduled
    /// as a plain job.
    #[inline]
    pub(crate) fn schedule_instant<W: InstantWork>(
        &self,
        shard: u32,
        deadline: Moment,
        work: W,
    ) -> Result<JobHandle, (Reason, W)> {
        let scheduled = self.shards().schedule_in_slab(shard, deadline, work, instant::put);
        match scheduled {
            Ok(id) => Ok(self.job_handle(id, None)),
            Err((Some(reason), work)) => Err(self.rejected(shard, reason, work)),
            Err((None, work)) => self.schedule_plain(shard, deadline, work),
        }
    }

    #[cold]
    pub(super) fn rejected<W>(&self, shard: u32, reason: Reason, work: W) -> (Reason, W) {
        self.shards().with(shard, |state| state.counts.rejected += 1);
        (reason, work)
    }
}

/// Converts work back to its type.
pub(super) fn unboxed<W: Work>(work: Box<dyn Work>) -> W {
    *work.into_any().downcast().expect("the work that was given")
}
