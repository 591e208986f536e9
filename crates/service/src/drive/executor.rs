//! Where jobs run: on the driving thread, on workers, or wherever the user says.

use super::due_run::DueRun;
use crate::BuildError;
use crate::guard::guarded;
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Mutex, Sender, unbounded};

/// Carries out runs, on threads of its own. A closure is one too.
///
/// [`execute`](Self::execute) is called by the driver and must return soon, as nothing else comes
/// due meanwhile. It may drop a run that it has no room for: that is reported, and harms no other
/// job.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::{DueRun, Service};
///
/// // A thread for each run; a thread pool has the same shape.
/// let on_a_thread = |run: DueRun| drop(std::thread::spawn(|| run.run()));
/// let service = Service::builder().executor(on_a_thread).start()?;
/// # drop(service);
/// # Ok::<(), wheelhouse_service::BuildError>(())
/// ```
pub trait Executor: Send + Sync {
    /// Takes a run, and calls [`DueRun::run`] on some thread, soon.
    ///
    /// While it holds the run, it must not stop the service by [`Stop::Wait`](crate::Stop::Wait),
    /// which waits for runs that were handed out, this one too: until it is carried out or dropped,
    /// and that nobody does meanwhile. It may when it has carried out the run, dropped it or handed
    /// it on; and at any time by [`Stop::Now`](crate::Stop::Now), or by
    /// [`Stop::WaitFor`](crate::Stop::WaitFor), which comes to an end: the job of the run is then
    /// given back.
    fn execute(&self, run: DueRun);
}

impl<F: Fn(DueRun) + Send + Sync> Executor for F {
    fn execute(&self, run: DueRun) {
        self(run);
    }
}

/// Where the jobs of a scheduler run.
pub(crate) enum Runner {
    Inline,
    Workers(Pool),
    Custom(Box<dyn Executor>),
}

impl Runner {
    /// Whether all runs are for the driving thread.
    pub(crate) fn is_inline(&self) -> bool {
        matches!(self, Self::Inline)
    }

    /// Has a run carried out elsewhere.
    pub(crate) fn launch(&self, run: DueRun) {
        match self {
            Self::Inline => run.run(),
            Self::Workers(pool) => pool.execute(run),
            // If it panics, the run is dropped and reported; the driver goes on.
            Self::Custom(executor) => guarded(|| executor.execute(run)).unwrap_or_default(),
        }
    }

    /// Whether a run that was handed out may begin while so many others do not end.
    pub(crate) fn may_begin_one_beside(&self, others: usize) -> bool {
        match self {
            Self::Inline => false,
            Self::Workers(pool) => others < pool.workers,
            Self::Custom(_) => true,
        }
    }

    /// Ends the workers when they have carried out what they were given. Waits for that if asked
    /// to.
    pub(crate) fn close(&self, wait: bool) {
        if let Self::Workers(pool) = self {
            pool.queue.lock().take();
            let threads = std::mem::take(&mut *pool.threads.lock());
            if wait {
                threads.into_iter().for_each(join);
            }
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.close(true);
    }
}

/// Waits for a thread, unless it is this one: a job may be what drops the service that runs it.
pub(crate) fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != thread::current().id() {
        // It does not panic: what users gave is run guarded.
        thread.join().unwrap_or_default();
    }
}

/// Threads that carry out runs in the order in which they came due, each the next as soon as it has
/// ended the one before.
pub(crate) struct Pool {
    /// Without a bound, so that the driver never waits for a worker. `None` when closed.
    queue: Mutex<Option<Sender<DueRun>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    workers: usize,
}

impl Pool {
    pub(crate) fn new(workers: usize) -> Result<Self, BuildError> {
        if workers == 0 {
            return Err(BuildError::NoWorkers);
        }
        let (queue, runs) = unbounded::<DueRun>();
        let mut threads = Vec::with_capacity(workers);
        for number in 1..=workers {
            let runs = runs.clone();
            let worker = move || {
                while let Ok(run) = runs.recv() {
                    run.run();
                }
            };
            threads.push(
                thread::Builder::new().name(format!("wheelhouse-worker-{number}")).spawn(worker)?,
            );
        }
        Ok(Self { queue: Mutex::new(Some(queue)), threads: Mutex::new(threads), workers })
    }

    fn execute(&self, run: DueRun) {
        let queue = self.queue.lock();
        let unsent = match &*queue {
            Some(queue) => queue.send(run).map_err(Some),
            None => Err(None),
        };
        drop(queue);
        // Closed, or without workers: the run comes back, is dropped without the lock, and is
        // reported by that.
        drop(unsent);
    }
}
