//! Cron lines with time zones, by the crates `croner` and `jiff`.
//!
//! ```
//! use wheelhouse_service::Service;
//! use wheelhouse_service::cron::{Cron, jiff::tz::TimeZone};
//!
//! let service = Service::start()?;
//! let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3")?; // or TimeZone::get("Europe/Berlin")
//! let mondays = Cron::new("0 9 * * MON", berlin.clone())?;
//! let monthly = Cron::new("0 9 12 * *", berlin)?;
//! service.handle().on(mondays).named("weekly report").run(|_| println!("the week"))?;
//! service.handle().on(monthly).named("monthly report").run(|_| println!("the month"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Minutes, hours, day of the month, month, day of the week; seconds in front and years behind are optional; `L`, `W`
//! and `#` as in `croner`.
//!
//! **Where clocks are changed**, a line that names hours and minutes (`30 2 * * *`) runs once on each day: when the
//! hour is skipped, at the end of the gap; when it comes twice, the first time. A line with wildcards there (`*/10 * *
//! * *`) follows elapsed time.

use crate::Rule;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

pub use jiff;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A cron line in a time zone.
#[derive(Clone, Debug)]
pub struct Cron {
    line: croner::Cron,
    zone: TimeZone,
}

/// A cron line that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CronError {
    /// It cannot be understood, for this reason.
    Invalid(String),
    /// It can be understood, and names no time at all, like a 30th of February.
    NeverMatches,
}

impl Cron {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// If it cannot be understood or never matches.
    pub fn new(line: &str, zone: TimeZone) -> Result<Self, CronError> {
        let line = croner::Cron::from_str(line).map_err(|error| CronError::Invalid(error.to_string()))?;
        let mut cron = Self { line, zone };
        match cron.next(SystemTime::UNIX_EPOCH) {
            Some(_) => Ok(cron),
            None => Err(CronError::NeverMatches),
        }
    }
}

impl Rule for Cron {
    fn next(&mut self, after: SystemTime) -> Option<SystemTime> {
        let after = Timestamp::try_from(after).ok()?.to_zoned(self.zone.clone());
        let next = self.line.find_next_occurrence(&after, false).ok()?;
        Some(next.timestamp().into())
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(reason) => write!(f, "not a cron line: {reason}"),
            Self::NeverMatches => f.write_str("a cron line that never matches"),
        }
    }
}

impl Error for CronError {}
