//! The contenders, and where their data are stored.

use crate::bare_postgres::BarePostgres;
use crate::experiment::{DurableExperiment, Load};
use crate::floor::{BareRedis, BareSqlite};
use crate::storage::JobStorage;
use crate::wake;
use anyhow::Result;
use std::any::Any;
use std::sync::Arc;
use wheelhouse_durable::store::{MemoryStore, Store};
use wheelhouse_frame::{Contender, Played};
use wheelhouse_present::console::say;
use wheelhouse_present::units::count;
use wheelhouse_present::unknown;
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_store_sqlite::SqliteStore;
use wheelhouse_test_servers::Server;

pub(crate) enum Opened {
    /// A store of durable timers.
    Store(Box<dyn Store>),
    /// A database without one.
    BareDatabase(Box<dyn JobStorage>),
}

/// Opens the data of a contender, the same each time.
type Open = Box<dyn Fn() -> Result<Opened> + Send + Sync>;

/// The names of the contenders, in the order of the tables.
pub(crate) const NAMES: [&str; 7] =
    ["memory", "sqlite", "bare-sqlite", "redis", "bare-redis", "postgres", "bare-postgres"];

/// Opens the store at a location, in any process.
pub(crate) fn open_store(name: &str, location: &str) -> Result<Box<dyn Store>> {
    Ok(match name {
        "sqlite" => Box::new(SqliteStore::open(location)?),
        "redis" => Box::new(RedisStore::connect(location, "bench")?),
        "postgres" => Box::new(PostgresStore::connect(location, "bench")?),
        _ => anyhow::bail!("no other process can open the data of {name}"),
    })
}

/// One row of the table.
pub(crate) struct Entry {
    name: &'static str,
    open: Open,
    /// Where another process can open the same data with [`open_store`].
    location: Option<String>,
}

impl Entry {
    /// A store. Keeps what its location needs.
    fn store(name: &'static str, location: String, keeps: impl Any + Send + Sync) -> Self {
        let its = location.clone();
        let open = move || {
            let _ = &keeps;
            open_store(name, &its).map(Opened::Store)
        };
        Self { name, open: Box::new(open), location: Some(location) }
    }

    /// A database without durable timers.
    fn bare<S: JobStorage + 'static>(
        name: &'static str,
        open: impl Fn() -> Result<S> + Send + Sync + 'static,
    ) -> Self {
        let open = move || open().map(|storage| Opened::BareDatabase(Box::new(storage)));
        Self { name, open: Box::new(open), location: None }
    }

    /// The contender with this name; `None` if its server is not installed.
    fn find(name: &'static str, appendfsync: &str) -> Result<Option<Self>> {
        let redis = || Server::redis(&["--appendfsync", appendfsync]);
        Ok(match name {
            "memory" => {
                let store = MemoryStore::new();
                let open = move || anyhow::Ok(Opened::Store(Box::new(store.clone())));
                Some(Self { name, open: Box::new(open), location: None })
            }
            "sqlite" => {
                let folder = tempfile::tempdir()?;
                let path = folder.path().join("a.timers");
                Some(Self::store(name, path.to_string_lossy().into_owned(), folder))
            }
            "bare-sqlite" => {
                let folder = tempfile::tempdir()?;
                Some(Self::bare(name, move || BareSqlite::open(&folder.path().join("a.db"))))
            }
            "redis" => redis().map(|server| Self::store(name, server.url(), server)),
            "bare-redis" => {
                redis().map(|server| Self::bare(name, move || BareRedis::open(&server.url())))
            }
            "postgres" => Server::postgres().map(|server| Self::store(name, server.url(), server)),
            _ => Server::postgres()
                .map(|server| Self::bare(name, move || BarePostgres::open(&server.url()))),
        })
    }

    fn into_contender(self) -> Contender<DurableExperiment> {
        let about = match self.name {
            "memory" => "the store in memory, for tests",
            "sqlite" => "SQLite, a sync for each commit",
            "redis" => "Redis",
            "postgres" => "PostgreSQL, a sync for each commit",
            _ => "the same database bare: it does not compete",
        };
        let (name, has_location, entry) = (self.name, self.location.is_some(), Arc::new(self));
        let prepared = Arc::clone(&entry);
        Contender::new(name, about, move |experiment, load| entry.play(experiment, load))
            .only(|it| has_location || it != DurableExperiment::Waking)
            .prepared(move |load| prepared.fill(load))
    }

    fn fill(&self, load: &Load) -> Result<()> {
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
) -> Result<Vec<Contender<DurableExperiment>>> {
    unknown::check("backend", names, &NAMES)?;
    let is_named = |name: &&str| names.is_empty() || names.iter().any(|its| its == name);
    let found = NAMES.into_iter().filter(is_named).filter_map(|name| {
        let found = Entry::find(name, appendfsync).transpose()?;
        Some(found.map(Entry::into_contender))
    });
    found.collect()
}
