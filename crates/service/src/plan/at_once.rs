//! Jobs that are due when they are scheduled. They skip the wheel.

use crate::drive::ready;
use crate::future_work::{Async, AsyncOnce};
use crate::handle::Handle;
use crate::job::Dispatch;
use crate::plan::schedule::unboxed;
use crate::shard::{HandedOut, ReadyItem};
use crate::shared::{Run, Work};
use crate::work::CallOnce;
use crate::{Reason, Rejected};

impl Handle {
    /// Runs a closure on a thread of the service, or on its [executor](crate::Executor), as soon as
    /// one is free. The closure skips the wheel and does not wait for a tick, unlike a plan with a
    /// delay of zero. For jobs that are already due when they reach the program, such as jobs read
    /// from a store.
    ///
    /// It is a job like any other. A panic is caught and reported. A [stop](crate::Service::stop)
    /// waits for it or returns it. It counts towards [`max_jobs`](crate::Builder::max_jobs). It
    /// waits while all jobs are [paused](Self::pause). Jobs of one thread begin in the order of the
    /// calls.
    ///
    /// # Errors
    ///
    /// [`Rejected`], with the closure in it: see [`Reason`].
    ///
    /// ```
    /// use wheelhouse_service::{Service, Stop};
    ///
    /// let service = Service::start()?;
    /// let (sender, done) = std::sync::mpsc::channel();
    /// service.handle().execute(move |run| sender.send(run.number()).unwrap_or_default())?;
    /// assert_eq!(done.recv()?, 1);
    /// assert!(service.stop(Stop::Wait).jobs.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn execute<F>(&self, function: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce(&Run<'_>) + Send + 'static,
    {
        Ok(self.hand_over(CallOnce(function), false)?)
    }

    /// Runs an async job as soon as a thread is free, as [`execute`](Self::execute) runs a closure.
    /// The closure is called when the run begins, and the future that it returns is the run. The
    /// executor of [`spawn_on`](crate::Builder::spawn_on) polls the future. Without that, the
    /// threads of the service poll it: see [`run_async`](crate::OneShot::run_async).
    ///
    /// # Errors
    ///
    /// Those of [`execute`](Self::execute).
    pub fn execute_async<F, Fut>(&self, function: F) -> Result<(), Rejected<F>>
    where
        F: FnOnce(&Run<'_>) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let handed_over = self.hand_over(Async::new(AsyncOnce(function), None), true);
        handed_over.map_err(|(reason, work)| Rejected { reason, job: work.into_call().0 })
    }

    fn hand_over<W: Work>(&self, work: W, is_async: bool) -> Result<(), (Reason, W)> {
        let (shards, shard) = (self.shards(), self.shards().own_shard());
        let dispatch = Dispatch { is_async, ..Dispatch::default() };
        let (id, turn) = match shards.schedule_due(shard, Box::new(work), dispatch.clone()) {
            Ok(scheduled) => scheduled,
            Err((reason, work)) => return Err(self.rejected(shard, reason, unboxed(work))),
        };
        if let Some(turn) = turn {
            ready::push(self, ReadyItem::Due(HandedOut { id, turn, info: None, dispatch }));
        }
        Ok(())
    }
}
