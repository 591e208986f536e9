//! Conversion of rows from the scripts' format.

use std::convert::Infallible;
use wheelhouse_durable::store::{
    Dead, Entry, Key, Kind, Lease, State, StoreError, Timestamp, Token,
};

/// The token of a row without a lease.
const NO_TOKEN: Token = Token(0);

/// The number of bytes of a state before its kind.
const HEAD: usize = 45;

/// Reads a row from its key, state and body.
pub(crate) fn entry(key: &[u8], state: &[u8], body: &[u8]) -> Result<Entry, StoreError> {
    read(key, state, body).ok_or_else(|| damaged(key))
}

fn read(key: &[u8], state: &[u8], body: &[u8]) -> Option<Entry> {
    let (head, kind) = state.split_at_checked(HEAD)?;
    let number = |at: usize| head.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes);
    let (token, until, due) = (Token(number(1)?), time(number(9)?), time(number(17)?));
    let lease = (token != NO_TOKEN).then_some(Lease { token, until });
    let Ok(state) = State::of_number(head[0].into(), || Ok::<_, Infallible>(lease));
    let state = state?;
    let visible_at = if matches!(state, State::Replaced(_)) { until.max(due) } else { until };
    let (policy, payload) = split_body(body)?;
    Some(Entry {
        key: Key::new(key).ok()?,
        kind: Kind::from(std::str::from_utf8(kind).ok()?),
        payload: payload.to_vec(),
        policy: std::str::from_utf8(policy).ok()?.to_owned(),
        due,
        visible_at,
        generation: number(25)?,
        occurrence: number(33)?,
        attempt: head.get(41..45)?.try_into().ok().map(u32::from_be_bytes)?,
        state,
    })
}

/// Reads a dead letter, as `commit.lua` packs it.
pub(crate) fn dead(letter: &[u8]) -> Result<Dead, StoreError> {
    read_dead(letter).ok_or_else(|| damaged(letter))
}

fn read_dead(letter: &[u8]) -> Option<Dead> {
    let (lengths, rest) = letter.split_at_checked(12)?;
    let (at, rest) = rest.split_at_checked(8)?;
    let length = |at: usize| {
        let bytes = lengths.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    };
    let (state, rest) = rest.split_at_checked(length(0)?)?;
    let (key, rest) = rest.split_at_checked(length(4)?)?;
    let (reason, body) = rest.split_at_checked(length(8)?)?;
    Some(Dead {
        job: read(key, state, body)?,
        reason: String::from_utf8_lossy(reason).into_owned(),
        at: time(u64::from_be_bytes(at.try_into().ok()?)),
    })
}

/// The first part of a body: the policy's length in four bytes, the policy, the payload.
pub(crate) fn policy_length(policy: &str) -> Result<[u8; 4], StoreError> {
    let length = u32::try_from(policy.len())
        .map_err(|_| StoreError::Refused("a policy has at most 4 GiB".into()))?;
    Ok(length.to_be_bytes())
}

fn split_body(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

fn time(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn damaged(name: &[u8]) -> StoreError {
    StoreError::Damaged(format!("unreadable row {}", name.escape_ascii()))
}
