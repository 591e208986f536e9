//! Cron lines with time zones, by the crates `croner` and `jiff`.
//!
//! ```
//! use wheelhouse_service::Service;
//! use wheelhouse_service::cron::{Cron, jiff::tz::TimeZone};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let service = Service::start()?;
//!     let timers = service.handle();
//!     // Or TimeZone::get("Europe/Berlin"), or TimeZone::system().
//!     let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3")?;
//!     let mondays = Cron::new("0 9 * * MON", berlin.clone())?;
//!     let monthly = Cron::new("0 9 12 * *", berlin)?;
//!     timers.on(mondays).named("weekly report").run(|_| println!("the week"))?;
//!     timers.on(monthly).named("monthly report").run(|_| println!("the month"))?;
//!     Ok(())
//! }
//! ```
//!
//! # Syntax
//!
//! Five fields: minute, hour, day of the month, month, day of the week. Six with seconds in front;
//! seven with seconds in front and a year at the end. A line of six fields begins with seconds, so
//! a year without seconds is refused: 9:00 on each Monday of 2027 is `0 0 9 * * MON 2027`.
//!
//! | | |
//! |---|---|
//! | `@hourly`, `@daily` or `@midnight`, `@weekly`, `@monthly`, `@yearly` or `@annually` | instead of the fields: the beginning of each hour, day, week (Sunday), month or year |
//! | `JAN` or `January`, `MON` or `Monday`, in any case | a month, a day of the week; 0 and 7 are both Sunday |
//! | `1-5`, `*/10`, `8-18/2`, and lists of these | a range, and every tenth, second value of one |
//! | `22-2`, `FRI-MON`, `NOV-FEB` | ranges that wrap around |
//! | `?` as day of the month or of the week | the same as `*` |
//! | `L` as day of the month | its last day |
//! | `15W`, `LW` as day of the month | the weekday next to the 15th, in the same month; the last weekday of the month |
//! | `FRI#2`, `FRI#L` or `FRIL` as day of the week | the second Friday of the month, the last one |
//! | day of the month and of the week both named | days that match either; with `+` before the latter, as in `0 9 13 * +FRI`, only days that match both |
//! | one of the two begins with `*`, as in `0 9 */2 * MON` | only days that match both, as in crontab: the Mondays among the odd days |
//! | ` # text` at the end | a comment |
//!
//! These are refused, with a message that names what to write: `@every 5m` (a period is planned by
//! [`every`](crate::Handle::every)), `@reboot`, a time zone in front (`TZ=Europe/Berlin`, which
//! belongs to the second argument), a step larger than its field (`*/90`), a year without seconds.
//!
//! This is the Open Cron Pattern Specification, version 1.4, with four differences. A pattern that
//! never matches, such as the 30th of February, is refused when it is read. `@reboot` is recognised
//! and refused. A field that begins with `*` does not restrict the days; in the specification that
//! is so for `*` alone. A time that is skipped when clocks go forward has a run, see below; the
//! specification recommends none. Ranges that wrap around, names in full, `W` in a list and
//! comments are additions to it.
//!
//! A line whose years have all passed, such as `0 0 9 * * MON 2020`, can be read, since that
//! depends on the clock. It is refused when it is scheduled:
//! [`Reason::NoOccurrence`](crate::Reason::NoOccurrence).
//!
//! # Daylight saving time
//!
//! A line that names its hours, minutes and seconds, by numbers, lists or ranges (`30 2 * * *`,
//! `0,30 1-3 * * *`), runs exactly once for each time that it names, on each day. If the time is
//! skipped, the run is at the end of the gap, even if the gap is a whole day, as when a country
//! crosses the date line. If several times are skipped together, they have one run. If the time
//! occurs twice, the run is at the first occurrence.
//!
//! A line with a `*` among these (`*/10 * * * *`) follows elapsed time: it runs whenever the clock
//! shows a matching time.

use super::plain_line;
use crate::Rule;
use croner::CronComponent;
use std::collections::HashSet;
use std::fmt;
use std::time::SystemTime;

