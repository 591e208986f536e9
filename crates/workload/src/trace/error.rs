//! Errors of traces.

use std::{fmt, io};

/// Why a trace could not be read or written. The message says where, and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The file itself could not be read or written.
    Io(io::Error),
    /// The first bytes are not those of a trace.
    NotATrace,
    /// The trace was written by a later version of this crate.
    Version {
        /// The version in the file.
        found: u16,
    },
    /// The file ends before the end of the trace.
    Truncated {
        /// The block in which the file ends, counted from 1; 0 is the header.
        block: u64,
    },
    /// A checksum does not match, or the bytes it covers are not a trace.
    Corrupt {
        /// The block, counted from 1; 0 is the header.
        block: u64,
        /// A description of the fault.
        what: &'static str,
    },
    /// A length is above its bound. Nothing was allocated for it.
    TooLong {
        /// The block, counted from 1; 0 is the header.
        block: u64,
        /// The name of the length.
        what: &'static str,
        /// The length in the file.
        found: u64,
        /// The bound.
        most: u64,
    },
    /// On writing: the label is `u32::MAX`, which no header can announce.
    Label,
    /// On writing: the operation could exceed the limit of the [`Writer`](super::Writer).
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
                "this is not a wheelhouse trace: its first bytes differ. Use a file made by \
                 scripts/record-kernel-timers or trace::Writer, copied in binary mode",
            ),
            Self::Version { found } => write!(
                f,
                "the trace has version {found}, and this program reads versions {} to {}: use the \
                 release of wheelhouse-workload that wrote it, or record it again",
                super::FIRST_VERSION,
                super::VERSION
            ),
            Self::Truncated { block } => write!(
                f,
                "the trace ends within {}: copy it again, or let its writer finish",
                place(*block)
            ),
            Self::Corrupt { block, what } => write!(
                f,
                "the trace is corrupt in {}: {what}. Copy it again, or record it again",
                place(*block)
            ),
            Self::TooLong { block, what, found, most } => write!(
                f,
                "the trace is corrupt in {}, or not made by this crate: {what} is {found}, and the \
                 maximum is {most}. Copy it again, or record it again",
                place(*block)
            ),
            Self::Label => write!(f, "labels of a trace are below {}: use smaller ones", u32::MAX),
            Self::Full { limit } => write!(
                f,
                "the trace has reached its limit of {limit} bytes: finish it, or set a higher limit"
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

/// The name of a part of the file.
fn place(block: u64) -> String {
    if block == 0 { "its header".to_owned() } else { format!("block {block}") }
}
