//! A task for each job on a tokio runtime. It sleeps until its time by tokio's own time driver, or
//! by our service.

use super::sessions::{Deadline, Sessions, run_again};
use crate::facility::{Answer, Facility, join, start_thread, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task;
use wheelhouse_service::{MonotonicClock, Service};

/// A runtime, used from threads outside of it.
struct Tasks<S> {
    /// Returns a future that is ready at a moment.
    sleep_until: S,
    handle: Handle,
    sessions: Sessions,
    /// Ends the threads that run the runtime.
    stop: Box<dyn FnOnce() + Send + Sync>,
}

/// Sleeps by the time driver of the runtime. Its timers always have a tick of a millisecond. The
/// timer is created inside the task, because it looks there for its runtime.
async fn tokio_sleep(due: Instant) {
    tokio::time::sleep_until(due.into()).await;
}

/// The runtime of `#[tokio::main]`: a worker for each processor.
pub(crate) fn many_threads() -> Result<impl Facility> {
    Ok(on_many(Builder::new_multi_thread().enable_time().build()?, tokio_sleep))
}

/// The runtime that runs on one thread.
pub(crate) fn one_thread() -> Result<impl Facility> {
    let runtime = Builder::new_current_thread().enable_time().build()?;
    let handle = runtime.handle().clone();
    let (end, ended) = oneshot::channel();
    let thread = start_thread("tokio-one", move || drop(runtime.block_on(ended)))?;
    let stop = Box::new(move || {
        end.send(()).unwrap_or_default();
        join(thread);
    });
    Ok(Tasks { sleep_until: tokio_sleep, handle, sessions: Sessions::new(), stop })
}

/// A runtime without its own timers, next to a service, which lives as long as there are tasks.
pub(crate) fn on_service() -> Result<impl Facility> {
    let clock = MonotonicClock::new();
    let service = Arc::new(Service::builder().clock(clock).start()?);
    let timers = service.handle();
    let sleep_until = move |due| {
        let _ = &service;
        let sleep = timers.sleep_until(clock.moment(due));
        // Stopping the service ends the tasks too.
        async move { sleep.await.unwrap_or_default() }
    };
    Ok(on_many(Builder::new_multi_thread().build()?, sleep_until))
}

fn on_many<S>(runtime: Runtime, sleep_until: S) -> Tasks<S> {
    let handle = runtime.handle().clone();
    let stop = Box::new(move || drop(runtime));
    Tasks { sleep_until, handle, sessions: Sessions::new(), stop }
}

impl<S, F> Facility for Tasks<S>
where
    S: Fn(Instant) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    type Handle = task::JoinHandle<()>;
    type Session = Deadline;

    fn schedule(&self, due: Instant, job: Job) -> Option<Self::Handle> {
        let sleep = (self.sleep_until)(due);
        Some(self.handle.spawn(async move {
            sleep.await;
            job.run();
        }))
    }

    fn cancel(&self, handle: Self::Handle) -> Answer {
        handle.abort();
        Answer::Sent
    }

    fn open(&self, due: Instant, job: Job) -> Option<Deadline> {
        let (deadline, sleep_until) = (self.sessions.deadline(due), self.sleep_until.clone());
        self.handle.spawn(self.sessions.expire(sleep_until, Arc::clone(&deadline), job));
        Some(deadline)
    }

    fn refresh(&self, session: &Deadline, due: Instant) -> Answer {
        self.sessions.refresh(session, due)
    }

    fn every(&self, first: Instant, period: Duration, job: PeriodicJob) -> bool {
        self.handle.spawn(run_again(self.sleep_until.clone(), first, period, job));
        true
    }

    fn settle(&self, pending: usize) -> Result<()> {
        wait_for_marker(|done| {
            self.handle.spawn(async move { done.send(()).unwrap_or_default() })
        })?;
        // An aborted task is gone when its future is dropped. Several workers may be dropping some,
        // in any order.
        let metrics = self.handle.metrics();
        wait_until("tasks that were aborted are still there", || {
            metrics.num_alive_tasks() <= pending
        })?;
        // A task that has not been polled has no timer yet. It waits in the runtime's queue or in
        // that of a worker, and a worker parks only if it has found nothing in any. A worker's park
        // count is odd while it is parked. It changes before the worker takes a task from the
        // queue, so it must be read after the length of the queue.
        let all_parked = || {
            (0..metrics.num_workers())
                .all(|worker| metrics.worker_park_unpark_count(worker) % 2 == 1)
        };
        wait_until("tasks have not begun", || metrics.global_queue_depth() == 0 && all_parked())
    }

    fn count(&self) -> Result<usize> {
        Ok(self.handle.metrics().num_alive_tasks())
    }

    fn stop(self) {
        (self.stop)();
    }
}
