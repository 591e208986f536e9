//! The store.

use crate::claim::{Claim, number};
use crate::commit::Call;
use crate::error::{Result, is_timeout, store_error, with_sources};
use crate::floor::{Shared, Start};
use crate::listen::far;
use crate::quick::Quick;
use crate::row;
use crate::session::{Scope, Session};
use crate::settings::Builder;
use crate::setup::FORMAT;
use crate::statements::{Parameter, parameters};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::{Config, Row};
use wheelhouse_durable::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Gauges, Key, Kind, Kinds, Outcome, Store,
    StoreError, Timestamp, Waker,
};

/// The remedy for a URL that cannot be used.
const FORM: &str = "write postgres://user:password@host/database";

/// A store in a PostgreSQL database. See the [crate](crate) for its tables.
pub struct PostgresStore {
    session: Session,
    pub(crate) floors: Shared,
}

impl PostgresStore {
    /// Connects to a queue in a database, and creates the tables if there are none. Examples of
    /// URLs: `postgres://user:password@localhost/shop`, `host=/run/postgresql user=shop`.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if the server may lose what it has acknowledged, unless
    /// [`unchecked`](Builder::unchecked);
    /// [`Unavailable`](StoreError::Unavailable); [`Format`](StoreError::Format).
    pub fn connect(url: &str, queue: &str) -> Result<Self, StoreError> {
        Self::builder(url, queue)?.connect()
    }

    /// Returns a builder, to change settings before connecting.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if the URL cannot be read.
    pub fn builder(url: &str, queue: &str) -> Result<Builder, StoreError> {
        let config = url.parse().map_err(|error: tokio_postgres::Error| {
            let remedy = match url.contains("sslmode=verify") {
                true => "write `sslmode=require`, which verifies the server here",
                false => FORM,
            };
            StoreError::Refused(format!("the URL: {}; {remedy}", with_sources(&error)))
        });
        let config: Config = config?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(StoreError::Refused(format!("the URL names no host; {FORM}")));
        }
        Ok(Builder::new(config, queue))
    }

    /// The format of the tables. Until a store of [`connect_later`](Builder::connect_later) has
    /// connected, it is the format that this version writes.
    pub fn format(&self) -> u32 {
        self.session.format.unwrap_or(FORMAT)
    }

    pub(crate) fn new(session: Session) -> Self {
        Self { session, floors: Shared::default() }
    }

    /// Runs a query that is a transaction by itself. Its parameters are the queue and these.
    fn query(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        self.session.run(Scope::Read, async |on, settings, _| {
            let queue = settings.queue.as_str();
            on.query(sql, &[parameters![queue].as_slice(), parameters].concat()).await
        })
    }

    /// Commits changes of one sort by one statement. `None` if that has written nothing.
    fn commit_quickly(
        &mut self,
        quick: &Quick<'_>,
    ) -> Result<Option<(Outcome, Option<Timestamp>)>> {
        self.session.run(Scope::Write, async |on, settings, exclusive| {
            // After a conflict: another transaction has changed the same rows.
            if exclusive {
                return Ok(None);
            }
            quick.carry_out(&on, settings).await
        })
    }

    /// Commits any changes. Returns their outcomes, and when the first written row is visible.
    fn commit_by_rules(&mut self, changes: &[Change]) -> Result<(Vec<Outcome>, Option<Timestamp>)> {
        self.session.run(Scope::Transaction, async |on, settings, exclusive| {
            let (queue, clock) = (settings.queue.as_str(), settings.now());
            let call = Call { on, queue, clock, far: Some(far(settings)) };
            // After a conflict: another transaction put jobs under the same keys, or the server
            // ended a deadlock with a user's transaction.
            if exclusive {
                call.lock_queue().await?;
            }
            call.carry_out(changes).await
        })
    }
}

/// Ways to connect.
impl Builder {
    /// Connects.
    ///
    /// # Errors
    ///
    /// As [`PostgresStore::connect`].
    pub fn connect(self) -> Result<PostgresStore, StoreError> {
        Ok(PostgresStore::new(Session::open(self.checked()?)?))
    }

    /// Connects at the first call. So a program can start on several stores
    /// ([`start_shards`](wheelhouse_durable::Builder::start_shards)) while this one is unreachable.
    /// The first call that reaches the server checks it, and creates the tables if there are none,
    /// like [`connect`](Self::connect).
    ///
    /// ```no_run
    /// use wheelhouse_durable::{Durable, Handlers};
    /// use wheelhouse_store_postgres::PostgresStore;
    ///
    /// let urls = ["postgres://shop@one/shop", "postgres://shop@two/shop"];
    /// let store = |url| PostgresStore::builder(url, "orders")?.connect_later();
    /// let [one, two] = urls.map(store);
    /// let timers = Durable::builder(Handlers::new()).start_shards([one?, two?])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if a setting is wrong. The first call returns the errors
    /// of `connect`.
    pub fn connect_later(self) -> Result<PostgresStore, StoreError> {
        Ok(PostgresStore::new(Session::later(self.checked()?)?))
    }

