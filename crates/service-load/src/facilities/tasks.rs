//! A task for each job on a tokio runtime. It sleeps until its time by tokio's own time driver, or
//! by our service. Sessions and periodic jobs are for all facilities with a task for each job.

use crate::facility::{Answer, Facility, join, start_thread, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task;
use wheelhouse_service::{MonotonicClock, Service};

/// The deadline of a session, in nanoseconds; [`OVER`] after it has expired.
pub(super) type Deadline = Arc<AtomicU64>;

const OVER: u64 = u64::MAX;

/// Sessions whose deadlines count from a moment. A refresh is one write and wakes no task: the task
/// checks its deadline when it wakes up.
#[derive(Clone, Copy)]
pub(super) struct Sessions {
    origin: Instant,
}

impl Sessions {
    pub(super) fn new() -> Self {
        Self { origin: Instant::now() }
    }

    fn nanos(self, due: Instant) -> u64 {
        due.saturating_duration_since(self.origin).as_nanos() as u64
    }

    pub(super) fn deadline(self, due: Instant) -> Deadline {
        Arc::new(AtomicU64::new(self.nanos(due)))
    }

    pub(super) fn refresh(self, deadline: &Deadline, due: Instant) -> Answer {
        let due = self.nanos(due);
        let later = |deadline| (deadline != OVER).then_some(due);
        match deadline.fetch_update(Ordering::AcqRel, Ordering::Acquire, later) {
            Ok(_) => Answer::Done,
            Err(_) => Answer::TooLate,
        }
    }

    /// Sleeps until the session's deadline, again if it was refreshed in the meantime, and runs the
    /// job.
    pub(super) async fn expire<F: Future>(
        self,
        sleep_until: impl Fn(Instant) -> F,
        deadline: Deadline,
        job: Job,
    ) {
        let mut due = deadline.load(Ordering::Acquire);
        loop {
            sleep_until(self.origin + Duration::from_nanos(due)).await;
            match deadline.compare_exchange(due, OVER, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return job.run(),
                Err(later) => due = later,
            }
        }
    }
}

/// Runs a job at this moment and then after each period.
pub(super) async fn run_again<F: Future>(
    sleep_until: impl Fn(Instant) -> F,
    mut next: Instant,
    period: Duration,
    mut job: PeriodicJob,
) {
    while job.left() > 0 {
        sleep_until(next).await;
        job.run();
        next += period;
    }
}

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
        (self.stop)();
    }
}
