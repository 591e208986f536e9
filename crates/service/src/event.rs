//! The kinds of events: failures that no call can return.

use std::fmt;
use std::time::Duration;

/// The kind of an [`Event`](crate::Event).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// A run panicked, with this message. A periodic job continues.
    Panicked(String),
    /// A run is in progress, and has taken this long: longer than
    /// [`slow_after`](crate::Builder::slow_after). Reported once for a run, a tick after that time
    /// or at the next poll of the driver, and not for a run on the only thread of a service.
    StillRunning(Duration),
    /// A run has ended, and took this long: longer than [`slow_after`](crate::Builder::slow_after).
    Slow(Duration),
    /// A run of an async job was ended at this [limit](crate::OneShot::limit). A periodic job
    /// continues.
    TimedOut(Duration),
    /// A run failed with this error, and will be [retried](crate::OneShot::retry).
    Failed(String),
    /// A run failed with this error, and is not retried. If the job has a
    /// [retry](crate::OneShot::retry), this is reported after the last attempt, even if that
    /// panicked or exceeded its limit. A periodic job continues.
    GaveUp(String),
    /// The channel of a value was full, and the value is lost. A periodic job continues.
    ChannelFull,
    /// The channel of a value has no receiver. The job ends.
    ChannelClosed,
    /// A run that was handed out was dropped before its end: by the executor of
    /// [`spawn_on`](crate::Builder::spawn_on), or with the service. A periodic job continues.
    Abandoned,
}

impl EventKind {
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Panicked(reason) | Self::Failed(reason) | Self::GaveUp(reason) => reason.clone(),
            Self::TimedOut(limit) => format!("ended at its limit of {limit:?}"),
            other => format!("{other:?}"),
        }
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, job: impl fmt::Display) -> fmt::Result {
        match self {
            Self::Panicked(message) => write!(f, "{job} panicked: {message}"),
            Self::StillRunning(time) => write!(f, "{job} has been running for {time:?}"),
            Self::Slow(took) => {
                // It may be async and have waited, and a thread may have been free.
                write!(
                    f,
                    "{job} took {took:?}: shorten it or add threads by `Builder::workers` if it \
                     delays others, or raise `slow_after`"
                )
            }
            Self::TimedOut(limit) => {
                write!(f, "{job} was ended at its limit of {limit:?}: raise it, or do less")
            }
            Self::Failed(error) => write!(f, "{job} failed and will be retried: {error}"),
            Self::GaveUp(error) => {
                write!(f, "{job} failed and is not retried: {error}")
            }
            Self::ChannelFull => {
                write!(f, "{job} found its channel full: use a larger one, or receive faster")
            }
            Self::ChannelClosed => write!(f, "{job} found its channel closed, and ends"),
            Self::Abandoned => {
                write!(f, "{job} was dropped by its executor instead of being run")
            }
        }
    }
}
