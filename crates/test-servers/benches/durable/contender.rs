//! The contenders, and where their data are stored.

use crate::bare_postgres::BarePostgres;
use crate::experiment::{DurableExperiment, Load};
use crate::floor::{BareRedis, BareSqlite};
use crate::storage::JobStorage;
use crate::wake;
use anyhow::Result;
use std::any::Any;
use wheelhouse_durable::store::{MemoryStore, Store};
use wheelhouse_frame::{Contender, Experiment, Played};
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

/// How to open a contender, and where another process can open its data.
type Opener = (Open, Option<String>);

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
    /// Where another process can open the same data with [`open_store`].
    location: Option<String>,
}

/// Opens the store at a location, in any process.
pub(crate) fn open_store(name: &str, location: &str) -> Result<Box<dyn Store>> {
    Ok(match name {
        "sqlite" => Box::new(SqliteStore::open(location)?),
        "redis" => Box::new(RedisStore::connect(location, "bench")?),
        "postgres" => Box::new(PostgresStore::connect(location, "bench")?),
        _ => anyhow::bail!("no other process can open the data of {name}"),
    })
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

    fn plays(&self) -> &[DurableExperiment] {
        match DurableExperiment::ALL {
            [others @ .., DurableExperiment::Waking] if self.location.is_none() => others,
            all => all,
        }
    }

    fn prepare(&self, load: &Load) -> Result<()> {
        say(format!("{}: loading {} jobs", self.name, count(load.jobs)));
        load.fill(&mut *(self.open)()?.into_storage())
    }

    fn play(&self, experiment: DurableExperiment, load: &Load) -> Result<Played> {
        if experiment != DurableExperiment::Waking {
            return load.play(experiment, &self.open).map(Ok);
        }
        // A bare database wakes no program, and the store in memory has no other process.
        let Some(location) = &self.location else { return Ok(Ok(Vec::new())) };
        let store = open_store(self.name, location)?;
        wake::play(load, (self.name, location), store).map(Ok)
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
            all.extend(open.map(|(open, location)| -> Box<dyn Contender<DurableExperiment>> {
                Box::new(Entry { name, open, location })
            }));
        }
    }
    Ok(all)
}

/// Returns how to open a contender, and where another process can; `None` if its server is not
/// installed.
fn opener(name: &'static str, appendfsync: &str) -> Result<Option<Opener>> {
    let redis = || Server::redis(&["--appendfsync", appendfsync]);
    // Opens the store at the location, and keeps what the location needs.
    fn at(name: &'static str, location: String, keeps: impl Any + Send + Sync) -> Opener {
        let its = location.clone();
        let open = move || {
            let _ = &keeps;
            open_store(name, &its).map(Opened::Store)
        };
        (Box::new(open), Some(location))
    }
    let open: Option<Opener> = match name {
        "memory" => {
            let store = MemoryStore::new();
            Some((Box::new(move || Ok(Opened::Store(Box::new(store.clone())))), None))
        }
        "sqlite" => {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("a.timers");
            Some(at(name, path.to_string_lossy().into_owned(), folder))
        }
        "bare-sqlite" => {
            let folder = tempfile::tempdir()?;
            let open = move || opened_database(BareSqlite::open(&folder.path().join("a.db")));
            Some((Box::new(open), None))
        }
        "redis" => redis().map(|server| at(name, server.url(), server)),
        "bare-redis" => redis().map(|server| -> Opener {
            (Box::new(move || opened_database(BareRedis::open(&server.url()))), None)
        }),
        "postgres" => Server::postgres().map(|server| at(name, server.url(), server)),
        _ => Server::postgres().map(|server| -> Opener {
            (Box::new(move || opened_database(BarePostgres::open(&server.url()))), None)
        }),
    };
    Ok(open)
}
