//! What can be wrong with a trace.

use std::{fmt, io};

/// Why a trace could not be read or written. Shown, it says where and what to do about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The file itself could not be read or written.
    Io(io::Error),
    /// It does not begin as a trace does.
    NotATrace,
    /// It was written by a later version of this crate.
    Version {
        /// The version in the file.
        found: u16,
    },
    /// It ends before its end.
    Truncated {
        /// The block in which it ends, counted from 1; 0 is the header.
        block: u64,
    },
    /// A checksum does not match, or what it covers is no trace.
    Corrupt {
        /// The block, counted from 1; 0 is the header.
        block: u64,
        /// What does not match.
        what: &'static str,
    },
    /// A length is beyond its bound; nothing was allocated for it.
    TooLong {
        /// The block, counted from 1; 0 is the header.
        block: u64,
        /// Of what.
        what: &'static str,
        /// What the file claims.
        found: u64,
        /// The bound.
        most: u64,
    },
    /// To be written: a label that the header leaves no room for.
    Label {
        /// The label.
        label: u32,
        /// The number of labels in the header.
        labels: u32,
    },
    /// To be written: fewer or more operations than the header announces.
    Operations {
        /// In the header.
        announced: u64,
        /// Written until now.
        written: u64,
    },
    /// To be written by a [`LiveWriter`](super::LiveWriter): an operation for which its limit
    /// leaves no room.
    Full {
        /// The limit, in bytes.
        limit: u64,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the trace cannot be read or written: {error}"),
            Self::NotATrace => f.write_str(
                "this is no wheelhouse trace: its first bytes are others. Give a file made by \
                 scripts/record-kernel-timers or trace::Writer, copied in binary mode",
            ),
            Self::Version { found } => write!(
                f,
                "the trace is of version {found}, and this reads versions {} to {}: use the \
                 release of wheelhouse-workload that wrote it, or record it again",
                super::FIRST_VERSION,
                super::VERSION
            ),
            Self::Truncated { block } => {
                write!(
                    f,
                    "the trace ends within {}: copy it again, or let its writer finish",
                    Place(*block)
                )
            }
            Self::Corrupt { block, what } => {
                write!(
                    f,
                    "the trace is corrupt in {}: {what}. Copy it again, or record it again",
                    Place(*block)
                )
            }
            Self::TooLong { block, what, found, most } => write!(
                f,
                "the trace is corrupt in {}, or not made by this crate: {what} is given as \
                 {found}, and {most} is the most there can be. Copy it again, or record it again",
                Place(*block)
            ),
            Self::Label { label, labels } => write!(
                f,
                "label {label} is beyond the {labels} labels of the trace's header: set \
                 Header::labels to the largest label plus one"
            ),
            Self::Operations { announced, written } => write!(
                f,
                "the trace's header announces {announced} operations, and {written} came: set \
                 Header::operations to the number that is written"
            ),
            Self::Full { limit } => write!(
                f,
                "the trace has reached its limit of {limit} bytes: finish it, or give it a \
                 higher one"
            ),
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Names a part of the file.
struct Place(u64);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("its header"),
            block => write!(f, "block {block}"),
        }
    }
}
