//! The space that jobs take on disk.

use anyhow::{Context, Result};
use std::fs::metadata;
use tokio::runtime::Builder;
use wheelhouse_store_postgres::tokio_postgres::{NoTls, connect};

/// The bytes at the location of a contender: of the file of SQLite, of the append-only file of
/// Redis, or of the tables of jobs in PostgreSQL, with their indexes.
pub(crate) fn on_disk(contender: &str, location: &str) -> Result<usize> {
    match contender.trim_start_matches("bare-") {
        "sqlite" => Ok(metadata(location)?.len().try_into()?),
        "redis" => of_redis(location),
        _ => of_postgres(location),
    }
}

fn of_redis(url: &str) -> Result<usize> {
    let mut connection = redis::Client::open(url)?.get_connection()?;
    let info: String = redis::cmd("INFO").arg("persistence").query(&mut connection)?;
    let size = info.lines().find_map(|line| line.strip_prefix("aof_current_size:"));
    Ok(size.context("Redis does not tell the size of its file")?.parse()?)
}

fn of_postgres(url: &str) -> Result<usize> {
    const SIZE: &str = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
        WHERE relname IN ('job', 'bare_job') AND relkind = 'r'";
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (client, connection) = runtime.block_on(connect(url, NoTls))?;
    runtime.spawn(connection);
    Ok(runtime.block_on(client.query_one(SIZE, &[]))?.get::<_, i64>(0).try_into()?)
}
