//! Changes, within a transaction.

use crate::batch::{Batch, Writes};
use crate::error::{Conflict, store_error};
use crate::row::{self, columns, millis};
use crate::statements::Statements;
use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;
use wheelhouse_durable::store::rules::Row;
use wheelhouse_durable::store::{Change, Dead, Entry, Key, Outcome, Put, StoreError, Token, When};

/// Carries out changes in a transaction of yours, so that they and your own effects are durable
/// together or not at all: schedules the job that cancels an order as the order is written, say.
/// The queue is made by [`PostgresStore::connect`](crate::PostgresStore::connect).
///
/// O(log n) for each change, in four round trips or so for all. Keep the transaction short: others
/// who put jobs under the same keys wait for its end, and who was beaten to a key holds off the
/// whole queue meanwhile.
///
/// # Errors
///
/// Then roll the transaction back. [`Unavailable`](StoreError::Unavailable): and try again.
pub async fn commit_in(
    transaction: &Transaction<'_>,
    queue: &str,
    changes: &[Change],
) -> Result<Vec<Outcome>, StoreError> {
    let mut statements = Statements::default();
    let statements = &mut statements;
    let mut call = Call { transaction, statements, queue, clock: None, takes_long: true };
    call.carry_out(changes).await
}

/// Acknowledges a run in a transaction of yours: the effect of the handler and the end of the job
/// are durable together, so that the effect happens once. See [`commit_in`].
///
/// [`Superseded`](Outcome::Superseded) and [`Absent`](Outcome::Absent) mean that somebody else has
/// the job or has ended it: roll back.
///
/// # Errors
///
/// Then roll the transaction back.
pub async fn ack_in(
    transaction: &Transaction<'_>,
    queue: &str,
    key: &Key,
    token: Token,
) -> Result<Outcome, StoreError> {
    let ack = Change::Ack { key: key.clone(), token, again: None };
    let outcomes = commit_in(transaction, queue, &[ack]).await?;
    Ok(outcomes.into_iter().next().unwrap_or(Outcome::Absent))
}

/// Where changes are carried out.
pub(crate) struct Call<'c> {
    pub(crate) transaction: &'c Transaction<'c>,
    pub(crate) statements: &'c mut Statements,
    pub(crate) queue: &'c str,
    /// Milliseconds in place of the server's clock.
    pub(crate) clock: Option<i64>,
    /// Others may claim what is seen here before what is written here is seen.
    pub(crate) takes_long: bool,
}

