//! Schedules a checked plan in a shard, or returns the work to the caller. And jobs that are due
//! when they are scheduled, which skip the wheel.

use crate::drive::push_ready;
use crate::error::{Reason, Rejected};
use crate::guard::discard;
use crate::handle::Handle;
use crate::job::{Dispatch, Info, JobState, RareState, Repeat};
use crate::job_handle::JobHandle;
use crate::shard::{HandedOut, ReadyItem};
use crate::shared::{Run, Work, unboxed};
use crate::time::{Due, Moment, Ticks};
use crate::work::{AsyncOnce, CallOnce};
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

impl Handle {
    /// Runs a closure on a thread of the service, or on its [executor](crate::Builder::executor),
    /// as soon as one is free. The closure skips the wheel and does not wait for a tick, unlike a
    /// plan with a delay of zero. For jobs that are already due when they reach the program, such
    /// as jobs read from a store.
    ///
    /// It is a job like any other. A panic is caught and reported. A [stop](crate::Service::stop)
    /// waits for it or returns it. It counts towards [`max_jobs`](crate::Builder::max_jobs). It
    /// waits while all jobs are [paused](Self::pause), and then for a tick.
    ///
    /// Without a pause, closures of one thread begin in the order of the calls, and so do async
    /// jobs. An async job may begin after a closure of a later call.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    pub fn execute<F>(&self, function: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce(&Run<'_>) + Send + 'static,
    {
        self.hand_over(CallOnce(function), false).map_err(|rejected| rejected.map(|work| work.0))
    }

    /// Runs an async job as soon as a thread is free, as [`execute`](Self::execute) runs a closure:
    /// see [`run_async`](crate::OneShot::run_async).
    ///
    /// # Errors
    ///
    /// Those of [`execute`](Self::execute).
    pub fn execute_async<F, Fut>(&self, function: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.hand_over(AsyncOnce { function, limit: None }, true)
            .map_err(|rejected| rejected.map(|work| work.function))
    }

    fn hand_over<W: Work>(&self, work: W, is_async: bool) -> Result<(), Rejected<W>> {
        let (shards, shard) = (self.shards(), self.shards().own_shard());
        let dispatch = Dispatch { is_async, ..Dispatch::default() };
        let (id, turn) = match shards.schedule_due(shard, Box::new(work), dispatch.clone()) {
            Ok(scheduled) => scheduled,
            Err((reason, work)) => return Err(self.rejected(shard, reason, unboxed(work))),
        };
        if let Some(turn) = turn {
            push_ready(self, ReadyItem::Run(HandedOut { id, turn, info: None, dispatch }, None));
        }
        Ok(())
    }
}
