//! How a cron line is read: the checks beyond those of `croner`, and the messages for a line that
//! is refused.

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
        /// The fault, in the words of `croner`, and the field that has it.
        reason: String,
    },
    /// It can be understood, but names no time since 1970, like a 30th of February.
    NeverMatches {
        /// The line.
        line: String,
    },
}

/// Returns `true` if there is a `*` among hours, minutes and seconds.
pub(super) fn times_have_wildcard(line: &str) -> bool {
    let fields: Vec<_> = line.split_whitespace().collect();
    let times = if fields.len() == 5 { 2 } else { 3 };
    line.trim().eq_ignore_ascii_case("@hourly")
        || fields.iter().take(times).any(|field| field.contains(['*', '?']))
}

/// The longest line that is read: each minute, named one by one, takes 170 bytes.
const LONGEST: usize = 1_000;

/// Refuses lines that `croner` accepts, but that are mistakes.
pub(super) fn check(line: &str) -> Result<(), String> {
    if line.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let fields: Vec<_> = line.split_whitespace().collect();
    if fields.iter().any(|field| field.split(',').any(str::is_empty)) {
        return Err("a list has an empty element".to_owned());
    }
    let weekdays = if fields.len() == 5 { fields.get(4) } else { fields.get(5) };
    if weekdays.is_some_and(|days| days.split(',').any(|day| day.eq_ignore_ascii_case("L"))) {
        return Err(
            "L alone is no day of the week, the last Friday of a month is 'FRI#L', and the \
             last day of a month 'L' as its day"
                .to_owned(),
        );
    }
    Ok(())
}

/// The message of `croner` and the field that it is about, without the heads that `croner` puts
/// before some messages, which repeat them in other words.
pub(super) fn reason(line: &str, error: croner::errors::CronError) -> String {
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
    let reason = reason.trim_end_matches('.');
    wrong_field(line).map_or_else(|| reason.to_owned(), |field| format!("{reason}, in the {field}"))
}

/// The name and text of the first field that cannot be read: `croner` does not return it. Each
/// field is tried alone, with a `*` for all others.
fn wrong_field(line: &str) -> Option<String> {
    const NAMES: [&str; 7] =
        ["second", "minute", "hour", "day of the month", "month", "day of the week", "year"];
    let fields: Vec<_> = line.split_whitespace().collect();
    let alone = |at| {
        let others = (0..fields.len()).map(|other| if other == at { fields[at] } else { "*" });
        others.collect::<Vec<_>>().join(" ")
    };
    let is_wrong = |at: &usize| alone(*at).parse::<croner::Cron>().is_err();
    let is_known = (5..=7).contains(&fields.len());
    let at = is_known.then(|| (0..fields.len()).find(is_wrong)).flatten()?;
    // Without seconds the first is the minute.
    let name = NAMES.get(at + usize::from(fields.len() == 5))?;
    Some(format!("{name} '{}'", fields[at]))
}

/// The fields of a line: `croner` reports that a number is out of bounds, but not the bounds.
const FIELDS: &str = "five fields: minute 0-59, hour 0-23, day 1-31, month 1-12 or JAN-DEC, \
                      weekday 0-7 or SUN-SAT, as in '0 9 * * MON'; six with seconds in front; \
                      seven with seconds in front and a year behind";

crate::error::debug_as_shown!(CronError);

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { line, reason } => {
                write!(f, "the cron line '{line}' cannot be read: {reason}; expected are {FIELDS}")
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
