//! Opening a file: checks its owner and journal, sets the durability, and frees leases of dead
//! holders.

use crate::busy::{BUSY, wait_for_writer};
use crate::commit::{Batch, transaction};
use crate::error::store_error;
use crate::files::{self, FileId, Files};
use crate::holder::{self, Holder};
use crate::reserve::{Reserve, is_full};
use crate::schema;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{StoreClock, StoreError};

/// The bounds of the journal's length, in pages of 4 KiB, at which a commit copies it into the
/// file. All callers that wait for that commit wait for the copying too: about 5 ms for the fewest
/// pages, 40 ms for the most.
const JOURNAL_PAGES: RangeInclusive<usize> = 128..=4_096;

/// Pages of journal for each change of a commit. A large commit takes long in any case, and copying
/// the journal after each would cost a third of the speed.
const PAGES_FOR_A_CHANGE: usize = 2;

/// The journal is not copied into the file when the last connection is closed.
const KEEPS_JOURNAL: DbConfig = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;

/// A file of at most this many pages is checked completely when it is opened, in some milliseconds.
const CHECKED_PAGES: u32 = 4_000;

/// The number of attempts to open a file that is replaced while it is opened.
const TRIES: u32 = 3;

pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) files: Files,
    /// `None` if the store is opened to read.
    pub(crate) writer: Option<(Holder, Reserve)>,
}

/// Opens a store to read and write, and takes an epoch.
pub(crate) fn open(path: &Path, clock: &StoreClock) -> Result<Opened, StoreError> {
    let path = files::place(path)?;
    let reserve = Reserve::of(&path);
    for _ in 0..TRIES {
        let before = FileId::of(&path);
        let opened = match open_once(&path, clock) {
            Err(error) if is_full(&error) && reserve.release() => continue,
            opened => opened?,
        };
        // The connection has opened the file from before or from after. If both are the same, it
        // has opened that file.
        if before.is_none() || before == FileId::of(&path) {
            return Ok(opened);
        }
    }
    let why = format!("{} was replaced each time it was opened", path.display());
    Err(StoreError::Unavailable(why.into()))
}

fn open_once(path: &Path, clock: &StoreClock) -> Result<Opened, StoreError> {
    files::check_journal(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = connect(path, flags)?;
    if connection.is_readonly("main").map_err(store_error)? {
        let path = path.display();
        return Err(StoreError::Refused(format!(
            "{path} is read-only: let this user write the file and its folder"
        )));
    }
    // Before the first write, so that another program's file is not changed.
    schema::has_tables(&connection)?;
    write_ahead(&connection, path)?;
    let reserve = Reserve::of(path);
    schema::convert(&mut connection)?;
    let holder = begin(&mut connection, path, clock)?;
    check(&connection)?;
    // Copying the journal of another file would damage this one. The checks have succeeded, so the
    // journal may now be copied on close.
    connection.set_db_config(KEEPS_JOURNAL, false).map_err(store_error)?;
    // Without space for the reserve, stored jobs run, and new ones are refused.
    let _ = reserve.keep();
    let files = Files::now(path);
    Ok(Opened { connection, files, writer: Some((holder, reserve)) })
}

/// Opens a store to read. The clock shows at least the latest time in the file.
pub(crate) fn open_to_read(path: &Path, clock: &StoreClock) -> Result<Opened, StoreError> {
    let path = &files::place(path)?;
    files::check_journal(path)?;
    if !path.exists() {
        let why = format!("there is no file {}: name an existing store", path.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why).into());
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if !schema::has_tables(&connection)? {
        return Err(StoreError::Foreign(format!("{} is empty", path.display())));
    }
    Batch::begin(&connection, clock).map_err(store_error)?;
    check(&connection)?;
    let files = Files::now(path);
    Ok(Opened { connection, files, writer: None })
}

pub(crate) fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let shown = path.display();
    let is = fs::metadata(path);
    if is.as_ref().is_ok_and(fs::Metadata::is_dir) {
        return Err(StoreError::Refused(format!("{shown} is a folder: name the file in it")));
    }
    #[cfg(unix)]
    if is.is_ok_and(|is| std::os::unix::fs::MetadataExt::nlink(&is) > 1) {
        return Err(StoreError::Refused(format!(
            "{shown} has another name (a hard link), and a program that opens it by that name \
             would find neither its journal nor its leases: remove one of the two names, or make \
             it a symbolic link"
        )));
    }
    // The borrow checker ensures that one thread at a time uses it, so SQLite needs no lock.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(store_error)?;
    connection.busy_handler(Some(wait_for_writer)).map_err(store_error)?;
    // `open_once` turns this off when all checks have succeeded.
    connection.set_db_config(KEEPS_JOURNAL, true).map_err(store_error)?;
    // More than the statements of this crate, so that all stay prepared.
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Sets the write-ahead journal: a commit is durable when its frames are in the journal next to the
/// file (`-wal`) and synced.
fn write_ahead(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode = journal_mode(connection)?;
    if mode != "wal" {
        let path = path.display();
        return Err(StoreError::Refused(format!(
            "the file system of {path} has no shared memory for a write-ahead journal (it gave \
             {mode}); use a local disk"
        )));
    }
    // `fullfsync` is for macOS, where a plain sync does not flush the disk's cache.
    let settings =
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
         PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -32768;";
    connection.execute_batch(settings).map_err(store_error)
}

/// The length of the journal, in pages, at which a commit copies it. `waited_for` is the number of
/// its changes that callers wait for; no caller waits for the end of a run.
pub(crate) fn journal_pages(waited_for: usize) -> usize {
    if waited_for == 0 {
        return *JOURNAL_PAGES.end();
    }
    let pages = waited_for.saturating_mul(PAGES_FOR_A_CHANGE).checked_next_power_of_two();
    pages.unwrap_or(usize::MAX).clamp(*JOURNAL_PAGES.start(), *JOURNAL_PAGES.end())
}

/// Sets the mode of the journal. If another process does the same, SQLite does not wait for it, so
/// this retries.
fn journal_mode(connection: &Connection) -> Result<String, StoreError> {
    let begun = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < BUSY =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            other => return other.map_err(store_error),
        }
    }
}

