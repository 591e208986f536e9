//! The store.

use crate::commit::Call;
use crate::error::{is_conflict, store_error, whole};
use crate::listen::{Listener, listen};
use crate::row;
use crate::session::{Open, Session};
use crate::settings::Builder;
use std::fmt;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use wheelhouse_durable::store::{
    Change, Dead, Entry, Key, Kind, Kinds, Leased, Next, Outcome, State, Store, StoreError,
    Timestamp, Waker,
};

/// How often a batch is tried because others put jobs under the same keys meanwhile, or a deadlock
/// with a user's transaction was broken. From the second time on nobody else puts jobs.
const TRIES: usize = 5;

/// Jobs in a PostgreSQL database. See the [crate](crate) for how they lie there.
pub struct PostgresStore {
    session: Session,
    listener: Option<Listener>,
}

impl PostgresStore {
    /// Connects to a queue in a database, and makes the tables if there are none:
    /// `postgres://user:password@localhost/shop`, or `host=/run/postgresql user=shop`.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if the server may lose what it has acknowledged, unless
    /// [`unchecked`](Builder::unchecked), or if this is a thread of an asynchronous runtime;
    /// [`Unavailable`](StoreError::Unavailable); [`Format`](StoreError::Format).
    pub fn connect(url: &str, queue: &str) -> Result<Self, StoreError> {
        Self::builder(url, queue)?.connect()
    }

    /// The same, with more to be said.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if the URL cannot be read.
    pub fn builder(url: &str, queue: &str) -> Result<Builder, StoreError> {
        let config = url.parse().map_err(|error: tokio_postgres::Error| {
            let remedy = match url.contains("sslmode=verify") {
                true => "; write `sslmode=require`, which verifies the server here",
                false => "",
            };
            StoreError::Refused(format!("the URL: {}{remedy}", whole(&error)))
        });
        Ok(Builder::new(config?, queue))
    }

    /// The format that the tables are in.
    pub fn format(&self) -> u32 {
        self.session.format
    }

    pub(crate) fn new(session: Session) -> Self {
        Self { session, listener: None }
    }

    /// Runs a query that is a statement of its own.
    fn query(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        self.session.run(async |open, _| {
            let Open { client, statements, .. } = open;
            let statement = statements.get(client, sql).await?;
            client.query(&statement, parameters).await.map_err(store_error)
        })
    }

    fn queue(&self) -> String {
        self.session.settings.queue.clone()
    }

    fn try_commit(&mut self, changes: &[Change], alone: bool) -> Result<Vec<Outcome>, StoreError> {
        self.session.run(async |open, settings| {
            let Open { client, statements, .. } = open;
            let transaction = client.transaction().await.map_err(store_error)?;
            let (queue, clock) = (settings.queue.as_str(), settings.now());
            let mut call =
                Call { transaction: &transaction, statements, queue, clock, takes_long: false };
            if alone {
                call.hold_off_others().await?;
            }
            let outcomes = call.carry_out(changes).await?;
            transaction.commit().await.map_err(store_error)?;
            Ok(outcomes)
        })
    }
}

impl Store for PostgresStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.session.settings.may_write()?;
        let mut answer = self.try_commit(changes, false);
        for _ in 1..TRIES {
            match answer {
                Err(error) if is_conflict(&error) => answer = self.try_commit(changes, true),
                answer => return answer,
            }
        }
        answer
    }

    fn claim(
        &mut self,
        kinds: &Kinds,
        max: usize,
        visibility: Duration,
        into: &mut Vec<Leased>,
    ) -> Result<Next, StoreError> {
        if max > 0 {
            self.session.settings.may_write()?;
        }
        let (queue, clock) = (self.queue(), self.session.settings.now());
        let names: Vec<&str> = kinds.iter().map(|kind| &**kind).collect();
        let visibility = row::millis(Timestamp::default().saturating_add(visibility));
        let before = into.len();
        while into.len() - before < max {
            let want = limit(max - (into.len() - before));
            let rows = self.query(
                include_str!("sql/claim.sql"),
                &[&queue, &names, &want, &visibility, &clock],
            );
            let leased = rows.and_then(|rows| leased(&rows, into));
            let found = leased.inspect_err(|_| into.truncate(before))?;
            // A row that was removed made room for another.
            if found < want {
                break;
            }
        }
        let next = include_str!("sql/next.sql");
        let rows = self.query(next, &[&queue, &names, &clock]);
        let next = rows.and_then(|rows| next_of(&rows));
        next.inspect_err(|_| into.truncate(before))
    }

    fn wake_by(&mut self, waker: Waker) {
        self.listener = Some(listen(&self.session.settings, waker));
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        let queue = self.queue();
        let rows = self.query(include_str!("sql/find.sql"), &[&queue, &key.as_bytes()])?;
        rows.first().map(|row| row::entry(row, 0)).transpose()
    }

    fn scan(
        &mut self,
        after: Option<&Key>,
        max: usize,
        each: &mut dyn FnMut(&Entry),
    ) -> Result<(), StoreError> {
        // No key is empty, so all come after the empty one.
        let after = after.map_or(&[][..], Key::as_bytes);
        let (queue, max) = (self.queue(), limit(max));
        for row in &self.query(include_str!("sql/scan.sql"), &[&queue, &after, &max])? {
            each(&row::entry(row, 0)?);
        }
        Ok(())
    }

    fn dead(
        &mut self,
        after: Option<u64>,
        max: usize,
        each: &mut dyn FnMut(&Dead),
    ) -> Result<(), StoreError> {
        let after = after.map_or(-1, u64::cast_signed);
        let (queue, max) = (self.queue(), limit(max));
        for row in &self.query(include_str!("sql/letters.sql"), &[&queue, &after, &max])? {
            each(&row::dead(row)?);
        }
        Ok(())
    }

    fn kinds(&mut self, each: &mut dyn FnMut(&Kind, Timestamp)) -> Result<(), StoreError> {
        let queue = self.queue();
        for row in &self.query(include_str!("sql/kinds.sql"), &[&queue])? {
            let kind: &str = row.try_get(0).map_err(store_error)?;
            each(&kind.into(), row::time(row, 1)?);
        }
        Ok(())
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let second = Session::open(self.session.settings.clone())?;
        Ok(Some(Box::new(Self::new(second))))
    }
}

/// Appends what `claim.sql` has leased; how many rows it found.
fn leased(rows: &[Row], into: &mut Vec<Leased>) -> Result<i64, StoreError> {
    let mut found = 0;
    for row in rows {
        found = row.try_get(1).map_err(store_error)?;
        // Without any job there is one row, of nothing.
        if row.try_get::<_, Option<i64>>(2).map_err(store_error)?.is_some() {
            let job = row::entry(row, 2)?;
            if let State::Leased(lease) = job.state {
                into.push(Leased { job, token: lease.token, until: lease.until });
            }
        }
    }
    Ok(found)
}

fn next_of(rows: &[Row]) -> Result<Next, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::Damaged("no answer".into()))?;
    let visible_at: Option<i64> = row.try_get(1).map_err(store_error)?;
    let visible_at = visible_at.map(|at| Timestamp::from_millis(at.cast_unsigned()));
    Ok(Next { now: row::time(row, 0)?, visible_at })
}

/// A `LIMIT` of so many.
fn limit(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = &self.session.settings.queue;
        f.debug_struct("PostgresStore").field("queue", queue).finish_non_exhaustive()
    }
}
