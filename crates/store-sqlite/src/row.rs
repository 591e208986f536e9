//! Conversions between table rows and values.

use rusqlite::types::Type;
use rusqlite::{Error, Result, Row as SqlRow};
use wheelhouse_durable::store::rules::Row;
use wheelhouse_durable::store::{Dead, Entry, Key, Lease, State, Timestamp, Token};

/// The columns that [`row`] reads.
macro_rules! row_columns {
    () => {
        "due, visible_at, generation, occurrence, attempt, state, token, until"
    };
}

/// The columns that [`entry`] reads.
macro_rules! entry_columns {
    () => {
        concat!($crate::row::row_columns!(), ", key, kind, payload, policy")
    };
}

pub(crate) use {entry_columns, row_columns};

/// The columns of `dead` that [`dead`] reads: those of a pending entry, and two more.
pub(crate) const DEAD: &str = "due, due, generation, occurrence, attempt, 0, NULL, NULL, \
                               key, kind, payload, policy, reason, at";

/// The part of a row of `job` that changes depend on.
pub(crate) fn row(row: &SqlRow<'_>) -> Result<Row> {
    let lease = || {
        let Some(token) = row.get::<_, Option<i64>>(6)? else { return Ok(None) };
        Ok::<_, Error>(Some(Lease { token: Token(token.cast_unsigned()), until: time(row, 7)? }))
    };
    let state: i64 = row.get(5)?;
    let state = State::of_number(state, lease)?.ok_or(Error::IntegralValueOutOfRange(5, state))?;
    Ok(Row {
        due: time(row, 0)?,
        visible_at: time(row, 1)?,
        generation: number(row, 2)?,
        occurrence: number(row, 3)?,
        attempt: row.get(4)?,
        state,
    })
}

pub(crate) fn entry(sql: &SqlRow<'_>) -> Result<Entry> {
    let kind = sql.get_ref(9)?.as_str()?.into();
    Ok(row(sql)?.of(key(sql, 8)?, kind, sql.get(10)?, sql.get(11)?))
}

pub(crate) fn key(sql: &SqlRow<'_>, column: usize) -> Result<Key> {
    Key::new(sql.get_ref(column)?.as_bytes()?)
        .map_err(|error| Error::FromSqlConversionFailure(column, Type::Blob, error.into()))
}

pub(crate) fn dead(row: &SqlRow<'_>) -> Result<Dead> {
    Ok(Dead { job: entry(row)?, reason: row.get(12)?, at: time(row, 13)? })
}

/// The columns that [`row`] reads.
pub(crate) fn columns(row: &Row) -> [Option<i64>; 8] {
    let lease = row.state.lease();
    [
        Some(millis(row.due)),
        Some(millis(row.visible_at)),
        Some(signed(row.generation)),
        Some(signed(row.occurrence)),
        Some(row.attempt.into()),
        Some(row.state.number().into()),
        lease.map(|lease| signed(lease.token.0)),
        lease.map(|lease| millis(lease.until)),
    ]
}

/// Converts to a signed integer, as SQLite stores them. The order is kept only below 2^63.
pub(crate) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

/// The milliseconds of a time, which are less than 2^53.
pub(crate) fn millis(time: Timestamp) -> i64 {
    signed(time.as_millis())
}

/// The value of a `LIMIT`.
pub(crate) fn limit(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}

/// A column that [`signed`] made.
pub(crate) fn number(row: &SqlRow<'_>, column: usize) -> Result<u64> {
    row.get(column).map(i64::cast_unsigned)
}

/// A column that [`millis`] made.
pub(crate) fn time(row: &SqlRow<'_>, column: usize) -> Result<Timestamp> {
    number(row, column).map(Timestamp::from_millis)
}
