//! Who takes part, and where their data lie.

use crate::floor::{BareRedis, BareSqlite};
use crate::play::{Figures, Play};
use crate::subject::Subject;
use anyhow::{Context, Result, bail};
use wheelhouse_durable::store::{MemoryStore, Store, StoreError};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_store_sqlite::SqliteStore;
use wheelhouse_test_servers::Server;

/// What was opened.
pub(crate) enum Opened {
    /// A store of durable timers.
    Store(Box<dyn Store>),
    /// A database without one.
    Bare(Box<dyn Subject>),
}

/// Opens the same data each time.
type Open = Box<dyn Fn() -> Result<Opened>>;

fn stored(store: Result<impl Store, StoreError>) -> Result<Opened> {
    Ok(Opened::Store(Box::new(store?)))
}

fn bare(subject: Result<impl Subject + 'static>) -> Result<Opened> {
    Ok(Opened::Bare(Box::new(subject?)))
}

/// Names, in the order of the table.
const NAMES: [&str; 6] = ["memory", "sqlite", "bare-sqlite", "redis", "bare-redis", "postgres"];

/// One row of the table.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    open: Open,
}

impl Contender {
    pub(crate) fn load(&self, play: &Play) -> Result<()> {
        let load = || play.load(&mut *(self.open)()?.into_subject());
        load().with_context(|| format!("loading {}", self.name))
    }

    pub(crate) fn play(&self, play: &Play) -> Result<Figures> {
        play.all(&self.open).with_context(|| format!("playing {}", self.name))
    }
}

/// Those of these names that this machine can run; all, if none is named.
pub(crate) fn contenders(names: &[String], appendfsync: &str) -> Result<Vec<Contender>> {
    if let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
        bail!("no store is called {unknown}: {}", NAMES.join(", "));
    }
    let mut all = Vec::new();
    for name in NAMES {
        if names.is_empty() || names.iter().any(|its| its == name) {
            all.extend(opener(name, appendfsync)?.map(|open| Contender { name, open }));
        }
    }
    Ok(all)
}

/// How a contender is opened; `None` if its server is not on this machine.
fn opener(name: &str, appendfsync: &str) -> Result<Option<Open>> {
    let redis = || Server::redis(&["--appendfsync", appendfsync]);
    let open: Option<Open> = match name {
        "memory" => {
            let store = MemoryStore::new();
            Some(Box::new(move || stored(Ok(store.clone()))))
        }
        "sqlite" => {
            let folder = tempfile::tempdir()?;
            Some(Box::new(move || stored(SqliteStore::open(folder.path().join("a.timers")))))
        }
        "bare-sqlite" => {
            let folder = tempfile::tempdir()?;
            Some(Box::new(move || bare(BareSqlite::open(&folder.path().join("a.db")))))
        }
        "redis" => redis().map(|server| -> Open {
            Box::new(move || {
                stored(RedisStore::connect(&format!("redis://{}/", server.address()), "bench"))
            })
        }),
        "bare-redis" => redis().map(|server| -> Open {
            Box::new(move || bare(BareRedis::open(&format!("redis://{}/", server.address()))))
        }),
        _ => Server::postgres().map(|server| -> Open {
            Box::new(move || {
                let url = format!("postgres://postgres@{}/postgres", server.address());
                stored(PostgresStore::connect(&url, "bench"))
            })
        }),
    };
    Ok(open)
}
