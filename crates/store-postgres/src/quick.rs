//! Commits of one statement, for batches whose changes are all of one sort.
//!
//! A commit usually takes a transaction of several statements: the rules need the rows in memory.
//! If all rows are in the state in which such changes usually find them, the outcome is known in
//! advance. So one statement checks the states and writes all rows, or it finds another state and
//! writes none. Then the commit is repeated as a transaction.

use crate::error::Result;
use crate::listen::far;
use crate::row::{self, millis};
use crate::settings::Builder;
use crate::statements::{Parameter, Statements, parameters};
use tokio_postgres::{Client, Row};
use wheelhouse_durable::store::{Change, Key, Outcome, Put, Timestamp, When};

/// A statement in two files.
macro_rules! sql {
    ($start:literal, $end:literal) => {
        concat!(
            include_str!(concat!("sql/quick/", $start, ".sql")),
            include_str!(concat!("sql/quick/", $end, ".sql"))
        )
    };
}

/// A statement that notifies if needed, and the same statement for jobs that are [`far`] in the
/// future, which sends no notification.
#[derive(Clone, Copy)]
pub(crate) struct Telling {
    pub(crate) told: &'static str,
    pub(crate) far: &'static str,
}

/// Inserts several jobs.
pub(crate) const PUT: Telling = Telling { told: sql!("put", "told"), far: sql!("put", "written") };

/// Inserts one job.
pub(crate) const PUT_ONE: Telling =
    Telling { told: sql!("put_one", "told_one"), far: sql!("put_one", "written_one") };

/// Moves jobs.
pub(crate) const MOVE: Telling =
    Telling { told: sql!("move", "told"), far: sql!("move", "written") };

/// Changes of one sort, of different keys.
pub(crate) struct Quick<'c> {
    sort: Sort,
    /// Puts in the order of the batch, in which generations are drawn. All others by key: in this
    /// order all transactions lock rows.
    changes: Vec<&'c Change>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Put,
    Move,
    Begin,
    /// Without a next occurrence.
    Ack,
    Cancel,
}

impl Sort {
    /// `None` for a change that is rare in large batches.
    fn of(change: &Change) -> Option<Self> {
        match change {
            Change::Put(_) => Some(Self::Put),
            Change::Move { .. } => Some(Self::Move),
            Change::Begin { .. } => Some(Self::Begin),
            Change::Ack { again: None, .. } => Some(Self::Ack),
            Change::Cancel { .. } => Some(Self::Cancel),
            _ => None,
        }
    }

    /// The outcome of each change if the statement has written all rows.
    fn outcome(self) -> Outcome {
        if self == Self::Cancel { Outcome::Cancelled } else { Outcome::Done }
    }

    /// The statement for several changes.
    fn sql(self, are_far: bool) -> &'static str {
        match self {
            Self::Put => PUT.sql(are_far),
            Self::Move => MOVE.sql(are_far),
            Self::Begin => include_str!("sql/quick/begin.sql"),
            Self::Ack | Self::Cancel => include_str!("sql/quick/remove.sql"),
        }
    }
}

impl Telling {
    fn sql(self, are_far: bool) -> &'static str {
        if are_far { self.far } else { self.told }
    }
}

impl<'c> Quick<'c> {
    /// `None` if the changes are of several sorts or of one that is rare, or name a key twice.
    pub(crate) fn of(changes: &'c [Change]) -> Option<Self> {
        let sort = Sort::of(changes.first()?)?;
        if changes.iter().any(|change| Sort::of(change) != Some(sort)) {
            return None;
        }
        let mut sorted: Vec<&Change> = changes.iter().collect();
        sorted.sort_unstable_by_key(|change| change.key());
        if sorted.windows(2).any(|two| two[0].key() == two[1].key()) {
            return None;
        }
        let changes = if sort == Sort::Put { changes.iter().collect() } else { sorted };
        Some(Self { sort, changes })
    }

