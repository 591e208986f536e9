//! The floor on PostgreSQL: prepared statements, each of which is a transaction.

use crate::floor::after;
use crate::prelude::*;
use tokio::runtime::{Builder, Runtime};
use wheelhouse_store_postgres::tokio_postgres::types::ToSql;
use wheelhouse_store_postgres::tokio_postgres::{Client, NoTls, Statement, connect};

/// One table and one index. The connection is driven by the thread that waits for the answer.
pub(crate) struct BarePostgres {
    runtime: Runtime,
    client: Client,
    insert: Statement,
    insert_all: Statement,
    update: Statement,
    delete: Statement,
    claim: Statement,
}

impl BarePostgres {
    pub(crate) fn open(url: &str) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (client, connection) = runtime.block_on(connect(url, NoTls))?;
        runtime.spawn(connection);
        runtime.block_on(client.batch_execute(
            "CREATE TABLE IF NOT EXISTS bare_job (
                 key bytea PRIMARY KEY, due bigint NOT NULL, payload bytea NOT NULL);
             CREATE INDEX IF NOT EXISTS bare_job_due ON bare_job (due)",
        ))?;
        let prepare = |sql| runtime.block_on(client.prepare(sql));
        let insert = prepare("INSERT INTO bare_job VALUES ($1, $2, $3)")?;
        let insert_all = prepare(
            "INSERT INTO bare_job SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[])",
        )?;
        let update = prepare("UPDATE bare_job SET due = $2 WHERE key = ANY ($1)")?;
        let delete = prepare("DELETE FROM bare_job WHERE key = ANY ($1)")?;
        let claim = prepare(
            "UPDATE bare_job SET due = $3 FROM (
                 SELECT ctid FROM bare_job WHERE due <= $1 ORDER BY due LIMIT $2
                 FOR UPDATE SKIP LOCKED
             ) AS its WHERE bare_job.ctid = its.ctid RETURNING key, payload",
        )?;
        Ok(Self { runtime, client, insert, insert_all, update, delete, claim })
    }

    fn execute(&self, statement: &Statement, parameters: &[&(dyn ToSql + Sync)]) -> Result<()> {
        self.runtime.block_on(self.client.execute(statement, parameters))?;
        Ok(())
    }
}

fn keys(jobs: &[u64]) -> Vec<Vec<u8>> {
    jobs.iter().map(|job| key(*job).to_vec()).collect()
}

impl JobStorage for BarePostgres {
    fn change(&mut self, request: Request, jobs: &[u64]) -> Result<()> {
        match (request, jobs) {
            (Request::Schedule(delay), [job]) => {
                self.execute(&self.insert, &[&&key(*job)[..], &after(delay), &&PAYLOAD[..]])
            }
            (Request::Schedule(delay), jobs) => {
                let due = vec![after(delay); jobs.len()];
                let payloads = vec![&PAYLOAD[..]; jobs.len()];
                self.execute(&self.insert_all, &[&keys(jobs), &due, &payloads])
            }
            (Request::Refresh(delay), jobs) => {
                self.execute(&self.update, &[&keys(jobs), &after(delay)])
            }
            (Request::Cancel, jobs) => self.execute(&self.delete, &[&keys(jobs)]),
        }
    }

    fn fire(&mut self, max: usize) -> Result<usize> {
        let (now, lease) = (after(Duration::ZERO), after(Duration::from_secs(30)));
        let parameters: [&(dyn ToSql + Sync); 3] = [&now, &i64::try_from(max)?, &lease];
        let leased = self.runtime.block_on(self.client.query(&self.claim, &parameters))?;
        let keys: Vec<&[u8]> = leased.iter().map(|row| row.get(0)).collect();
        if !keys.is_empty() {
            self.execute(&self.delete, &[&keys])?;
        }
        Ok(keys.len())
    }

    fn count(&mut self) -> Result<u64> {
        let query = self.client.query_one("SELECT count(*) FROM bare_job", &[]);
        Ok(self.runtime.block_on(query)?.get::<_, i64>(0).cast_unsigned())
    }
}
