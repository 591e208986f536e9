//! What can go wrong in a store.

use std::error::Error;
use std::{fmt, io};

/// A store that could not do what it was asked for.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The storage refused: disk full, read-only, a failed write or sync. The message of the error
    /// names the remedy where the store knows one.
    Io(io::Error),
    /// The server or file cannot be reached at the moment, or is busy for too long: worth trying
    /// again.
    Unavailable(Box<dyn Error + Send + Sync>),
    /// Written by a newer version, which is not touched.
    Format {
        /// The format that was found.
        found: u32,
        /// The newest that this version knows.
        known: u32,
    },
    /// Something else than a store of this kind; it is not touched.
    Foreign(String),
    /// What is stored contradicts itself, or cannot be read.
    Damaged(String),
    /// The store refuses as configured, or is not set up as durability needs. The text names the
    /// remedy.
    Refused(String),
}

impl StoreError {
    /// Whether the same call may succeed later without anybody's doing.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Unavailable(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => {
                write!(f, "the storage failed: {error}")?;
                sources(f, error)
            }
            Self::Unavailable(error) => {
                write!(f, "the store cannot be reached: {error}")?;
                sources(f, &**error)
            }
            Self::Format { found, known } => write!(
                f,
                "written in format {found} by a newer version, and this one knows formats up to \
                 {known}: run the newer version"
            ),
            Self::Foreign(what) => write!(f, "not a store of timers: {what}; name another one"),
            Self::Damaged(what) => write!(f, "damaged: {what}; restore it from a copy"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

/// What an error was caused by: clients of databases tell it only there.
fn sources(f: &mut fmt::Formatter<'_>, error: &dyn Error) -> fmt::Result {
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
