//! The handle through which any thread schedules jobs.

use crate::error::ChangeError;
use crate::job::{Id, Info};
use crate::job_handle::{Job, JobHandle};
use crate::observe::Snapshot;
use crate::shard::{ShardState, Shards};
use crate::shared::{ServiceRef, Shared, Work};
use crate::time::{Clock, Due, Moment, Ticks, When};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Schedules jobs, from any thread and from inside jobs. Cheap to clone: one reference count.
///
/// Scheduling, cancelling and moving take effect at once. No call waits for a job, only for the
/// lock of a shard. How long that is held is among the [guarantees](crate#guarantees).
#[derive(Clone)]
pub struct Handle {
    /// One for each shard.
    refs: Arc<[ServiceRef]>,
}

impl Handle {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let service = |_| Arc::new(CachePadded::new(Arc::clone(shared)));
        Self { refs: (0..shared.shards.count()).map(service).collect() }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.refs[0]
    }

    #[inline]
    pub(crate) fn shards(&self) -> &Shards<dyn Work> {
        &self.shared().shards
    }

    #[inline]
    pub(crate) fn service_ref(&self, shard: u32) -> &ServiceRef {
        &self.refs[shard as usize]
    }

    /// The job that has the key; `None` if no job has it. The key of a job becomes free when its
    /// last run begins. O(1).
    pub fn job(&self, key: &str) -> Option<JobHandle> {
        self.of_key(key, |id| self.job_of(id).filter(|_| self.shards().has_key(id)))
    }

    /// Calls `act` with the job that has the key. If it returns `None`, that job is over. Then the
    /// job that has replaced it is tried: the table has that one before the former is cancelled.
    fn of_key<R>(&self, key: &str, mut act: impl FnMut(Id) -> Option<R>) -> Option<R> {
        let mut id = self.shards().keys.get(key)?;
        loop {
            if let Some(done) = act(id) {
                return Some(done);
            }
            id = self.shards().keys.get(key).filter(|now| *now != id)?;
        }
    }

    fn job_of(&self, id: Id) -> Option<JobHandle> {
        let info = self.shards().with(id.shard(), |state| state.info(id))?;
        Some(self.job_handle(id, Some(info)))
    }

    /// Cancels the job that has the key. See [`JobHandle::cancel`].
    ///
    /// # Errors
    ///
    /// [`ChangeError::UnknownKey`], or [`ChangeError::Stopped`] once the service has been stopped;
    /// [`ChangeError::Running`]: the job is running; no other run follows.
    pub fn cancel(&self, key: &str) -> Result<Job, ChangeError> {
        use ChangeError::{Cancelled, Finished, Over};
        let cancelled = self.of_key(key, |id| match self.job_of(id)?.cancel() {
            Err(Over | Finished | Cancelled) => None,
            cancelled => Some(cancelled),
        });
        cancelled.unwrap_or_else(|| Err(self.missing_key()))
    }

    /// Moves the next run of the job that has the key to `delay` from now. See
    /// [`JobHandle::refresh`].
    ///
    /// # Errors
    ///
    /// Those of [`cancel`](Self::cancel) and [`JobHandle::refresh`].
    pub fn refresh(&self, key: &str, delay: Duration) -> Result<(), ChangeError> {
        self.move_to(key, self.now().checked_add(delay).map(Due::at))
    }

    /// Moves the next run of the job that has the key to a point in time, earlier or later. See
    /// [`JobHandle::reschedule`].
    ///
    /// # Errors
    ///
    /// Those of [`refresh`](Self::refresh).
    pub fn reschedule(&self, key: &str, when: impl Into<When>) -> Result<(), ChangeError> {
        self.move_to(key, when.into().due(self.clock()))
    }

    fn move_to(&self, key: &str, due: Option<Due>) -> Result<(), ChangeError> {
        let moved = self.of_key(key, |id| match self.shards().move_to(id, due.clone(), true) {
            Err(ChangeError::Over) => None,
            moved => Some(moved),
        });
        moved.unwrap_or_else(|| Err(self.missing_key()))
    }

    /// A stop removes the keys together with the jobs, so by the key alone, a stopped job and a
    /// finished one look the same.
    fn missing_key(&self) -> ChangeError {
        if self.is_stopped() { ChangeError::Stopped } else { ChangeError::UnknownKey }
    }

    /// Pauses all jobs: no further run begins, except runs that were handed out to their group or
    /// as futures. Futures continue: sleeps, timeouts, intervals and delay queues. Jobs can still
    /// be scheduled. To wait for runs that have begun, see [`Snapshot::in_flight`]. O(1) for each
    /// shard.
    pub fn pause(&self) {
        self.shards().set_paused(true);
    }

    /// Resumes all jobs. Scheduled times of a periodic job that passed during the pause are
    /// skipped, and not counted as missed. One-shot jobs whose time has come, and retries, are due
    /// at once, in the order in which the jobs of each thread came due. A job that comes due during
    /// this call may begin before them. If the wall clock is set during the pause, the driver may
    /// notice it only [after the pause](crate::When). Then a time that has passed by the new clock
    /// is not skipped. O(k) for k jobs whose times have come.
    pub fn resume(&self) {
        let shards = self.shards();
        shards.set_paused(false);
        for shard in 0..shards.count() as u32 {
            while shards.with(shard, |state| state.resume_deferred(self.clock())) {}
        }
    }

    /// Iterates over the handles of all jobs that are scheduled and not over, in any order. A job
    /// that exists from the first step to the last is listed once. A job that is scheduled or ends
    /// meanwhile may be listed. Futures of the [`future`](crate::future) module are not.
    ///
    /// O(n) in total. The lock of a shard is taken for a portion of its jobs at a time, and
    /// each question to a handle takes it again.
    pub fn jobs(&self) -> impl Iterator<Item = JobHandle> + use<> {
        let (timers, mut shard, mut next) = (self.clone(), 0, 0);
        let portions = std::iter::from_fn(move || {
            let shards = timers.shards();
            if shard as usize == shards.count() {
                return None;
            }
            let (found, rest) = shards.with(shard, |state| state.list(next));
            (shard, next) = rest.map_or((shard + 1, 0), |rest| (shard, rest));
            let handle = |(id, info)| timers.job_handle(id, info);
            Some(found.into_iter().map(handle).collect::<Vec<_>>())
        });
        portions.flatten()
    }

    /// Releases memory that belonged to jobs which are gone, also that of their keys. A shard that
    /// had 65,536 jobs or more does so by itself when 1,024 or none are left. While the timers of a
    /// shard are moved, threads that schedule there wait. O(n) for n slots, used or free, and n
    /// keys. A custom [backend](crate::Builder::backend) keeps its memory.
    pub fn compact(&self) {
        (0..self.shards().count() as u32).for_each(|shard| self.shards().shrink(shard));
    }

    /// The number of jobs that are scheduled and not over.
    pub fn len(&self) -> usize {
        self.shards().sum(ShardState::len)
    }

    /// Returns `true` if no job is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the service has been stopped.
    pub fn is_stopped(&self) -> bool {
        self.shards().is_closed()
    }

    /// The current time, by the clock of the service.
    pub fn now(&self) -> Moment {
        self.shards().now()
    }

    /// The clock of the service.
    pub fn clock(&self) -> &dyn Clock {
        &*self.shards().clock
    }

    /// Counters, and the distributions of lateness and run time.
    pub fn snapshot(&self) -> Snapshot {
        self.shards().snapshot()
    }

    #[inline]
    pub(crate) fn ticks(&self) -> Ticks {
        self.shards().ticks
    }

    #[inline]
    pub(crate) fn job_handle(&self, id: Id, info: Option<Arc<Info>>) -> JobHandle {
        JobHandle::new(Arc::clone(self.service_ref(id.shard())), id, info)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}
