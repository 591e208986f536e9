//! Changes, within a transaction.

use crate::batch::{Batch, Writes};
use crate::error::{Known, store_error};
use crate::row::{self, columns, millis};
use crate::statements::{Parameter, Statements, param};
use tokio_postgres::{GenericClient, Transaction};
use wheelhouse_durable::store::rules::Row;
use wheelhouse_durable::store::{
    Change, Dead, Entry, Key, Outcome, Put, StoreError, Timestamp, When,
};

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
    let call = Call { on, queue, clock: None, takes_long: true };
    call.carry_out(changes).await.map(|(outcomes, _)| outcomes)
}

/// The transaction in which changes are carried out.
pub(crate) struct Call<'c, C> {
    /// Must be in a transaction.
    pub(crate) on: Statements<'c, C>,
    pub(crate) queue: &'c str,
    /// Milliseconds to use instead of the server's clock.
    pub(crate) clock: Option<i64>,
    /// The transaction may stay open. Other programs may then claim the rows that it has seen
    /// before its own rows are visible, so it must notify in any case.
    pub(crate) takes_long: bool,
}

impl<C: GenericClient> Call<'_, C> {
    /// Waits until no other transaction writes jobs of the queue, and blocks others until the end
    /// of this transaction.
    pub(crate) async fn lock_queue(&self) -> Result<(), StoreError> {
        self.on.query(include_str!("sql/lock_queue.sql"), &[param(&self.queue)]).await.map(drop)
    }

    /// Returns the outcome of each change, and when the first written row is visible.
    pub(crate) async fn carry_out(
        &self,
        changes: &[Change],
    ) -> Result<(Vec<Outcome>, Option<Timestamp>), StoreError> {
        let (mut outcomes, mut first) = (Vec::with_capacity(changes.len()), None);
        // A change of a dead letter must see the letters that earlier changes made, so these must
        // be written first.
        let together = |a: &Change, b: &Change| a.key().is_some() && b.key().is_some();
        for some in changes.chunk_by(together) {
            let mut batch = Batch::default();
            self.load(&mut batch, some).await?;
            outcomes.extend(some.iter().map(|change| batch.apply(change)));
            let written = self.write(batch).await?;
            first = first.into_iter().chain(written).min();
        }
        Ok((outcomes, first))
    }

    /// Reads and locks the rows of the changes.
    async fn load(&self, batch: &mut Batch, changes: &[Change]) -> Result<(), StoreError> {
        let (queue, clock) = (self.queue, self.clock);
        let mut keys: Vec<Key> = changes.iter().filter_map(Change::key).cloned().collect();
        for change in changes {
            let (Change::Revive { generation, .. } | Change::Forget { generation }) = change else {
                continue;
            };
            let number = generation.cast_signed();
            let parameters = [param(&queue), param(&number)];
            for sql in self.on.query(include_str!("sql/letter.sql"), &parameters).await? {
                let Dead { job, .. } = row::dead(&sql)?;
                let Entry { key, kind, payload, policy, occurrence, due, .. } = job;
                keys.push(key.clone());
                let when = When::At(due);
                let put = Put { key, kind, payload, policy, when, replace: false };
                batch.dead.insert(*generation, (put, occurrence));
            }
        }
        // All transactions lock rows in this order, so no two wait for each other.
        keys.sort_unstable();
        keys.dedup();
        let keys: Vec<&[u8]> = keys.iter().map(Key::as_bytes).collect();
        let parameters = [param(&queue), param(&keys), param(&clock)];
        let is_renewal = |change: &Change| matches!(change, Change::Extend { .. });
        let load = match changes.iter().all(is_renewal) {
            true => include_str!("sql/renew.sql"),
            false => include_str!("sql/load.sql"),
        };
        for sql in self.on.query(load, &parameters).await? {
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
    async fn write(&self, mut batch: Batch) -> Result<Option<Timestamp>, StoreError> {
        let Writes { removed, set, put, first } = batch.take_writes();
        if !batch.burials.is_empty() {
            self.bury(&batch).await?;
        }
        if !batch.forgotten.is_empty() {
            let generations: Vec<i64> =
                batch.forgotten.iter().map(|generation| generation.cast_signed()).collect();
            let forget = include_str!("sql/forget.sql");
            self.on.query(forget, &[param(&self.queue), param(&generations)]).await?;
        }
        if !removed.is_empty() {
            let keys: Vec<&[u8]> = removed.iter().map(Key::as_bytes).collect();
            let remove = include_str!("sql/remove.sql");
            self.on.query(remove, &[param(&self.queue), param(&keys)]).await?;
        }
        if !set.is_empty() {
            let keys: Vec<&[u8]> = set.iter().map(|(key, _)| key.as_bytes()).collect();
            let all = Columns::of(set.iter().map(|(_, row)| row));
            let parameters = all.parameters([param(&self.queue), param(&keys)], &[]);
            self.on.query(include_str!("sql/set.sql"), &parameters).await?;
        }
        if !put.is_empty() {
            self.put(&put).await?;
        }
        if !first.is_empty() {
            let kinds: Vec<&str> = first.keys().map(|kind| &**kind).collect();
            let times: Vec<i64> = first.values().copied().map(millis).collect();
            let now = millis(batch.now());
            let [queue, kinds, times] = [param(&self.queue), param(&kinds), param(&times)];
            let parameters = [queue, kinds, times, param(&now), param(&self.takes_long)];
            self.on.query(include_str!("sql/notify.sql"), &parameters).await?;
        }
        Ok(first.into_values().min())
    }

    async fn bury(&self, batch: &Batch) -> Result<(), StoreError> {
        let burials = || batch.burials.iter();
        let keys: Vec<&[u8]> = burials().map(|(key, ..)| key.as_bytes()).collect();
        let attempts: Vec<i32> = burials().map(|(_, attempt, _)| attempt.cast_signed()).collect();
        let reason = |reason: &str| text(reason, batch.has_all_characters);
        let reasons: Vec<String> = burials().map(|(.., its)| reason(its)).collect();
        let now = millis(batch.now());
        let [queue, keys, reasons] = [param(&self.queue), param(&keys), param(&reasons)];
        let parameters = [queue, keys, reasons, param(&now), param(&attempts)];
        self.on.query(include_str!("sql/bury.sql"), &parameters).await.map(drop)
    }

    async fn put(&self, jobs: &[(Put, Row)]) -> Result<(), StoreError> {
        let keys: Vec<&[u8]> = jobs.iter().map(|(job, _)| job.key.as_bytes()).collect();
        let kinds: Vec<&str> = jobs.iter().map(|(job, _)| &*job.kind).collect();
        let policies: Vec<&str> = jobs.iter().map(|(job, _)| job.policy.as_str()).collect();
        let payloads: Vec<&[u8]> = jobs.iter().map(|(job, _)| job.payload.as_slice()).collect();
        let all = Columns::of(jobs.iter().map(|(_, row)| row));
        let after = [param(&kinds), param(&policies), param(&payloads)];
        let parameters = all.parameters([param(&self.queue), param(&keys)], &after);
        let put = self.on.query(include_str!("sql/put.sql"), &parameters).await?;
        if put.len() == jobs.len() {
            return Ok(());
        }
        let why = "another transaction put a job under the same key";
        Err(Known::Conflict(why.into()).into())
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
        before: [Parameter<'p>; 2],
        after: &[Parameter<'p>],
    ) -> Vec<Parameter<'p>> {
        let Self { due, visible_at, occurrence, attempt, state, token, until } = self;
        let mut all = before.to_vec();
        all.extend([param(due), param(visible_at), param(occurrence), param(attempt)]);
        all.extend([param(state), param(token), param(until)]);
        all.extend_from_slice(after);
        all
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
