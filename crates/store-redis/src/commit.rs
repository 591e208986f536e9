//! The arguments and answers of `commit.lua`.

use crate::row::policy_length;
use redis::Cmd;
use std::time::Duration;
use wheelhouse_durable::store::{Change, Key, Outcome, Put, StoreError, Timestamp, Token, When};

/// The most changes in one call of the script. They block the server for about five milliseconds.
pub(crate) const AT_ONCE: usize = 512;

/// Adds a change to the arguments of a call.
pub(crate) fn add_to(command: &mut Cmd, change: &Change) -> Result<(), StoreError> {
    match change {
        Change::Put(Put { key, kind, payload, policy, when, replace }) => {
            let body = [&policy_length(policy)?[..], policy.as_bytes(), payload].concat();
            begin(command, "P", key, None).arg(&**kind).arg(time(*when));
            command.arg(u8::from(*replace)).arg(body)
        }
        Change::Move { key, when } => begin(command, "M", key, None).arg(time(*when)),
        Change::Cancel { key } => begin(command, "C", key, None),
        Change::Begin { key, token } => begin(command, "s", key, Some(*token)),
        Change::Ack { key, token, again } => {
            let (when, occurrence) =
                again.map_or_else(Default::default, |again| (time(again.when), again.occurrence));
            begin(command, "a", key, Some(*token)).arg(when).arg(&occurrence.to_be_bytes())
        }
        Change::Retry { key, token, when } => {
            begin(command, "r", key, Some(*token)).arg(time(*when)).arg(0)
        }
        // The number of attempts to subtract.
        Change::Release { key, token, when } => {
            begin(command, "r", key, Some(*token)).arg(time(*when)).arg(1)
        }
        Change::Extend { key, token, visibility } => {
            begin(command, "e", key, Some(*token)).arg(millis(*visibility))
        }
        Change::Bury { key, token, reason } => begin(command, "b", key, Some(*token)).arg(reason),
        Change::Revive { generation, when } => command.arg("V").arg(generation).arg(time(*when)),
        Change::Forget { generation } => command.arg("F").arg(generation),
        other => return Err(StoreError::Refused(format!("unknown change {other:?}"))),
    };
    Ok(())
}

fn begin<'c>(command: &'c mut Cmd, letter: &str, key: &Key, token: Option<Token>) -> &'c mut Cmd {
    command.arg(letter).arg(key.as_bytes());
    if let Some(Token(token)) = token {
        command.arg(&token.to_be_bytes());
    }
    command
}

/// A time in the script's format.
fn time(when: When) -> String {
    match when {
        When::After(delay) => format!("+{}", millis(delay)),
        When::At(time) => format!("@{}", time.as_millis()),
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
