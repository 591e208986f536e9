//! What a program should hear of that no call could tell it.

use crate::store::{Entry, Key, Kind};
use std::fmt;
use std::time::Duration;

/// Something that went wrong, reported to the callback of [`Builder::on_event`], counted, and with
/// the feature `tracing` emitted as a warning.
///
/// [`Builder::on_event`]: crate::Builder::on_event
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The job, if it is about one.
    pub job: Option<JobName>,
    /// What happened.
    pub kind: EventKind,
}

/// Which attempt at which job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobName {
    /// Its key.
    pub key: Key,
    /// Which handler runs it.
    pub kind: Kind,
    /// Which scheduling.
    pub generation: u64,
    /// Which occurrence.
    pub occurrence: u64,
    /// Which attempt.
    pub attempt: u32,
}

impl JobName {
    pub(crate) fn of(job: &Entry) -> Self {
        let (key, kind) = (job.key.clone(), job.kind.clone());
        let (generation, occurrence, attempt) = (job.generation, job.occurrence, job.attempt);
        Self { key, kind, generation, occurrence, attempt }
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, kind, generation, attempt, .. } = self;
        write!(f, "{kind} '{key}' (generation {generation}, attempt {attempt})")
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The handler failed or panicked, with this message; the job is tried again after this time.
    Failed(String, Duration),
    /// The job is a dead letter now, for this reason.
    Dead(String),
    /// An occurrence of a periodic job was given up, for this reason; the job goes on with the
    /// next.
    GaveUp(String),
    /// The run came too late and was left out, by [`Late::Skip`](crate::Late::Skip).
    Skipped,
    /// The ack of a run that succeeded was refused: another program has the job, or has ended
    /// it. The effects of the run take place twice, unless they are idempotent.
    Superseded,
    /// The lease has run out and another program has the job, while the run continues or waits.
    LeaseLost,
    /// The handler has been working for that time: longer than
    /// [`Builder::slow_after`](crate::Builder::slow_after), and it continues. Reported once for a
    /// run.
    StillRunning(Duration),
    /// The handler took that long: longer than [`Builder::slow_after`](crate::Builder::slow_after).
    /// Reported when it ends.
    Slow(Duration),
    /// The handler has been working for as long as its [limit](crate::Builder::limit). The future
    /// of an async handler is dropped, which is a failure. Any other handler continues; its lease
    /// is not renewed, so that another worker takes the job over.
    TimedOut(Duration),
    /// The job's policy has something that this program does not know, which a newer version has
    /// written, or a time zone that this machine does not have: it waits for who knows it.
    NotUnderstood,
    /// The store refused the end of the run for good, with this message: when the lease has run
    /// out, there is another attempt.
    EndRefused(String),
    /// Jobs of this kind are due, and this program has no handler for it.
    UnknownKind(Kind),
    /// The store failed, with this message; it is asked again.
    StoreFailed(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.job.iter().try_for_each(|job| write!(f, "{job} "))?;
        match &self.kind {
            EventKind::Failed(why, wait) => {
                write!(f, "failed and is tried again after {wait:?}: {why}")
            }
            EventKind::Dead(why) => write!(f, "is a dead letter: {why}"),
            EventKind::GaveUp(why) => {
                write!(f, "was given up for this time and goes on with the next: {why}")
            }
            EventKind::Skipped => f.write_str("came too late and was left out"),
            EventKind::Superseded => f.write_str(
                "ended after somebody else had taken the job over: raise `visibility_timeout` if \
                 machines stall for so long",
            ),
            EventKind::LeaseLost => f.write_str("has lost its lease; another program has the job"),
            EventKind::StillRunning(time) => write!(
                f,
                "has been running for {time:?}, in a worker unless it is async: set a `limit`, or \
                 raise `slow_after`"
            ),
            EventKind::Slow(took) => write!(
                f,
                "took {took:?}: have more workers by `Builder::workers`, or raise `slow_after`"
            ),
            EventKind::TimedOut(limit) => write!(
                f,
                "has reached its limit of {limit:?}: if it is async it is dropped and retried; \
                 otherwise it keeps its worker, and another takes the job over after its lease"
            ),
            EventKind::NotUnderstood => f.write_str(
                "has a policy that is not known here, of a newer version or with a time zone that \
                 this machine does not have: it waits",
            ),
            EventKind::UnknownKind(kind) => {
                write!(
                    f,
                    "jobs of the kind '{kind}' are due and wait, as this program has no handler \
                     for it: add one by `Handlers::on`, or leave them to another program"
                )
            }
            EventKind::EndRefused(why) => {
                write!(f, "has ended, which the store refuses, and is attempted again: {why}")
            }
            EventKind::StoreFailed(why) => write!(f, "the store failed: {why}"),
        }
    }
}
