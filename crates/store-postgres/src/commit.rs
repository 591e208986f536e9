//! Changes, within a transaction.

use crate::batch::{Batch, Writes};
use crate::error::{Result, conflict, store_error};
use crate::row::{self, columns, millis};
use crate::statements::{Parameter, Statements, param, parameters};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use tokio_postgres::{GenericClient, Row as SqlRow, Transaction};
use wheelhouse_durable::store::rules::Row;
use wheelhouse_durable::store::{Change, Key, Kind, Outcome, Put, StoreError, Timestamp};

/// Carries out changes in your transaction: they and your own writes become durable together or not
/// at all. For example, schedule the job that cancels an order when you write the order. The tables
/// must exist: [`PostgresStore::connect`](crate::PostgresStore::connect) creates them.
///
/// A handler whose effect is in this database commits
/// [`run.ack()`](wheelhouse_durable::DurableRun::ack) with it, and returns
/// [`Next::Acked`](wheelhouse_durable::Next::Acked): then the effect takes place once. If the
/// outcome is not [`Done`](Outcome::Done), another worker has the job or has ended it: roll the
/// transaction back.
///
/// O(log n) for each change, and about four round trips for all. Keep the transaction short: other
/// transactions that change jobs of the same keys wait for its end. If one of them had a conflict
/// about a key, it blocks the whole queue while it waits. After a change of a job, the lease of its
/// run is not renewed until the end of the transaction, so end it within two thirds of the
/// [visibility timeout](wheelhouse_durable::Builder::visibility_timeout).
///
/// # Errors
///
/// After an error, roll the transaction back. Retry if the error
/// [is transient](StoreError::is_transient).
pub async fn commit_in(
    transaction: &Transaction<'_>,
    queue: &str,
    changes: &[Change],
) -> Result<Vec<Outcome>, StoreError> {
    // The session is the user's, and may belong to a pooler.
    let on = Statements { client: transaction, prepared: None };
    let call = Call { on, queue, clock: None, far: None };
    call.carry_out(changes).await.map(|(outcomes, _)| outcomes)
}

/// The transaction in which changes are carried out.
pub(crate) struct Call<'c, C> {
    /// Must be in a transaction.
    pub(crate) on: Statements<'c, C>,
    pub(crate) queue: &'c str,
    /// Milliseconds to use instead of the server's clock.
    pub(crate) clock: Option<i64>,
    /// No notification is sent for a row that is visible after this duration. `None` if the
    /// transaction may stay open: other programs may claim the rows that it has seen before its own
    /// rows are visible, so it must notify in any case.
    pub(crate) far: Option<Duration>,
}

