//! A task for each job on a tokio runtime. It sleeps until its time by tokio's own time driver, or
//! by our service.

use super::sessions::{Deadline, Sessions, run_again};
use crate::facility::{Answer, Facility, join, start_thread, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task;
use wheelhouse_service::{MonotonicClock, Service};

/// The source of a task's sleep.
pub(crate) trait SleepSource: Clone + Send + Sync + 'static {
    /// A future that is ready at this moment.
    fn sleep_until(&self, due: Instant) -> impl Future<Output = ()> + Send + 'static + use<Self>;
}

/// The time driver of the runtime. Its timers always have a tick of a millisecond.
#[derive(Clone)]
pub(crate) struct TokioTime;

impl SleepSource for TokioTime {
    fn sleep_until(&self, due: Instant) -> impl Future<Output = ()> + Send + 'static + use<> {
        // Created inside the task, because it looks there for its runtime.
        async move { tokio::time::sleep_until(due.into()).await }
    }
}

/// Our service, which lives as long as there are tasks.
#[derive(Clone)]
pub(crate) struct ServiceTime {
    _service: Arc<Service>,
    timers: wheelhouse_service::Handle,
    clock: MonotonicClock,
}

impl SleepSource for ServiceTime {
    fn sleep_until(&self, due: Instant) -> impl Future<Output = ()> + Send + 'static + use<> {
        let sleep = self.timers.sleep_until(self.clock.moment(due));
        // Stopping the service ends the tasks too.
        async move { sleep.await.unwrap_or_default() }
    }
}

/// A runtime, used from threads outside of it.
pub(crate) struct Tasks<S> {
    sleep_source: S,
    handle: Handle,
    runs: Runs,
    sessions: Sessions,
}

/// The threads that run the runtime.
enum Runs {
    /// Its own threads.
    OnMany(Runtime),
    /// A dedicated thread, until the sender tells it to end.
    OnOne(oneshot::Sender<()>, JoinHandle<()>),
}

impl Tasks<TokioTime> {
    /// The runtime of `#[tokio::main]`: a worker for each processor.
    pub(crate) fn many_threads() -> Result<Self> {
        Self::on_many(TokioTime, Builder::new_multi_thread().enable_time().build()?)
    }

    /// The runtime that runs on one thread.
    pub(crate) fn one_thread() -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let run = move || drop(runtime.block_on(ended));
        let thread = start_thread("tokio-one", run)?;
        let runs = Runs::OnOne(end, thread);
        Ok(Self { sleep_source: TokioTime, handle, runs, sessions: Sessions::new() })
    }
}

impl Tasks<ServiceTime> {
    /// A runtime without its own timers, next to a service.
    pub(crate) fn on_service() -> Result<Self> {
        let clock = MonotonicClock::new();
        let service = Service::builder().clock(clock).start()?;
        let timers = service.handle();
        let sleep_source = ServiceTime { _service: Arc::new(service), timers, clock };
        Self::on_many(sleep_source, Builder::new_multi_thread().build()?)
    }
}

impl<S: SleepSource> Tasks<S> {
    fn on_many(sleep_source: S, runtime: Runtime) -> Result<Self> {
        let handle = runtime.handle().clone();
        Ok(Self { sleep_source, handle, runs: Runs::OnMany(runtime), sessions: Sessions::new() })
    }
}

impl<S: SleepSource> Facility for Tasks<S> {
    type Handle = task::JoinHandle<()>;
    type Session = Deadline;

    fn schedule(&self, due: Instant, job: Job) -> Option<Self::Handle> {
        let sleep = self.sleep_source.sleep_until(due);
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
        let (deadline, sleep_source) = (self.sessions.deadline(due), self.sleep_source.clone());
        let sleep_until = move |due| sleep_source.sleep_until(due);
        self.handle.spawn(self.sessions.expire(sleep_until, Arc::clone(&deadline), job));
        Some(deadline)
    }

    fn refresh(&self, session: &Deadline, due: Instant) -> Answer {
        self.sessions.refresh(session, due)
    }

    fn every(&self, first: Instant, period: Duration, job: PeriodicJob) -> bool {
        let sleep_source = self.sleep_source.clone();
        let sleep_until = move |due| sleep_source.sleep_until(due);
        self.handle.spawn(run_again(sleep_until, first, period, job));
        true
    }

    fn settle(&self, pending: usize) -> Result<()> {
        wait_for_marker(|done| {
            self.handle.spawn(async move { done.send(()).unwrap_or_default() });
            true
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
        match self.runs {
            Runs::OnMany(runtime) => drop(runtime),
            Runs::OnOne(end, thread) => {
                end.send(()).unwrap_or_default();
                join(thread);
            }
        }
    }
}
