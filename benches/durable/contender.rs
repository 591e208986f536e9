//! Who takes part, and where their data lie.

use crate::floor::{BareRedis, BareSqlite};
use crate::play::{Figures, Play};
use crate::subject::{Subject, stored};
use anyhow::{Context, Result, bail};
use std::time::Instant;
use wheelhouse_durable::store::MemoryStore;
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_store_sqlite::SqliteStore;
use wheelhouse_test_servers::Server;

type Open = Box<dyn Fn() -> Result<Box<dyn Subject>>>;

/// Names, in the order of the table.
const NAMES: [&str; 6] = ["memory", "sqlite", "bare-sqlite", "redis", "bare-redis", "postgres"];

/// One row of the table.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// `None` only while it is opened anew.
    subject: Option<Box<dyn Subject>>,
    /// Opens the same data again.
    open: Open,
}

impl Contender {
    fn new(name: &'static str, open: Open) -> Result<Self> {
        let subject = open().with_context(|| format!("cannot open {name}"))?;
        Ok(Self { name, subject: Some(subject), open })
    }

    pub(crate) fn load(&mut self, play: &Play) -> Result<()> {
        let subject = self.subject.as_mut().context("open")?;
        play.load(subject).with_context(|| format!("loading {}", self.name))
    }

    pub(crate) fn play(&mut self, play: &Play) -> Result<Figures> {
        let subject = self.subject.take().context("open")?;
        let (subject, mut figures) =
            play.all(subject).with_context(|| format!("playing {}", self.name))?;
        drop(subject);
        let begun = Instant::now();
        let mut subject = (self.open)()?;
        let fired = subject.fire(1)?;
        figures.push(("open\nms".to_owned(), Some(begun.elapsed().as_secs_f64() * 1e3)));
        if fired > 0 || subject.count()? != play.jobs {
            bail!("{}: {} jobs instead of {}", self.name, subject.count()?, play.jobs);
        }
        self.subject = Some(subject);
        Ok(figures)
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
            all.extend(opener(name, appendfsync)?.map(|open| Contender::new(name, open)));
        }
    }
    all.into_iter().collect()
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
            let open = move || Ok(Box::new(BareSqlite::open(&folder.path().join("a.db"))?) as _);
            Some(Box::new(open))
        }
        "redis" => redis().map(|server| -> Open {
            Box::new(move || {
                stored(RedisStore::connect(&format!("redis://{}/", server.address()), "bench"))
            })
        }),
        "bare-redis" => redis().map(|server| -> Open {
            Box::new(move || {
                let url = format!("redis://{}/", server.address());
                Ok(Box::new(BareRedis::open(&url)?) as _)
            })
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
