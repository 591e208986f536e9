//! Selects a store from the command line, opens it, and reads it in pages, so that memory does not
//! grow with the number of jobs. The pages are not a snapshot: programs may add and finish jobs
//! between two pages.

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use std::path::Path;
use wheelhouse_durable::store::{Change, Dead, Entry, Outcome, Store, StoreError, Timestamp};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_store_sqlite::SqliteStore;

/// Rows per page. A payload may have a megabyte or more.
const PAGE: usize = 128;

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// A SQLite file, or the URL of a server: redis://HOST/, unix:///SOCKET (Redis),
    /// postgres://USER@HOST/DATABASE. It takes one address: with replicas or Sentinels, that of the
    /// primary. With TLS, if this command was built with the feature `tls`: rediss://.. and
    /// ?sslmode=require.
    pub(crate) store: String,
    /// The queue on a server, by the name that the programs use. There is no default.
    #[arg(long, value_name = "NAME")]
    pub(crate) queue: Option<String>,
}

pub(super) struct Opened {
    pub(super) store: Box<dyn Store>,
    /// The file; or the server, without its password, and the queue.
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) format: u32,
    /// The size, if it is a file.
    pub(super) bytes: Option<u64>,
}

impl Opened {
    /// Opens it to read: nothing is created or changed.
    pub(super) fn to_read(place: &Place) -> Result<Self> {
        let name = place.name();
        let failed = |error| failure(&name, error);
        let (store, kind, format, bytes): (Box<dyn Store>, _, _, _) = match place.whose()? {
            Whose::File(path) => {
                ensure_exists(path, LIVE)?;
                let bytes = bytes_of(path);
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

    /// The present time by the store's clock.
    pub(super) fn now(&mut self) -> Result<Timestamp> {
        self.store.now().map_err(|error| failure(&self.name, error))
    }

    /// Calls `each` with every job, in the store's order; returns the number of jobs.
    pub(super) fn each_job(&mut self, each: impl FnMut(&Entry) -> Result<()>) -> Result<u64> {
        self.each_row(
            |store, after: Option<&Entry>, max| store.scan(after.map(|job| &job.key), max),
            |after| after.map_or_else(String::new, |job| format!(", after the job {}", job.key)),
            each,
        )
    }

    /// Calls `each` with every dead letter, by generation; returns their number.
    pub(super) fn each_letter(&mut self, each: impl FnMut(&Dead) -> Result<()>) -> Result<u64> {
        self.each_row(
            |store, after: Option<&Dead>, max| store.dead(after.map(|its| its.job.generation), max),
            |_| ", dead letters".into(),
            each,
        )
    }

    /// Calls `each` with all rows that `read` returns, of which each page comes after a row. If
    /// they cannot be read, the error names the `place`, after the last row that can be read.
    fn each_row<R>(
        &mut self,
        read: impl Fn(&mut dyn Store, Option<&R>, usize) -> Result<Vec<R>, StoreError>,
        place: impl Fn(Option<&R>) -> String,
        mut each: impl FnMut(&R) -> Result<()>,
    ) -> Result<u64> {
        let (mut total, mut max, mut last) = (0, PAGE, None);
        loop {
            let mut page = match read(&mut *self.store, last.as_ref(), max) {
                // Row by row, to find the last one that can be read.
                Err(error) if max > 1 && !error.is_transient() => {
                    max = 1;
                    continue;
                }
                Err(error) => {
                    let place = format!("{}{}", self.name, place(last.as_ref()));
                    return Err(failure(&place, error));
                }
                Ok(page) => page,
            };
            page.iter().try_for_each(&mut each)?;
            total += page.len() as u64;
            let Some(row) = page.pop() else { return Ok(total) };
            last = Some(row);
        }
    }

    pub(super) fn letter(&mut self, generation: u64) -> Result<Option<Dead>> {
        let read = self.store.dead(generation.checked_sub(1), 1);
        let found = read.map_err(|error| failure(&self.name, error))?.pop();
        Ok(found.filter(|letter| letter.job.generation == generation))
    }
}

/// Runs SQLite's integrity check, if the store is a file.
pub(super) fn check_integrity(place: &Place) -> Result<()> {
    let Whose::File(path) = place.whose()? else { return Ok(()) };
    let checked = SqliteStore::open_to_read(path).and_then(|file| file.verify());
    checked.map_err(|error| failure(&place.name(), error))
}

/// Makes changes to a store, as a program does. Opens the store to read first, so that a wrong name
/// creates no store.
pub(super) fn commit(place: &Place, changes: &[Change]) -> Result<Vec<Outcome>> {
    drop(Opened::to_read(place)?);
    let opened: Result<Box<dyn Store>, StoreError> = match place.whose()? {
        Whose::File(path) => SqliteStore::open(path).map(|store| Box::new(store) as _),
        // The durability of the server's settings is the programs' decision: it is not checked.
        Whose::Redis(url, queue) => {
            RedisStore::builder(url, queue).unchecked().connect().map(|store| Box::new(store) as _)
        }
        Whose::Postgres(url, queue) => PostgresStore::builder(url, queue)
            .and_then(|builder| builder.unchecked().connect())
            .map(|store| Box::new(store) as _),
    };
    let committed = opened.and_then(|mut store| store.commit(changes));
    committed.map_err(|error| failure(&place.name(), error))
}

/// An error with the name of the store. A store's message includes that of its source.
pub(super) fn failure(name: &str, error: StoreError) -> anyhow::Error {
    anyhow!("{name}: {error}")
}

/// The kind of store, with its path or URL, and its queue.
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
                "{scheme}:// is not a store: name a SQLite file, redis://HOST/ or \
                 postgres://USER@HOST/DATABASE"
            ),
        };
        let queue = self.queue.as_deref();
        Ok(to(url, queue.context("which queue of the server? add --queue NAME")?))
    }

    /// The file; or the server and the queue, without the parts that may contain a password.
    pub(super) fn name(&self) -> String {
        let Some((scheme, rest)) = self.store.split_once("://") else { return self.store.clone() };
        let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        let host = rest.split_once('?').map_or(rest, |(host, _)| host);
        let queue = self.queue.as_deref().unwrap_or_default();
        format!("{scheme}://{host} queue {queue}")
    }
}

/// The file that a command needs, unless it needs a copy.
pub(super) const LIVE: &str = "the file that the program opens";

/// Checks that there is a file. If not, the error says to name `what`.
pub(super) fn ensure_exists(path: &Path, what: &str) -> Result<()> {
    let shown = path.display();
    let exists = path.try_exists().with_context(|| format!("cannot read {shown}"))?;
    ensure!(exists, "there is no file {shown}: name {what}");
    Ok(())
}

/// The size of a file and its journal, in bytes.
fn bytes_of(path: &Path) -> u64 {
    let mut journal = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    journal.push("-wal");
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    bytes(path) + bytes(Path::new(&journal))
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
        for url in ["redis://h/", "unix:///s"] {
            assert!(whose(url).starts_with("Redis"), "{url}");
        }
        assert!(whose("postgres://h/d").starts_with("Postgres"));
        assert!(whose("postgresql://h/d").starts_with("Postgres"));
        assert_eq!(place("a.timers", None).whose().unwrap(), Whose::File(Path::new("a.timers")));
    }

    #[test]
    fn passwords_are_not_shown() {
        let name = |store| place(store, Some("q")).name();
        assert_eq!(name("redis://me:pa@ss@host:1/0"), "redis://host:1/0 queue q");
        assert_eq!(name("postgres://host/shop?password=x"), "postgres://host/shop queue q");
    }
}
