//! The policy of a job as text: how late it may be, when it expires, when it repeats.
//!
//! The text is a list of `name=value`, separated by `;`, and empty for most jobs:
//! `late=within:3600000;expires=1790000000000;attempts=5;limit=1000;missed=burst;every=60000`, with
//! times in milliseconds. `context=traceparent:00-4bf9..` is an entry of the job's context, in
//! which `%25` is a percent sign and `%3B` a semicolon. A cron line comes last:
//! `zone=Europe/Berlin;cron=0 9 * * MON-FRI`. An unknown name was written by a newer version: this
//! version does not run the job.

use crate::store::{Outcome, Timestamp, millis_up};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// The policy for late runs, for example after downtime. Each attempt compares the time since the
/// occurrence was due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// Runs, however late.
    #[default]
    Run,
    /// Runs if it is not later than this. Otherwise the job becomes a dead letter; a periodic job
    /// continues with its next occurrence instead.
    Within(Duration),
    /// Runs if it is not later than this. Otherwise the run is skipped, and the job ends; a
    /// periodic job continues with its next occurrence.
    Skip(Duration),
}

/// The result of scheduling by [`keeping`](crate::Plan::keeping), by
/// [`updating`](crate::Plan::updating) or by [`schedule_all`](crate::Timers::schedule_all).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheduled {
    /// No job had the key: this one was scheduled.
    Created,
    /// A job had the key and stays as it is.
    Kept,
    /// A job had the key and was changed.
    Changed,
}

impl Scheduled {
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Duplicate => Self::Kept,
            Outcome::Replaced => Self::Changed,
            _ => Self::Created,
        }
    }
}

/// The policy for missed occurrences of a periodic job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missed {
    /// One run stands for all of them, and can ask for
    /// [their number](crate::DurableRun::missed).
    #[default]
    Once,
    /// Each occurrence runs, one after the other.
    Burst,
}

/// The rule by which a job repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// At whole multiples of a period after the first due time, in milliseconds, at least 1.
    Every(u64),
    /// At the times of a cron line, in a time zone given by its IANA name.
    Cron { line: String, zone: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(crate) late: Late,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) limit: Option<Duration>,
    pub(crate) missed: Missed,
    pub(crate) repeat: Option<Repeat>,
    /// Entries that the job carries for its handlers, by name.
    pub(crate) context: BTreeMap<String, String>,
}

/// The most that the names and values of a context have together, in bytes.
const MOST_CONTEXT: usize = 4_096;

/// Refuses a context that cannot be stored, in words.
pub(crate) fn check_context(context: &BTreeMap<String, String>) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = |name: &str| (1..=64).contains(&name.len()) && name.bytes().all(is_plain);
    if let Some(name) = context.keys().find(|name| !is_name(name)) {
        return Err(format!(
            "{name:?} in a context: names have 1 to 64 letters, digits, '-', '_' or '.'"
        ));
    }
    if let Some((name, _)) = context.iter().find(|(_, value)| value.contains('\0')) {
        return Err(format!(
            "a zero byte in the context {name:?}, which PostgreSQL cannot store: put it into the \
             payload"
        ));
    }
    match context.iter().map(|(name, value)| name.len() + value.len()).sum() {
        0..=MOST_CONTEXT => Ok(()),
        bytes => Err(format!(
            "a context of {bytes} bytes, and at most {MOST_CONTEXT} are allowed: put it into the \
             payload"
        )),
    }
}

impl Policy {
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        let mut put = |name: &str, value: &dyn std::fmt::Display| {
            let separator = if text.is_empty() { "" } else { ";" };
            write!(text, "{separator}{name}={value}").expect("a String takes all");
        };
        match self.late {
            Late::Run => {}
            Late::Within(longest) => put("late", &format_args!("within:{}", millis_up(longest))),
            Late::Skip(longest) => put("late", &format_args!("skip:{}", millis_up(longest))),
        }
        self.expires.iter().for_each(|expires| put("expires", &expires.as_millis()));
        self.max_attempts.iter().for_each(|attempts| put("attempts", attempts));
        self.limit.iter().for_each(|limit| put("limit", &millis_up(*limit)));
        if self.missed == Missed::Burst {
            put("missed", &"burst");
        }
        for (name, value) in &self.context {
            let value = value.replace('%', "%25").replace(';', "%3B");
            put("context", &format_args!("{name}:{value}"));
        }
        match &self.repeat {
            None => {}
            Some(Repeat::Every(period)) => put("every", period),
            Some(Repeat::Cron { line, zone }) => {
                put("zone", zone);
                put("cron", line);
            }
        }
        text
    }

    /// Returns `None` if the text has a name or value that this version does not know.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut policy = Self::default();
        let (mut rest, mut zone) = (text, None);
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=')?;
            if name == "cron" {
                let (line, zone) = (after.to_owned(), zone.take()?);
                policy.repeat = Some(Repeat::Cron { line, zone });
                break;
            }
            let (value, after) = after.split_once(';').unwrap_or((after, ""));
            let number = || value.parse::<u64>().ok();
            match name {
                "late" => policy.late = late(value)?,
                "expires" => policy.expires = Some(Timestamp::from_millis(number()?)),
                "attempts" => policy.max_attempts = Some(value.parse().ok()?),
                "limit" => policy.limit = Some(Duration::from_millis(number()?)),
                "missed" if value == "burst" => policy.missed = Missed::Burst,
                "every" => policy.repeat = Some(Repeat::Every(number().filter(|its| *its > 0)?)),
                "context" => {
                    let (name, value) = value.split_once(':')?;
                    let value = value.replace("%3B", ";").replace("%25", "%");
                    policy.context.insert(name.to_owned(), value);
                }
                "zone" => zone = Some(value.to_owned()),
                _ => return None,
            }
            rest = after;
        }
        Some(policy)
    }

    /// Returns `true` if two texts differ at most in their contexts.
    pub(crate) fn is_same_schedule(one: &str, other: &str) -> bool {
        let read = |text| Self::from_text(text).map(|its| Self { context: BTreeMap::new(), ..its });
        one == other || read(one).is_some_and(|one| read(other) == Some(one))
    }
}

