//! A claim, within a transaction.

use crate::error::{Result, store_error};
use crate::floor::{ClaimStats, Search, Start};
use crate::row;
use crate::settings::Builder;
use crate::statements::{Statements, parameters};
use std::time::Duration;
use tokio_postgres::{Client, Row};
use wheelhouse_durable::store::{ClaimLimit, Leased, Next, State, StoreError, Timestamp};

pub(crate) struct Claimed {
    pub(crate) leased: Vec<Leased>,
    /// The search for visible jobs; `None` if the claim was of 0 jobs.
    pub(crate) stats: Option<ClaimStats>,
    pub(crate) search: Search,
    pub(crate) next: Next,
}

pub(crate) struct Claim<'c> {
    pub(crate) kinds: &'c [&'c str],
    pub(crate) limit: ClaimLimit,
    /// The duration of the leases, in milliseconds.
    pub(crate) visibility: i64,
    pub(crate) start: Start,
}

impl Claim<'_> {
    /// Leases jobs, and finds when the next one is visible. Must run in a transaction, so that the
    /// leases are undone if the second statement fails.
    pub(crate) async fn run(
        &self,
        on: &Statements<'_, Client>,
        settings: &Builder,
    ) -> Result<Claimed> {
        let Self { kinds, limit, visibility, start: Start { floor, first, .. } } = *self;
        let (queue, clock) = (settings.queue.as_str(), settings.now());
        let (mut all, mut stats) = (Vec::new(), None);
        while all.len() < limit.jobs {
            let want = number(limit.jobs - all.len());
            let bytes = all.iter().map(|leased: &Leased| leased.job.payload.len()).sum();
            // Negative if the only job so far is longer than the limit.
            let left = number(limit.bytes) - number(bytes);
            let unbounded = i64::from(all.is_empty());
            let begin = number(limit.begin_after(&all));
            let parameters =
                parameters![queue, kinds, want, visibility, clock, floor, left, unbounded, begin];
            let rows = on.query(include_str!("sql/claim.sql"), &parameters).await?;
            let (found, is_cut) = leased(&rows, &mut all)?;
            let its = stats_of(one_row(&rows)?, floor, found, found == want || is_cut)?;
            // The duration of the first search, which stays, is the time to reach the first job.
            let before = *stats.get_or_insert(its);
            // If the first job of this search is excluded, the search has found no row.
            let last = if is_cut { its.last.or(before.last) } else { its.last };
            stats = Some(ClaimStats { now: its.now, last, ..before });
            // If rows were removed instead of leased, there may be more visible rows.
            if found < want || is_cut {
                break;
            }
        }
        // All jobs before this time are leased; a job that is committed later notifies.
        let end = stats.map_or(floor, ClaimStats::end);
        let has_all = stats.is_some_and(|its| its.last.is_none());
        let first = first.filter(|(first, _)| *first > end && has_all);
        let from = first.map_or(end, |(first, _)| first);
        let parameters = parameters![queue, kinds, clock, from];
        let rows = on.query(include_str!("sql/next.sql"), &parameters).await?;
        let (mut next, took) = next_of(one_row(&rows)?)?;
        let search = Search { is_full: first.is_none(), took, found: next.visible_at };
        if let Some((_, pause)) = first {
            // Before `first` may be the end of a lease that the search has not seen.
            let recheck = next.now.saturating_add(pause);
            next.visible_at = Some(next.visible_at.map_or(recheck, |at| at.min(recheck)));
        }
        Ok(Claimed { leased: all, stats, search, next })
    }
}

/// Appends the jobs that `claim.sql` has leased. Returns the number of rows that it has leased or
/// removed, and whether the limit of bytes has excluded others.
fn leased(rows: &[Row], into: &mut Vec<Leased>) -> Result<(i64, bool)> {
    let (mut found, mut is_cut) = (0, false);
    for row in rows {
        found = row.try_get(1).map_err(store_error)?;
        is_cut = row.try_get(4).map_err(store_error)?;
        // Without a leased job there is one row, whose job columns are null.
        if row.try_get::<_, Option<i64>>(5).map_err(store_error)?.is_some() {
            let job = row::entry(row, 5)?;
            let (State::Leased(lease) | State::Begun(lease)) = job.state else {
                return Err(StoreError::Damaged(format!("a claim returned {job:?}")));
            };
            debug_assert!(
                into.last().is_none_or(|before| before.token < lease.token),
                "tokens grow: {job:?}"
            );
            let was_lost = row.try_get(17).map_err(store_error)?;
            into.push(Leased { job, token: lease.token, until: lease.until, was_lost });
        }
    }
    Ok((found, is_cut))
}

fn one_row(rows: &[Row]) -> Result<&Row> {
    rows.first().ok_or_else(|| StoreError::Damaged("a query returned no row".into()))
}

fn stats_of(row: &Row, floor: i64, found: i64, more: bool) -> Result<ClaimStats> {
    let value = |column| row.try_get::<_, Option<i64>>(column).map_err(store_error);
    let took = micros(row, 3)?;
    let last = value(2)?.filter(|_| more);
    let found = u32::try_from(found).unwrap_or(u32::MAX);
    Ok(ClaimStats { floor, took, found, now: value(0)?.unwrap_or_default(), last })
}

/// When the next job is visible, and how long the search for it took.
fn next_of(row: &Row) -> Result<(Next, Duration)> {
    let visible_at: Option<i64> = row.try_get(1).map_err(store_error)?;
    let visible_at = visible_at.map(|at| Timestamp::from_millis(at.cast_unsigned()));
    let took = micros(row, 2)?;
    Ok((Next { now: row::time(row, 0)?, visible_at }, took))
}

/// A duration by the server's clock, which may have been set back in between.
fn micros(row: &Row, column: usize) -> Result<Duration> {
    let micros: i64 = row.try_get(column).map_err(store_error)?;
    Ok(Duration::from_micros(micros.max(0).cast_unsigned()))
}

/// A number as a parameter, for example of a `LIMIT`.
pub(crate) fn number(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}
