//! async-io's timers: each job is a task of async-executor that waits for a `Timer`.

use crate::facility::{Answer, Facility, wait_for_marker, wait_until};
use crate::ledger::{Beat, Job};
use anyhow::{Context, Result};
use async_executor::{Executor, Task};
use async_io::Timer;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// An executor on a thread of its own, which waits in async-io's reactor.
#[derive(Debug)]
pub struct AsyncIo {
    executor: Arc<Executor<'static>>,
    /// A reference in each task that is there.
    alive: Arc<()>,
    origin: Instant,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// A task that goes on if nobody keeps this.
#[derive(Debug)]
pub struct Waiting(Option<Task<()>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Task::detach);
    }
}

impl AsyncIo {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start() -> Result<Self> {
        let executor = Arc::new(Executor::new());
        let (end, ended) = oneshot::channel();
        let its = Arc::clone(&executor);
        let run = move || drop(async_io::block_on(its.run(ended)));
        let thread = thread::Builder::new()
            .name("async-io-tasks".to_owned())
            .spawn(run)
            .context("cannot start a thread")?;
        Ok(Self { executor, alive: Arc::new(()), origin: Instant::now(), end, thread })
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Waiting {
        let alive = Arc::clone(&self.alive);
        Waiting(Some(self.executor.spawn(async move {
            task.await;
            drop(alive);
        })))
    }

    fn nanos(&self, due: Instant) -> u64 {
        due.saturating_duration_since(self.origin).as_nanos() as u64
    }
}

/// The deadline of a session, in nanoseconds; [`OVER`] when it has expired.
type Deadline = Arc<AtomicU64>;

const OVER: u64 = u64::MAX;

impl Facility for AsyncIo {
    type Handle = Waiting;
    type Session = Deadline;

    fn schedule(&self, due: Instant, job: Job) -> Option<Waiting> {
        Some(self.spawn(async move {
            Timer::at(due).await;
            job.run();
        }))
    }

    fn cancel(&self, mut handle: Waiting) -> Answer {
        // A task that is dropped is cancelled.
        drop(handle.0.take());
        Answer::Sent
    }

    fn open(&self, due: Instant, job: Job) -> Option<Deadline> {
        let (deadline, origin) = (Arc::new(AtomicU64::new(self.nanos(due))), self.origin);
        let its = Arc::clone(&deadline);
        // As with tokio: a refresh is a write and wakes nobody.
        self.spawn(async move {
            let mut due = its.load(Ordering::Acquire);
            loop {
                Timer::at(origin + Duration::from_nanos(due)).await;
                match its.compare_exchange(due, OVER, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return job.run(),
                    Err(later) => due = later,
                }
            }
        });
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

    fn every(&self, first: Instant, period: Duration, mut beat: Beat) -> bool {
        self.spawn(async move {
            let mut next = first;
            while beat.left() > 0 {
                Timer::at(next).await;
                beat.run();
                next += period;
            }
        });
        true
    }

    fn settle(&self, pending: usize) -> Result<()> {
        // The queue is in order: what was spawned or cancelled before is dealt with before.
        wait_for_marker(|done| {
            drop(self.spawn(async move { done.send(()).unwrap_or_default() }));
            true
        })?;
        wait_until("tasks are still there", || self.count().is_ok_and(|left| left <= pending))
    }

    fn count(&self) -> Result<usize> {
        Ok(Arc::strong_count(&self.alive) - 1)
    }

    fn stop(self) {
        self.end.send(()).unwrap_or_default();
        // A panic of that thread was printed by it.
        self.thread.join().unwrap_or_default();
    }
}
