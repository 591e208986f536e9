//! Reads a cron line as people write it, and returns its plain form: the same times, in the syntax
//! that `croner` reads as every version of this crate did.
//!
//! `croner` replaces names anywhere in the line, refuses ranges that wrap around, accepts steps
//! that no value reaches, takes only a lone `*` for a field without restriction, and its messages
//! expose its internals. So each element of each field is checked here, with messages that name
//! what to write, and rewritten only if `croner` would read it otherwise:
//!
//! | written | plain |
//! |---|---|
//! | `22-2`, `NOV-FEB`, `22-4/3` | `22-23,0-2`, `11-12,1-2`, `22,1,4` |
//! | `Monday`, `january-MARCH` | `Mon`, `jan-MAR` |
//! | `*` in a list | `*/1` |
//! | `0 9 */2 * MON`: days that match both, as in crontab | `0 9 */2 * +MON` |
//! | `@midnight` | `@daily` |
//! | `0 9 * * * # a comment` | `0 9 * * *` |

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

/// The longest line that is accepted. A list of all minutes takes 170 bytes.
pub(super) const LONGEST: usize = 1_000;

const FIELDS: &str = "five fields: minute 0-59, hour 0-23, day 1-31, month 1-12 or JAN-DEC, \
                      weekday 0-7 or SUN-SAT, as in '0 9 * * MON'; six with seconds in front; \
                      seven with seconds in front and a year at the end";

/// The plain form of a line.
///
/// # Errors
///
/// If the line cannot be understood: the fault, and what to write instead.
pub(super) fn plain(line: &str) -> Result<String, String> {
    let too_long = || format!("it is longer than {LONGEST} bytes");
    if line.len() > LONGEST {
        return Err(too_long());
    }
    let words = words(line)?;
    let plain = match words[..] {
        [first, ..] if first.contains('=') => return Err(assignment(first)),
        [first, ..] if first.starts_with('@') => nickname(first, &words[1..])?.to_owned(),
        _ => fields(&words)?,
    };
    // Ranges with steps that wrap around become longer.
    if plain.len() > LONGEST { Err(too_long()) } else { Ok(plain) }
}

/// The words before a comment. Never empty.
fn words(line: &str) -> Result<Vec<&str>, String> {
    let all: Vec<_> = line.split_whitespace().collect();
    let comment = all.iter().position(|word| word.starts_with('#'));
    if let Some(word) = comment.map(|at| all[at])
        && word[1..].starts_with(|next: char| next.is_ascii_digit() || "lL".contains(next))
    {
        return Err(format!(
            "'{word}' may be a comment or belong to a weekday: write '# ' before a comment, and \
             'FRI{word}' without a space for a weekday of the month"
        ));
    }
    let words = &all[..comment.unwrap_or(all.len())];
    if words.is_empty() {
        Err(format!("it is empty; expected {FIELDS}"))
    } else {
        Ok(words.to_vec())
    }
}

/// Why `TZ=Europe/Berlin` and other variables of a crontab are refused.
fn assignment(word: &str) -> String {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if ["TZ", "CRON_TZ"].iter().any(|zone| name.eq_ignore_ascii_case(zone)) {
        return format!(
            "the time zone is not part of the line: leave '{word}' out, and give the zone \
             '{value}' as the second argument"
        );
    }
    format!("'{word}' sets a variable of a crontab: leave it out; expected {FIELDS}")
}

fn nickname(name: &str, rest: &[&str]) -> Result<&'static str, String> {
    const NAMES: [&str; 7] =
        ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"];
    let lower = name.to_ascii_lowercase();
    match NAMES.into_iter().find(|known| *known == lower) {
        Some(_) if !rest.is_empty() => Err(format!("nothing may follow '{name}'")),
        Some("@midnight") => Ok("@daily"),
        Some(known) => Ok(known),
        None => Err(match lower.as_str() {
            "@every" => "'@every' names a period, not calendar times: plan the job by \
                         `every(Duration)` instead"
                .to_owned(),
            "@reboot" => "'@reboot' is unsupported, since the start of a program is not a \
                          calendar time: schedule the job by `after(Duration::ZERO)` when the \
                          program starts"
                .to_owned(),
            _ => format!("'{name}' is not known: use one of {}", NAMES.join(", ")),
        }),
    }
}

