//! Which store is meant, and how it is opened.

use crate::cli::durable::Place;
use anyhow::{Context, Result, anyhow, bail, ensure};
use std::path::Path;
use wheelhouse_durable::store::{Store, StoreError, Timestamp};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_store_sqlite::SqliteStore;

/// A store that was opened.
pub(super) struct Opened {
    pub(super) store: Box<dyn Store>,
    /// File or server, without its password, and queue.
    pub(super) name: String,
    /// What kind of store it is.
    pub(super) kind: &'static str,
    /// The format of its data.
    pub(super) format: u32,
    /// The size of a file.
    pub(super) bytes: Option<u64>,
}

impl Opened {
    /// To look at it: nothing is made and nothing is changed.
    pub(super) fn to_read(place: &Place) -> Result<Self> {
        let name = place.name();
        let failed = |error| failure(&name, error);
        let (store, kind, format, bytes): (Box<dyn Store>, _, _, _) = match place.whose()? {
            Whose::File(path) => {
                let bytes = bytes_of(path)?;
                let store = SqliteStore::open_to_read(path).map_err(failed)?;
                let format = store.format().map_err(failed)?;
                (Box::new(store), "SQLite", format, Some(bytes))
            }
            Whose::Redis(url, queue) => {
                let store = RedisStore::builder(url, queue).connect_to_read().map_err(failed)?;
                let format = store.format();
                (Box::new(store), "Redis", format, None)
            }
            Whose::Postgres(url, queue) => {
                let builder = PostgresStore::builder(url, queue).map_err(failed)?;
                let store = builder.connect_to_read().map_err(failed)?;
                let format = store.format();
                (Box::new(store), "PostgreSQL", format, None)
            }
        };
        Ok(Self { store, name, kind, format, bytes })
    }

    /// The store's present.
    pub(super) fn now(&mut self) -> Result<Timestamp> {
        self.store.now().map_err(|error| failure(&self.name, error))
    }
}

/// SQLite's own check, if it is a file.
pub(super) fn check_integrity(place: &Place) -> Result<()> {
    let Whose::File(path) = place.whose()? else { return Ok(()) };
    let checked = SqliteStore::open_to_read(path).and_then(|file| file.verify());
    checked.map_err(|error| failure(&place.name(), error))
}

/// The store again, to change it: as a program opens it, but only after it was
/// [looked at](Opened::to_read), so that none is made by a wrong name.
pub(super) fn open_to_write(place: &Place) -> Result<Box<dyn Store>> {
    let opened: Result<Box<dyn Store>, StoreError> = match place.whose()? {
        Whose::File(path) => SqliteStore::open(path).map(|store| Box::new(store) as _),
        // Whether the server keeps what it is told is for the programs to decide.
        Whose::Redis(url, queue) => {
            RedisStore::builder(url, queue).unchecked().connect().map(|store| Box::new(store) as _)
        }
        Whose::Postgres(url, queue) => PostgresStore::builder(url, queue)
            .and_then(|builder| builder.unchecked().connect())
            .map(|store| Box::new(store) as _),
    };
    opened.map_err(|error| failure(&place.name(), error))
}

/// What went wrong with which store. The message of a store's error has that of its source.
pub(super) fn failure(name: &str, error: StoreError) -> anyhow::Error {
    anyhow!("{name}: {error}")
}

/// Which store it is, and its queue.
#[derive(Debug, PartialEq, Eq)]
enum Whose<'a> {
    File(&'a Path),
    Redis(&'a str, &'a str),
    Postgres(&'a str, &'a str),
}

impl Place {
    fn whose(&self) -> Result<Whose<'_>> {
        let url = self.store.as_str();
        let Some((scheme, _)) = url.split_once("://") else {
            ensure!(self.queue.is_none(), "a file is one queue: leave --queue out");
            return Ok(Whose::File(Path::new(url)));
        };
        let to = match scheme {
            "redis" | "rediss" | "unix" | "valkey" | "valkeys" => Whose::Redis,
            "postgres" | "postgresql" => Whose::Postgres,
            _ => bail!(
                "{scheme}:// is no store: name a SQLite file, redis://HOST/ or \
                 postgres://USER@HOST/DATABASE"
            ),
        };
        let queue = self.queue.as_deref();
        Ok(to(url, queue.context("which queue of the server? add --queue NAME")?))
    }

    /// File, or server and queue, without what may be a password.
    pub(super) fn name(&self) -> String {
        let Some((scheme, rest)) = self.store.split_once("://") else { return self.store.clone() };
        let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        let host = rest.split_once('?').map_or(rest, |(host, _)| host);
        let queue = self.queue.as_deref().unwrap_or_default();
        format!("{scheme}://{host} queue {queue}")
    }
}

/// The bytes of a file that is there, and of its journal.
fn bytes_of(path: &Path) -> Result<u64> {
    let shown = path.display();
    let meta = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("there is no file {shown}: name the one that the program opens")
        }
        meta => meta.with_context(|| format!("cannot look at {shown}"))?,
    };
    ensure!(!meta.is_dir(), "{shown} is a folder: name the file in it");
    let mut journal = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    journal.push("-wal");
    Ok(meta.len() + std::fs::metadata(journal).map_or(0, |journal| journal.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(store: &str, queue: Option<&str>) -> Place {
        Place { store: store.to_owned(), queue: queue.map(str::to_owned) }
    }

    #[test]
    fn a_store_is_known_by_its_scheme() {
        let whose = |store| format!("{:?}", place(store, Some("q")).whose().unwrap());
        assert!(
            whose("redis://h/").starts_with("Redis") && whose("unix:///s").starts_with("Redis")
        );
        assert!(whose("postgres://h/d").starts_with("Postgres"));
        assert!(whose("postgresql://h/d").starts_with("Postgres"));
        assert_eq!(place("a.timers", None).whose().unwrap(), Whose::File(Path::new("a.timers")));
        for (store, queue, remedy) in [
            ("redis://h/", None, "add --queue"),
            ("a.timers", Some("q"), "leave --queue out"),
            ("mysql://h/", Some("q"), "redis://HOST/"),
        ] {
            let error = place(store, queue).whose().unwrap_err().to_string();
            assert!(error.contains(remedy), "{error}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        let name = |store| place(store, Some("q")).name();
        assert_eq!(name("redis://me:pa@ss@host:1/0"), "redis://host:1/0 queue q");
        assert_eq!(name("postgres://host/shop?password=x"), "postgres://host/shop queue q");
    }
}