impl<C: GenericClient> Call<'_, C> {
    /// Waits until no other transaction writes jobs of the queue, and blocks others until the end
    /// of this transaction.
    pub(crate) async fn lock_queue(&self) -> Result<()> {
        self.query(include_str!("sql/lock_queue.sql"), &[]).await.map(drop)
    }

    /// Sends a statement whose parameters are the queue and these.
    async fn query(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<SqlRow>> {
        self.on.query(sql, &[parameters![self.queue].as_slice(), parameters].concat()).await
    }

    /// Returns the outcome of each change, and when the first written row is visible.
    pub(crate) async fn carry_out(
        &self,
        changes: &[Change],
    ) -> Result<(Vec<Outcome>, Option<Timestamp>)> {
        let (mut outcomes, mut first) = (Vec::with_capacity(changes.len()), None);
        // A change of a dead letter must see the letters that earlier changes made, so these must
        // be written first.
        let forgets = |change: &Change| matches!(change, Change::Forget { .. });
        let together = |a: &Change, b: &Change| {
            a.key().is_some() && b.key().is_some() || forgets(a) && forgets(b)
        };
        for some in changes.chunk_by(together) {
            if forgets(&some[0]) {
                outcomes.extend(self.forget(some).await?);
                continue;
            }
            let mut batch = Batch::default();
            self.load(&mut batch, some).await?;
            outcomes.extend(some.iter().map(|change| batch.apply(change)));
            let written = self.write(batch).await?;
            first = first.into_iter().chain(written).min();
        }
        Ok((outcomes, first))
    }

    /// Reads and locks the rows of the changes.
    async fn load(&self, batch: &mut Batch, changes: &[Change]) -> Result<()> {
        let mut keys: Vec<Key> = changes.iter().filter_map(Change::key).cloned().collect();
        for change in changes {
            let Change::Revive { generation, .. } = change else { continue };
            let letter = include_str!("sql/letter.sql");
            for sql in self.query(letter, &parameters![generation.cast_signed()]).await? {
                let job = row::dead(&sql)?.job;
                keys.push(job.key.clone());
                batch.dead.insert(*generation, job);
            }
        }
        // All transactions lock rows in this order, so no two wait for each other.
        keys.sort_unstable();
        keys.dedup();
        let keys: Vec<&[u8]> = keys.iter().map(Key::as_bytes).collect();
        let is_renewal = |change: &Change| matches!(change, Change::Extend { .. });
        let load = match changes.iter().all(is_renewal) {
            true => include_str!("sql/renew.sql"),
            false => include_str!("sql/load.sql"),
        };
        for sql in self.query(load, &parameters![keys, self.clock]).await? {
            batch.micros = row::number(&sql, 0)?;
            batch.has_all_characters = sql.try_get(1).map_err(store_error)?;
            // A key without a row has no line in the result. Without any row, there is one line
            // with only the present.
            if sql.try_get::<_, Option<i64>>(2).is_ok_and(|due| due.is_some()) {
                let kind: &str = sql.try_get(11).map_err(store_error)?;
                batch.add_stored(row::key(&sql, 10)?, kind.into(), row::row(&sql, 2)?);
            } else if sql.try_get::<_, Option<&[u8]>>(10).is_ok_and(|key| key.is_some()) {
                batch.locked.insert(row::key(&sql, 10)?);
            }
        }
        Ok(())
    }

    /// Writes the changed rows. Returns when the first of them is visible.
    async fn write(&self, mut batch: Batch) -> Result<Option<Timestamp>> {
        let Writes { removed, set, put, first } = batch.take_writes();
        if !batch.burials.is_empty() {
            self.bury(&batch).await?;
        }
        if self.remove_letters(&batch.forgotten).await?.len() < batch.forgotten.len() {
            return Err(conflict("another transaction removed the dead letter"));
        }
        if !removed.is_empty() {
            let keys: Vec<&[u8]> = removed.iter().map(Key::as_bytes).collect();
            self.query(include_str!("sql/remove.sql"), &parameters![keys]).await?;
        }
        if !set.is_empty() {
            let keys: Vec<&[u8]> = set.iter().map(|(key, _)| key.as_bytes()).collect();
            let all = Columns::of(set.iter().map(|(_, row)| row));
            self.query(include_str!("sql/set.sql"), &all.parameters(param(&keys), &[])).await?;
        }
        if !put.is_empty() {
            self.put(&put).await?;
        }
        self.notify(&first, batch.now()).await?;
        Ok(first.into_values().min())
    }

    /// Notifies waiting programs if they need that. `first` is when the first written row of each
    /// kind is visible.
    async fn notify(&self, first: &BTreeMap<Kind, Timestamp>, now: Timestamp) -> Result<()> {
        let is_near = |at: Timestamp| self.far.is_none_or(|far| at.saturating_since(now) <= far);
        let near = first.iter().filter(|(_, at)| is_near(**at));
        let (kinds, times): (Vec<&str>, Vec<i64>) =
            near.map(|(kind, at)| (&**kind, millis(*at))).unzip();
        if kinds.is_empty() {
            return Ok(());
        }
        let sql = include_str!("sql/notify.sql");
        let in_any_case = self.far.is_none();
        self.query(sql, &parameters![kinds, times, millis(now), in_any_case]).await.map(drop)
    }

    /// Removes dead letters by one statement. Returns the outcome of each change.
    async fn forget(&self, changes: &[Change]) -> Result<Vec<Outcome>> {
        let generation = |change: &Change| match change {
            Change::Forget { generation } => *generation,
            _ => unreachable!("all changes are of this sort"),
        };
        let mut generations: Vec<u64> = changes.iter().map(generation).collect();
        // In the same order in all transactions, so no two wait for each other.
        generations.sort_unstable();
        let mut removed = self.remove_letters(&generations).await?;
        // The second removal of a letter finds none.
        let outcome = |change| match removed.remove(&generation(change)) {
            true => Outcome::Done,
            false => Outcome::Absent,
        };
        Ok(changes.iter().map(outcome).collect())
    }

    /// Returns the generations of the letters that were removed.
    async fn remove_letters(&self, generations: &[u64]) -> Result<HashSet<u64>> {
        if generations.is_empty() {
            return Ok(HashSet::new());
        }
        let numbers: Vec<i64> = generations.iter().map(|its| its.cast_signed()).collect();
        let removed = self.query(include_str!("sql/forget.sql"), &parameters![numbers]).await?;
        removed.iter().map(|sql| row::number(sql, 0)).collect()
    }

    async fn bury(&self, batch: &Batch) -> Result<()> {
        let burials = || batch.burials.iter();
        let keys: Vec<&[u8]> = burials().map(|(key, ..)| key.as_bytes()).collect();
        let attempts: Vec<i32> = burials().map(|(_, attempt, _)| attempt.cast_signed()).collect();
        let reason = |reason: &str| text(reason, batch.has_all_characters);
        let reasons: Vec<String> = burials().map(|(.., its)| reason(its)).collect();
        let now = millis(batch.now());
        let parameters = parameters![keys, reasons, now, attempts];
        self.query(include_str!("sql/bury.sql"), &parameters).await.map(drop)
    }

    async fn put(&self, jobs: &[(Put, Row)]) -> Result<()> {
        let keys: Vec<&[u8]> = jobs.iter().map(|(job, _)| job.key.as_bytes()).collect();
        let kinds: Vec<&str> = jobs.iter().map(|(job, _)| &*job.kind).collect();
        let policies: Vec<&str> = jobs.iter().map(|(job, _)| job.policy.as_str()).collect();
        let payloads: Vec<&[u8]> = jobs.iter().map(|(job, _)| job.payload.as_slice()).collect();
        let all = Columns::of(jobs.iter().map(|(_, row)| row));
        let parameters = all.parameters(param(&keys), &parameters![kinds, policies, payloads]);
        let put = self.query(include_str!("sql/put.sql"), &parameters).await?;
        if put.len() != jobs.len() {
            return Err(conflict("another transaction put a job under the same key"));
        }
        Ok(())
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

    fn parameters<'p>(&'p self, keys: Parameter<'p>, more: &[Parameter<'p>]) -> Vec<Parameter<'p>> {
        let Self { due, visible_at, occurrence, attempt, state, token, until } = self;
        let all = parameters![*due, *visible_at, *occurrence, *attempt, *state, *token, *until];
        [&[keys], all.as_slice(), more].concat()
    }
}

/// A reason in a form that the database can store: without zero bytes, and with escapes if the
/// encoding lacks characters.
fn text(reason: &str, has_all_characters: bool) -> String {
    let reason = reason.replace('\0', "\u{fffd}");
    if has_all_characters {
        return reason;
    }
    let mut text = String::with_capacity(reason.len());
    for c in reason.chars() {
        if c.is_ascii() { text.push(c) } else { text.extend(c.escape_unicode()) }
    }
    text
}
