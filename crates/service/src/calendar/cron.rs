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
//! # What a line may say
//!
//! Five fields: minute, hour, day of the month, month, day of the week. Six with seconds in front; seven with seconds in
//! front and a year behind. A year alone behind is refused, since what has six fields begins with seconds: for 9:00 on each
//! Monday of 2027 it is `0 0 9 * * MON 2027`.
//!
//! | | |
//! |---|---|
//! | `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly` or `@annually` | in place of the fields: when that hour, day, week (Sunday), month or year begins |
//! | `?` as day of the month or of the week | as `*` |
//! | `L` as day of the month | its last day |
//! | `15W` as day of the month | the weekday next to the 15th, in the same month |
//! | `FRI#2`, `FRI#L` as day of the week | the second Friday of the month, the last one |
//! | day of the month and of the week both named | either of them will do; with `+` before the latter, as in `0 9 13 * +FRI`, only both |
//!
//! A line whose years have all passed, such as `0 0 9 * * MON 2020`, can be read, as it depends on the clock whether they
//! have. It is refused when it is scheduled: [`Reason::NoOccurrence`](crate::Reason::NoOccurrence).
//!
//! # Where clocks are changed
//!
//! A line that names hours and minutes (`30 2 * * *`) runs once on each day: when the hour is skipped, at the end of the gap
//! (also of one of a whole day, as when a country crosses the date line); when it comes twice, the first time. A line with
//! wildcards there (`*/10 * * * *`) follows elapsed time.

use crate::Rule;
use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

pub use jiff;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// A cron line in a time zone.
#[derive(Clone)]
pub struct Cron {
    line: Box<str>,
    pattern: croner::Cron,
    zone: TimeZone,
}

/// A cron line that cannot be used. The message names it, as such lines often come from a file with others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CronError {
    /// It cannot be understood.
    Invalid {
        /// The line.
        line: String,
        /// What is wrong with it, in the words of `croner`.
        reason: String,
    },
    /// It can be understood, and names no time since 1970, like a 30th of February.
    NeverMatches {
        /// The line.
        line: String,
    },
}

impl Cron {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// If it cannot be understood or never matches.
    pub fn new(line: &str, zone: TimeZone) -> Result<Self, CronError> {
        let invalid =
            |error| CronError::Invalid { line: line.to_owned(), reason: reason(line, error) };
        let pattern = croner::Cron::from_str(line).map_err(invalid)?;
        let mut cron = Self { line: line.into(), pattern, zone };
        match cron.next(SystemTime::UNIX_EPOCH) {
            Some(_) => Ok(cron),
            None => Err(CronError::NeverMatches { line: line.to_owned() }),
        }
    }

    /// The line as it was given.
    pub fn line(&self) -> &str {
        &self.line
    }
}

/// The line and the zone. What `croner` makes of the line is a page for each field.
impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cron")
            .field("line", &self.line)
            .field("zone", &self.zone)
            .finish_non_exhaustive()
    }
}

/// What `croner` says of a line, without the heads that it puts before some of it, which say the same in other words.
fn reason(line: &str, error: croner::errors::CronError) -> String {
    use croner::errors::CronError as Fault;
    let fields = line.split_whitespace().count();
    let reason = match error {
        Fault::EmptyPattern => "it is empty".to_owned(),
        Fault::InvalidPattern(_) if !(5..=7).contains(&fields) => {
            format!("it has {fields}, not between 5 and 7 fields")
        }
        Fault::InvalidPattern(reason)
        | Fault::IllegalCharacters(reason)
        | Fault::ComponentError(reason) => reason,
        other => other.to_string(),
    };
    reason.trim_end_matches('.').to_owned()
}

impl Rule for Cron {
    fn next(&mut self, after: SystemTime) -> Option<SystemTime> {
        let after = Timestamp::try_from(after).ok()?;
        match self.pattern.find_next_occurrence(&after.to_zoned(self.zone.clone()), false) {
            Ok(next) => Some(next.timestamp().into()),
            // There is no time any more, or the next one lies in a gap too long for `croner`.
            Err(_) => self.end_of_long_gap(after).map(SystemTime::from),
        }
    }
}

/// How far `croner` looks for the end of a gap, in seconds.
const GAP: i32 = 2 * 3600;

/// How many changes of the clock are looked at for a longer one: more than a hundred years have.
const CHANGES: usize = 256;

impl Cron {
    /// The end of the first gap longer than [`GAP`] in which the line names a time.
    fn end_of_long_gap(&self, after: Timestamp) -> Option<Timestamp> {
        self.zone
            .following(after)
            .take(CHANGES)
            .map(|change| (change.timestamp(), change.offset()))
            .find(|gap| self.names_time_in(*gap))
            .map(|gap| gap.0)
    }

    /// Whether the line names a time that is skipped, where from an instant on another offset holds.
    fn names_time_in(&self, (instant, offset): (Timestamp, Offset)) -> bool {
        let Ok(before) = instant.checked_sub(SignedDuration::from_nanos(1)) else { return false };
        let begin = self.zone.to_offset(before).to_datetime(instant);
        let end = offset.to_datetime(instant);
        let skipped = offset.seconds() - self.zone.to_offset(before).seconds();
        // Looked for where nothing is skipped: the same clock times in UTC.
        let just_before = begin
            .checked_sub(SignedDuration::from_secs(1))
            .and_then(|time| time.to_zoned(TimeZone::UTC));
        let next =
            just_before.ok().and_then(|time| self.pattern.find_next_occurrence(&time, false).ok());
        skipped > GAP && next.is_some_and(|next| next.datetime() < end)
    }
}

/// What a line consists of: `croner` says that a number is out of bounds, but neither in which field nor what they are.
const FIELDS: &str = "five fields: minute 0-59, hour 0-23, day 1-31, month 1-12 or JAN-DEC, weekday 0-7 or SUN-SAT, as in \
                      '0 9 * * MON'; six with seconds in front; seven with seconds in front and a year behind";

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { line, reason } => {
                write!(f, "the cron line '{line}' cannot be read: {reason}; expected are {FIELDS}")
            }
            Self::NeverMatches { line } => {
                write!(
                    f,
                    "the cron line '{line}' never matches: does a month of it have such a day, and is its year after 1969?"
                )
            }
        }
    }
}

impl Error for CronError {}
