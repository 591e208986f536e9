//! Helpers that several experiments use to measure, and the space that jobs take on disk.

use anyhow::{Context, Result, ensure};
use std::fs::metadata;
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::Builder;
use wheelhouse_store_postgres::tokio_postgres::{NoTls, connect};

/// Nanoseconds since 1970.
pub(crate) fn nanos() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// The value that this share of the values does not exceed; 0 if there are none.
pub(crate) fn quantile(values: &mut [u64], percent: usize) -> f64 {
    values.sort_unstable();
    let at = (values.len() * percent / 100).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or(0) as f64
}

/// Waits until this many jobs ran.
pub(crate) fn wait_for_runs(due: u64, patience: Duration, ran: impl Fn() -> u64) -> Result<()> {
    let begun = Instant::now();
    while ran() < due {
        ensure!(begun.elapsed() < patience, "only {} of {due} jobs ran", ran());
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The bytes at the location of a contender: of the file of SQLite, of the append-only file of
/// Redis, or of the tables of jobs in PostgreSQL, with their indexes.
pub(crate) fn size_on_disk(contender: &str, location: &str) -> Result<usize> {
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
