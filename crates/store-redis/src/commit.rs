//! The arguments and answers of `commit.lua`.

use crate::row::body;
use std::time::Duration;
use wheelhouse_durable::store::{
    Again, Change, Key, Outcome, Put, StoreError, Timestamp, Token, When,
};

/// The most changes in one call of the script. They block the server for about five milliseconds.
pub(crate) const AT_ONCE: usize = 512;

/// The arguments of a call.
pub(crate) type Arguments = Vec<Vec<u8>>;

/// Adds a change to a call.
pub(crate) fn add(call: &mut Arguments, change: &Change) -> Result<(), StoreError> {
    match change {
        Change::Put(Put { key, kind, payload, policy, when, replace }) => {
            begin(call, b"P", key, None);
            call.push(kind.as_bytes().to_vec());
            call.push(time(Some(*when)));
            call.push(vec![b'0' + u8::from(*replace)]);
            call.push(body(policy, payload)?);
        }
        Change::Move { key, when } => {
            begin(call, b"M", key, None);
            call.push(time(Some(*when)));
        }
        Change::Cancel { key } => begin(call, b"C", key, None),
        Change::Begin { key, token } => begin(call, b"s", key, Some(*token)),
        Change::Ack { key, token, again } => {
            let again = again.map(|Again { when, occurrence }| (when, occurrence));
            let (when, occurrence) = again.unzip();
            begin(call, b"a", key, Some(*token));
            call.push(time(when));
            call.push(occurrence.unwrap_or_default().to_be_bytes().to_vec());
        }
        Change::Retry { key, token, when } => retry(call, key, *token, *when, b"0"),
        Change::Release { key, token, when } => retry(call, key, *token, *when, b"1"),
        Change::Extend { key, token, visibility } => {
            begin(call, b"e", key, Some(*token));
            call.push(millis(*visibility).to_string().into_bytes());
        }
        Change::Bury { key, token, reason } => {
            begin(call, b"b", key, Some(*token));
            call.push(reason.clone().into_bytes());
        }
        Change::Revive { generation, when } => {
            call.extend([b"V".to_vec(), generation.to_string().into_bytes(), time(Some(*when))]);
        }
        Change::Forget { generation } => {
            call.extend([b"F".to_vec(), generation.to_string().into_bytes()]);
        }
        other => return Err(StoreError::Refused(format!("unknown change {other:?}"))),
    }
    Ok(())
}

fn begin(call: &mut Arguments, letter: &[u8], key: &Key, token: Option<Token>) {
    call.extend([letter.to_vec(), key.as_bytes().to_vec()]);
    call.extend(token.map(|token| token.0.to_be_bytes().to_vec()));
}

/// `back`: the number of attempts to subtract.
fn retry(call: &mut Arguments, key: &Key, token: Token, when: When, back: &[u8]) {
    begin(call, b"r", key, Some(token));
    call.extend([time(Some(when)), back.to_vec()]);
}

/// A time in the script's format.
fn time(when: Option<When>) -> Vec<u8> {
    let text = match when {
        None => String::new(),
        Some(When::After(delay)) => format!("+{}", millis(delay)),
        Some(When::At(time)) => format!("@{}", time.as_millis()),
    };
    text.into_bytes()
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
