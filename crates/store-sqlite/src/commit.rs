//! Changes, within a transaction.

use crate::claim::first_visible;
use crate::error::store_error;
use crate::files::with_suffix;
use crate::row::{self, DEAD, columns, millis, number, row_columns, signed};
use crate::wake;
use rusqlite::{Connection, OptionalExtension, Result, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::path::Path;
use wheelhouse_durable::store::rules::{Row, Table, apply};
use wheelhouse_durable::store::{
    Change, Entry, Key, Kind, Kinds, Outcome, Put, State, StoreClock, StoreError, Timestamp,
};

/// Carries out changes in your transaction: they and your own writes become durable together or not
/// at all. For example, schedule the job that cancels an order when you write the order.
///
/// A handler whose effect is in this file commits
/// [`run.ack()`](wheelhouse_durable::DurableRun::ack) with it, and returns
/// [`Next::Acked`](wheelhouse_durable::Next::Acked): then the effect takes place once. If the
/// outcome is not [`Done`](Outcome::Done), another worker has the job or has ended it: roll the
/// transaction back.
///
/// The transaction must be of a connection to the store's own file. You may have more tables there,
/// next to `job`, `dead` and `meta`. (After a power cut, SQLite does not keep two files
/// consistent.) The transaction should be immediate: a transaction that has read before another
/// process wrote cannot write. Keep it short: programs on the file can neither commit, claim nor
/// renew leases until its end.
///
/// O(log n) for each change. The present is the machine's wall clock. A program that waits for the
/// store's next job, in this process or another, looks for an earlier one 2 ms after this call and
/// after your transaction begins to commit, and several times within the next second, in growing
/// pauses. So it finds the job some milliseconds after the commit. On systems other than Linux it
/// finds the job when it next polls the store.
///
/// # Errors
///
/// [`Refused`](StoreError::Refused) if the file of the connection was deleted or renamed. Only the
/// calls of [`SqliteStore`](crate::SqliteStore) notice that another file was moved to its place.
/// After an error, roll the transaction back.
///
/// ```
/// use rusqlite::{Connection, TransactionBehavior::Immediate};
/// use std::time::Duration;
/// use wheelhouse_durable::store::{Change, Key, Put, Store, When};
/// use wheelhouse_store_sqlite::{SqliteStore, commit_in};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("shop.timers");
/// let mut store = SqliteStore::open(&path)?;
/// let mut shop = Connection::open(&path)?;
/// shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT)", ())?;
///
/// let transaction = shop.transaction_with_behavior(Immediate)?;
/// transaction.execute("INSERT INTO orders VALUES (17, 'open')", ())?;
/// let key = Key::new("order-17")?;
/// let expiry = Put {
///     key: key.clone(),
///     kind: "expire/1".into(),
///     payload: b"17".to_vec(),
///     policy: String::new(),
///     when: When::After(Duration::from_secs(1800)),
///     replace: true,
/// };
/// commit_in(&transaction, &[Change::Put(expiry)])?;
/// transaction.commit()?;
/// assert!(store.find(&key)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn commit_in(transaction: &Connection, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
    // SQLite gives the path of a connection, but not the file that it has open.
    let path = transaction.path().filter(|path| !path.is_empty());
    if let Some(path) = path.filter(|path| !Path::new(path).exists()) {
        return Err(StoreError::Refused(format!(
            "{path} was deleted or renamed while it was open: roll back, and open it again"
        )));
    }
    let (outcomes, is_earlier) =
        carry_out(transaction, &StoreClock::default(), changes).map_err(store_error)?;
    if is_earlier {
        path.iter().for_each(|path| wake::announce(&with_suffix(Path::new(path), "-wal")));
    }
    Ok(outcomes)
}

/// A transaction that takes the write lock at its beginning. Otherwise it would fail if another
/// process wrote between its first read and its first write.
pub(crate) fn transaction(connection: &mut Connection) -> Result<Transaction<'_>, StoreError> {
    let behavior = TransactionBehavior::Immediate;
    connection.transaction_with_behavior(behavior).map_err(store_error)
}

