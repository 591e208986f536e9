//! Schedules a checked plan in a shard, or returns the work to the caller.

use crate::error::{Reason, Rejected};
use crate::guard::discard;
use crate::handle::Handle;
use crate::job::{Info, JobState, RareState, Repeat};
use crate::job_handle::JobHandle;
use crate::shared::{Work, unboxed};
use crate::time::{Due, Moment, Ticks};
use std::sync::Arc;

/// A plan that has been checked.
pub(crate) struct Plan {
    pub(crate) due: Due,
    pub(crate) info: Info,
    pub(crate) repeat: Option<Repeat>,
    pub(crate) ticks: Ticks,
    pub(crate) rare: Option<Box<RareState>>,
    /// A job that has the key is replaced.
    pub(crate) replace: bool,
}

impl Handle {
    /// Schedules a job, or returns its work.
    pub(crate) fn schedule<W: Work>(
        &self,
        plan: Result<Plan, Reason>,
        work: W,
    ) -> Result<JobHandle, Rejected<W>> {
        let shard = self.shards().own_shard();
        let Plan { due, info, repeat, ticks, rare, replace } = match plan {
            Ok(plan) => plan,
            Err(reason) => return Err(self.rejected(shard, reason, work)),
        };
        let (info, work): (_, Box<dyn Work>) = (Arc::new(info), Box::new(work));
        let key = info.key.clone().map(|key| (key, replace));
        let mut job = JobState::new(work, Arc::clone(&info), ticks);
        (job.repeat, job.rare) = (repeat, rare);
        match self.shards().schedule(shard, &due, key, job) {
            Ok((id, replaced)) => {
                // Last, and without a lock: dropping the replaced work runs code of the user, which
                // may do anything, such as panic.
                discard(replaced.map(|replaced| self.job_handle(replaced, None).cancel()));
                Ok(self.job_handle(id, Some(info)))
            }
            Err((reason, job)) => {
                let work = job.into_work().expect("no run has it");
                Err(self.rejected(shard, reason, unboxed(work)))
            }
        }
    }

    /// Schedules a plain job, on the shortest path, since most jobs are plain. The deadline must
    /// have a tick.
    #[inline(always)]
    pub(crate) fn schedule_plain<W: Work>(
        &self,
        shard: u32,
        deadline: Moment,
        work: W,
    ) -> Result<JobHandle, Rejected<W>> {
        let (service, mut refused) = (self.service_ref(shard), None);
        let id = service.shards.schedule_plain(shard, deadline, Box::new(work), &mut refused);
        let job = id.map(|id| JobHandle::new(Arc::clone(service), id, None));
        job.ok_or_else(|| {
            let (reason, work) = refused.expect("a refused job comes with its reason");
            self.rejected(shard, reason, unboxed(work))
        })
    }

    #[cold]
    fn rejected<J>(&self, shard: u32, reason: Reason, job: J) -> Rejected<J> {
        self.shards().with(shard, |state| state.counts.rejected += 1);
        Rejected { reason, job }
    }
}
