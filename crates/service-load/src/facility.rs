//! What is put under load.

use crate::ledger::Job;
use anyhow::{Result, ensure};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a facility says to a cancellation or a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done: the job does not run, or not before its new time.
    Done,
    /// Too late: it has run, or is about to.
    TooLate,
    /// The request is on its way, and nobody will tell what came of it.
    Sent,
}

/// A running timer facility: jobs are given to it from any thread, and it runs each at its time or later.
pub trait Facility: Sync + Sized {
    /// By which a job is cancelled.
    type Handle: Send;
    /// By which a job is moved to a later time, again and again. A facility may keep such a job in another way.
    type Session: Send;

    /// Schedules a job. `None` if it was refused.
    fn schedule(&self, due: Instant, job: Job) -> Option<Self::Handle>;

    /// Cancels a job.
    fn cancel(&self, handle: Self::Handle) -> Answer;

    /// Schedules a job that will be refreshed. `None` if it was refused.
    fn open(&self, due: Instant, job: Job) -> Option<Self::Session>;

    /// Moves a job to a later time.
    fn refresh(&self, session: &Self::Session, due: Instant) -> Answer;

    /// Returns when all that was given before the call has been taken in, with `pending` jobs left: so that nothing is
    /// counted that is still lying in a queue.
    ///
    /// # Errors
    ///
    /// If that does not come about within [`PATIENCE`].
    fn settle(&self, pending: usize) -> Result<()>;

    /// Ends it, and returns when its threads have ended. What is pending does not run.
    fn stop(self);
}

/// How long a facility may take to take in what it was given, before it is taken to hang.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Gives a facility a last message that says `done` when it is dealt with, and waits for that: what came before in the
/// same queue has been dealt with then too.
pub(crate) fn wait_for_marker(send: impl FnOnce(mpsc::Sender<()>) -> bool) -> Result<()> {
    let (done, wait) = mpsc::channel();
    ensure!(send(done), "the facility refuses jobs");
    ensure!(
        wait.recv_timeout(PATIENCE).is_ok(),
        "the facility did not deal with what it was given within {PATIENCE:?}"
    );
    Ok(())
}
