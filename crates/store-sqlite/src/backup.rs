//! Backup and restore of a store.

use crate::error::store_error;
use crate::files::{check_journal, place, with_suffix};
use crate::holder::{self, remove};
use crate::open::{connect, open_to_read, verify};
use crate::{SqliteStore, schema};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use wheelhouse_durable::store::{StoreClock, StoreError};

impl SqliteStore {
    /// Writes a copy of the store to the file `to`, while programs use it. The copy is the state
    /// after one commit. When this returns, it is complete and synced, and needs no journal. Works
    /// also for a store that is opened [to read](Self::open_to_read).
    ///
    /// O(bytes of the store). Programs can write during the copy; the journal grows by their
    /// writes.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if `to` exists, another copy to it is in progress
    /// (`to.part`), or the store's file was deleted, renamed or replaced. After an error of the
    /// storage, `to` does not exist.
    ///
    /// ```
    /// # use wheelhouse_store_sqlite::SqliteStore;
    /// # let folder = tempfile::tempdir()?;
    /// # std::env::set_current_dir(&folder)?;
    /// # drop(SqliteStore::open("orders.timers")?);
    /// SqliteStore::open_to_read("orders.timers")?.backup("monday.timers")?;
    /// SqliteStore::restore("monday.timers", "orders.timers")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<(), StoreError> {
        let to = place(to.as_ref())?;
        let source = self.reader()?;
        with_part(&to, |part| {
            // Only the program that has the part creates `to`.
            if to.exists() {
                let why = format!("{} exists: name a new file, or remove it", to.display());
                return Err(StoreError::Refused(why));
            }
            copy(source, part)?;
            fs::rename(part, &to)?;
            Ok(())
        })?;
        sync_folder(&to)
    }

    /// Replaces the store `file` by a copy that [`backup`](Self::backup) made. Keeps the old store
    /// as `FILE.replaced`, and returns this path; `None` if there was no store. Jobs that were
    /// leased when the copy was made wait for the end of the lease.
    ///
    /// At each moment `file` is the old store or the new one, also if the machine loses power.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if a program has the store open, or may have it open, or
    /// `FILE.replaced` or `FILE.part` exists, or there is only the journal of a store;
    /// [`Damaged`](StoreError::Damaged) or [`Foreign`](StoreError::Foreign) if the copy is damaged
    /// or no store. Nothing is changed then.
    pub fn restore(
        from: impl AsRef<Path>,
        file: impl AsRef<Path>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let file = place(file.as_ref())?;
        let source = open_to_read(from.as_ref(), &StoreClock::default())?.connection;
        verify(&source, "PRAGMA integrity_check(1)")?;
        with_part(&file, |part| {
            copy(&source, part)?;
            replace(&file, part)
        })
    }
}

/// Creates the file `to.part` for `make`, which renames it. After an error, the file is removed.
/// One program at a time has it, because a file that exists is refused.
fn with_part<T>(
    to: &Path,
    make: impl FnOnce(&Path) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let part = with_suffix(to, ".part");
    let mut options = File::options();
    options.write(true).create_new(true);
    // The mode in which SQLite creates files.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    match options.open(&part) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let part = part.display();
            return Err(StoreError::Refused(format!(
                "{part} exists: wait for the other copy to end, or remove it if none is made"
            )));
        }
        Err(error) => {
            let remedy = "check that the folder exists and this user may write to it";
            let why = format!("{}: {error}: {remedy}", part.display());
            return Err(StoreError::Io(Error::new(error.kind(), why)));
        }
        Ok(created) => drop(created),
    }
    make(&part).inspect_err(|_| _ = remove(&part))
}

/// Copies all pages that a connection sees into an empty file, and syncs it. The copy has no
/// journal, so it is one file.
fn copy(source: &Connection, to: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let mut copy = Connection::open_with_flags(to, flags).map_err(store_error)?;
    let backup = Backup::new(source, &mut copy).map_err(store_error)?;
    // All pages in one step, and so in one read transaction: in several steps, a commit in between
    // would restart the copy.
    match backup.step(-1).map_err(store_error)? {
        StepResult::Done => drop(backup),
        busy => {
            let why = format!("the file is busy ({busy:?}): try again");
            return Err(StoreError::Unavailable(why.into()));
        }
    }
    let mode = "PRAGMA journal_mode = DELETE";
    copy.query_row(mode, (), |_| Ok(())).map_err(store_error)?;
    copy.close().map_err(|(_, error)| store_error(error))?;
    File::open(to)?.sync_all()?;
    Ok(())
}

/// Moves the new file to the path of the old one, and returns where the old one is kept.
fn replace(file: &Path, new: &Path) -> Result<Option<PathBuf>, StoreError> {
    let replaced = with_suffix(file, ".replaced");
    if !file.exists() {
        refuse_if_open(file)?;
        check_journal(file)?;
        fs::rename(new, file)?;
        sync_folder(file)?;
        return Ok(None);
    }
    for kept in [replaced.clone(), with_suffix(&replaced, "-wal")] {
        if kept.exists() {
            let kept = kept.display();
            return Err(StoreError::Refused(format!(
                "{kept} is left from an earlier restore: move it away, or remove it"
            )));
        }
    }
    // A program that opens the file waits for this lock, and then finds that it was replaced.
    let old = lock(file)?;
    refuse_if_open(file)?;
    swap(file, &replaced, new)?;
    drop(old);
    Ok(Some(replaced))
}

/// Opens and locks the old file; `None` if it cannot be read as a store.
fn lock(file: &Path) -> Result<Option<Connection>, StoreError> {
    let old = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    match schema::has_tables(&old) {
        Err(StoreError::Foreign(_) | StoreError::Damaged(_)) => return Ok(None),
        answer => _ = answer?,
    }
    old.execute_batch("BEGIN IMMEDIATE").map_err(store_error)?;
    Ok(Some(old))
}

fn refuse_if_open(file: &Path) -> Result<(), StoreError> {
    for holder in holder::all(file)? {
        if holder.lives()? {
            let (file, holder) = (file.display(), holder.path.display());
            return Err(StoreError::Refused(format!(
                "a program has {file} open ({holder} is locked, or this user may not read it): \
                 stop it first, or remove {holder} if no program runs"
            )));
        }
    }
    Ok(())
}

/// Moves the old file to `replaced`, with its journal, and the new file to its path. While the old
/// file has two names, every program refuses to open it, because of the hard link.
fn swap(file: &Path, replaced: &Path, new: &Path) -> Result<(), StoreError> {
    fs::hard_link(file, replaced)?;
    // The journal stays with the old file: it may have commits that are not copied yet.
    match fs::rename(with_suffix(file, "-wal"), with_suffix(replaced, "-wal")) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => remove(&with_suffix(file, "-shm"))?,
    }
    for holder in holder::all(file)? {
        remove(&holder.path)?;
    }
    sync_folder(file)?;
    fs::rename(new, file)?;
    sync_folder(file)
}

/// Syncs the folder of a file, which makes the names in it durable.
fn sync_folder(file: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    if let Some(folder) = file.parent() {
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}
