//! Conversions between table rows and values.

use crate::error::Result;
use tokio_postgres::Row as SqlRow;
use wheelhouse_durable::store::rules::Row;
use wheelhouse_durable::store::{
    Dead, Entry, Key, Kind, Lease, State, StoreError, Timestamp, Token,
};

/// The error for a column with a type or a value that this crate does not write.
fn damaged(what: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged(what.to_string())
}

/// The part of a row that changes depend on: eight columns, from the column `from` on.
pub(crate) fn row(sql: &SqlRow, from: usize) -> Result<Row> {
    let number = |column| number(sql, from + column);
    let lease = || {
        let token: Option<i64> = sql.try_get(from + 6).map_err(damaged)?;
        let Some(token) = token.map(i64::cast_unsigned) else { return Ok(None) };
        Ok::<_, StoreError>(Some(Lease { token: Token(token), until: time(sql, from + 7)? }))
    };
    let attempt: i32 = sql.try_get(from + 4).map_err(damaged)?;
    let state: i16 = sql.try_get(from + 5).map_err(damaged)?;
    let state =
        State::of_number(state.into(), lease)?.ok_or_else(|| damaged(format!("state {state}")))?;
    Ok(Row {
        due: time(sql, from)?,
        visible_at: time(sql, from + 1)?,
        generation: number(2)?,
        occurrence: number(3)?,
        attempt: attempt.cast_unsigned(),
        state,
    })
}

/// A complete row of `job`: these eight columns, then key, kind, payload, policy.
pub(crate) fn entry(sql: &SqlRow, from: usize) -> Result<Entry> {
    let kind: &str = sql.try_get(from + 9).map_err(damaged)?;
    let payload = sql.try_get(from + 10).map_err(damaged)?;
    let policy = sql.try_get(from + 11).map_err(damaged)?;
    Ok(row(sql, from)?.of(key(sql, from + 8)?, Kind::from(kind), payload, policy))
}

/// A row of `dead`: an entry's columns, the reason and the time.
pub(crate) fn dead(sql: &SqlRow) -> Result<Dead> {
    let reason = sql.try_get(12).map_err(damaged)?;
    Ok(Dead { job: entry(sql, 0)?, reason, at: time(sql, 13)? })
}

pub(crate) fn key(sql: &SqlRow, column: usize) -> Result<Key> {
    let bytes: &[u8] = sql.try_get(column).map_err(damaged)?;
    Key::new(bytes).map_err(damaged)
}

pub(crate) fn number(sql: &SqlRow, column: usize) -> Result<u64> {
    sql.try_get::<_, i64>(column).map(i64::cast_unsigned).map_err(damaged)
}

pub(crate) fn time(sql: &SqlRow, column: usize) -> Result<Timestamp> {
    number(sql, column).map(Timestamp::from_millis)
}

/// The columns `state`, `token` and `until` of a state.
pub(crate) fn columns(state: State) -> (i16, Option<i64>, Option<i64>) {
    let lease = state.lease();
    let token = lease.map(|lease| lease.token.0.cast_signed());
    (state.number().into(), token, lease.map(|lease| millis(lease.until)))
}

/// The milliseconds of a time, which are less than 2^53.
pub(crate) fn millis(time: Timestamp) -> i64 {
    time.as_millis().cast_signed()
}
