//! A claim, within a transaction.

use crate::error::store_error;
use crate::floor::ClaimStats;
use crate::row;
use crate::settings::Builder;
use crate::statements::{Statements, parameters};
use std::time::Duration;
use tokio_postgres::{Client, Row};
use wheelhouse_durable::store::{ClaimLimit, Leased, Next, State, StoreError, Timestamp};

/// The leased jobs, its search if it made one, and when the next job is visible.
pub(crate) type Claimed = (Vec<Leased>, Option<ClaimStats>, Next);

pub(crate) struct Claim<'c> {
    pub(crate) kinds: &'c [&'c str],
    pub(crate) limit: ClaimLimit,
    /// The duration of the leases, in milliseconds.
    pub(crate) visibility: i64,
    /// The `visible_at` where the search begins.
    pub(crate) floor: i64,
}

impl Claim<'_> {
    /// Leases jobs, and finds when the next one is visible. Must run in a transaction, so that the
    /// leases are undone if the second statement fails.
    pub(crate) async fn run(
        &self,
        on: &Statements<'_, Client>,
        settings: &Builder,
    ) -> Result<Claimed, StoreError> {
        let Self { kinds, limit, visibility, floor } = *self;
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
            let its = stats_of(first(&rows)?, floor, found == want || is_cut)?;
            // The duration of the first search is the time to reach the first job.
            let ClaimStats { took, last, .. } = *stats.get_or_insert(its);
            // If the first job of this search is excluded, the search has found no row.
            let last = if is_cut { its.last.or(last) } else { its.last };
            stats = Some(ClaimStats { took, last, ..its });
            // If rows were removed instead of leased, there may be more visible rows.
            if found < want || is_cut {
                break;
            }
        }
        // All jobs before this time are leased; a job that is committed later notifies.
        let from = stats.map_or(floor, ClaimStats::end);
        let parameters = parameters![queue, kinds, clock, from];
        let rows = on.query(include_str!("sql/next.sql"), &parameters).await?;
        Ok((all, stats, next_of(first(&rows)?)?))
    }
}

/// Appends the jobs that `claim.sql` has leased. Returns the number of rows that it has leased or
/// removed, and whether the limit of bytes has excluded others.
fn leased(rows: &[Row], into: &mut Vec<Leased>) -> Result<(i64, bool), StoreError> {
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

fn first(rows: &[Row]) -> Result<&Row, StoreError> {
    rows.first().ok_or_else(|| StoreError::Damaged("a query returned no row".into()))
}

fn stats_of(row: &Row, floor: i64, more: bool) -> Result<ClaimStats, StoreError> {
    let value = |column| row.try_get::<_, Option<i64>>(column).map_err(store_error);
    let took = Duration::from_millis(row::number(row, 3)?);
    let last = value(2)?.filter(|_| more);
    Ok(ClaimStats { floor, took, now: value(0)?.unwrap_or_default(), last })
}

fn next_of(row: &Row) -> Result<Next, StoreError> {
    let visible_at: Option<i64> = row.try_get(1).map_err(store_error)?;
    let visible_at = visible_at.map(|at| Timestamp::from_millis(at.cast_unsigned()));
    Ok(Next { now: row::time(row, 0)?, visible_at })
}

/// A number as a parameter, for example of a `LIMIT`.
pub(crate) fn number(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}