fn late(text: &str) -> Option<Late> {
    let (name, longest) = text.split_once(':')?;
    let longest = Duration::from_millis(longest.parse().ok()?);
    match name {
        "within" => Some(Late::Within(longest)),
        "skip" => Some(Late::Skip(longest)),
        _ => None,
    }
}

#[cfg(feature = "cron")]
pub(crate) struct CronRule(wheelhouse_service::cron::Cron);

#[cfg(feature = "cron")]
impl CronRule {
    /// Reads a line and a zone as users write them. Returns a message if they cannot be understood.
    pub(crate) fn new(line: &str, zone: &str) -> Result<Self, String> {
        let cron = wheelhouse_service::cron::Cron::new(line, time_zone(zone)?);
        cron.map(Self).map_err(|error| error.to_string())
    }

    /// Reads a line and a zone as they are stored: see [`plain`](Self::plain). Lines that older
    /// versions stored keep their meaning. `None` if they cannot be understood.
    pub(crate) fn stored(line: &str, zone: &str) -> Option<Self> {
        let zone = time_zone(zone).ok()?;
        wheelhouse_service::cron::Cron::from_plain(line, zone).ok().map(Self)
    }

    /// The line to store. Every version reads it alike.
    pub(crate) fn plain(&self) -> &str {
        self.0.plain()
    }

    pub(crate) fn next(&mut self, after: Timestamp) -> Option<Timestamp> {
        wheelhouse_service::Rule::next(&mut self.0, after.to_system_time()?).map(Timestamp::from)
    }
}

#[cfg(feature = "cron")]
fn time_zone(name: &str) -> Result<wheelhouse_service::cron::jiff::tz::TimeZone, String> {
    wheelhouse_service::cron::jiff::tz::TimeZone::get(name).map_err(|error| {
        format!(
            "{error}: check the spelling, install the package `tzdata`, or add `jiff` with its \
             feature `tzdb-bundle-always`"
        )
    })
}

/// Without the feature `cron` no line is understood. A program that has the feature runs the job.
#[cfg(not(feature = "cron"))]
pub(crate) enum CronRule {}

#[cfg(not(feature = "cron"))]
impl CronRule {
    pub(crate) fn stored(_: &str, _: &str) -> Option<Self> {
        None
    }

    pub(crate) fn next(&mut self, _: Timestamp) -> Option<Timestamp> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The golden texts: every later version must read what this one stores.
    #[test]
    fn the_format_stays() {
        let context = [("traceparent", "00-4bf92f-00f067-01"), ("b", "100%;x=%3B:%25"), ("c", "")];
        let (minute, plain) = (Duration::from_secs(60), Policy::default());
        let cron = Repeat::Cron { line: "0 9 * * MON;=".into(), zone: "Europe/Berlin".into() };
        for (text, policy) in [
            ("", plain.clone()),
            (
                "late=within:60000;expires=1790000000000;attempts=5;missed=burst;every=60000",
                Policy {
                    late: Late::Within(minute),
                    expires: Some(Timestamp::from_millis(1_790_000_000_000)),
                    max_attempts: Some(5),
                    missed: Missed::Burst,
                    repeat: Some(Repeat::Every(60_000)),
                    ..plain.clone()
                },
            ),
            (
                "late=skip:60000;limit=5000;context=b:100%25%3Bx=%253B:%2525;context=c:;\
                 context=traceparent:00-4bf92f-00f067-01;zone=Europe/Berlin;cron=0 9 * * MON;=",
                Policy {
                    late: Late::Skip(minute),
                    limit: Some(Duration::from_secs(5)),
                    context: context.map(|(name, value)| (name.into(), value.into())).into(),
                    repeat: Some(cron),
                    ..plain
                },
            ),
        ] {
            assert_eq!((&*policy.to_text(), Policy::from_text(text)), (text, Some(policy)));
            assert!(Policy::is_same_schedule(text, &text.replace("00f067", "00f068")));
            let is_same = Policy::is_same_schedule(text, &text.replace("60000", "70000"));
            assert_eq!(is_same, text.is_empty());
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        let unknown = [
            "x",
            "x=1",
            "late=within",
            "late=never:3",
            "expires=soon",
            "every=0",
            "missed=all",
            "cron=* * * * *",
            "context=traceparent",
            "attempts=-1",
        ];
        for text in unknown {
            assert_eq!(Policy::from_text(text), None, "{text}");
        }
    }
}
