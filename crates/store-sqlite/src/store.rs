//! The store.

use crate::claim::{Claim, first_visible};
use crate::commit::{Batch, commit, transaction};
use crate::error::store_error;
use crate::files::Files;
use crate::holder::{self, Holder};
use crate::open::{Opened, journal_pages, open, open_to_read, verify};
use crate::reserve::{Reserve, is_full};
use crate::row::{self, DEAD, entry_columns, limit};
use crate::schema;
use crate::wake::{self, Watcher};
use rusqlite::{Connection, Params, Row};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Gauges, Key, Kind, Kinds, Next, Outcome, Store,
    StoreClock, StoreError, Timestamp, Waker,
};
use wheelhouse_durable::{Durable, Handlers, StartError};

/// A store in a SQLite file. See the [crate](crate) for the tables, and for files that are refused.
pub struct SqliteStore {
    connection: Connection,
    files: Files,
    clock: StoreClock,
    /// `None` if the store is opened to read.
    writer: Option<(Holder, Reserve)>,
    waker: Option<Waker>,
    /// Calls the waker when another program has committed an earlier job. `None` without a waker,
    /// and if the system cannot notify.
    watcher: Option<Watcher>,
    /// The number of pages at which SQLite copies the journal; 0 before the first commit.
    journal_pages: usize,
    /// `true` if commits are synced. They are when the file is opened.
    syncs: bool,
}

impl SqliteStore {
    /// Opens or creates a file, with the machine's wall clock.
    ///
    /// # Errors
    ///
    /// See [the crate](crate#files-that-are-refused); [`Unavailable`](StoreError::Unavailable) if
    /// another process writes for more than ten seconds.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::with_clock(path, StoreClock::default())
    }

    /// Opens or creates a file, with the given clock.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn with_clock(path: impl AsRef<Path>, clock: StoreClock) -> Result<Self, StoreError> {
        Ok(Self::new(open(path.as_ref(), &clock)?, clock))
    }

    /// Opens an existing file to read it: calls that change something are refused, and no lease is
    /// freed. A claim of 0 jobs works. If no program has the file open, SQLite leaves two
    /// empty files of its journal next to it (`-wal`, `-shm`).
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); [`Io`](StoreError::Io) if there is no such file.
    pub fn open_to_read(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let clock = StoreClock::default();
        Ok(Self::new(open_to_read(path.as_ref(), &clock)?, clock))
    }

    fn new(opened: Opened, clock: StoreClock) -> Self {
        let Opened { connection, files, writer } = opened;
        let (waker, watcher, journal_pages) = (None, None, 0);
        Self { connection, files, clock, writer, waker, watcher, journal_pages, syncs: true }
    }

    /// Reads the whole file and checks that the tables, their order and their indexes are
    /// consistent. Takes seconds for a million jobs.
    ///
    /// # Errors
    ///
    /// [`Damaged`](StoreError::Damaged) if they are not.
    pub fn verify(&self) -> Result<(), StoreError> {
        verify(&self.connection, "PRAGMA integrity_check(1)")
    }

    /// The format of the file.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    pub fn format(&self) -> Result<u32, StoreError> {
        schema::format(&self.connection)
    }

    /// The connection. Fails if its file was deleted, renamed or replaced.
    pub(crate) fn reader(&self) -> Result<&Connection, StoreError> {
        self.files.check(&self.connection)?;
        Ok(&self.connection)
    }

    /// Reads the rows that a query returns.
    fn rows<T>(
        &self,
        select: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut select = self.reader()?.prepare_cached(select).map_err(store_error)?;
        let rows = select.query_map(parameters, read).map_err(store_error)?;
        rows.collect::<Result<_, _>>().map_err(store_error)
    }

    /// Sets the journal's length at which SQLite copies it, before a commit with `waited_for`
    /// changes that callers wait for.
    fn copy_journal_for(&mut self, waited_for: usize) -> Result<(), StoreError> {
        // On a full disk the journal is kept short, so that it fits into the space of the reserve.
        let is_full = self.writer.as_ref().is_some_and(|(_, reserve)| !reserve.is_there());
        let pages = journal_pages(if is_full { 1 } else { waited_for });
        if pages != self.journal_pages {
            let set = format!("PRAGMA wal_autocheckpoint = {pages}");
            self.connection.execute_batch(&set).map_err(store_error)?;
            self.journal_pages = pages;
        }
        Ok(())
    }

    /// Sets whether the next commit survives a loss of power, or only a crash of the process.
    /// Without a sync the journal is only written. The next synced commit syncs the journal's file,
    /// and so all earlier writes to it. SQLite syncs the journal before it copies it, and the
    /// checksum of each frame covers all frames before it. So the file is consistent in any case.
    fn sync(&mut self, syncs: bool) -> Result<(), StoreError> {
        if syncs != self.syncs {
            let set = if syncs { "FULL" } else { "NORMAL" };
            let set = format!("PRAGMA synchronous = {set}");
            self.connection.execute_batch(&set).map_err(store_error)?;
            self.syncs = syncs;
        }
        Ok(())
    }

    /// Leases visible jobs, in one transaction.
    fn try_claim(
        (connection, clock): (&mut Connection, &StoreClock),
        kinds: &Kinds,
        claim: &Claim,
    ) -> ClaimResult {
        let transaction = transaction(connection)?;
        let mut batch = Batch::begin(&transaction, clock).map_err(store_error)?;
        let leased = claim.run(&mut batch, kinds).map_err(store_error)?;
        batch.finish(clock).map_err(store_error)?;
        let visible_at = first_visible(&transaction, kinds).map_err(store_error)?;
        let next = Next { now: batch.now.0, visible_at };
        transaction.commit().map_err(store_error)?;
        Ok((leased, next))
    }
}

