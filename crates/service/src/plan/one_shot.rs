//! The plan of a job that runs once.

use super::Options;
use crate::handle::Handle;
use crate::job::{Backoff, Group, Key};
use crate::job_handle::JobHandle;
use crate::shared::{Run, Work};
use crate::time::{Due, Moment};
use crate::work::{AsyncEach, AsyncOnce, CallEach, CallOnce, SendOnce};
use crate::{Reason, Rejected};
use crossbeam_channel::Sender;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A plan of a job that runs once. Nothing is scheduled until [`run`](Self::run) or
/// [`send`](Self::send) is called. If such a call fails, its error has the [`Reason`], and the
/// closure or value.
#[must_use = "nothing is scheduled until `run` or `send` is called"]
pub struct OneShot<'h> {
    pub(super) options: Options<'h>,
}

impl<'h> OneShot<'h> {
    common_methods!();
    fallible_methods!();

    /// Schedules a closure.
    #[inline]
    pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnOnce(&Run<'_>) + Send + 'static,
    {
        let shard = self.options.handle.shards().own_shard();
        let work = CallOnce(function);
        // Two returns: a common result of both branches would pass through memory.
        match self.plain() {
            Ok((handle, deadline)) => Ok(handle.schedule_plain(shard, deadline, work)?),
            Err(plan) => Ok(plan.schedule_any(shard, work)?),
        }
    }

    /// Schedules an async job: the closure is called when the run begins, and the future that it
    /// returns is the run. It is spawned where [`spawn_on`](crate::Builder::spawn_on) says. Without
    /// that the threads of the service poll it. They belong to no runtime: a future that needs one,
    /// such as tokio's `sleep`, panics there.
    ///
    /// As with a closure, [`stop`](crate::Service::stop) waits for the run, panics are caught, and
    /// a slow run is reported. Takes an allocation for the run and some 300 bytes for the job.
    pub fn run_async<F, Fut>(mut self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let limit = self.be_async();
        let scheduled = self.schedule(AsyncOnce { function, limit });
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.function })
    }

    /// Sends a value at the deadline, from the thread that leads. If the channel is full then, the
    /// value is dropped, which is reported: no receiver can delay other jobs.
    pub fn send<T: Send + 'static>(
        self,
        sender: &Sender<T>,
        value: T,
    ) -> Result<JobHandle, Rejected<T>> {
        let scheduled = self.schedule(SendOnce { sender: sender.clone(), value });
        scheduled.map_err(|(reason, work)| Rejected { reason, job: work.value })
    }

    /// Schedules a job that may fail: it keeps its last error for its handles.
    fn schedule_again<W: Work>(mut self, work: W) -> Result<JobHandle, (Reason, W)> {
        self.options.rare_state();
        self.schedule(work)
    }

    #[inline]
    fn schedule<W: Work>(self, work: W) -> Result<JobHandle, (Reason, W)> {
        let shard = self.options.handle.shards().own_shard();
        match self.plain() {
            Ok((handle, deadline)) => handle.schedule_plain(shard, deadline, work),
            Err(plan) => plan.schedule_any(shard, work),
        }
    }

    /// A separate function, so that the callers stay short when they are inlined.
    #[inline(never)]
    fn schedule_any<W: Work>(self, shard: u32, work: W) -> Result<JobHandle, (Reason, W)> {
        let handle = self.options.handle;
        handle.schedule(shard, self.options.check(None), work)
    }

    /// Returns the deadline, if the plan has nothing else, and the deadline has a tick.
    #[inline]
    fn plain(self) -> Result<(&'h Handle, Moment), Self> {
        match self.options {
            Options { handle, first: Some(Due { deadline, wall: None }), rare_options: None }
                if handle.ticks().reaches(deadline) =>
            {
                Ok((handle, deadline))
            }
            options => Err(Self { options }),
        }
    }
}

impl<F> From<(Reason, CallOnce<F>)> for Rejected<F> {
    fn from((reason, work): (Reason, CallOnce<F>)) -> Self {
        Self { reason, job: work.0 }
    }
}
