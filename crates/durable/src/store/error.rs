//! The errors of a store.

use std::error::Error;
use std::{fmt, io};

/// Why a call of a store failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The storage failed: disk full, read-only, a failed write or sync. The message of the error
    /// names the remedy if the store knows one.
    Io(io::Error),
    /// The server or file cannot be reached at the moment, or is busy for too long. A retry may
    /// succeed.
    Unavailable(Box<dyn Error + Send + Sync>),
    /// The data were written by a newer version. They were not changed.
    Format {
        /// The format that was found.
        found: u32,
        /// The newest format that this version knows.
        known: u32,
    },
    /// The data are not those of such a store. They were not changed.
    Foreign(String),
    /// The stored data are inconsistent or cannot be read.
    Damaged(String),
    /// The store refuses the call by its configuration, or its settings do not ensure durability.
    /// The text names the remedy.
    Refused(String),
}

impl StoreError {
    /// Returns `true` if the same call may succeed later without human action.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Unavailable(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => {
                write!(f, "the storage failed: {error}")?;
                write_sources(f, error)
            }
            Self::Unavailable(error) => {
                write!(f, "the store cannot be reached: {error}")?;
                write_sources(f, &**error)
            }
            Self::Format { found, known } => write!(
                f,
                "written in format {found} by a newer version, but this version knows formats up \
                 to {known}: run the newer version"
            ),
            Self::Foreign(what) => write!(f, "not a store of timers: {what}; name another one"),
            Self::Damaged(what) => write!(f, "damaged: {what}; restore it from a copy"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

/// Appends the sources of an error: clients of databases give the details only there.
pub(crate) fn write_sources(f: &mut fmt::Formatter<'_>, error: &dyn Error) -> fmt::Result {
    let mut sources = std::iter::successors(error.source(), |error| (*error).source());
    sources.try_for_each(|source| write!(f, ": {source}"))
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Unavailable(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
