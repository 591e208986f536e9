//! The arguments and answers of `commit.lua`.

use crate::row::policy_length;
use redis::Cmd;
use std::time::Duration;
use wheelhouse_durable::store::{
    Again, Change, Key, Outcome, Put, StoreError, Timestamp, Token, When,
};

/// The most changes in one call of the script. They block the server for about five milliseconds.
pub(crate) const AT_ONCE: usize = 512;

/// The arguments of a call, one after the other.
#[derive(Default)]
pub(crate) struct Arguments {
    bytes: Vec<u8>,
    /// Where each argument ends.
    ends: Vec<usize>,
}

impl Arguments {
    /// Adds an argument that consists of these parts.
    fn push(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn add_to(&self, command: &mut Cmd) {
        let mut begin = 0;
        for end in &self.ends {
            command.arg(&self.bytes[begin..*end]);
            begin = *end;
        }
    }

    pub(crate) fn add(&mut self, change: &Change) -> Result<(), StoreError> {
        match change {
            Change::Put(Put { key, kind, payload, policy, when, replace }) => {
                self.begin(b"P", key, None);
                self.push(&[kind.as_bytes()]);
                self.push_time(Some(*when));
                self.push(&[&[b'0' + u8::from(*replace)]]);
                self.push(&[&policy_length(policy)?, policy.as_bytes(), payload]);
            }
            Change::Move { key, when } => {
                self.begin(b"M", key, None);
                self.push_time(Some(*when));
            }
            Change::Cancel { key } => self.begin(b"C", key, None),
            Change::Begin { key, token } => self.begin(b"s", key, Some(*token)),
            Change::Ack { key, token, again } => {
                let again = again.map(|Again { when, occurrence }| (when, occurrence));
                let (when, occurrence) = again.unzip();
                self.begin(b"a", key, Some(*token));
                self.push_time(when);
                self.push(&[&occurrence.unwrap_or_default().to_be_bytes()]);
            }
            Change::Retry { key, token, when } => self.retry(key, *token, *when, b"0"),
            Change::Release { key, token, when } => self.retry(key, *token, *when, b"1"),
            Change::Extend { key, token, visibility } => {
                self.begin(b"e", key, Some(*token));
                self.push(&[millis(*visibility).to_string().as_bytes()]);
            }
            Change::Bury { key, token, reason } => {
                self.begin(b"b", key, Some(*token));
                self.push(&[reason.as_bytes()]);
            }
            Change::Revive { generation, when } => {
                self.push(&[b"V"]);
                self.push(&[generation.to_string().as_bytes()]);
                self.push_time(Some(*when));
            }
            Change::Forget { generation } => {
                self.push(&[b"F"]);
                self.push(&[generation.to_string().as_bytes()]);
            }
            other => return Err(StoreError::Refused(format!("unknown change {other:?}"))),
        }
        Ok(())
    }

    fn begin(&mut self, letter: &[u8], key: &Key, token: Option<Token>) {
        self.push(&[letter]);
        self.push(&[key.as_bytes()]);
        token.into_iter().for_each(|token| self.push(&[&token.0.to_be_bytes()]));
    }

    /// `back`: the number of attempts to subtract.
    fn retry(&mut self, key: &Key, token: Token, when: When, back: &[u8]) {
        self.begin(b"r", key, Some(token));
        self.push_time(Some(when));
        self.push(&[back]);
    }

    /// Adds a time in the script's format.
    fn push_time(&mut self, when: Option<When>) {
        let text = match when {
            None => String::new(),
            Some(When::After(delay)) => format!("+{}", millis(delay)),
            Some(When::At(time)) => format!("@{}", time.as_millis()),
        };
        self.push(&[text.as_bytes()]);
    }
}

/// Whole milliseconds, rounded up, and at most the largest number that a double holds exactly.
pub(crate) fn millis(duration: Duration) -> u64 {
    Timestamp::default().saturating_add(duration).as_millis()
}

/// The outcome for a letter of the script's answer.
pub(crate) fn outcome(letter: u8) -> Result<Outcome, StoreError> {
    Ok(match letter {
        b'D' => Outcome::Done,
        b'R' => Outcome::Replaced,
        b'C' => Outcome::Cancelled,
        b'U' => Outcome::Running,
        b'A' => Outcome::Absent,
        b'S' => Outcome::Superseded,
        b'E' => Outcome::Duplicate,
        b'L' => Outcome::Closed,
        other => return Err(StoreError::Damaged(format!("unknown outcome {other}"))),
    })
}