type Parameters<'p> = &'p [&'p (dyn ToSql + Sync)];

impl Call<'_> {
    /// Waits until nobody else writes jobs, so that no other transaction comes first.
    pub(crate) async fn hold_off_others(&mut self) -> Result<(), StoreError> {
        let queue = self.queue;
        self.query(include_str!("sql/alone.sql"), &[&queue]).await.map(drop)
    }

    pub(crate) async fn carry_out(
        &mut self,
        changes: &[Change],
    ) -> Result<Vec<Outcome>, StoreError> {
        let mut outcomes = Vec::with_capacity(changes.len());
        // A change of a dead letter sees those that were buried before: they must be written.
        let together = |a: &Change, b: &Change| letter(a).is_none() && letter(b).is_none();
        for some in changes.chunk_by(together) {
            let mut batch = Batch::default();
            self.load(&mut batch, some).await?;
            outcomes.extend(some.iter().map(|change| batch.apply(change)));
            self.write(batch).await?;
        }
        Ok(outcomes)
    }

    /// Reads the rows that the changes are about, and locks them.
    async fn load(&mut self, batch: &mut Batch, changes: &[Change]) -> Result<(), StoreError> {
        let (queue, clock) = (self.queue, self.clock);
        let mut keys: Vec<Key> = changes.iter().filter_map(key).cloned().collect();
        for generation in changes.iter().filter_map(letter) {
            let dead = include_str!("sql/letter.sql");
            for sql in self.query(dead, &[&queue, &generation.cast_signed()]).await? {
                let Dead { job, .. } = row::dead(&sql)?;
                let Entry { key, kind, payload, policy, occurrence, due, .. } = job;
                keys.push(key.clone());
                let when = When::At(due);
                let put = Put { key, kind, payload, policy, when, replace: false };
                batch.dead.insert(generation, (put, occurrence));
            }
        }
        let keys: Vec<&[u8]> = keys.iter().map(Key::as_bytes).collect();
        let load = include_str!("sql/load.sql");
        for sql in self.query(load, &[&queue, &keys, &clock]).await? {
            batch.micros = row::number(&sql, 0)?;
            // Of a key without a row there is nothing; if there is none at all, only the present.
            if sql.try_get::<_, Option<i64>>(1).is_ok_and(|due| due.is_some()) {
                let kind: &str = sql.try_get(10).map_err(store_error)?;
                batch.holds(row::key(&sql, 9)?, kind.into(), row::row(&sql, 1)?);
            }
        }
        Ok(())
    }

    async fn write(&mut self, mut batch: Batch) -> Result<(), StoreError> {
        let queue = self.queue;
        let Writes { removed, set, put, first } = batch.take_writes();
        if !batch.burials.is_empty() {
            let (keys, reasons): (Vec<&[u8]>, Vec<String>) =
                batch.burials.iter().map(|(key, reason)| (key.as_bytes(), text(reason))).unzip();
            let now = millis(batch.now());
            let bury = include_str!("sql/bury.sql");
            self.execute(bury, &[&queue, &keys, &reasons, &now]).await?;
        }
        if !batch.forgotten.is_empty() {
            let generations: Vec<i64> =
                batch.forgotten.iter().map(|generation| generation.cast_signed()).collect();
            let forget = "DELETE FROM wheelhouse.dead WHERE queue = $1 AND generation = ANY ($2)";
            self.execute(forget, &[&queue, &generations]).await?;
        }
        if !removed.is_empty() {
            let keys: Vec<&[u8]> = removed.iter().map(Key::as_bytes).collect();
            let remove = "DELETE FROM wheelhouse.job WHERE queue = $1 AND key = ANY ($2)";
            self.execute(remove, &[&queue, &keys]).await?;
        }
        if !set.is_empty() {
            self.set(&set).await?;
        }
        if !put.is_empty() {
            self.put(&put).await?;
        }
        if !first.is_empty() {
            let kinds: Vec<&str> = first.keys().map(|kind| &**kind).collect();
            let times: Vec<i64> = first.values().copied().map(millis).collect();
            let notify = include_str!("sql/notify.sql");
            let (now, in_any_case) = (millis(batch.now()), self.takes_long);
            self.query(notify, &[&queue, &kinds, &times, &now, &in_any_case]).await?;
        }
        Ok(())
    }

    async fn set(&mut self, rows: &[(Key, Row)]) -> Result<(), StoreError> {
        let keys: Vec<&[u8]> = rows.iter().map(|(key, _)| key.as_bytes()).collect();
        let (queue, all) = (self.queue, Columns::of(rows.iter().map(|(_, row)| row)));
        let set = include_str!("sql/set.sql");
        self.execute(set, &all.parameters(&[&queue, &keys], &[])).await?;
        Ok(())
    }

    async fn put(&mut self, jobs: &[(Put, Row)]) -> Result<(), StoreError> {
        let keys: Vec<&[u8]> = jobs.iter().map(|(job, _)| job.key.as_bytes()).collect();
        let kinds: Vec<&str> = jobs.iter().map(|(job, _)| &*job.kind).collect();
        let policies: Vec<&str> = jobs.iter().map(|(job, _)| job.policy.as_str()).collect();
        let payloads: Vec<&[u8]> = jobs.iter().map(|(job, _)| job.payload.as_slice()).collect();
        let (queue, all) = (self.queue, Columns::of(jobs.iter().map(|(_, row)| row)));
        let rest: [&(dyn ToSql + Sync); 3] = [&kinds, &policies, &payloads];
        let put = include_str!("sql/put.sql");
        let put = self.execute(put, &all.parameters(&[&queue, &keys], &rest)).await?;
        if put == jobs.len() as u64 { Ok(()) } else { Err(Conflict.into()) }
    }

    async fn query(
        &mut self,
        sql: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let statement = self.statements.get(self.transaction, sql).await?;
        self.transaction.query(&statement, parameters).await.map_err(store_error)
    }

    async fn execute(
        &mut self,
        sql: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<u64, StoreError> {
        let statement = self.statements.get(self.transaction, sql).await?;
        self.transaction.execute(&statement, parameters).await.map_err(store_error)
    }
}

/// The changing part of rows, by columns.
#[derive(Default)]
struct Columns {
    due: Vec<i64>,
    visible_at: Vec<i64>,
    occurrence: Vec<i64>,
    attempt: Vec<i32>,
    state: Vec<i16>,
    token: Vec<Option<i64>>,
    until: Vec<Option<i64>>,
}

impl Columns {
    fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Self {
        let mut all = Self::default();
        for row in rows {
            let (state, token, until) = columns(row.state);
            all.due.push(millis(row.due));
            all.visible_at.push(millis(row.visible_at));
            all.occurrence.push(row.occurrence.cast_signed());
            all.attempt.push(row.attempt.cast_signed());
            all.state.push(state);
            all.token.push(token);
            all.until.push(until);
        }
        all
    }

    fn parameters<'p>(
        &'p self,
        before: &[&'p (dyn ToSql + Sync)],
        after: &[&'p (dyn ToSql + Sync)],
    ) -> Vec<&'p (dyn ToSql + Sync)> {
        let Self { due, visible_at, occurrence, attempt, state, token, until } = self;
        let mut all = before.to_vec();
        let these: [&'p (dyn ToSql + Sync); 7] =
            [due, visible_at, occurrence, attempt, state, token, until];
        all.extend(these);
        all.extend(after);
        all
    }
}

/// The key whose row a change is about.
fn key(change: &Change) -> Option<&Key> {
    match change {
        Change::Put(Put { key, .. })
        | Change::Move { key, .. }
        | Change::Cancel { key }
        | Change::Ack { key, .. }
        | Change::Retry { key, .. }
        | Change::Release { key, .. }
        | Change::Extend { key, .. }
        | Change::Bury { key, .. } => Some(key),
        _ => None,
    }
}

/// The dead letter that a change is about.
fn letter(change: &Change) -> Option<u64> {
    match change {
        Change::Revive { generation, .. } | Change::Forget { generation } => Some(*generation),
        _ => None,
    }
}

/// PostgreSQL's text has no zero bytes.
fn text(reason: &str) -> String {
    reason.replace('\0', "\u{fffd}")
}