/// Carries out changes in one transaction. Returns their outcomes, and `true` if programs may wait
/// for a later job.
pub(crate) fn commit(
    connection: &mut Connection,
    clock: &StoreClock,
    changes: &[Change],
) -> Result<(Vec<Outcome>, bool), StoreError> {
    let transaction = transaction(connection)?;
    let committed = carry_out(&transaction, clock, changes).map_err(store_error)?;
    transaction.commit().map_err(store_error)?;
    Ok(committed)
}

/// The same without the end of the transaction.
fn carry_out(
    connection: &Connection,
    clock: &StoreClock,
    changes: &[Change],
) -> Result<(Vec<Outcome>, bool)> {
    let mut batch = Batch::begin(connection, clock)?;
    let outcomes = changes.iter().map(|change| batch.apply(change)).collect::<Result<_>>()?;
    batch.finish(clock)?;
    Ok((outcomes, batch.is_earlier()?))
}

/// The changes of one transaction.
pub(crate) struct Batch<'a> {
    pub(crate) connection: &'a Connection,
    /// The present, rounded down and up.
    pub(crate) now: (Timestamp, Timestamp),
    /// The last generation or token that was drawn.
    last: u64,
    /// `true` if a table was written to.
    pub(crate) wrote: bool,
    /// The earliest `visible_at` of the pending and replaced rows of each kind that were written.
    pending: BTreeMap<Kind, Timestamp>,
}

impl<'a> Batch<'a> {
    /// Begins a batch. If it is to write, the connection must be in a writing transaction.
    pub(crate) fn begin(connection: &'a Connection, clock: &StoreClock) -> Result<Self> {
        let mut meta = connection.prepare_cached("SELECT last, high_water FROM meta")?;
        let (last, high) = meta.query_row((), |row| Ok((number(row, 0)?, row::time(row, 1)?)))?;
        // Another process may have seen a later time.
        clock.at_least(high);
        let now = clock.now();
        // From the clock's microseconds, so that numbers grow even after a restore of an old copy.
        let micros = now.0.as_millis().saturating_mul(1000);
        let (last, pending) = (last.max(micros), BTreeMap::new());
        Ok(Self { connection, now, last, wrote: false, pending })
    }

    /// Carries out a change. The usual end of a run is one statement that finds and removes the
    /// row. With a read before it, a claim and its ack would take 16 us instead of 14.
    fn apply(&mut self, change: &Change) -> Result<Outcome> {
        if let Change::Ack { key, token, again: None } = change {
            // State 3 is `Replaced`: such a row stays, with its newer generation.
            let end = "DELETE FROM job WHERE key = ?1 AND token = ?2 AND state <> 3";
            let mut end = self.connection.prepare_cached(end)?;
            if end.execute(params![key.as_bytes(), signed(token.0)])? == 1 {
                self.wrote = true;
                return Ok(Outcome::Done);
            }
        }
        let now = self.now;
        apply(self, change, now)
    }

    /// Writes the last number and the latest time to `meta`, if a table was written to.
    pub(crate) fn finish(&self, clock: &StoreClock) -> Result<()> {
        if self.wrote {
            let mut meta =
                self.connection.prepare_cached("UPDATE meta SET last = ?1, high_water = ?2")?;
            meta.execute([signed(self.last), millis(clock.high_water())])?;
        }
        Ok(())
    }

