//! The floor: bare databases, used by code that knows its requests in advance.

use crate::prelude::*;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::SystemTime;

/// Milliseconds since 1970 of the time after a delay.
pub(crate) fn after(delay: Duration) -> i64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from((now + delay).as_millis()).unwrap_or(i64::MAX)
}

/// One table and one index in a file.
pub(crate) struct BareSqlite(Connection);

impl BareSqlite {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768;
             PRAGMA wal_autocheckpoint = 4000;
             CREATE TABLE IF NOT EXISTS job (
                 key BLOB PRIMARY KEY, due INTEGER NOT NULL, payload BLOB NOT NULL) WITHOUT ROWID;
             CREATE INDEX IF NOT EXISTS job_due ON job (due);",
        )?;
        Ok(Self(connection))
    }
}

impl JobStorage for BareSqlite {
    fn change(&mut self, request: Request, jobs: &[u64]) -> Result<()> {
        let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let sql = match request {
            Request::Schedule(_) => "INSERT INTO job VALUES (?1, ?2, ?3)",
            Request::Refresh(_) => "UPDATE job SET due = ?2 WHERE key = ?1",
            Request::Cancel => "DELETE FROM job WHERE key = ?1",
        };
        let mut statement = transaction.prepare_cached(sql)?;
        for job in jobs {
            let key = key(*job);
            match request {
                Request::Schedule(delay) => statement.execute((key, after(delay), PAYLOAD))?,
                Request::Refresh(delay) => statement.execute((key, after(delay)))?,
                Request::Cancel => statement.execute([key])?,
            };
        }
        drop(statement);
        Ok(transaction.commit()?)
    }

    fn fire(&mut self, max: usize) -> Result<usize> {
        let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let fired = {
            let sql = "SELECT key FROM job WHERE due <= ?1 ORDER BY due LIMIT ?2";
            let mut select = transaction.prepare_cached(sql)?;
            let max = i64::try_from(max)?;
            let keys = select.query_map([after(Duration::ZERO), max], |row| row.get(0))?;
            let keys: Vec<Vec<u8>> = keys.collect::<Result<_, _>>()?;
            let mut delete = transaction.prepare_cached("DELETE FROM job WHERE key = ?1")?;
            for key in &keys {
                delete.execute([key])?;
            }
            keys.len()
        };
        transaction.commit()?;
        Ok(fired)
    }

    fn count(&mut self) -> Result<u64> {
        let count: i64 = self.0.query_row("SELECT count(*) FROM job", (), |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }
}

/// Leases due jobs. KEYS: the sorted set and the hash. ARGV: the present, the end of the lease, the
/// most jobs.
const CLAIM: &str = "
    local keys = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
    if #keys == 0 then return {keys, keys} end
    local leases = {}
    for i, key in ipairs(keys) do leases[2 * i - 1], leases[2 * i] = ARGV[2], key end
    redis.call('ZADD', KEYS[1], unpack(leases))
    return {keys, redis.call('HMGET', KEYS[2], unpack(keys))}";

/// One sorted set and one hash, pipelined.
pub(crate) struct BareRedis(redis::Connection);

impl BareRedis {
    pub(crate) fn open(url: &str) -> Result<Self> {
        Ok(Self(redis::Client::open(url)?.get_connection()?))
    }
}

impl JobStorage for BareRedis {
    fn change(&mut self, request: Request, jobs: &[u64]) -> Result<()> {
        let mut pipe = redis::pipe();
        for job in jobs {
            let key = key(*job);
            match request {
                Request::Schedule(delay) => {
                    pipe.cmd("ZADD").arg("bare:due").arg(after(delay)).arg(&key).ignore();
                    pipe.cmd("HSET").arg("bare:job").arg(&key).arg(&PAYLOAD).ignore();
                }
                Request::Refresh(delay) => {
                    let due = after(delay);
                    pipe.cmd("ZADD").arg("bare:due").arg("XX").arg(due).arg(&key).ignore();
                }
                Request::Cancel => {
                    pipe.cmd("ZREM").arg("bare:due").arg(&key).ignore();
                    pipe.cmd("HDEL").arg("bare:job").arg(&key).ignore();
                }
            }
        }
        Ok(pipe.exec(&mut self.0)?)
    }

    fn fire(&mut self, max: usize) -> Result<usize> {
        let now = after(Duration::ZERO);
        let (lease, script) = (after(Duration::from_secs(30)), redis::Script::new(CLAIM));
        let mut call = script.key("bare:due");
        call.key("bare:job").arg(now).arg(lease).arg(max);
        let (keys, bodies): (Vec<Vec<u8>>, Vec<Vec<u8>>) = call.invoke(&mut self.0)?;
        anyhow::ensure!(keys.len() == bodies.len(), "each key has a job");
        if !keys.is_empty() {
            let mut pipe = redis::pipe();
            pipe.cmd("ZREM").arg("bare:due").arg(&keys).ignore();
            pipe.cmd("HDEL").arg("bare:job").arg(&keys).ignore();
            pipe.exec(&mut self.0)?;
        }
        Ok(keys.len())
    }

    fn count(&mut self) -> Result<u64> {
        Ok(redis::cmd("ZCARD").arg("bare:due").query(&mut self.0)?)
    }
}
