//! A connection that is made again when it breaks, and the runtime that moves it.

use crate::error::store_error;
use crate::settings::Builder;
use crate::statements::Statements;
use crate::tls::connector;
use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};
use tokio::runtime::{self, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Transaction};
use wheelhouse_durable::store::StoreError;

/// The format that this version writes.
const FORMAT: i32 = 1;

/// The pause before a second try to connect; it doubles with each, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A queue on a server.
pub(crate) struct Session {
    pub(crate) settings: Builder,
    /// In which the tables are.
    pub(crate) format: u32,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    /// `None` after an error, until the next call.
    open: Option<Open>,
}

/// A connection.
pub(crate) struct Open {
    pub(crate) client: Client,
    pub(crate) statements: Statements,
    /// Reads and writes the socket while somebody waits for an answer.
    task: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Session {
    pub(crate) fn open(settings: Builder) -> Result<Self, StoreError> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let format = FORMAT.cast_unsigned();
        let mut new = Self { settings, format, runtime: Some(runtime), open: None };
        let connect = connect(&new.settings);
        let mut open = block_on(&new.runtime, new.settings.timeout, connect)?;
        let begin = begin(&mut open.client, &new.settings);
        new.format = block_on(&new.runtime, new.settings.timeout, begin)?;
        new.open = Some(open);
        Ok(new)
    }

    /// Does something with a connection. If it breaks or the time is over, that fails: the server
    /// may have done it.
    pub(crate) fn run<T>(
        &mut self,
        call: impl AsyncFnOnce(&mut Open, &Builder) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut open = match self.open.take() {
            Some(open) if !open.client.is_closed() => open,
            _ => self.connect_again()?,
        };
        let timeout = self.settings.timeout;
        let answer =
            block_on(&self.runtime, timeout, async { Ok(call(&mut open, &self.settings).await) });
        // Whoever was given up in the middle of it may still answer, to the wrong question.
        let answer = answer?;
        self.open = Some(open);
        answer
    }

