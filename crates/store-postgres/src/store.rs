//! The store.

use crate::commit::{Call, Parameter};
use crate::error::{store_error, took_too_long, whole};
use crate::floor::{Course, Floor};
use crate::row;
use crate::session::Session;
use crate::settings::Builder;
use std::fmt;
use std::time::{Duration, Instant};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};
use wheelhouse_durable::store::{
    Change, Dead, Entry, Key, Kind, Kinds, Leased, Next, Outcome, State, Store, StoreError,
    Timestamp, Waker,
};

/// Jobs in a PostgreSQL database. See the [crate](crate) for how they lie there.
pub struct PostgresStore {
    session: Session,
    floor: Floor,
}

impl PostgresStore {
    /// Connects to a queue in a database, and makes the tables if there are none:
    /// `postgres://user:password@localhost/shop`, or `host=/run/postgresql user=shop`.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if the server may lose what it has acknowledged, unless
    /// [`unchecked`](Builder::unchecked);
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
        Self { session, floor: Floor::new() }
    }

    /// Runs a query that is a transaction by itself.
    fn query(
        &mut self,
        sql: &'static str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        self.session.run(async |client, _, _| {
            client.query_typed(sql, parameters).await.map_err(store_error)
        })
    }

    /// The store's clock, in milliseconds.
    fn present(&mut self) -> Result<i64, StoreError> {
        let next = self.session.run(async |client, settings, _| {
            claim(client, settings, &[], 0, 0, i64::MAX).await.map(|(_, _, next)| next)
        });
        Ok(row::millis(next?.now))
    }

    fn queue(&self) -> String {
        self.session.settings.queue.clone()
    }
}