pub use super::plain_line::CronError;

pub use jiff;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneTransition};
use jiff::{SignedDuration, Timestamp, ToSpan};

/// A cron line in a time zone.
#[derive(Clone)]
pub struct Cron {
    plain: Box<str>,
    zone: TimeZone,
    /// Finds its times, without a time zone.
    pattern: croner::Cron,
    /// There is a `*` among its hours, minutes and seconds.
    follows_elapsed_time: bool,
}

impl Cron {
    /// Reads a line. See the [syntax](self#syntax).
    ///
    /// # Errors
    ///
    /// If the line cannot be understood or never matches. The message names the field and what to
    /// write instead.
    pub fn new(line: &str, zone: TimeZone) -> Result<Self, CronError> {
        Self::read(line, plain_line::plain(line), zone)
    }

    /// Reads a line that [`plain`](Self::plain) returned, or that a version without `plain` stored.
    /// It keeps its former meaning: `0 9 */2 * MON` is each Monday and each second day, and `*/90`
    /// as minute is minute 0. Use [`new`](Self::new) for lines that people write.
    ///
    /// # Errors
    ///
    /// If the line is not in plain form, or never matches.
    pub fn from_plain(line: &str, zone: TimeZone) -> Result<Self, CronError> {
        Self::read(line, Ok(line.to_owned()), zone)
    }

    fn read(line: &str, plain: Result<String, String>, zone: TimeZone) -> Result<Self, CronError> {
        let invalid = |reason| CronError::Invalid { line: line.to_owned(), reason };
        let plain = plain.map_err(invalid)?;
        if plain.len() > plain_line::LONGEST {
            return Err(invalid("it is too long".to_owned()));
        }
        let unread = |_| invalid("it is not in the plain form of a stored line".to_owned());
        let pattern = plain.parse::<croner::Cron>().map_err(unread)?;
        if !has_a_time(&pattern) {
            return Err(CronError::NeverMatches { line: line.to_owned() });
        }
        let parts = [&pattern.pattern.hours, &pattern.pattern.minutes, &pattern.pattern.seconds];
        let follows_elapsed_time = parts.iter().any(|part| part.from_wildcard);
        Ok(Self { plain: plain.into(), zone, pattern, follows_elapsed_time })
    }

    /// The line in plain form, to be stored for another program, perhaps of another version:
    /// [`from_plain`](Self::from_plain) reads it. It has the same meaning in all versions. It is
    /// the line as given, unless that needs one of the changes below.
    ///
    /// ```
    /// use wheelhouse_service::cron::{Cron, jiff::tz::TimeZone};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let plain = |line| Cron::new(line, TimeZone::UTC).map(|cron| cron.plain().to_owned());
    /// assert_eq!(plain("0 9 * * MON-FRI")?, "0 9 * * MON-FRI");
    /// assert_eq!(plain("0 22-2 * * Friday-Monday")?, "0 22-23,0-2 * * 5-6,0-1");
    /// assert_eq!(plain("0 9 */2 * MON  # odd days")?, "0 9 */2 * +MON");
    /// assert_eq!(plain("@midnight")?, "@daily");
    /// # Ok(())
    /// # }
    /// ```
    pub fn plain(&self) -> &str {
        &self.plain
    }

    fn next_named(&self, after: Timestamp) -> Option<Timestamp> {
        let mut from = second_after(self.zone.to_datetime(after))?;
        if let Some(end) = self.end_of_second_pass(after) {
            // The times up to there occurred before, and have had their runs.
            from = from.max(end);
        }
        loop {
            let named = self.first_from(from)?;
            let ambiguous = self.zone.to_ambiguous_timestamp(named);
            let (instant, next) = match ambiguous.offset() {
                AmbiguousOffset::Unambiguous { offset }
                | AmbiguousOffset::Fold { before: offset, .. } => {
                    (offset.to_timestamp(named).ok()?, named.checked_add(SECOND).ok()?)
                }
                AmbiguousOffset::Gap { before, .. } => {
                    let gap = self.change_before(before.to_timestamp(named).ok()?)?;
                    (gap.timestamp(), gap.offset().to_datetime(gap.timestamp()))
                }
            };
            if instant > after {
                return Some(instant);
            }
            from = next;
        }
    }