    /// Returns `true` if a written row is the first of its kind. Programs may then wait for a later
    /// one. Otherwise they wait for the first one or an earlier time: a claim returned it,
    /// or they were woken for it. O(k log n).
    pub(crate) fn is_earlier(&self) -> Result<bool> {
        for (kind, at) in &self.pending {
            let first = first_visible(self.connection, &Kinds::new([kind.clone()]))?;
            // A later change of the batch may have moved or removed the row that was at `at`.
            if first.is_some_and(|first| first >= *at) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records that a pending or replaced row of this kind was written.
    fn wrote_pending(&mut self, kind: &str, at: Timestamp) {
        match self.pending.get_mut(kind) {
            Some(first) => *first = at.min(*first),
            None => drop(self.pending.insert(kind.into(), at)),
        }
    }
}

impl Table for Batch<'_> {
    type Error = rusqlite::Error;

    fn row(&mut self, key: &Key) -> Result<Option<Row>> {
        let select = concat!("SELECT ", row_columns!(), " FROM job WHERE key = ?1");
        self.connection.prepare_cached(select)?.query_row([key.as_bytes()], row::row).optional()
    }

    fn draw(&mut self) -> u64 {
        self.last += 1;
        // `signed` keeps the order of numbers up to here.
        debug_assert!(i64::try_from(self.last).is_ok(), "{} microseconds since 1970", self.last);
        self.last
    }

    fn put(&mut self, row: &Row, job: &Put) -> Result<()> {
        // If the row keeps its lease, it keeps its holder.
        let put = "
            INSERT INTO job (due, visible_at, generation, occurrence, attempt, state, token, until,
                key, kind, payload, policy)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            ON CONFLICT (key) DO UPDATE SET due = ?1, visible_at = ?2, generation = ?3,
                occurrence = ?4, attempt = ?5, state = ?6, token = ?7, until = ?8, kind = ?10,
                payload = ?11, policy = ?12, holder = iif(?7 IS NULL, NULL, holder)";
        let [due, visible_at, generation, occurrence, attempt, state, token, until] = columns(row);
        let (key, kind, payload, policy) =
            (job.key.as_bytes(), &*job.kind, &job.payload, &job.policy);
        self.connection.prepare_cached(put)?.execute(params![
            due, visible_at, generation, occurrence, attempt, state, token, until, key, kind,
            payload, policy
        ])?;
        self.wrote = true;
        self.wrote_pending(&job.kind, row.visible_at);
        Ok(())
    }

    fn set(&mut self, _: &Key, row: &Row) -> Result<()> {
        let set = "
            UPDATE job SET due = ?1, visible_at = ?2, occurrence = ?3, attempt = ?4, state = ?5,
                token = ?6, until = ?7, holder = iif(?6 IS NULL, NULL, holder)
            WHERE generation = ?8";
        let [due, visible_at, its, occurrence, attempt, state, token, until] = columns(row);
        let values = params![due, visible_at, occurrence, attempt, state, token, until, its];
        let changed = self.connection.prepare_cached(set)?.execute(values)?;
        debug_assert_eq!(changed, 1, "{row:?} was read in this transaction");
        self.wrote = true;
        if matches!(row.state, State::Pending | State::Replaced(_)) {
            let kind = "SELECT kind FROM job WHERE generation = ?1";
            let mut kind = self.connection.prepare_cached(kind)?;
            let kind: String = kind.query_row([its], |row| row.get(0))?;
            self.wrote_pending(&kind, row.visible_at);
        }
        Ok(())
    }

    fn remove(&mut self, _: &Key, row: &Row) -> Result<()> {
        let delete = "DELETE FROM job WHERE generation = ?1";
        let changed = self.connection.prepare_cached(delete)?.execute([signed(row.generation)])?;
        debug_assert_eq!(changed, 1, "{row:?} was read in this transaction");
        self.wrote = true;
        Ok(())
    }

    fn bury(&mut self, key: &Key, row: &Row, reason: &str) -> Result<()> {
        let bury = "
            INSERT INTO dead (generation, key, kind, due, occurrence, attempt, policy, payload,
                reason, at)
            SELECT generation, key, kind, due, occurrence, attempt, policy, payload, ?2, ?3
            FROM job WHERE generation = ?1";
        let values = params![signed(row.generation), reason, millis(self.now.0)];
        self.connection.prepare_cached(bury)?.execute(values)?;
        self.remove(key, row)
    }

    fn dead(&mut self, generation: u64) -> Result<Option<Entry>> {
        let select = format!("SELECT {DEAD} FROM dead WHERE generation = ?1");
        let mut select = self.connection.prepare_cached(&select)?;
        let dead = select.query_row([signed(generation)], row::dead).optional()?;
        Ok(dead.map(|dead| dead.job))
    }

    fn forget(&mut self, generation: u64) -> Result<bool> {
        let forget = "DELETE FROM dead WHERE generation = ?1";
        let gone = self.connection.prepare_cached(forget)?.execute([signed(generation)])?;
        self.wrote |= gone > 0;
        Ok(gone > 0)
    }
}
