//! tokio's time driver: each job is a task that sleeps until its time.

use crate::facility::{Answer, Facility, wait_for_marker, wait_until};
use crate::ledger::Job;
use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task;
use tokio::time::sleep_until;

/// A runtime, used from threads outside of it.
#[derive(Debug)]
pub struct TokioSleep {
    handle: Handle,
    runs: Runs,
    origin: Instant,
}

/// Where the runtime runs.
#[derive(Debug)]
enum Runs {
    /// On its own threads.
    OnMany(Runtime),
    /// On a thread of ours, until told to end.
    OnOne(oneshot::Sender<()>, JoinHandle<()>),
}

impl TokioSleep {
    /// The runtime of `#[tokio::main]`: a worker for each processor. Its timers have a tick of a
    /// millisecond, whatever is asked for.
    ///
    /// # Errors
    ///
    /// If threads cannot be started.
    pub fn many_threads(_: Duration) -> Result<Self> {
        let runtime = Builder::new_multi_thread().enable_time().build()?;
        Ok(Self {
            handle: runtime.handle().clone(),
            runs: Runs::OnMany(runtime),
            origin: Instant::now(),
        })
    }

    /// The runtime that runs on one thread.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn one_thread(_: Duration) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let run = move || drop(runtime.block_on(ended));
        let thread = thread::Builder::new()
            .name("tokio-one".to_owned())
            .spawn(run)
            .context("cannot start a thread")?;
        Ok(Self { handle, runs: Runs::OnOne(end, thread), origin: Instant::now() })
    }

    fn nanos(&self, due: Instant) -> u64 {
        due.saturating_duration_since(self.origin).as_nanos() as u64
    }
}

/// The deadline of a session, in nanoseconds; [`OVER`] when it has expired.
type Deadline = Arc<AtomicU64>;

const OVER: u64 = u64::MAX;

/// Sleeps until the deadline that it finds when it wakes is past: a refresh is a write, and wakes
/// nobody.
async fn expire(origin: Instant, deadline: Deadline, job: Job) {
    let mut due = deadline.load(Ordering::Acquire);
    loop {
        sleep_until((origin + Duration::from_nanos(due)).into()).await;
        match deadline.compare_exchange(due, OVER, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return job.run(),
            Err(later) => due = later,
        }
    }
}

impl Facility for TokioSleep {
    type Handle = task::JoinHandle<()>;
    type Session = Deadline;

    fn schedule(&self, due: Instant, job: Job) -> Option<Self::Handle> {
        Some(self.handle.spawn(async move {
            sleep_until(due.into()).await;
            job.run();
        }))
    }

    fn cancel(&self, handle: Self::Handle) -> Answer {
        handle.abort();
        Answer::Sent
    }

    fn open(&self, due: Instant, job: Job) -> Option<Deadline> {
        let deadline = Arc::new(AtomicU64::new(self.nanos(due)));
        self.handle.spawn(expire(self.origin, Arc::clone(&deadline), job));
        Some(deadline)
    }

    fn refresh(&self, session: &Deadline, due: Instant) -> Answer {
        let due = self.nanos(due);
        let later = |deadline| (deadline != OVER).then_some(due);
        match session.fetch_update(Ordering::AcqRel, Ordering::Acquire, later) {
            Ok(_) => Answer::Done,
            Err(_) => Answer::TooLate,
        }
    }

    fn settle(&self, pending: usize) -> Result<()> {
        wait_for_marker(|done| {
            self.handle.spawn(async move { done.send(()).unwrap_or_default() });
            true
        })?;
        // What was aborted is gone when its task is; several workers may be at that, in any order.
        let metrics = self.handle.metrics();
        wait_until("tasks that were aborted are still there", || {
            metrics.num_alive_tasks() <= pending
        })?;
        // A task that has not been polled has no timer. It waits in the runtime's queue or in that
        // of a worker, and a worker parks when it has found nothing in any. (The number of parkings
        // is odd while it is parked; it is written before the worker takes anything from the queue,
        // so that it is to be read after the length of that.)
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
                // A panic of that thread was printed by it.
                thread.join().unwrap_or_default();
            }
        }
    }
}