    /// Connects to existing tables to read them: nothing is created, calls that change something
    /// are refused, and the settings of the server are not checked. A claim of 0 jobs works.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect); [`Refused`](StoreError::Refused) if there are no tables.
    pub fn connect_to_read(self) -> Result<PostgresStore, StoreError> {
        Self { only_reads: true, unchecked: true, ..self }.connect()
    }
}

impl Store for PostgresStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.session.settings.may_write()?;
        let quick = Quick::of(changes).map(|quick| self.commit_quickly(&quick)).transpose()?;
        let (outcomes, first) = match quick.flatten() {
            Some((outcome, first)) => (vec![outcome; changes.len()], first),
            None => self.commit_by_rules(changes)?,
        };
        first.into_iter().for_each(|at| self.floors.lock().wrote(row::millis(at)));
        Ok(outcomes)
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        if limit.jobs > 0 {
            self.session.settings.may_write()?;
        }
        let names: Vec<&str> = kinds.iter().map(|kind| &**kind).collect();
        let visibility = row::millis(Timestamp::default().saturating_add(visibility));
        let begun = Instant::now();
        // A claim of 0 jobs only finds when the first job of these kinds is visible.
        let mut start = Start::default();
        if limit.jobs > 0 {
            let is_unknown = self.floors.lock().of(kinds).is_unknown(begun);
            if is_unknown {
                let present = row::millis(self.now()?);
                self.floors.lock().of(kinds).begin_at(present);
            }
            start = self.floors.lock().of(kinds).next(begun);
        }
        let claim = Claim { kinds: &names, limit, visibility, start };
        // A claim of 0 jobs is one statement.
        let scope = if limit.jobs == 0 { Scope::Read } else { Scope::Transaction };
        let claimed =
            self.session.run(scope, async |on, settings, _| claim.run(&on, settings).await);
        let now = Instant::now();
        if limit.jobs == 0 {
            return claimed.map(|claimed| (claimed.leased, claimed.next));
        }
        let mut floors = self.floors.lock();
        let floor = floors.of(kinds);
        let claimed = claimed.inspect_err(|error| {
            let timed_out = is_timeout(error).then(|| now - begun);
            floor.record_failure(start, timed_out, now);
        })?;
        claimed.stats.into_iter().for_each(|stats| floor.record_success(stats, now));
        floor.record_search(claimed.search, now);
        Ok((claimed.leased, claimed.next))
    }

    fn wake_by(&mut self, waker: Waker) {
        let floors = self.floors.clone();
        self.session.wake_by(Arc::new(move |visible_at| {
            floors.lock().heard(visible_at);
            waker();
        }));
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        let rows = self.query(include_str!("sql/find.sql"), &parameters![key.as_bytes()])?;
        rows.first().map(|row| row::entry(row, 0)).transpose()
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        // No key is empty, so all come after the empty one.
        let (after, max) = (after.map_or(&[][..], Key::as_bytes), number(max));
        let rows = self.query(include_str!("sql/scan.sql"), &parameters![after, max])?;
        rows.iter().map(|row| row::entry(row, 0)).collect()
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        // Generations are below 2^63.
        let after = after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
        let max = number(max);
        let rows = self.query(include_str!("sql/letters.sql"), &parameters![after, max])?;
        rows.iter().map(row::dead).collect()
    }

    /// While claims begin at a floor, the search for the first row of a claimed kind begins there
    /// too. It misses earlier jobs, and a kind that has only earlier jobs, until a claim from the
    /// beginning finds them. To find them here it would have to walk over the dead entries.
    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        let (floor, claimed) = self.floors.lock().search_start(Instant::now());
        let claimed: Vec<&str> = claimed.iter().map(|kind| &**kind).collect();
        let kind = |row: &Row| {
            let kind: &str = row.try_get(0).map_err(store_error)?;
            Ok((kind.into(), row::time(row, 1)?))
        };
        let rows = self.query(include_str!("sql/kinds.sql"), &parameters![claimed, floor])?;
        rows.iter().map(kind).collect()
    }

    /// `dead_rows`: the rows that autovacuum has not removed yet, by the server's statistics. The
    /// number grows while a transaction anywhere in the database stays open.
    fn gauges(&mut self) -> Result<Gauges, StoreError> {
        const DEAD_ROWS: &str = "SELECT n_dead_tup FROM pg_stat_user_tables
            WHERE schemaname = 'wheelhouse' AND relname = 'job'";
        let rows =
            self.session.run(Scope::Read, async |on, _, _| on.query(DEAD_ROWS, &[]).await)?;
        rows.iter().map(|row| Ok(("dead_rows", row::number(row, 0)?))).collect()
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let connect = if self.session.format.is_none() { Session::later } else { Session::open };
        let session = connect(self.session.settings.clone())?;
        Ok(Some(Box::new(Self { session, floors: self.floors.clone() })))
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = &self.session.settings.queue;
        f.debug_struct("PostgresStore").field("queue", queue).finish_non_exhaustive()
    }
}
