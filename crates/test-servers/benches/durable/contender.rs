//! The contenders, and where their data are stored.

use crate::bare_postgres::BarePostgres;
use crate::experiment::{DurableExperiment, Load};
use crate::floor::{BareRedis, BareSqlite};
use crate::storage::JobStorage;
use anyhow::Result;
use wheelhouse_durable::store::{MemoryStore, Store, StoreError};
use wheelhouse_frame::{Contender, Played};
use wheelhouse_present::console::say;
use wheelhouse_present::units::count;
use wheelhouse_present::unknown;
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_store_sqlite::SqliteStore;
use wheelhouse_test_servers::Server;

/// An open contender.
pub(crate) enum Opened {
    /// A store of durable timers.
    Store(Box<dyn Store>),
    /// A database without one.
    BareDatabase(Box<dyn JobStorage>),
}

/// Opens the data of a contender, the same each time.
type Open = Box<dyn Fn() -> Result<Opened> + Send + Sync>;

fn opened_store(store: Result<impl Store, StoreError>) -> Result<Opened> {
    Ok(Opened::Store(Box::new(store?)))
}

fn opened_database(storage: Result<impl JobStorage + 'static>) -> Result<Opened> {
    Ok(Opened::BareDatabase(Box::new(storage?)))
}

/// The names of the contenders, in the order of the tables.
pub(crate) const NAMES: [&str; 7] =
    ["memory", "sqlite", "bare-sqlite", "redis", "bare-redis", "postgres", "bare-postgres"];

/// One row of the table.
pub(crate) struct Entry {
    name: &'static str,
    open: Open,
}

impl Contender<DurableExperiment> for Entry {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        match self.name {
            "memory" => "the store in memory, for tests",
            "sqlite" => "SQLite, a sync for each commit",
            "redis" => "Redis",
            "postgres" => "PostgreSQL, a sync for each commit",
            _ => "the same database bare: it does not compete",
        }
    }

    fn prepare(&self, load: &Load) -> Result<()> {
        say(format!("{}: loading {} jobs", self.name, count(load.jobs)));
        load.fill(&mut *(self.open)()?.into_storage())
    }

    fn play(&self, experiment: DurableExperiment, load: &Load) -> Result<Played> {
        load.play(experiment, &self.open).map(Ok)
    }
}

/// The contenders with these names that this machine can run; all of them if no name is given.
pub(crate) fn contenders(
    names: &[String],
    appendfsync: &str,
) -> Result<Vec<Box<dyn Contender<DurableExperiment>>>> {
    if let Some(name) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        return Err(unknown::error("backend", name, &NAMES));
    }
    let mut all: Vec<Box<dyn Contender<DurableExperiment>>> = Vec::new();
    for name in NAMES {
        if names.is_empty() || names.iter().any(|its| its == name) {
            let open = opener(name, appendfsync)?;
            all.extend(open.map(|open| -> Box<dyn Contender<DurableExperiment>> {
                Box::new(Entry { name, open })
            }));
        }
    }
    Ok(all)
}

/// Returns how to open a contender; `None` if its server is not installed.
fn opener(name: &str, appendfsync: &str) -> Result<Option<Open>> {
    let redis = || Server::redis(&["--appendfsync", appendfsync]);
    let open: Option<Open> = match name {
        "memory" => {
            let store = MemoryStore::new();
            Some(Box::new(move || opened_store(Ok(store.clone()))))
        }
        "sqlite" => {
            let folder = tempfile::tempdir()?;
            Some(Box::new(move || opened_store(SqliteStore::open(folder.path().join("a.timers")))))
        }
        "bare-sqlite" => {
            let folder = tempfile::tempdir()?;
            Some(Box::new(move || opened_database(BareSqlite::open(&folder.path().join("a.db")))))
        }
        "redis" => redis().map(|server| -> Open {
            Box::new(move || {
                opened_store(RedisStore::connect(
                    &format!("redis://{}/", server.address()),
                    "bench",
                ))
            })
        }),
        "bare-redis" => redis().map(|server| -> Open {
            Box::new(move || {
                opened_database(BareRedis::open(&format!("redis://{}/", server.address())))
            })
        }),
        "postgres" => Server::postgres().map(|server| -> Open {
            Box::new(move || {
                let url = format!("postgres://postgres@{}/postgres", server.address());
                opened_store(PostgresStore::connect(&url, "bench"))
            })
        }),
        _ => Server::postgres().map(|server| -> Open {
            Box::new(move || {
                let url = format!("postgres://postgres@{}/postgres", server.address());
                opened_database(BarePostgres::open(&url))
            })
        }),
    };
    Ok(open)
}
