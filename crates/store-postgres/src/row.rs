//! Rows of the tables as values, and back.

use tokio_postgres::Row as SqlRow;
use wheelhouse_durable::store::rules::Row;
use wheelhouse_durable::store::{
    Dead, Entry, Key, Kind, Lease, State, StoreError, Timestamp, Token,
};

/// What went wrong, if a column has another type or another value than this crate writes.
fn damaged(what: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged(what.to_string())
}

/// The part of a row that changes go by: eight columns, from `from` on.
pub(crate) fn row(sql: &SqlRow, from: usize) -> Result<Row, StoreError> {
    let number = |column| number(sql, from + column);
    let lease = |make: fn(Lease) -> State| -> Result<State, StoreError> {
        Ok(make(Lease { token: Token(number(6)?), until: time(sql, from + 7)? }))
    };
    let attempt: i32 = sql.try_get(from + 4).map_err(damaged)?;
    let state = match sql.try_get::<_, i16>(from + 5).map_err(damaged)? {
        0 => State::Pending,
        1 => lease(State::Leased)?,
        2 => lease(State::Closed)?,
        3 => lease(State::Replaced)?,
        other => return Err(damaged(format!("state {other}"))),
    };
    Ok(Row {
        due: time(sql, from)?,
        visible_at: time(sql, from + 1)?,
        generation: number(2)?,
        occurrence: number(3)?,
        attempt: attempt.cast_unsigned(),
        state,
    })
}

/// A row of `job`: those eight columns, and key, kind, payload, policy.
pub(crate) fn entry(sql: &SqlRow, from: usize) -> Result<Entry, StoreError> {
    let Row { due, visible_at, generation, occurrence, attempt, state } = row(sql, from)?;
    let kind: &str = sql.try_get(from + 9).map_err(damaged)?;
    Ok(Entry {
        key: key(sql, from + 8)?,
        kind: Kind::from(kind),
        payload: sql.try_get(from + 10).map_err(damaged)?,
        policy: sql.try_get(from + 11).map_err(damaged)?,
        due,
        visible_at,
        generation,
        occurrence,
        attempt,
        state,
    })
}

/// A row of `dead`: an entry's columns, the reason and the time.
pub(crate) fn dead(sql: &SqlRow) -> Result<Dead, StoreError> {
    let reason = sql.try_get(12).map_err(damaged)?;
    Ok(Dead { job: entry(sql, 0)?, reason, at: time(sql, 13)? })
}

pub(crate) fn key(sql: &SqlRow, column: usize) -> Result<Key, StoreError> {
    let bytes: &[u8] = sql.try_get(column).map_err(damaged)?;
    Key::new(bytes).map_err(damaged)
}

pub(crate) fn number(sql: &SqlRow, column: usize) -> Result<u64, StoreError> {
    sql.try_get::<_, i64>(column).map(i64::cast_unsigned).map_err(damaged)
}

pub(crate) fn time(sql: &SqlRow, column: usize) -> Result<Timestamp, StoreError> {
    number(sql, column).map(Timestamp::from_millis)
}

/// The columns `state`, `token` and `until` of a state.
pub(crate) fn columns(state: State) -> (i16, Option<i64>, Option<i64>) {
    let number = match state {
        State::Pending => 0,
        State::Leased(_) => 1,
        State::Closed(_) => 2,
        State::Replaced(_) => 3,
    };
    let lease = state.lease();
    let token = lease.map(|lease| lease.token.0.cast_signed());
    (number, token, lease.map(|lease| millis(lease.until)))
}

/// The milliseconds of a time, of which there are at most 2^53.
pub(crate) fn millis(time: Timestamp) -> i64 {
    time.as_millis().cast_signed()
}
