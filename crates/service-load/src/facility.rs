//! The interface of a timer facility under load.

use crate::ledger::{Job, PeriodicJob};
use anyhow::{Context, Result, ensure};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A facility's answer to a cancellation or a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done: the job does not run, or not before its new time.
    Done,
    /// Too late: the job has run, or is about to.
    TooLate,
    /// The request was sent. The facility does not report whether it came in time.
    Sent,
}

/// A running timer facility. Any thread can give it jobs, and it runs each at its time or later.
pub trait Facility: Sync + Sized {
    /// The handle by which a job is cancelled.
    type Handle: Send;
    /// The handle by which a job is moved to a later time, any number of times. A facility may
    /// store such a job differently.
    type Session: Send;

    /// Schedules a job. Returns `None` if the job was refused.
    fn schedule(&self, due: Instant, job: Job) -> Option<Self::Handle>;

    /// Cancels a job.
    fn cancel(&self, handle: Self::Handle) -> Answer;

    /// Schedules a job that will be refreshed. Returns `None` if the job was refused.
    fn open(&self, due: Instant, job: Job) -> Option<Self::Session>;

    /// Moves a job to a later time.
    fn refresh(&self, session: &Self::Session, due: Instant) -> Answer;

    /// Runs a job at this moment and then after each period, until it has no run left.
    /// Returns `true` if the job was accepted.
    fn every(&self, first: Instant, period: Duration, job: PeriodicJob) -> bool;

    /// Waits until all calls made so far have been processed and `pending` jobs are left, so that
    /// work in a queue is not missed. The clock is running, so this does nothing that only serves
    /// to find faults.
    ///
    /// # Errors
    ///
    /// If this takes longer than [`PATIENCE`].
    fn settle(&self, pending: usize) -> Result<()>;

    /// The facility's own count of jobs that are neither over nor cancelled. Called after
    /// [`settle`](Self::settle), while no clock is running.
    ///
    /// # Errors
    ///
    /// If it does not answer within [`PATIENCE`].
    fn count(&self) -> Result<usize>;

    /// Stops the facility and waits for its threads to end. Pending jobs do not run.
    fn stop(self);
}

pub(crate) fn start_thread(
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(run).context("cannot start a thread")
}

/// Waits for a thread to end. If it panicked, it has printed the panic.
pub(crate) fn join(thread: JoinHandle<()>) {
    thread.join().unwrap_or_default();
}

/// How long a facility may take to process its calls before it is assumed to hang.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// How often a condition is polled without sleeping. Most become true within microseconds, and a
/// sleep would be measured as backlog of the facility.
const POLLS_WITHOUT_SLEEP: u32 = 100;

/// The sleep between later polls.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Sends a facility a last message, which sends on the channel when it is processed, and waits for
/// that. Earlier messages in the same queue have then been processed too. Returns what was sent.
/// Fails at once if `send` returns `false`: the facility refused the message.
pub(crate) fn wait_for_marker<T>(send: impl FnOnce(mpsc::Sender<T>) -> bool) -> Result<T> {
    let (done, wait) = mpsc::channel();
    ensure!(send(done), "the facility refuses jobs");
    wait.recv_timeout(PATIENCE)
        .with_context(|| format!("the facility did not process its calls within {PATIENCE:?}"))
}

/// Waits until the condition is true.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Result<()> {
    let begin = Instant::now();
    let mut polls = 0;
    while !is_so() {
        ensure!(begin.elapsed() < PATIENCE, "{what} after {PATIENCE:?}");
        if polls < POLLS_WITHOUT_SLEEP {
            thread::yield_now()
        } else {
            thread::sleep(POLL_INTERVAL)
        }
        polls += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_that_is_refused_fails_at_once() {
        // The sender is not dropped, so without the check this would wait.
        let mut kept = None;
        let refused = wait_for_marker::<()>(|done| {
            kept = Some(done);
            false
        });
        assert_eq!(refused.unwrap_err().to_string(), "the facility refuses jobs");
    }
}
