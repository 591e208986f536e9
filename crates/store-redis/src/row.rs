//! Conversion of rows from the scripts' format.

use std::convert::Infallible;
use wheelhouse_durable::store::{
    Dead, Entry, Key, Kind, Lease, Put, State, StoreError, Timestamp, Token,
};

/// The token of a row without a lease.
const NO_TOKEN: Token = Token(0);

/// The number of bytes of a row before its kind. The last one is the length of the kind.
const HEAD: usize = 46;

/// Reads a job from its key and its row, as `common.lua` describes it, with the body.
pub(crate) fn entry(key: &[u8], row: &[u8]) -> Result<Entry, StoreError> {
    read(key, row).ok_or_else(|| damaged(key))
}

fn read(key: &[u8], row: &[u8]) -> Option<Entry> {
    let (head, rest) = row.split_first_chunk::<HEAD>()?;
    let number = |at: usize| head.get(at..at + 8)?.try_into().ok().map(u64::from_be_bytes);
    let (token, until, due) = (Token(number(1)?), time(number(13)?), time(number(21)?));
    let lease = (token != NO_TOKEN).then_some(Lease { token, until });
    let Ok(state) = State::of_number(head[0].into(), || Ok::<_, Infallible>(lease));
    let state = state?;
    let visible_at = if matches!(state, State::Replaced(_)) { until.max(due) } else { until };
    let (kind, body) = rest.split_at_checked(head[HEAD - 1].into())?;
    let (policy, payload) = split_body(body)?;
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
    let (row, rest) = rest.split_at_checked(length(0)?)?;
    let (key, rest) = rest.split_at_checked(length(4)?)?;
    let reason = rest.get(..length(8)?)?;
    Some(Dead {
        job: read(key, row)?,
        reason: String::from_utf8_lossy(reason).into_owned(),
        at: time(u64::from_be_bytes(at.try_into().ok()?)),
    })
}

/// Appends the kind and the body of a new job, as in a row. A body is the policy's length in four
/// bytes, the policy, and the payload.
pub(crate) fn append(row: &mut Vec<u8>, job: &Put) -> Result<(), StoreError> {
    let Put { kind, policy, payload, .. } = job;
    let too_long = |what: &str| StoreError::Refused(format!("a {what}"));
    let length = u8::try_from(kind.len()).map_err(|_| too_long("kind has at most 255 bytes"))?;
    row.push(length);
    row.extend(kind.as_bytes());
    let length = u32::try_from(policy.len()).map_err(|_| too_long("policy has at most 4 GiB"))?;
    row.extend(length.to_be_bytes());
    row.extend(policy.as_bytes());
    row.extend(payload);
    Ok(())
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
