//! What a program should hear of that no call could tell it.

use crate::JobHandle;
use std::fmt;
use std::time::Duration;

/// Something that went wrong in or around a run, reported to the callback of
/// [`Builder::on_event`](crate::Builder::on_event), counted, and with the feature `tracing` emitted
/// as a warning.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The job.
    pub job: JobHandle,
    /// What happened.
    pub kind: EventKind,
}

/// What happened to a job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A run panicked, with this message. Periodic jobs go on.
    Panicked(String),
    /// A run takes so long by now: longer than [`Builder::slow_after`](crate::Builder::slow_after)
    /// says, and it goes on. Told once for a run, a tick after that time or as soon as the driver
    /// looks; not where there is but one thread, which then is held up itself.
    StillRunning(Duration),
    /// A run took so long: longer than [`Builder::slow_after`](crate::Builder::slow_after) says.
    /// Told when it ends.
    Slow(Duration),
    /// The run of an async job was ended because it took as long as its
    /// [limit](crate::OneShot::limit). Periodic jobs go on.
    TimedOut(Duration),
    /// A run failed with this error, and is going to be [tried again](crate::OneShot::retry).
    Failed(String),
    /// A run failed with this error, and is not tried again. Of a job that is [tried
    /// again](crate::OneShot::retry) this is told after the last try, also if that panicked or
    /// reached its limit. Periodic jobs go on.
    GaveUp(String),
    /// The channel it was to send to was full, and what was to be sent is lost. Periodic jobs go
    /// on.
    ChannelFull,
    /// Nobody receives from the channel it was to send to. No run follows.
    ChannelClosed,
    /// The executor dropped a run instead of running it. Periodic jobs go on.
    Abandoned,
}

impl EventKind {
    /// Why a run failed.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Panicked(reason) | Self::Failed(reason) | Self::GaveUp(reason) => reason.clone(),
            Self::TimedOut(limit) => format!("ended after its limit of {limit:?}"),
            other => format!("{other:?}"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let job = &self.job;
        match &self.kind {
            EventKind::Panicked(message) => write!(f, "{job} panicked: {message}"),
            EventKind::StillRunning(time) => {
                write!(f, "{job} has been running for {time:?}, and occupies a thread")
            }
            EventKind::Slow(took) => {
                // It does not know how many threads there are: what a run holds up depends on that,
                // the remedies hold for both.
                write!(
                    f,
                    "{job} took {took:?}, and held up others unless a thread was free: shorten it, \
                     have more threads by `Builder::workers`, or raise `slow_after`"
                )
            }
            EventKind::TimedOut(limit) => {
                write!(f, "{job} was ended after its limit of {limit:?}: raise it, or do less")
            }
            EventKind::Failed(error) => write!(f, "{job} failed and is tried again: {error}"),
            EventKind::GaveUp(error) => {
                write!(f, "{job} failed and is not tried again: {error}")
            }
            EventKind::ChannelFull => {
                write!(f, "{job} found its channel full: make room for more, or receive faster")
            }
            EventKind::ChannelClosed => write!(f, "{job} found its channel closed, and ends"),
            EventKind::Abandoned => {
                write!(f, "{job} was dropped by its executor instead of being run")
            }
        }
    }
}
