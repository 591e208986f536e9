//! The arguments and answers of `commit.lua`.

use crate::error::Result;
use crate::row;
use redis::Cmd;
use std::time::Duration;
use wheelhouse_durable::store::{Change, Key, Outcome, StoreError, Timestamp, Token, When};

/// The most changes in one call of the script. They block the server for about five milliseconds.
pub(crate) const AT_ONCE: usize = 512;

/// Adds the key of a change to the arguments of a call: the generation for that of a dead letter.
pub(crate) fn add_key(command: &mut Cmd, change: &Change) {
    match change {
        Change::Revive { generation, .. } | Change::Forget { generation } => {
            command.arg(generation)
        }
        change => command.arg(change.key().map_or(&[][..], Key::as_bytes)),
    };
}

/// Adds a change to the arguments of a call, as `commit.lua` describes it.
pub(crate) fn add_to(command: &mut Cmd, change: &Change) -> Result<()> {
    const NO_TIME: (u8, u64) = (0, 0);
    let (number, (sign, time), occurrence) = match change {
        Change::Put(put) => (if put.replace { 2 } else { 1 }, time(put.when), 0),
        Change::Revive { when, .. } => (3, time(*when), 0),
        Change::Forget { .. } => (4, NO_TIME, 0),
        Change::Move { when, .. } => (5, time(*when), 0),
        Change::Cancel { .. } => (6, NO_TIME, 0),
        Change::Begin { .. } => (7, NO_TIME, 0),
        Change::Ack { again: None, .. } => (8, NO_TIME, 0),
        Change::Ack { again: Some(again), .. } => (8, time(again.when), again.occurrence),
        Change::Retry { when, .. } => (9, time(*when), 0),
        Change::Release { when, .. } => (10, time(*when), 0),
        Change::Extend { visibility, .. } => (11, (1, millis(*visibility)), 0),
        Change::Bury { .. } => (12, NO_TIME, 0),
        other => return Err(StoreError::Refused(format!("unknown change {other:?}"))),
    };
    let Token(token) = change.token().unwrap_or(Token(0));
    let mut head = Vec::with_capacity(128);
    head.push(number);
    head.extend(token.to_be_bytes());
    head.push(sign);
    head.extend(time.to_be_bytes());
    head.extend(occurrence.to_be_bytes());
    match change {
        Change::Put(put) => {
            let long_body = row::append(&mut head, put)?;
            command.arg(head).arg(long_body)
        }
        Change::Bury { reason, .. } => command.arg(head).arg(reason),
        _ => command.arg(head),
    };
    Ok(())
}

/// A time in the script's format: a sign and a number.
fn time(when: When) -> (u8, u64) {
    match when {
        When::At(time) => (1, time.as_millis()),
        When::After(delay) => (2, millis(delay)),
    }
}

/// Whole milliseconds, rounded up, and at most the largest number that a double holds exactly.
pub(crate) fn millis(duration: Duration) -> u64 {
    Timestamp::default().saturating_add(duration).as_millis()
}

/// The outcome for a letter of the script's answer.
pub(crate) fn outcome(letter: u8) -> Result<Outcome> {
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
