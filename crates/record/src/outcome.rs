//! How a recording ended.

use std::fmt;
use std::sync::Arc;
use wheelhouse_workload::trace::{Totals, TraceError};

/// What a recording holds, once it has ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many operations of each kind.
    pub totals: Totals,
    /// All labels are below this. For a backend that uses its places again, it is the most timers
    /// that were live at a time, and the few places that the backend keeps for itself.
    pub labels: u32,
    /// How long the trace is.
    pub bytes: u64,
    /// Why it ended.
    pub ended: Ended,
}

impl Summary {
    /// Of a recording that has not ended.
    pub(crate) const NOTHING: Self = Self {
        totals: Totals { inserts: 0, cancels: 0, reschedules: 0, clock: 0 },
        labels: 0,
        bytes: 0,
        ended: Ended::Finished,
    };
}

/// Why a recording ended that ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// It was finished, or its recorder was dropped.
    Finished,
    /// The trace was as long as its [limit](crate::Builder::limit) allows. What the program did
    /// afterwards is not in it.
    AtLimit,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { totals, labels, bytes, ended } = self;
        write!(f, "{totals}; {labels} labels, {bytes} bytes")?;
        match ended {
            Ended::Finished => Ok(()),
            Ended::AtLimit => f.write_str("; stopped at its limit of size"),
        }
    }
}

/// Why a recording could not begin, or stopped. The program's timers are not concerned.
///
/// It can be cloned, since whoever [finishes](crate::Recorder::finish) and whoever is
/// [told](crate::Builder::on_end) both have it.
#[derive(Clone, Debug)]
pub struct Error(Arc<TraceError>);

impl Error {
    /// What went wrong.
    pub fn cause(&self) -> &TraceError {
        &self.0
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Self(Arc::new(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the timers are not recorded: {}", self.0)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
