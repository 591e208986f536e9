//! How a recording ended.

use std::fmt;
use std::sync::Arc;
use wheelhouse_workload::trace::{Totals, TraceError};

/// A summary of a recording that has ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of operations of each kind.
    pub totals: Totals,
    /// All labels are below this. For a backend that reuses its entries, it is the most timers that
    /// were live at a time, plus the few entries that the backend keeps for itself.
    pub labels: u32,
    /// The length of the trace.
    pub bytes: u64,
    /// Why the recording ended.
    pub ended: Ended,
}

/// Why a recording ended that had no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ended {
    /// It was finished, or its recorder was dropped.
    Finished,
    /// The trace has reached its [limit](crate::Builder::limit). Later calls of the program are not
    /// in it.
    AtLimit,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { totals, labels, bytes, ended } = self;
        write!(f, "{totals}; {labels} labels, {bytes} bytes")?;
        match ended {
            Ended::Finished => Ok(()),
            Ended::AtLimit => f.write_str("; stopped at its size limit"),
        }
    }
}

/// Why a recording could not begin, or stopped. The program's timers are not affected.
///
/// It can be cloned, since both the caller of [`finish`](crate::Recorder::finish) and the callback
/// of [`on_end`](crate::Builder::on_end) receive it.
#[derive(Clone, Debug)]
pub struct Error(Arc<TraceError>);

impl Error {
    /// The underlying error.
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