fn fields(words: &[&str]) -> Result<String, String> {
    let first = match words.len() {
        5 => 1,
        6 | 7 => 0,
        count => return Err(format!("it has {count}, not between 5 and 7 fields: {FIELDS}")),
    };
    if let [.., year] = words
        && words.len() == 6
        && year.len() == 4
        && year.bytes().all(|byte| byte.is_ascii_digit())
    {
        let seconds = words.join(" ");
        return Err(format!("a line with a year begins with seconds: write '0 {seconds}'"));
    }
    let mut plain = Vec::new();
    for (field, text) in FIELD.iter().skip(first).zip(words) {
        let named = |fault| format!("{fault}, in the {} '{text}'", field.name);
        plain.push(field.plain(text).map_err(named)?);
    }
    // As in crontab: a field that begins with `*` does not restrict the days by itself, so a day
    // must match both. `croner` applies this only to a lone `*`.
    let [day, weekday] = [3 - first, 5 - first];
    let stars = |at: usize| words[at].trim_start_matches('+').starts_with(['*', '?']);
    let lone = |at: usize| ["*", "+*"].contains(&plain[at].as_str());
    let both = (stars(day) || stars(weekday)) && !lone(day) && !lone(weekday);
    if both && !plain[weekday].starts_with('+') {
        plain[weekday].insert(0, '+');
    }
    Ok(plain.join(" "))
}

struct Field {
    name: &'static str,
    least: u16,
    most: u16,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Day,
    Month,
    Weekday,
    Year,
}

const FIELD: [Field; 7] = [
    Field { name: "second", least: 0, most: 59, kind: Kind::Number },
    Field { name: "minute", least: 0, most: 59, kind: Kind::Number },
    Field { name: "hour", least: 0, most: 23, kind: Kind::Number },
    Field { name: "day of the month", least: 1, most: 31, kind: Kind::Day },
    Field { name: "month", least: 1, most: 12, kind: Kind::Month },
    // 7 is another name of 0.
    Field { name: "day of the week", least: 0, most: 6, kind: Kind::Weekday },
    Field {
        name: "year",
        least: croner::YEAR_LOWER_LIMIT as u16,
        most: croner::YEAR_UPPER_LIMIT as u16,
        kind: Kind::Year,
    },
];

const MONTHS: &str = "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER \
                      NOVEMBER DECEMBER";

const WEEKDAYS: &str = "SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY";

/// A value, and the text that `croner` reads as it.
struct Value<'a> {
    number: u16,
    text: &'a str,
}

impl Field {
    fn plain(&self, text: &str) -> Result<String, String> {
        let weekday = self.kind == Kind::Weekday;
        let (plus, list) = match text.strip_prefix('+') {
            Some(list) if weekday => ("+", list),
            Some(_) => return Err("a '+' may only precede a day of the week".to_owned()),
            None => ("", text),
        };
        let elements: Vec<_> = list.split(',').collect();
        let is_last = |element: &&str| element.eq_ignore_ascii_case("L");
        if weekday && elements.iter().any(is_last) {
            return Err("'L' alone is not a day of the week: write 'FRI#L' for the last Friday \
                        of a month, and 'L' as day of the month for its last day"
                .to_owned());
        }
        if elements.iter().any(is_last)
            && elements.iter().any(|element| element.eq_ignore_ascii_case("LW"))
        {
            return Err("'L' and 'LW' cannot be in one list: write two lines".to_owned());
        }
        let plain = elements.iter().map(|element| self.element(element, elements.len() > 1));
        Ok(plus.to_owned() + &plain.collect::<Result<Vec<_>, _>>()?.join(","))
    }

    fn element(&self, text: &str, in_list: bool) -> Result<String, String> {
        if text.is_empty() {
            return Err("a list has an empty element".to_owned());
        }
        let may_ask = matches!(self.kind, Kind::Day | Kind::Weekday);
        let is_all = |range: &str| range == "*" || may_ask && range == "?";
        match text.split_once('/') {
            Some((range, step)) if is_all(range) => Ok(format!("*/{}", self.step(step)?)),
            None if is_all(text) => Ok(if in_list { "*/1" } else { "*" }.to_owned()),
            Some((range, step)) => match range.split_once('-') {
                Some((from, to)) => self.range(from, to, Some(self.step(step)?)),
                None => Err(format!(
                    "the step of '{text}' has no range: write '{}/{step}'",
                    match range {
                        "" => "*".to_owned(),
                        range => format!("{range}-{}", self.most),
                    }
                )),
            },
            None => self.without_step(text),
        }
    }

