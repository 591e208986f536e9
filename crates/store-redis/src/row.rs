//! Conversion of rows from the scripts' format.

use crate::error::Result;
use std::convert::Infallible;
use wheelhouse_durable::store::{
    Dead, Entry, Key, Kind, Lease, Put, State, StoreError, Timestamp, Token,
};

/// The token of a row without a lease.
const NO_TOKEN: Token = Token(0);

/// The number of bytes of a row before its kind. The last two are whether the body is in another
/// hash, and the length of the kind.
const HEAD: usize = 47;

/// The longest policy and payload, together, that are stored in the row. Each change of a row
/// copies its body. For a longer body that takes more time than separate commands.
pub(crate) const LONGEST_IN_ROW: usize = 128;

/// Reads a job from its key, its row, as `common.lua` describes it, and its body if that is not in
/// the row.
pub(crate) fn entry(key: &[u8], row: &[u8], body: &[u8]) -> Result<Entry> {
    read(key, row, body).ok_or_else(|| damaged(key))
}

/// Returns `true` if the body of a row is not in the row.
pub(crate) fn has_body_apart(row: &[u8]) -> bool {
    row.get(HEAD - 2) == Some(&1)
}

fn read(key: &[u8], row: &[u8], body: &[u8]) -> Option<Entry> {
    let (head, rest) = row.split_first_chunk::<HEAD>()?;
    let number = |at: usize| head.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes);
    let (token, until, due) = (Token(number(1)?), time(number(13)?), time(number(21)?));
    let lease = (token != NO_TOKEN).then_some(Lease { token, until });
    let Ok(state) = State::of_number(head[0].into(), || Ok::<_, Infallible>(lease));
    let state = state?;
    let visible_at = if matches!(state, State::Replaced(_)) { until.max(due) } else { until };
    let (kind, rest) = rest.split_at_checked(head[HEAD - 1].into())?;
    let (policy, payload) = split_body(if has_body_apart(row) { body } else { rest })?;
    Some(Entry {
        key: Key::new(key).ok()?,
        kind: Kind::from(std::str::from_utf8(kind).ok()?),
        payload: payload.to_vec(),
        policy: std::str::from_utf8(policy).ok()?.to_owned(),
        due,
        visible_at,
        generation: number(29)?,
        occurrence: number(37)?,
        attempt: head.get(9..13)?.try_into().ok().map(u32::from_be_bytes)?,
        state,
    })
}

/// Reads a dead letter, as `commit.lua` packs it.
pub(crate) fn dead(letter: &[u8]) -> Result<Dead> {
    read_dead(letter).ok_or_else(|| damaged(letter))
}

fn read_dead(letter: &[u8]) -> Option<Dead> {
    let (lengths, rest) = letter.split_at_checked(12)?;
    let (at, rest) = rest.split_at_checked(8)?;
    let length = |at: usize| {
        let bytes = lengths.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    };
    let (row, rest) = rest.split_at_checked(length(0)?)?;
    let (key, rest) = rest.split_at_checked(length(4)?)?;
    let (reason, body) = rest.split_at_checked(length(8)?)?;
    Some(Dead {
        job: read(key, row, body)?,
        reason: String::from_utf8_lossy(reason).into_owned(),
        at: time(u64::from_be_bytes(at.try_into().ok()?)),
    })
}

/// Appends the end of the row of a new job, after its occurrence. Returns the body if it is too
/// long for the row, or else nothing. A body is the policy's length in four bytes, the policy, and
/// the payload.
pub(crate) fn append(row: &mut Vec<u8>, job: &Put) -> Result<Vec<u8>> {
    let Put { kind, policy, payload, .. } = job;
    let refused = |why: &str| StoreError::Refused(why.into());
    let kind_length = u8::try_from(kind.len());
    let kind_length = kind_length.map_err(|_| refused("a kind has at most 255 bytes"))?;
    let policy_length = u32::try_from(policy.len());
    let policy_length = policy_length.map_err(|_| refused("a policy has at most 4 GiB"))?;
    let is_long = policy.len().saturating_add(payload.len()) > LONGEST_IN_ROW;
    row.extend([is_long.into(), kind_length]);
    row.extend(kind.as_bytes());
    let mut long_body = Vec::new();
    let body = if is_long { &mut long_body } else { row };
    body.extend(policy_length.to_be_bytes());
    body.extend(policy.as_bytes());
    body.extend(payload);
    Ok(long_body)
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