/// Opens durable timers on a file. It is a trait of this crate, so that programs with other stores
/// need not compile SQLite.
pub trait DurableExt: Sized {
    /// Opens or creates the file, and starts the timers with the defaults of a
    /// [`Builder`](wheelhouse_durable::Builder). Overdue jobs run now.
    ///
    /// # Errors
    ///
    /// The errors of [`SqliteStore::open`] and [`Durable::start`].
    fn open(path: impl AsRef<Path>, handlers: Handlers) -> Result<Self, StartError>;
}

impl DurableExt for Durable {
    fn open(path: impl AsRef<Path>, handlers: Handlers) -> Result<Self, StartError> {
        Self::start(SqliteStore::open(path)?, handlers)
    }
}

fn only_to_read() -> StoreError {
    StoreError::Refused("opened to read: open it to write".into())
}

/// The error of a commit on a full disk. If the batch has other changes than new jobs, the error is
/// final (`Refused`): then the caller divides the batch, and the changes that need no space
/// succeed.
fn full(error: StoreError, mixed: bool) -> StoreError {
    if mixed && is_full(&error) { StoreError::Refused(error.to_string()) } else { error }
}

impl Store for SqliteStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        // No caller waits for a change by token: these begin and end runs.
        let waited_for = changes.iter().filter(|change| change.token().is_none()).count();
        self.copy_journal_for(waited_for)?;
        self.sync(!changes.iter().all(|change| matches!(change, Change::Begin { .. })))?;
        let Self { connection, clock, files, .. } = self;
        let Some((holder, reserve)) = &self.writer else { return Err(only_to_read()) };
        files.check(connection)?;
        let new = changes.iter().filter(|change| matches!(change, Change::Put(_))).count();
        let committed = if new == 0 {
            reserve.lend(connection, |connection| commit(connection, clock, changes))
        } else {
            let kept = reserve.keep().map_err(StoreError::Io);
            let committed = kept.and_then(|()| commit(connection, clock, changes));
            committed.map_err(|error| full(error, new < changes.len()))
        };
        let (outcomes, is_earlier) = committed?;
        // Other programs must find the changes before they are acknowledged.
        files.check(connection)?;
        if is_earlier {
            wake::signal(&holder.file);
            self.waker.iter().for_each(|wake| wake());
        }
        Ok(outcomes)
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        if limit.jobs > 0 && self.writer.is_none() {
            return Err(only_to_read());
        }
        // If nothing is visible, only read: a claim writes nothing then.
        let (now, _) = self.clock.now();
        let visible_at = first_visible(self.reader()?, kinds).map_err(store_error)?;
        let (mut leased, mut next) = (Vec::new(), Next { now, visible_at });
        if limit.jobs > 0 && visible_at.is_some_and(|first| first <= now) {
            self.copy_journal_for(0)?;
            // Its tokens may be written elsewhere at once, and must not be drawn again.
            self.sync(true)?;
            let Self { connection, clock, files, .. } = self;
            let Some((holder, reserve)) = &self.writer else { return Err(only_to_read()) };
            let mut limit = limit;
            (leased, next) = loop {
                let claim = Claim { holder: holder.epoch, visibility, limit };
                let claimed = reserve.lend(connection, |connection| {
                    Self::try_claim((connection, clock), kinds, &claim)
                });
                match claimed {
                    // A full disk may have space for fewer leases.
                    Err(error) if is_full(&error) && limit.jobs > 1 => limit.jobs /= 2,
                    claimed => break claimed?,
                }
            };
            files.check(connection)?;
        }
        Ok((leased, next))
    }

    fn wake_by(&mut self, waker: Waker) {
        self.waker = Some(Arc::clone(&waker));
        let own = self.writer.as_ref().map(|(holder, _)| holder.path.as_path());
        // Without it, programs are not woken by others, but they poll the store once a second.
        self.watcher = Watcher::start(self.files.paths(), own, waker).ok();
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        const SELECT: &str = concat!("SELECT ", entry_columns!(), " FROM job WHERE key = ?1");
        Ok(self.rows(SELECT, [key.as_bytes()], row::entry)?.pop())
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        const SELECT: &str =
            concat!("SELECT ", entry_columns!(), " FROM job WHERE key > ?1 ORDER BY key LIMIT ?2");
        // No key is empty, so all come after the empty one.
        let after = after.map_or(&[][..], Key::as_bytes);
        self.rows(SELECT, (after, limit(max)), row::entry)
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        let select =
            format!("SELECT {DEAD} FROM dead WHERE generation > ?1 ORDER BY generation LIMIT ?2");
        // Generations are below 2^63.
        let after = after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
        self.rows(&select, (after, limit(max)), row::dead)
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        // One search for each kind instead of a walk over all rows.
        const SELECT: &str = "
            WITH RECURSIVE kinds (kind) AS (
                SELECT min(kind) FROM job
                UNION ALL
                SELECT (SELECT min(kind) FROM job WHERE kind > kinds.kind)
                FROM kinds WHERE kind IS NOT NULL)
            SELECT kind, (SELECT min(visible_at) FROM job WHERE job.kind = kinds.kind)
            FROM kinds WHERE kind IS NOT NULL";
        let kind = |row: &Row<'_>| Ok((row.get_ref(0)?.as_str()?.into(), row::time(row, 1)?));
        self.rows(SELECT, (), kind)
    }

    /// `wal_bytes`: the length of the journal. It grows during long reads of another program.
    /// `polls_only`: 1 if other programs cannot wake this one.
    fn gauges(&mut self) -> Result<Gauges, StoreError> {
        let mut gauges = Gauges::default();
        if self.waker.is_some() && self.watcher.is_none() {
            gauges.insert("polls_only", 1);
        }
        let (_, journal) = self.files.paths();
        if let Ok(journal) = std::fs::metadata(journal) {
            gauges.insert("wal_bytes", journal.len());
        }
        Ok(gauges)
    }
}

