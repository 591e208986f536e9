//! Counters, distributions and events.

mod stats;

pub(crate) use stats::{Counters, count};
pub use stats::{Counts, KindSnapshot, Snapshot, Summary};

use crate::store::{Entry, Key, Kind, StoreError};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_service::internal::guarded;

pub(crate) type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Counts and reports the events of a shard.
pub(crate) struct Reporter {
    /// Shared by all shards.
    pub(crate) counters: Arc<Counters>,
    pub(crate) observer: Option<Observer>,
    /// The name of the store for reports. `None` if there is only one store.
    pub(crate) store_name: Option<String>,
}

impl Reporter {
    /// Counts and reports that the store has failed.
    pub(crate) fn report_failure(&self, error: &StoreError) {
        count(&self.counters.others.counts.store_errors);
        let error = match &self.store_name {
            Some(name) => format!("{name}: {error}"),
            None => error.to_string(),
        };
        self.report(None, EventKind::StoreFailed(error));
    }

    /// Counts and reports an event of a job.
    pub(crate) fn job(&self, job: &JobName, kind: EventKind) {
        let counts = &self.counters.of(&job.kind).counts;
        match kind {
            EventKind::Failed(..) => count(&counts.retried),
            EventKind::Dead(_) => count(&counts.dead),
            EventKind::GaveUp(_) => count(&counts.given_up),
            EventKind::Skipped => count(&counts.skipped),
            EventKind::Superseded => count(&counts.superseded),
            EventKind::LeaseLost => count(&counts.leases_lost),
            EventKind::Slow(_) => count(&counts.slow),
            EventKind::TimedOut(_) => count(&counts.timed_out),
            _ => {}
        }
        self.report(Some(job.clone()), kind);
    }

    /// Reports an event to the callback, and by `tracing`.
    pub(crate) fn report(&self, job: Option<JobName>, kind: EventKind) {
        let event = Event { job, kind };
        #[cfg(feature = "tracing")]
        tracing::warn!("{event}");
        if let Some(observer) = &self.observer {
            // A callback that panics must not end the thread it is called on.
            guarded(|| observer(&event)).unwrap_or_default();
        }
    }
}

/// A failure. It is reported to the callback of [`on_event`](crate::Builder::on_event), counted,
/// and with the feature `tracing` emitted as a warning.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The job, if the event is about a job.
    pub job: Option<JobName>,
    /// What happened.
    pub kind: EventKind,
}

/// One attempt at one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobName {
    /// The key of the job.
    pub key: Key,
    /// The kind of the job, which names its handler.
    pub kind: Kind,
    /// The number of this scheduling.
    pub generation: u64,
    /// The number of the occurrence, from 0.
    pub occurrence: u64,
    /// The number of the attempt.
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
    /// The handler failed or panicked, with this message; the job is retried after this time.
    Failed(String, Duration),
    /// The job is a dead letter now, for this reason.
    Dead(String),
    /// An occurrence of a periodic job was given up, for this reason; the job continues with the
    /// next.
    GaveUp(String),
    /// The run was too late and was skipped, by [`Late::Skip`](crate::Late::Skip).
    Skipped,
    /// The ack of a run that succeeded was refused: another program has the job, or has ended
    /// it. The effects of the run take place twice, unless they are idempotent. An ack that was
    /// repeated until its lease had run out is refused too if an earlier try has ended the job.
    Superseded,
    /// The lease has run out and another program has the job, while the run continues or waits.
    LeaseLost,
    /// The handler has been working for this time, which is longer than
    /// [`slow_after`](crate::Builder::slow_after), and has not returned. Reported once for a run.
    StillRunning(Duration),
    /// The handler returned after this time, longer than
    /// [`slow_after`](crate::Builder::slow_after).
    Slow(Duration),
    /// The handler has reached its [limit](crate::Builder::limit), this time, and has not returned.
    /// The future of an async handler is dropped, which counts as a failure. Any other handler
    /// keeps running; its lease is not renewed, so another worker takes the job over.
    TimedOut(Duration),
    /// The executor of [`Builder::spawn_on`](crate::Builder::spawn_on) dropped the run before its
    /// handler was called. The job is released and is due again after this time.
    Dropped(Duration),
    /// The job's policy has a part that this program does not know, because a newer version has
    /// written it, or a time zone that this machine does not have. The job waits for a program
    /// that knows it, and is claimed again after a second, or after as much as it is late, at most
    /// a minute. Reported when the job is due, and then once a minute.
    NotUnderstood,
    /// The store refused the end of the run for good, with this message. When the lease has run
    /// out, there is another attempt.
    EndRefused(String),
    /// Jobs of this kind are due, and this program has no handler for it.
    UnknownKind(Kind),
    /// The store failed, with this message; the call is repeated.
    StoreFailed(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.job.iter().try_for_each(|job| write!(f, "{job} "))?;
        match &self.kind {
            EventKind::Failed(why, wait) => {
                write!(f, "failed and is retried after {wait:?}: {why}")
            }
            EventKind::Dead(why) => write!(f, "is a dead letter: {why}"),
            EventKind::GaveUp(why) => {
                write!(f, "was given up for this occurrence and continues with the next: {why}")
            }
            EventKind::Skipped => f.write_str("was too late and was skipped"),
            EventKind::Superseded => f.write_str(
                "ended after another worker had taken the job over: if the machine stalled, raise \
                 `visibility_timeout`",
            ),
            EventKind::LeaseLost => f.write_str("lost its lease to another worker"),
            EventKind::StillRunning(time) => write!(
                f,
                "has been running for {time:?} and, unless it is async, occupies a worker: set a \
                 `limit`, or raise `slow_after`"
            ),
            EventKind::Slow(took) => {
                write!(f, "took {took:?}: add workers by `Builder::workers`, or raise `slow_after`")
            }
            EventKind::TimedOut(limit) => write!(
                f,
                "has reached its limit of {limit:?}: an async run is dropped and retried; any \
                 other run keeps its worker, and another worker takes the job over after its lease"
            ),
            EventKind::Dropped(wait) => write!(
                f,
                "did not begin: the executor dropped the run, so it is due again after {wait:?}; \
                 check that the runtime that `spawn_on` uses is running"
            ),
            EventKind::NotUnderstood => f.write_str(
                "waits: its policy was written by a newer version, or names a time zone that this \
                 machine does not have",
            ),
            EventKind::UnknownKind(kind) => {
                write!(
                    f,
                    "jobs of the kind '{kind}' are due, and this program has no handler for it: \
                     add one by `Handlers::on`, or leave the jobs to another program"
                )
            }
            EventKind::EndRefused(why) => {
                write!(f, "has ended, but the store refuses its end, so it will run again: {why}")
            }
            EventKind::StoreFailed(why) => write!(f, "the store failed: {why}"),
        }
    }
}
