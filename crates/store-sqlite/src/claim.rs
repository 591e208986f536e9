//! Claims, within a transaction.

use crate::commit::Batch;
use crate::row::{self, columns, entry_columns, limit, millis, number, signed, time};
use rusqlite::{Connection, Result, params};
use std::collections::BinaryHeap;
use std::time::Duration;
use wheelhouse_durable::store::rules::{Row, Table, claim};
use wheelhouse_durable::store::{ClaimLimit, Entry, Kinds, Lease, Leased, State, Timestamp, Token};

/// When the first row of these kinds is visible. O(k log n).
pub(crate) fn first_visible(connection: &Connection, kinds: &Kinds) -> Result<Option<Timestamp>> {
    let mut select =
        connection.prepare_cached("SELECT min(visible_at) FROM job WHERE kind = ?1")?;
    let mut first = None;
    for kind in kinds.iter() {
        let of_kind: Option<i64> = select.query_row([&**kind], |row| row.get(0))?;
        let of_kind = of_kind.map(|at| Timestamp::from_millis(at.cast_unsigned()));
        first = first.into_iter().chain(of_kind).min();
    }
    Ok(first)
}

/// A claim: the holder of its leases, their duration, and its limit.
pub(crate) struct Claim {
    pub(crate) holder: i64,
    pub(crate) visibility: Duration,
    pub(crate) limit: ClaimLimit,
}

impl Claim {
    /// Leases the visible jobs, in order, and begins the runs of the first.
    pub(crate) fn run(&self, batch: &mut Batch<'_>, kinds: &Kinds) -> Result<Vec<Leased>> {
        let (mut leased, mut bytes, mut limit) = (Vec::new(), 0, self.limit);
        loop {
            let want = self.limit.jobs - leased.len();
            let generations = visible(batch, kinds, want)?;
            let full = generations.len() == want;
            for generation in generations {
                let job = read(batch.connection, generation)?;
                // A cancelled job is removed instead of leased, so it does not count.
                if !matches!(job.state, State::Closed(_)) {
                    bytes += job.payload.len();
                    if !self.limit.allows(leased.len() + 1, bytes) {
                        return Ok(leased);
                    }
                }
                leased.extend(self.lease(batch, job, &mut limit)?);
            }
            // If rows were removed instead of leased, there may be more visible rows.
            if !full || leased.len() == self.limit.jobs {
                return Ok(leased);
            }
        }
    }

    /// Leases a visible row, or removes it if it was cancelled.
    fn lease(
        &self,
        batch: &mut Batch<'_>,
        job: Entry,
        limit: &mut ClaimLimit,
    ) -> Result<Option<Leased>> {
        debug_assert!(job.visible_at <= batch.now.0, "not visible yet: {job:?}");
        let until = batch.now.1.saturating_add(self.visibility);
        let (key, row, token) = (job.key.clone(), Row::from(&job), Token(batch.draw()));
        let Some(leased) = claim(job, Lease { token, until }, limit) else {
            batch.remove(&key, &row)?;
            return Ok(None);
        };
        let set = "
            UPDATE job SET visible_at = ?1, attempt = ?2, state = ?3, token = ?4, until = ?5,
                holder = ?6
            WHERE generation = ?7";
        let [_, visible_at, its, _, attempt, state, number, end] = columns(&Row::from(&leased.job));
        let values = params![visible_at, attempt, state, number, end, self.holder, its];
        let changed = batch.connection.prepare_cached(set)?.execute(values)?;
        debug_assert_eq!(changed, 1, "{row:?} was read in this transaction");
        batch.wrote = true;
        Ok(Some(leased))
    }
}

/// The row of a generation, which an index has named.
fn read(connection: &Connection, generation: u64) -> Result<Entry> {
    let select = concat!("SELECT ", entry_columns!(), " FROM job WHERE generation = ?1");
    connection.prepare_cached(select)?.query_row([signed(generation)], row::entry)
}

/// The generations of the first visible rows of these kinds, in order. It reads only the index, and
/// of each kind no row after the last of the first `max` so far: O(k log n), and O(max log k) rows
/// if the kinds are mixed.
fn visible(batch: &Batch<'_>, kinds: &Kinds, max: usize) -> Result<Vec<u64>> {
    let mut select = batch.connection.prepare_cached(
        "SELECT visible_at, generation FROM job
         WHERE kind = ?1 AND visible_at <= ?2 ORDER BY visible_at, generation LIMIT ?3",
    )?;
    // The first rows so far, with the last of them on top.
    let mut first = BinaryHeap::new();
    for kind in kinds.iter() {
        let values = params![&**kind, millis(batch.now.0), limit(max)];
        let rows = select.query_map(values, |sql| Ok((time(sql, 0)?, number(sql, 1)?)))?;
        for row in rows {
            let row = row?;
            if first.len() == max {
                if first.peek().is_none_or(|last| *last < row) {
                    break;
                }
                first.pop();
            }
            first.push(row);
        }
    }
    Ok(first.into_sorted_vec().into_iter().map(|(_, generation)| generation).collect())
}