impl Drop for SqliteStore {
    /// Removes the holder file if no job is leased. Otherwise the file stays without its lock, and
    /// the next program that opens the store frees the leases.
    fn drop(&mut self) {
        let Some((holder, _)) = self.writer.take() else { return };
        let leases = self.reader().map(|connection| holder::has_leases(connection, holder.epoch));
        if matches!(leases, Ok(Ok(false))) {
            holder.release();
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.connection.path();
        f.debug_struct("SqliteStore").field("path", &path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_durable::store::Token;
    use wheelhouse_store_conformance::jobs::{KIND, LEASE, cancel, key, put};

    #[test]
    fn only_begins_are_committed_without_a_sync() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(folder.path().join("a.timers")).unwrap();
        let begin = Change::Begin { key: key("a"), token: Token(1) };
        let cancel = cancel("a");
        let level = |store: &SqliteStore| -> i64 {
            store.connection.query_row("PRAGMA synchronous", (), |row| row.get(0)).unwrap()
        };
        // 1 is NORMAL: no sync at a commit; 2 is FULL.
        for (changes, expected) in [
            (&[begin.clone(), begin.clone()][..], 1),
            (&[begin.clone(), cancel.clone()], 2),
            (std::slice::from_ref(&begin), 1),
            (&[cancel], 2),
        ] {
            store.commit(changes).unwrap();
            assert_eq!(level(&store), expected);
        }
        // Also a claim that begins a run, right after begins.
        store.commit(&[put("b", 0)]).unwrap();
        store.commit(&[begin]).unwrap();
        let limit = ClaimLimit { begin: 1, ..ClaimLimit::jobs(1) };
        let (claimed, _) = store.claim(&Kinds::new([KIND]), limit, LEASE).unwrap();
        assert!(claimed[0].has_begun());
        assert_eq!(level(&store), 2);
    }

    /// If another program keeps the file locked for too long, the error is transient.
    #[test]
    fn a_file_that_is_busy_for_too_long_is_unavailable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.timers");
        let mut store = SqliteStore::open(&path).unwrap();
        // Programs wait for ten seconds.
        store.connection.busy_timeout(Duration::from_millis(10)).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = store.commit(&[cancel("a")]).unwrap_err();
        assert!(matches!(&error, StoreError::Unavailable(_)), "{error:?}");
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(store.commit(&[cancel("a")]).unwrap(), [Outcome::Absent]);
    }
}