    /// Sends the statement. Returns the outcome of each change, and when the first written row is
    /// visible; `None` if nothing was written, because a row is in another state.
    pub(crate) async fn carry_out(
        &self,
        on: &Statements<'_, Client>,
        settings: &Builder,
    ) -> Result<Option<(Outcome, Option<Timestamp>)>> {
        let (queue, clock) = (settings.queue.as_str(), settings.now());
        let are_far = self.are_far(settings);
        if let [Change::Put(put)] = self.changes[..] {
            let sql = PUT_ONE.sql(are_far);
            return self.written(&put_one(put, on, sql, queue, clock).await?);
        }
        let keys = self.changes.iter().filter_map(|change| change.key());
        let keys: Vec<&[u8]> = keys.map(Key::as_bytes).collect();
        let token = |change: &&Change| change.token().map(|token| token.0.cast_signed());
        let tokens: Vec<Option<i64>> = self.changes.iter().map(token).collect();
        let (at, delay) = self.times();
        let (kinds, policies, payloads) = self.jobs();
        let parameters: &[Parameter<'_>] = match self.sort {
            Sort::Begin | Sort::Ack | Sort::Cancel => &parameters![queue, keys, tokens],
            Sort::Move => &parameters![queue, clock, keys, at, delay],
            Sort::Put => &parameters![queue, clock, keys, at, delay, kinds, policies, payloads],
        };
        self.written(&on.query(self.sort.sql(are_far), parameters).await?)
    }

    /// Returns `true` if each change gives a delay that is far in the future. A due time says
    /// nothing, since only the server knows the present.
    fn are_far(&self, settings: &Builder) -> bool {
        let far = far(settings);
        self.changes.iter().all(|change| {
            matches!(change, Change::Put(Put { when: When::After(delay), .. })
                | Change::Move { when: When::After(delay), .. } if *delay > far)
        })
    }

    fn written(&self, rows: &[Row]) -> Result<Option<(Outcome, Option<Timestamp>)>> {
        let Some(row) = rows.first() else { return Ok(None) };
        let count = row::number(row, 0)?;
        if count == 0 {
            return Ok(None);
        }
        debug_assert_eq!(count, self.changes.len() as u64, "all rows are written, or none");
        let has_times = matches!(self.sort, Sort::Put | Sort::Move);
        let first = has_times.then(|| row::time(row, 1)).transpose()?;
        Ok(Some((self.sort.outcome(), first)))
    }

    /// For each change the due time, or otherwise the delay. Without changes of times, none.
    fn times(&self) -> (Vec<Option<i64>>, Vec<Option<i64>>) {
        let times = self.changes.iter().filter_map(|change| match change {
            Change::Put(Put { when, .. }) | Change::Move { when, .. } => Some(time(*when)),
            _ => None,
        });
        times.unzip()
    }

    fn jobs(&self) -> (Vec<&str>, Vec<&str>, Vec<&[u8]>) {
        let puts = || {
            self.changes.iter().filter_map(|change| match change {
                Change::Put(put) => Some(put),
                _ => None,
            })
        };
        let kinds = puts().map(|put| &*put.kind).collect();
        let policies = puts().map(|put| put.policy.as_str()).collect();
        (kinds, policies, puts().map(|put| put.payload.as_slice()).collect())
    }
}

async fn put_one(
    put: &Put,
    on: &Statements<'_, Client>,
    sql: &str,
    queue: &str,
    clock: Option<i64>,
) -> Result<Vec<Row>> {
    let (at, delay) = time(put.when);
    let (key, kind, payload) = (put.key.as_bytes(), &*put.kind, put.payload.as_slice());
    let policy = put.policy.as_str();
    let parameters = parameters![queue, clock, key, at, delay, kind, policy, payload];
    on.query(sql, &parameters).await
}

/// The due time, or otherwise the delay.
fn time(when: When) -> (Option<i64>, Option<i64>) {
    match when {
        When::At(time) => (Some(millis(time)), None),
        When::After(delay) => (None, Some(millis(Timestamp::default().saturating_add(delay)))),
    }
}
