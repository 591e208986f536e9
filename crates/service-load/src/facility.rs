//! What is put under load.

use crate::ledger::{Beat, Job};
use anyhow::{Context, Result, ensure};
use std::sync::mpsc;
use std::thread;
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

/// A running timer facility: jobs are given to it from any thread, and it runs each at its time or
/// later.
pub trait Facility: Sync + Sized {
    /// By which a job is cancelled.
    type Handle: Send;
    /// By which a job is moved to a later time, again and again. A facility may keep such a job in
    /// another way.
    type Session: Send;

    /// Schedules a job. `None` if it was refused.
    fn schedule(&self, due: Instant, job: Job) -> Option<Self::Handle>;

    /// Cancels a job.
    fn cancel(&self, handle: Self::Handle) -> Answer;

    /// Schedules a job that will be refreshed. `None` if it was refused.
    fn open(&self, due: Instant, job: Job) -> Option<Self::Session>;

    /// Moves a job to a later time.
    fn refresh(&self, session: &Self::Session, due: Instant) -> Answer;

    /// Runs a job at this moment and then after each period, as often as is left of it. Whether it
    /// was taken.
    fn every(&self, first: Instant, period: Duration, beat: Beat) -> bool;

    /// Returns when all that was given before the call has been taken in, with `pending` jobs left:
    /// so that nothing is counted that is still lying in a queue. The clock runs: nothing is done
    /// here that only serves to find faults.
    ///
    /// # Errors
    ///
    /// If that does not come about within [`PATIENCE`].
    fn settle(&self, pending: usize) -> Result<()>;

    /// How many jobs it has that are neither over nor cancelled, by its own account. Called when it
    /// has settled, and no clock runs.
    ///
    /// # Errors
    ///
    /// If it does not answer within [`PATIENCE`].
    fn count(&self) -> Result<usize>;

    /// Ends it, and returns when its threads have ended. What is pending does not run.
    fn stop(self);
}

/// How long a facility may take to take in what it was given, before it is taken to hang.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// How often it is looked whether something has come about without sleeping: most does within
/// microseconds, and who is looked at is not to have the nap in its backlog.
const LOOKS: u32 = 100;

/// And then so often.
const LOOK: Duration = Duration::from_micros(200);

/// Gives a facility a last message that says `done` when it is dealt with, and waits for that: what
/// came before in the same queue has been dealt with then too. What was said.
pub(crate) fn wait_for_marker<T>(send: impl FnOnce(mpsc::Sender<T>) -> bool) -> Result<T> {
    let (done, wait) = mpsc::channel();
    ensure!(send(done), "the facility refuses jobs");
    wait.recv_timeout(PATIENCE).with_context(|| {
        format!("the facility did not deal with what it was given within {PATIENCE:?}")
    })
}

/// Waits until this has come about.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<()> {
    let begin = Instant::now();
    let mut looks = 0;
    while !is_so() {
        ensure!(begin.elapsed() < PATIENCE, "{what} after {PATIENCE:?}");
        if looks < LOOKS {
            thread::yield_now()
        } else {
            thread::sleep(LOOK)
        }
        looks += 1;
    }
    Ok(())
}
