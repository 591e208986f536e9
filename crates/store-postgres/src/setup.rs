//! Checks of a database when a program connects, and creation of its tables.

use crate::error::{Result, store_error};
use crate::settings::Builder;
use tokio_postgres::{Client, Row};
use wheelhouse_durable::store::StoreError;

/// The format that this version writes.
pub(crate) const FORMAT: u32 = 1;

/// A lock: programs that connect check the database and move the numbers one after the other.
const ONE_AFTER_THE_OTHER: &str = "SELECT pg_catalog.pg_advisory_xact_lock(7527324912357204588)";

/// Checks the server, creates the tables if there are none, and moves the numbers on. A store that
/// only reads needs existing tables. Returns the format of the tables.
pub(crate) async fn check_and_make(client: &Client, settings: &Builder) -> Result<u32> {
    if !settings.unchecked {
        is_durable(client).await?;
    }
    if !settings.only_reads {
        one(client, ONE_AFTER_THE_OTHER).await?;
    }
    let has_tables = one(client, "SELECT to_regclass('wheelhouse.meta') IS NOT NULL").await?;
    if !has_tables.try_get(0).map_err(store_error)? {
        if settings.only_reads {
            let why = "the database has no durable timers (schema `wheelhouse`): name another one";
            return Err(StoreError::Refused(why.into()));
        }
        client.batch_execute(include_str!("sql/schema.sql")).await.map_err(store_error)?;
    }
    let format = format(client).await?;
    if !settings.only_reads {
        set_numbers(client).await?;
    }
    Ok(format)
}

/// Moves the numbers on to the server's microseconds, so that tokens grow even if the database was
/// restored from an old copy. That also holds for a restore while programs run, because they then
/// connect again. The lock is needed: otherwise, of two connections at once, the one that read the
/// clock first could set the numbers back below those that the other has drawn.
pub(crate) async fn move_numbers(client: &Client) -> Result<()> {
    one(client, ONE_AFTER_THE_OTHER).await?;
    set_numbers(client).await
}

async fn set_numbers(client: &Client) -> Result<()> {
    let numbers = "SELECT setval('wheelhouse.number', micros) FROM wheelhouse.number,
                   (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros)
                   AS clock WHERE last_value < micros";
    client.query_typed(numbers, &[]).await.map_err(store_error)?;
    Ok(())
}

/// The format of the tables. Fails if this version does not know it.
async fn format(client: &Client) -> Result<u32> {
    let format = client.query_typed("SELECT format FROM wheelhouse.meta", &[]).await;
    let rows = format.map_err(store_error)?;
    let row = rows.first().ok_or_else(|| {
        let why = "the tables of the schema `wheelhouse` exist, and their format is missing, as in \
                   a dump without data: restore the data, or drop the schema to begin without jobs";
        StoreError::Refused(why.into())
    })?;
    let found = row.try_get::<_, i32>(0).map_err(store_error)?.cast_unsigned();
    if found > FORMAT { Err(StoreError::Format { found, known: FORMAT }) } else { Ok(found) }
}

/// Refuses a server that may lose what it has acknowledged.
async fn is_durable(client: &Client) -> Result<()> {
    let settings = "SELECT current_setting('fsync'), current_setting('full_page_writes')";
    let row = one(client, settings).await?;
    for (column, setting) in ["fsync", "full_page_writes"].into_iter().enumerate() {
        if row.try_get::<_, &str>(column).map_err(store_error)? != "on" {
            return Err(StoreError::Refused(format!(
                "the server may lose or damage jobs in a crash: set `{setting} = on` in its \
                 configuration, or connect unchecked"
            )));
        }
    }
    Ok(())
}

async fn one(client: &Client, sql: &str) -> Result<Row> {
    client.query_typed_one(sql, &[]).await.map_err(store_error)
}
