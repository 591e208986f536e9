//! Where closures run: on the thread that drives, or wherever the user says.

use super::due_run::DueRun;

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

/// Where closures run.
pub(crate) enum Runner {
    /// On the thread that drives.
    Here,
    Custom(Box<dyn Executor>),
}

impl Runner {
    pub(crate) fn is_here(&self) -> bool {
        matches!(self, Self::Here)
    }
}
