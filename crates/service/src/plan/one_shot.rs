//! The plan of a job that runs once.

use super::Options;
use crate::Rejected;
use crate::handle::Handle;
use crate::job::{Backoff, Group, Key};
use crate::job_handle::JobHandle;
use crate::shared::{Run, Work};
use crate::time::{Due, Moment};
use crate::work::{AsyncEach, AsyncOnce, CallEach, CallOnce, SendOnce};
use crossbeam_channel::Sender;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A plan of a job that runs once. Nothing is scheduled until [`run`](Self::run) or
/// [`send`](Self::send) is called. If such a call fails, its error has the
/// [`Reason`](crate::Reason), and the closure or value.
#[must_use = "nothing is scheduled until `run` or `send` is called"]
pub struct OneShot<'h> {
    pub(super) options: Options<'h>,
}

impl<'h> OneShot<'h> {
    common_methods!();

    /// Schedules a closure.
    #[inline]
    pub fn run<F>(self, function: F) -> Result<JobHandle, Rejected<F>>
    where
        F: FnOnce(&Run<'_>) + Send + 'static,
    {
        let shard = self.options.handle.shards().own_shard();
        let (work, job) = (CallOnce(function), |CallOnce(function)| function);
        // Two returns: a common result of both branches would pass through memory.
        match self.plain() {
            Ok((handle, deadline)) => {
                handle.schedule_plain(shard, deadline, work).map_err(|rejected| rejected.map(job))
            }
            Err(plan) => plan.schedule_once(work).map_err(|rejected| rejected.map(job)),
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
        self.schedule_once(AsyncOnce { function, limit })
            .map_err(|rejected| rejected.map(|work| work.function))
    }

    /// Sends a value at the deadline, from the thread that leads. If the channel is full then, the
    /// value is dropped, which is reported: no receiver can delay other jobs.
    pub fn send<T: Send + 'static>(
        self,
        sender: &Sender<T>,
        value: T,
    ) -> Result<JobHandle, Rejected<T>> {
        let (shard, sender) = (self.options.handle.shards().own_shard(), sender.clone());
        let work = SendOnce { sender, value };
        let scheduled = match self.plain() {
            Ok((handle, deadline)) => handle.schedule_plain(shard, deadline, work),
            Err(plan) => plan.schedule_once(work),
        };
        scheduled.map_err(|rejected| rejected.map(|work| work.value))
    }

    /// Schedules a job that may fail: it keeps its last error for its handles.
    fn schedule_again<W: Work>(mut self, work: W) -> Result<JobHandle, Rejected<W>> {
        self.options.rare_state();
        self.schedule_any(work)
    }

    /// Schedules work that cannot be called again.
    #[inline(never)]
    fn schedule_once<W: Work>(mut self, work: W) -> Result<JobHandle, Rejected<W>> {
        self.options.drop_retry();
        self.schedule_any(work)
    }

    /// A separate function, so that the callers stay short when they are inlined.
    #[inline(never)]
    fn schedule_any<W: Work>(self, work: W) -> Result<JobHandle, Rejected<W>> {
        let handle = self.options.handle;
        handle.schedule(self.options.check(None), work)
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
