//! The log of a process, with a line of JSON for each event.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;
use wheelhouse_durable::store::{Leased, Timestamp};

/// An event, with times in microseconds of the machine's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A call: its name (`schedule`, `cancel`, `begin`, `ack` or `retry`), the key, the token (0
    /// for the first two), and the time.
    Call(String, String, u64, u64),
    /// The answer to a call: its name, key, token, the time, and the name of the outcome.
    Answer(String, String, u64, u64, String),
    /// A run has begun.
    Begin(Begin),
    /// The process ended normally. If this is missing, it was killed.
    Over,
}

/// The begin of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// The key of the job.
    pub key: String,
    /// The number of the scheduling.
    pub generation: u64,
    /// The number of the occurrence.
    pub occurrence: u64,
    /// The token of the lease.
    pub token: u64,
    /// When the occurrence was due, by the store's clock.
    pub due: u64,
    /// When the job was handed out, by the store's clock.
    pub now: u64,
    /// When the lease ends, by the store's clock.
    pub until: u64,
    /// When the commit of the begin was called.
    pub called: u64,
    /// When that commit returned.
    pub returned: u64,
}

impl Begin {
    pub(crate) fn of(leased: &Leased, now: Timestamp, called: u64) -> Self {
        let job = &leased.job;
        Self {
            key: job.key.to_string(),
            generation: job.generation,
            occurrence: job.occurrence,
            token: leased.token.0,
            due: job.due.as_millis(),
            now: now.as_millis(),
            until: leased.until.as_millis(),
            called,
            returned: micros(),
        }
    }

    /// Generation and occurrence: the same in all attempts at an occurrence.
    pub(crate) fn idempotency(&self) -> (u64, u64) {
        (self.generation, self.occurrence)
    }
}

/// The present in microseconds, for calls and answers.
pub(crate) fn micros() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

/// The log that this process appends to. When a call returns, the operating system has its line, so
/// a kill loses none. Calls panic if the file cannot be written.
#[derive(Debug)]
pub struct Log(File);

impl Log {
    /// Creates a log.
    #[must_use]
    pub fn create(path: &Path) -> Self {
        Self(File::create(path).expect("a log"))
    }

    /// Appends an event.
    pub fn write(&mut self, event: &Event) {
        let line = serde_json::to_string(event).expect("an event is JSON") + "\n";
        self.0.write_all(line.as_bytes()).expect("a line of the log");
    }
}

/// Reads the events of a log. Ignores an incomplete last line, which a kill may leave.
#[must_use]
pub fn read(path: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(path).expect("a log");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}
