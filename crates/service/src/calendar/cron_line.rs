//! The error for a refused cron line, and the check whether a line follows elapsed time.

use std::error::Error;
use std::fmt;

/// A cron line that cannot be used. The message names the line, since it often comes from a file
/// with others.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CronError {
    /// It cannot be understood.
    Invalid {
        /// The line.
        line: String,
        /// The fault, the field that has it, and what to write instead.
        reason: String,
    },
    /// It can be understood, but has no time since 1970, like a 30th of February.
    NeverMatches {
        /// The line.
        line: String,
    },
}

/// Returns `true` if there is a `*` among hours, minutes and seconds of a line in plain form.
pub(super) fn times_have_wildcard(line: &str) -> bool {
    let fields: Vec<_> = line.split_whitespace().collect();
    let times = if fields.len() == 5 { 2 } else { 3 };
    line.trim().eq_ignore_ascii_case("@hourly")
        || fields.iter().take(times).any(|field| field.contains(['*', '?']))
}

crate::error::debug_as_shown!(CronError);

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { line, reason } => {
                write!(f, "the cron line '{line}' cannot be read: {reason}")
            }
            Self::NeverMatches { line } => {
                write!(
                    f,
                    "the cron line '{line}' never matches: does a month of it have such a day, and \
                     is its year after 1969?"
                )
            }
        }
    }
}

impl Error for CronError {}