    fn without_step(&self, text: &str) -> Result<String, String> {
        let upper = text.to_ascii_uppercase();
        if self.kind == Kind::Day {
            if ["L", "LW"].contains(&upper.as_str()) {
                return Ok(upper);
            }
            if let Some(day) = upper.strip_suffix('W') {
                return Ok(format!("{}W", self.value(day)?.number));
            }
        }
        let (range, nth) = match text.split_once('#') {
            // No name of a day ends with an L.
            None if self.kind == Kind::Weekday && upper.ends_with('L') => {
                (&text[..text.len() - 1], "#L".to_owned())
            }
            Some((range, nth)) if self.kind == Kind::Weekday => match nth {
                "1" | "2" | "3" | "4" | "5" | "l" | "L" => (range, format!("#{nth}")),
                _ => return Err(format!("'#{nth}' is not between '#1' and '#5', nor '#L'")),
            },
            _ => (text, String::new()),
        };
        let plain = match range.split_once('-') {
            Some((from, to)) => self.range(from, to, None)?,
            None => self.value(range)?.text.to_owned(),
        };
        // It belongs to each part of a range that wraps around.
        let parts: Vec<_> = plain.split(',').map(|part| format!("{part}{nth}")).collect();
        Ok(parts.join(","))
    }

    /// The plain form of a range. One that begins later than it ends wraps around.
    fn range(&self, from: &str, to: &str, step: Option<u16>) -> Result<String, String> {
        let (mut from, mut to) = (self.value(from)?, self.value(to)?);
        if self.kind == Kind::Weekday {
            if from.number == 7 {
                from = Value { number: 0, text: "0" };
                // From Sunday to Sunday is one day.
                if to.number == 7 {
                    to.number = 0;
                }
            }
            if to.number == 0 && from.number > 0 {
                // The Sunday after it. `croner` takes `-SUN` for that already.
                let text = if is_number(to.text) { "7" } else { to.text };
                to = Value { number: 7, text };
            } else if to.number == 0 {
                to.text = "0";
            }
        }
        if from.number <= to.number {
            let step = step.map_or(String::new(), |step| format!("/{step}"));
            return Ok(format!("{}-{}{step}", from.text, to.text));
        }
        if self.kind == Kind::Year {
            return Err(format!("the range '{}-{}' ends before it begins", from.text, to.text));
        }
        let (least, most) = (self.least, self.most);
        let Some(step) = step else {
            return Ok(format!("{}-{most},{least}-{}", from.number, to.number));
        };
        let values = (from.number..=most).chain(least..=to.number).step_by(step.into());
        Ok(values.map(|value| value.to_string()).collect::<Vec<_>>().join(","))
    }

    fn step(&self, text: &str) -> Result<u16, String> {
        let count = self.most - self.least + 1;
        match text.parse::<u16>() {
            _ if !is_number(text) => Err(format!("the step '{text}' is not a number")),
            Ok(0) => Err("a step of 0 never reaches another value".to_owned()),
            Ok(step) if step <= count => Ok(step),
            _ => Err(format!(
                "a step of {text} is larger than the field, which has {count} values: write \
                 the single value, or plan a period by `every(Duration)`"
            )),
        }
    }

    fn value<'a>(&self, text: &'a str) -> Result<Value<'a>, String> {
        let (names, example) = match self.kind {
            Kind::Month => (MONTHS, ", JAN-DEC, or a name in full"),
            Kind::Weekday => (WEEKDAYS, ", SUN-SAT, or a name in full"),
            _ => ("", ""),
        };
        let most = if self.kind == Kind::Weekday { 7 } else { self.most };
        let is =
            |name: &str| name.eq_ignore_ascii_case(text) || name[..3].eq_ignore_ascii_case(text);
        if let Some(at) = names.split_ascii_whitespace().position(is) {
            return Ok(Value { number: self.least + at as u16, text: &text[..3] });
        }
        match text.parse() {
            Ok(number) if is_number(text) && (self.least..=most).contains(&number) => {
                Ok(Value { number, text })
            }
            _ => Err(format!("'{text}' is not between {} and {most}{example}", self.least)),
        }
    }
}

/// Digits alone: `parse` also takes a `+`.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
