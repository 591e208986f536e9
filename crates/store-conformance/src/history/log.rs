//! The log of a process: a line for each event.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;
use wheelhouse_durable::store::{Leased, Outcome, Timestamp};

/// What happened, with times in microseconds of the machine's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A call: `schedule`, `cancel`, `begin`, `ack` or `retry`; the last three by a token.
    Call(String, String, u64, u64),
    /// Its answer, of the same key and token; the name of the outcome.
    Answer(String, String, u64, u64, String),
    /// A run has begun.
    Begin(Begin),
    /// The process ended by itself. Where this is missing, it was killed.
    Over,
}

/// A beginning of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Of which job.
    pub key: String,
    /// Which scheduling.
    pub generation: u64,
    /// Which occurrence.
    pub occurrence: u64,
    /// The number of the run of this occurrence, from 1.
    pub attempt: u64,
    /// Of the lease.
    pub token: u64,
    /// By the store's clock: due, handed out, end of the lease.
    pub due: u64,
    /// When it was handed out.
    pub now: u64,
    /// When the lease ends.
    pub until: u64,
    /// When the beginning was committed: called.
    pub called: u64,
    /// And returned.
    pub returned: u64,
}

impl Begin {
    pub(crate) fn of(leased: &Leased, now: Timestamp, called: u64) -> Self {
        let job = &leased.job;
        Self {
            key: job.key.to_string(),
            generation: job.generation,
            occurrence: job.occurrence,
            attempt: u64::from(job.attempt) + 1,
            token: leased.token.0,
            due: job.due.as_millis(),
            now: now.as_millis(),
            until: leased.until.as_millis(),
            called,
            returned: micros(),
        }
    }

    /// The same in all attempts at an occurrence.
    pub(crate) fn idempotency(&self) -> (u64, u64) {
        (self.generation, self.occurrence)
    }
}

/// The present, for calls and answers.
pub(crate) fn micros() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

/// The log that this process appends to. A line is with the operating system when its call returns,
/// so that a kill loses none.
#[derive(Debug)]
pub struct Log(File);

impl Log {
    /// A new log.
    ///
    /// # Panics
    ///
    /// If it cannot be made.
    #[must_use]
    pub fn create(path: &Path) -> Self {
        Self(File::create(path).expect("a log"))
    }

    /// Appends.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&mut self, event: &Event) {
        let line = match event {
            Event::Call(what, key, token, at) => format!("call {what} {key} {token} {at}\n"),
            Event::Answer(what, key, token, at, outcome) => {
                format!("answer {what} {key} {token} {at} {outcome}\n")
            }
            Event::Begin(its) => format!(
                "begin {} {} {} {} {} {} {} {} {} {}\n",
                its.key,
                its.generation,
                its.occurrence,
                its.attempt,
                its.token,
                its.due,
                its.now,
                its.until,
                its.called,
                its.returned
            ),
            Event::Over => "over\n".to_owned(),
        };
        self.0.write_all(line.as_bytes()).expect("a line of the log");
    }

    pub(crate) fn call(&mut self, what: &str, key: &str, token: u64) {
        self.write(&Event::Call(what.into(), key.into(), token, micros()));
    }

    pub(crate) fn answer(&mut self, what: &str, key: &str, token: u64, outcome: Outcome) {
        let outcome = format!("{outcome:?}");
        self.write(&Event::Answer(what.into(), key.into(), token, micros(), outcome));
    }
}

/// The events of a log. The last line may be half, where a kill met it, and is left out then.
///
/// # Panics
///
/// If the file cannot be read, or is no log.
#[must_use]
pub fn read(path: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(path).expect("a log");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| event(line).unwrap_or_else(|| panic!("no event: {line}"))).collect()
}

fn event(line: &str) -> Option<Event> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    if kind == "over" {
        return Some(Event::Over);
    }
    let first = words.next()?.to_owned();
    if kind == "begin" {
        let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let [generation, occurrence, attempt, token, due, now, until, called, returned] =
            numbers[..]
        else {
            return None;
        };
        let key = first;
        return Some(Event::Begin(Begin {
            key,
            generation,
            occurrence,
            attempt,
            token,
            due,
            now,
            until,
            called,
            returned,
        }));
    }
    let key = words.next()?.to_owned();
    let (token, at) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    match kind {
        "call" => Some(Event::Call(first, key, token, at)),
        "answer" => Some(Event::Answer(first, key, token, at, words.next()?.to_owned())),
        _ => None,
    }
}