    fn next_elapsed(&self, after: Timestamp) -> Option<Timestamp> {
        let (mut now, mut from) = (after, second_after(self.zone.to_datetime(after))?);
        let mut shown = self.first_from(from);
        loop {
            let instant = shown.and_then(|shown| self.zone.to_offset(now).to_timestamp(shown).ok());
            let change = self.zone.following(now).next();
            let Some(change) =
                change.filter(|change| instant.is_none_or(|instant| instant >= change.timestamp()))
            else {
                return instant;
            };
            // No run is due before the change. The search continues with the times that the clock
            // shows after it, also with those that it shows again. The times in a gap have no run.
            now = change.timestamp();
            let next = change.offset().to_datetime(now);
            if next < from || shown? < next {
                shown = self.first_from(next);
            }
            from = next;
        }
    }

    /// The last change of the clock at or before an instant.
    fn change_before(&self, instant: Timestamp) -> Option<TimeZoneTransition<'_>> {
        self.zone.preceding(instant.checked_add(1.nanosecond()).ok()?).next()
    }

    /// The end of the repeated times, if a clock that was set back shows the time of this instant
    /// for the second time.
    fn end_of_second_pass(&self, instant: Timestamp) -> Option<DateTime> {
        let shown = self.zone.to_datetime(instant);
        match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Fold { before, after } if self.zone.to_offset(instant) == after => {
                Some(before.to_datetime(self.change_before(instant)?.timestamp()))
            }
            _ => None,
        }
    }

    /// The first date and time of the line at or after `from`, without a time zone.
    fn first_from(&self, from: DateTime) -> Option<DateTime> {
        self.pattern.find_next_occurrence(&from, true).ok()
    }
}

/// The line in plain form and the zone. `croner` prints a page for each field of the line.
impl fmt::Debug for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cron")
            .field("line", &self.plain)
            .field("zone", &self.zone)
            .finish_non_exhaustive()
    }
}

impl Rule for Cron {
    fn next(&mut self, after: SystemTime) -> Option<SystemTime> {
        let after = Timestamp::try_from(after).ok()?;
        let next = if self.follows_elapsed_time {
            self.next_elapsed(after)
        } else {
            self.next_named(after)
        };
        next.map(SystemTime::from)
    }
}

/// Returns `true` if any time since 1970 matches. The days of a year that match depend on its
/// length and its first weekday, so one year of each of these 14 kinds is searched. (The search for
/// the next time would go through all years, and with an empty list through all seconds.)
fn has_a_time(cron: &croner::Cron) -> bool {
    let its = &cron.pattern;
    let least = |part: &CronComponent| part.values().first().map(|value| *value as i8);
    let time = [&its.hours, &its.minutes, &its.seconds].map(least);
    let [Some(hour), Some(minute), Some(second)] = time else { return false };
    let mut kinds = HashSet::new();
    let is_its = |year: &i32| its.year_match(*year).unwrap_or(false);
    let years = (1970..=croner::YEAR_UPPER_LIMIT).filter(is_its);
    let begins = years.filter_map(|year| Date::new(year as i16, 1, 1).ok());
    begins.filter(|begin| kinds.insert((begin.in_leap_year(), begin.weekday()))).any(|begin| {
        let mut days = begin.series(1.day()).take(begin.days_in_year() as usize);
        days.any(|day| cron.is_time_matching(&day.at(hour, minute, second, 0)).unwrap_or(false))
    })
}

const SECOND: SignedDuration = SignedDuration::from_secs(1);

fn second_after(shown: DateTime) -> Option<DateTime> {
    shown.with().subsec_nanosecond(0).build().ok()?.checked_add(SECOND).ok()
}
