//! The contenders, and where their data are stored.

use crate::bare_postgres::BarePostgres;
use crate::floor::{BareRedis, BareSqlite};
use crate::measure::size_on_disk;
use crate::prelude::*;
use crate::wake;
use std::any::Any;
use std::path::Path;
use std::sync::OnceLock;
use wheelhouse_durable::store::MemoryStore;
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
    /// Where the data are, if not only in the memory of this process.
    location: Option<String>,
    /// The bytes of the data on disk, when the jobs had just been loaded.
    size: OnceLock<usize>,
}

impl Entry {
    /// Data at a location. Keeps what the location needs.
    fn at(name: &'static str, location: String, keeps: impl Any + Send + Sync) -> Self {
        let its = location.clone();
        let open = move || {
            let _ = &keeps;
            Ok(match name {
                "bare-sqlite" => Opened::BareDatabase(Box::new(BareSqlite::open(Path::new(&its))?)),
                "bare-redis" => Opened::BareDatabase(Box::new(BareRedis::open(&its)?)),
                "bare-postgres" => Opened::BareDatabase(Box::new(BarePostgres::open(&its)?)),
                _ => Opened::Store(open_store(name, &its)?),
            })
        };
        Self { name, open: Box::new(open), location: Some(location), size: OnceLock::new() }
    }

    /// The contender with this name; `None` if its server is not installed.
    fn find(name: &'static str, appendfsync: &str) -> Result<Option<Self>> {
        let on_server = |server: Server| Self::at(name, server.url(), server);
        Ok(match name.trim_start_matches("bare-") {
            "memory" => {
                let store = MemoryStore::new();
                let open = move || anyhow::Ok(Opened::Store(Box::new(store.clone())));
                Some(Self { name, open: Box::new(open), location: None, size: OnceLock::new() })
            }
            "sqlite" => {
                let folder = tempfile::tempdir()?;
                let path = folder.path().join("jobs");
                Some(Self::at(name, path.to_string_lossy().into_owned(), folder))
            }
            "redis" => Server::redis(&["--appendfsync", appendfsync]).map(on_server),
            "postgres" => Server::postgres().map(on_server),
            _ => anyhow::bail!("no contender has the name {name}"),
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
        let entry = Arc::new(self);
        let [played, prepared] = [(); 2].map(|()| Arc::clone(&entry));
        Contender::new(entry.name, about, move |experiment, load| played.play(experiment, load))
            .only(|it| entry.plays(it))
            .prepared(move |load| prepared.fill(load))
    }

    /// Returns `false` if it has no figures for an experiment.
    fn plays(&self, experiment: DurableExperiment) -> bool {
        let is_bare = self.name.starts_with("bare-");
        match experiment {
            // A bare database wakes no program, and the store in memory has no other process.
            DurableExperiment::Waking => !is_bare && self.location.is_some(),
            // A bare database runs no program.
            DurableExperiment::Late => !is_bare,
            _ => true,
        }
    }

    fn fill(&self, load: &Load) -> Result<()> {
        say(format!("{}: loading {} jobs", self.name, count(load.jobs)));
        load.fill(&mut *(self.open)()?.into_storage())?;
        let Some(location) = &self.location else { return Ok(()) };
        let bytes = size_on_disk(self.name, location)?;
        ensure!(self.size.set(bytes).is_ok(), "the jobs of {} are loaded twice", self.name);
        Ok(())
    }

    fn play(&self, experiment: DurableExperiment, load: &Load) -> Result<Played> {
        let figures = match (experiment, &self.location) {
            // It was named on the command line.
            _ if !self.plays(experiment) => Vec::new(),
            (DurableExperiment::Waking, Some(location)) => {
                wake::play(load, (self.name, location), open_store(self.name, location)?)?
            }
            (DurableExperiment::Opening, _) => {
                let jobs = load.jobs as usize;
                let size = self.size.get().map(|its| Figure::bytes("bytes/job", *its, jobs));
                load.play(experiment, &self.open)?.into_iter().chain(size).collect()
            }
            _ => load.play(experiment, &self.open)?,
        };
        Ok(Ok(figures))
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
