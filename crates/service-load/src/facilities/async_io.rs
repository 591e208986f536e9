//! async-io's timers: each job is a task of async-executor that waits for a `Timer`.

use super::tasks::{Deadline, Sessions, run_again};
use crate::facility::{Answer, Facility, join, start_thread, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use async_executor::{Executor, Task};
use async_io::Timer;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// An executor on its own thread, which waits in async-io's reactor.
pub(crate) struct AsyncIo {
    executor: Arc<Executor<'static>>,
    /// Each existing task holds a reference.
    alive: Arc<()>,
    sessions: Sessions,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// A task that continues if this is dropped.
pub(crate) struct Waiting(Option<Task<()>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Task::detach);
    }
}

impl AsyncIo {
    pub(crate) fn start() -> Result<Self> {
        let executor = Arc::new(Executor::new());
        let (end, ended) = oneshot::channel();
        let its = Arc::clone(&executor);
        let run = move || drop(async_io::block_on(its.run(ended)));
        let thread = start_thread("async-io-tasks", run)?;
        Ok(Self { executor, alive: Arc::new(()), sessions: Sessions::new(), end, thread })
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Waiting {
        let alive = Arc::clone(&self.alive);
        Waiting(Some(self.executor.spawn(async move {
            task.await;
            drop(alive);
        })))
    }
}

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
        // Dropping a task cancels it.
        drop(handle.0.take());
        Answer::Sent
    }

    fn open(&self, due: Instant, job: Job) -> Option<Deadline> {
        let deadline = self.sessions.deadline(due);
        self.spawn(self.sessions.expire(Timer::at, Arc::clone(&deadline), job));
        Some(deadline)
    }

    fn refresh(&self, session: &Deadline, due: Instant) -> Answer {
        self.sessions.refresh(session, due)
    }

    fn every(&self, first: Instant, period: Duration, job: PeriodicJob) -> bool {
        self.spawn(run_again(Timer::at, first, period, job));
        true
    }

    fn settle(&self, pending: usize) -> Result<()> {
        // The executor's queue is in order: what was spawned or cancelled before the marker is
        // processed first.
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
        join(self.thread);
    }
}
