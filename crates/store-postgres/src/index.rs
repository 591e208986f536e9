//! The index by which jobs are claimed, in a database of the first version.
//!
//! That version has the index `job_order`, and its programs may still run and use it. A claim
//! builds the new index `job_turn` in the background, while both versions read and write. Until it
//! is complete, statements use the old one.

use crate::error::store_error;
use crate::settings::Builder;
use crate::sockets::{Sockets, Task, connect, wait};
use crate::transaction::{TRANSACTION_TIMEOUT, switch_off};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio_postgres::Client;
use tokio_postgres::SimpleQueryMessage::Row;
use wheelhouse_durable::store::StoreError;

/// Creates the index, in the transaction that creates the table.
pub(crate) const CREATE: &str = include_str!("sql/index.sql");

const IS_THERE: &str = "SELECT EXISTS (SELECT FROM pg_catalog.pg_index
    WHERE indexrelid = pg_catalog.to_regclass('wheelhouse.job_turn') AND indisvalid)";

/// The timeout of a build. A build waits for each older transaction.
const LONGEST: Duration = Duration::from_secs(6 * 3_600);

/// The pause after a failed build, and how often a program checks the build of another program.
const PAUSE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(200);

/// The state of the index, as a session knows it.
#[derive(Default)]
pub(crate) struct Index {
    /// Shared by the sessions of a store.
    is_there: Arc<AtomicBool>,
    building: Option<Task<Result<(), StoreError>>>,
    /// When the next build may begin, after a failed one.
    again: Option<Instant>,
}

impl Index {
    /// Records whether the database has the index.
    pub(crate) fn found(&self, is_there: bool) {
        self.is_there.fetch_or(is_there, Ordering::Relaxed);
    }

    /// The state for another session of the store, which builds nothing.
    pub(crate) fn shared(&self) -> Self {
        Self { is_there: Arc::clone(&self.is_there), ..Self::default() }
    }

    pub(crate) fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    /// A statement that reads jobs in order, adapted to the existing index.
    pub(crate) fn statement(&self, sql: &'static str) -> Cow<'static, str> {
        match self.is_there() {
            true => sql.into(),
            false => sql.replace("queue || ''", "queue").into(),
        }
    }

    /// Starts a build of the index if it is missing, and checks whether that is complete.
    pub(crate) fn ensure(&mut self, sockets: &Sockets, settings: &Builder) {
        let now = Instant::now();
        if self.is_there() || self.again.is_some_and(|again| now < again) {
            return;
        }
        let begin = || sockets.spawn(build(settings.clone()));
        let task = self.building.get_or_insert_with(begin);
        // A deadline of now polls the task once, without waiting.
        let Some(built) = wait(now, &mut task.0) else { return };
        self.building = None;
        match built {
            Ok(Ok(())) => self.is_there.store(true, Ordering::Relaxed),
            _ => self.again = Some(now + PAUSE),
        }
    }
}

async fn build(settings: Builder) -> Result<(), StoreError> {
    let timeout = |_| StoreError::Unavailable(format!("no index within {LONGEST:?}").into());
    tokio::time::timeout(LONGEST, build_once(&settings)).await.map_err(timeout)?
}

/// Builds the index, unless another program does or has done so.
async fn build_once(settings: &Builder) -> Result<(), StoreError> {
    let (client, _task) = connect(settings, "").await?;
    while !is_there(&client).await? {
        // A transaction holds the lock, because a pooler lends sessions. It has its own connection,
        // because `CONCURRENTLY` is refused in a transaction. The build waits for every older
        // snapshot, so this transaction must have none. Therefore it does not wait for the lock,
        // and uses the simple query protocol: the portal of an extended query keeps its snapshot.
        let lock = "SELECT pg_catalog.pg_try_advisory_xact_lock(7527324912357204589)";
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED;
             SET LOCAL idle_in_transaction_session_timeout TO 0; {}",
            switch_off(TRANSACTION_TIMEOUT, true)
        );
        client.batch_execute(&begin).await.map_err(store_error)?;
        let answer = client.simple_query(lock).await.map_err(store_error)?;
        let is_true = |its: &_| matches!(its, Row(row) if row.get(0) == Some("t"));
        if answer.iter().any(is_true) {
            build_now(settings).await?;
        }
        client.batch_execute("ROLLBACK").await.map_err(store_error)?;
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

async fn build_now(settings: &Builder) -> Result<(), StoreError> {
    let (client, _task) = connect_without_timeouts(settings).await?;
    // The server may still be building for a program that has ended. This waits for its lock.
    let wait = "BEGIN; LOCK TABLE wheelhouse.job IN SHARE UPDATE EXCLUSIVE MODE; COMMIT";
    client.batch_execute(wait).await.map_err(store_error)?;
    if is_there(&client).await? {
        return Ok(());
    }
    // An interrupted build leaves an invalid index.
    let remove = "DROP INDEX CONCURRENTLY IF EXISTS wheelhouse.job_turn";
    // `CONCURRENTLY` lets others read and write.
    let create = CREATE.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY");
    for sql in [remove, &create] {
        client.batch_execute(sql).await.map_err(store_error)?;
    }
    Ok(())
}

/// Connects with all timeouts switched off that the server has, if it accepts options.
async fn connect_without_timeouts(settings: &Builder) -> Result<(Client, Task<()>), StoreError> {
    // Servers before PostgreSQL 17 have no `transaction_timeout`, and refuse it.
    const OPTIONS: [&str; 2] =
        [" -c statement_timeout=0 -c transaction_timeout=0", " -c statement_timeout=0"];
    for options in OPTIONS {
        if let Ok(connected) = connect(settings, options).await {
            return Ok(connected);
        }
    }
    // Most poolers refuse options. Then the server's timeouts apply, which are off by default.
    connect(settings, "").await
}

/// Returns `true` if the index exists and is complete.
pub(crate) async fn is_there(client: &Client) -> Result<bool, StoreError> {
    let row = client.query_typed_one(IS_THERE, &[]).await.map_err(store_error)?;
    row.try_get(0).map_err(store_error)
}