    /// Connects; waits between its tries, so that a server that is about to start is not kept busy.
    fn connect_again(&self) -> Result<Open, StoreError> {
        let begun = Instant::now();
        let mut longest = FIRST_PAUSE;
        loop {
            let connect = async {
                let mut open = connect(&self.settings).await?;
                if !self.settings.only_reads {
                    let transaction = one_after_the_other(&mut open.client).await?;
                    begin_with_the_clock(transaction.client()).await?;
                    transaction.commit().await.map_err(store_error)?;
                }
                Ok(open)
            };
            let error = match block_on(&self.runtime, self.settings.timeout, connect) {
                Ok(open) => return Ok(open),
                Err(error) => error,
            };
            let pause = jitter(longest);
            longest = (longest * 2).min(LONGEST_PAUSE);
            if !error.is_transient() || begun.elapsed() + pause > self.settings.timeout {
                return Err(error);
            }
            std::thread::sleep(pause);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.open = None;
        // A plain drop would wait, which panics on a thread of another runtime.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// Waits for an answer.
fn block_on<T>(
    runtime: &Option<Runtime>,
    timeout: Duration,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    if Handle::try_current().is_ok() {
        let why = "a store waits for its server, which an asynchronous task must not: call it from \
                   `spawn_blocking` or a thread of its own";
        return Err(StoreError::Refused(why.into()));
    }
    let gone = || StoreError::Unavailable("the connection was given up".into());
    let runtime = runtime.as_ref().ok_or_else(gone)?;
    let late = |_| StoreError::Unavailable(format!("no answer within {timeout:?}").into());
    runtime.block_on(async { tokio::time::timeout(timeout, call).await.map_err(late)? })
}

async fn connect(settings: &Builder) -> Result<Open, StoreError> {
    let connect = settings.config.connect(connector(settings)?);
    let (client, connection) = connect.await.map_err(store_error)?;
    let task = tokio::spawn(async {
        // An error is told to whoever waits for an answer.
        let _ = connection.await;
    });
    let open = Open { client, statements: Statements::default(), task };
    // A commit is durable when it returns, whatever the database's default is. The server gives up
    // what we no longer wait for, and the locks of a client whose network is gone.
    // Zero would be no limit, and more than this is refused.
    let millis = settings.timeout.as_millis().clamp(1, i32::MAX as u128);
    let mut set = format!(
        "SET synchronous_commit TO on; SET statement_timeout TO {millis};
         SET idle_in_transaction_session_timeout TO {millis};"
    );
    if settings.only_reads {
        set += "SET default_transaction_read_only TO on;";
    }
    open.client.batch_execute(&set).await.map_err(store_error)?;
    Ok(open)
}

/// Checks the server, makes the tables if there are none, and lets numbers begin with the clock;
/// or does nothing of that, and finds the tables. In which format they are.
async fn begin(client: &mut Client, settings: &Builder) -> Result<u32, StoreError> {
    if !settings.unchecked {
        is_durable(client).await?;
    }
    if settings.only_reads {
        let there = "SELECT to_regclass('wheelhouse.meta') IS NOT NULL";
        let row = client.query_one(there, &[]).await.map_err(store_error)?;
        if !row.try_get(0).map_err(store_error)? {
            let why = "the database has no durable timers (schema `wheelhouse`): name another one";
            return Err(StoreError::Refused(why.into()));
        }
        return format(client).await;
    }
    let transaction = one_after_the_other(client).await?;
    let there = "SELECT to_regclass('wheelhouse.meta') IS NULL";
    let row = transaction.query_one(there, &[]).await.map_err(store_error)?;
    if row.try_get(0).map_err(store_error)? {
        let schema = include_str!("sql/schema.sql");
        transaction.batch_execute(schema).await.map_err(store_error)?;
    }
    let format = format(transaction.client()).await?;
    begin_with_the_clock(transaction.client()).await?;
    transaction.commit().await.map_err(store_error)?;
    Ok(format)
}

/// A transaction that programs which start or connect again have one after the other.
async fn one_after_the_other(client: &mut Client) -> Result<Transaction<'_>, StoreError> {
    let transaction = client.transaction().await.map_err(store_error)?;
    let lock = "SELECT pg_advisory_xact_lock(7527324912357204588)";
    transaction.batch_execute(lock).await.map_err(store_error)?;
    Ok(transaction)
}

/// Lets numbers go on from the server's microseconds, so that tokens grow even if the database was
/// restored from an old copy: also while programs run, which connect again then. [One after the
/// other](one_after_the_other): of two at once, the one that read the clock first would else set
/// the numbers back behind what the other has drawn.
async fn begin_with_the_clock(client: &Client) -> Result<(), StoreError> {
    let numbers = "SELECT setval('wheelhouse.number', micros) FROM wheelhouse.number,
                   (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros)
                   AS clock WHERE last_value < micros";
    client.execute(numbers, &[]).await.map_err(store_error)?;
    Ok(())
}

/// The format of the tables, if it is known.
async fn format(client: &Client) -> Result<u32, StoreError> {
    let format = "SELECT format FROM wheelhouse.meta";
    let row = client.query_one(format, &[]).await.map_err(store_error)?;
    let found: i32 = row.try_get(0).map_err(store_error)?;
    let (found, known) = (found.cast_unsigned(), FORMAT.cast_unsigned());
    if found > known { Err(StoreError::Format { found, known }) } else { Ok(found) }
}

/// Refuses a server that may lose what it has acknowledged.
async fn is_durable(client: &Client) -> Result<(), StoreError> {
    for setting in ["fsync", "full_page_writes"] {
        let row = client
            .query_one("SELECT current_setting($1)", &[&setting])
            .await
            .map_err(store_error)?;
        if row.try_get::<_, &str>(0).map_err(store_error)? != "on" {
            return Err(StoreError::Refused(format!(
                "the server may lose or damage jobs in a crash: set `{setting} = on` in its \
                 configuration, or connect unchecked"
            )));
        }
    }
    Ok(())
}

/// A random part, half at least, of a pause.
fn jitter(pause: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish();
    let half = pause / 2;
    half + half.mul_f64((random >> 11) as f64 / (1_u64 << 53) as f64)
}