impl Store for PostgresStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.session.settings.may_write()?;
        self.session.run(async |client, settings, alone| {
            let (queue, clock) = (settings.queue.as_str(), settings.now());
            let call = Call { client, queue, clock, takes_long: false };
            // Others put jobs under the same keys meanwhile, or a deadlock with a user's
            // transaction was broken.
            if alone {
                call.hold_off_others().await?;
            }
            call.carry_out(changes).await
        })
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
        let names: Vec<&str> = kinds.iter().map(|kind| &**kind).collect();
        let visibility = row::millis(Timestamp::default().saturating_add(visibility));
        let begun = Instant::now();
        if self.floor.is_unknown(begun) {
            let present = self.present()?;
            self.floor.begin_at(present);
        }
        let floor = self.floor.next(begun);
        let claimed = self.session.run(async |client, settings, _| {
            claim(client, settings, &names, max, visibility, floor).await
        });
        let now = Instant::now();
        if claimed.as_ref().is_err_and(took_too_long) {
            self.floor.gave_up(floor, now - begun, now);
        }
        let (leased, course, next) = claimed?;
        course.into_iter().for_each(|course| self.floor.went(course, now));
        into.extend(leased);
        Ok(next)
    }

    fn wake_by(&mut self, waker: Waker) {
        self.session.wake_by(waker);
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        let queue = self.queue();
        let rows = self.query(
            include_str!("sql/find.sql"),
            &[(&queue, Type::TEXT), (&key.as_bytes(), Type::BYTEA)],
        )?;
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
        let parameters: [Parameter<'_>; 3] =
            [(&queue, Type::TEXT), (&after, Type::BYTEA), (&max, Type::INT8)];
        for row in &self.query(include_str!("sql/scan.sql"), &parameters)? {
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
        let parameters: [Parameter<'_>; 3] =
            [(&queue, Type::TEXT), (&after, Type::INT8), (&max, Type::INT8)];
        for row in &self.query(include_str!("sql/letters.sql"), &parameters)? {
            each(&row::dead(row)?);
        }
        Ok(())
    }

    fn kinds(&mut self, each: &mut dyn FnMut(&Kind, Timestamp)) -> Result<(), StoreError> {
        let queue = self.queue();
        for row in &self.query(include_str!("sql/kinds.sql"), &[(&queue, Type::TEXT)])? {
            let kind: &str = row.try_get(0).map_err(store_error)?;
            each(&kind.into(), row::time(row, 1)?);
        }
        Ok(())
    }

    /// `dead_rows`: what autovacuum has not removed yet, as the server's statistics know it. It
    /// grows while a transaction anywhere in the database stays open.
    fn gauges(&mut self, each: &mut dyn FnMut(&'static str, u64)) -> Result<(), StoreError> {
        const DEAD_ROWS: &str = "SELECT n_dead_tup FROM pg_stat_user_tables
            WHERE schemaname = 'wheelhouse' AND relname = 'job'";
        for row in &self.query(DEAD_ROWS, &[])? {
            each("dead_rows", row::number(row, 0)?);
        }
        Ok(())
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let second = Session::open(self.session.settings.clone())?;
        Ok(Some(Box::new(Self::new(second))))
    }
}

/// Leases jobs, and looks when the next is visible, in a transaction: if the second fails, the
/// first is undone.
async fn claim(
    client: &Client,
    settings: &Builder,
    kinds: &[&str],
    max: usize,
    visibility: i64,
    floor: i64,
) -> Result<(Vec<Leased>, Option<Course>, Next), StoreError> {
    let (queue, clock) = (settings.queue.as_str(), settings.now());
    let (mut all, mut course) = (Vec::new(), None);
    while all.len() < max {
        let want = limit(max - all.len());
        let parameters: [Parameter<'_>; 6] = [
            (&queue, Type::TEXT),
            (&kinds, Type::TEXT_ARRAY),
            (&want, Type::INT8),
            (&visibility, Type::INT8),
            (&clock, Type::INT8),
            (&floor, Type::INT8),
        ];
        let rows = client.query_typed(include_str!("sql/claim.sql"), &parameters).await;
        let rows = rows.map_err(store_error)?;
        let found = leased(&rows, &mut all)?;
        let its = course_of(&rows, floor, found == want)?;
        // That of the first says how long it takes to come to the first job.
        let Course { took, .. } = *course.get_or_insert(its);
        course = Some(Course { took, ..its });
        // A row that was removed made room for another.
        if found < want {
            break;
        }
    }
    // All before is leased; a job that is committed later notifies.
    let from = course.map_or(floor, Course::end);
    let parameters: [Parameter<'_>; 4] = [
        (&queue, Type::TEXT),
        (&kinds, Type::TEXT_ARRAY),
        (&clock, Type::INT8),
        (&from, Type::INT8),
    ];
    let rows = client.query_typed(include_str!("sql/next.sql"), &parameters).await;
    Ok((all, course, next_of(&rows.map_err(store_error)?)?))
}

/// Appends what `claim.sql` has leased; how many rows it found.
fn leased(rows: &[Row], into: &mut Vec<Leased>) -> Result<i64, StoreError> {
    let mut found = 0;
    for row in rows {
        found = row.try_get(1).map_err(store_error)?;
        // Without any job there is one row, of nothing.
        if row.try_get::<_, Option<i64>>(4).map_err(store_error)?.is_some() {
            let job = row::entry(row, 4)?;
            if let State::Leased(lease) = job.state {
                let was_lost = row.try_get(16).map_err(store_error)?;
                into.push(Leased { job, token: lease.token, until: lease.until, was_lost });
            }
        }
    }
    Ok(found)
}

fn course_of(rows: &[Row], floor: i64, more: bool) -> Result<Course, StoreError> {
    let row = rows.first().ok_or_else(|| StoreError::Damaged("no answer".into()))?;
    let number = |column| row.try_get::<_, Option<i64>>(column).map_err(store_error);
    let took = Duration::from_millis(row::number(row, 3)?);
    let last = number(2)?.filter(|_| more);
    Ok(Course { floor, took, now: number(0)?.unwrap_or_default(), last })
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