/// Creates the tables if there are none, takes an epoch, and frees the leases of dead holders.
fn begin(
    connection: &mut Connection,
    path: &Path,
    clock: &StoreClock,
) -> Result<Holder, StoreError> {
    let transaction = transaction(connection)?;
    // Another process may have made them since.
    if !schema::has_tables(&transaction)? {
        schema::create(&transaction)?;
    }
    let now = Batch::begin(&transaction, clock).map_err(store_error)?.now.0;
    holder::clear(&transaction, path, now)?;
    let holder = Holder::next(&transaction, path)?;
    transaction.commit().map_err(store_error)?;
    Ok(holder)
}

/// Refuses a small file that is damaged. Damage of a large file is found when it is read.
fn check(connection: &Connection) -> Result<(), StoreError> {
    let pages: u32 =
        connection.query_row("PRAGMA page_count", (), |row| row.get(0)).map_err(store_error)?;
    if pages <= CHECKED_PAGES { verify(connection, "PRAGMA quick_check(1)") } else { Ok(()) }
}

/// Runs a check of SQLite, which returns `ok` or the first error.
pub(crate) fn verify(connection: &Connection, check: &str) -> Result<(), StoreError> {
    let answer: String = connection.query_row(check, (), |row| row.get(0)).map_err(store_error)?;
    if answer == "ok" { Ok(()) } else { Err(StoreError::Damaged(answer)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that kill a process do not show whether commits are synced; only a power cut would. So
    /// this checks the settings.
    #[test]
    fn commits_are_synced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.timers");
        let Opened { connection, .. } = open(&path, &StoreClock::default()).unwrap();
        let setting = |name: &str| -> String {
            let pragma = format!("SELECT CAST(\"{name}\" AS TEXT) FROM pragma_{name}");
            connection.query_row(&pragma, (), |row| row.get(0)).unwrap()
        };
        assert_eq!(setting("synchronous"), "2", "FULL: the journal is synced at each commit");
        assert_eq!(setting("journal_mode"), "wal");
        assert_eq!(setting("fullfsync"), "1");
        assert_eq!(setting("checkpoint_fullfsync"), "1");
    }
}
