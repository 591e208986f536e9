//! The processes that hold leases, and those of them that are gone.
//!
//! Each value that opens a file takes an *epoch*, a number that was never used before, and locks a
//! file next to the store, `orders.timers-holder-7`. (The first part is the name of the store
//! itself, not of a symbolic link to it.) Its leases have the epoch in their rows. The operating
//! system drops the lock when the process ends, in whatever way. So a process that gets the lock of
//! another epoch's file knows that its holder is gone; no process identifier, start time or name of
//! a machine has to be trusted.
//!
//! A file that is missing proves nothing: anyone can remove it while its holder lives. Leases of
//! such an epoch last until their end. A holder that closes removes its file if it has no lease;
//! otherwise it leaves the file, without its lock.
//!
//! The file says which file its holder has open as the store: the inode and the time of creation in
//! nanoseconds, in decimal digits.

use crate::error::store_error;
use crate::files::{FileId, beside};
use crate::row::millis;
use fs4::{FileExt, TryLockError};
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use wheelhouse_durable::store::{StoreError, Timestamp};

/// An epoch, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) epoch: i64,
    path: PathBuf,
    /// Locked.
    _file: File,
}

impl Holder {
    /// Takes the next epoch of the store at `path`. Within a writing transaction: of two processes
    /// that open the file, one would else remove the other's file before it is locked.
    pub(crate) fn next(connection: &Connection, path: &Path) -> Result<Self, StoreError> {
        let next = "UPDATE meta SET epoch = epoch + 1 RETURNING epoch";
        let epoch = connection.query_row(next, (), |row| row.get::<_, i64>(0));
        let epoch = epoch.map_err(store_error)?;
        let store = FileId::of(path);
        let (new, path) = (beside(path, "-holder.new"), beside(path, &format!("{SUFFIX}{epoch}")));
        // Under its name once it is locked and whole.
        let mut file = File::create(&new)?;
        if !try_lock(&file)? {
            let why = format!("{} is locked by another process", new.display());
            return Err(StoreError::Unavailable(why.into()));
        }
        if let Some(store) = store {
            write!(file, "{store}")?;
            // After a loss of power, an empty file would not tell whose the journal is.
            file.sync_all()?;
        }
        fs::rename(&new, &path)?;
        Ok(Self { epoch, path, _file: file })
    }

    /// Removes the file, when no row has this epoch any more. A value that is dropped leaves an
    /// unlocked file, which says that its holder is gone.
    pub(crate) fn release(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A holder's file.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) epoch: Option<i64>,
    /// The file that the holder has open as the store, if it is recorded.
    pub(crate) store: Option<FileId>,
    file: File,
}

impl Found {
    /// Returns `true` if the holder still has its file locked. If not, this value has the lock
    /// then, and another caller would take it for the holder. So the caller is in a writing
    /// transaction, or has found that the file is of another store.
    pub(crate) fn lives(&self) -> io::Result<bool> {
        Ok(!try_lock(&self.file)?)
    }
}

/// The files of all holders of the store at `path`. O(files in the folder).
pub(crate) fn all(path: &Path) -> io::Result<Vec<Found>> {
    let Some(name) = path.file_name() else { return Ok(Vec::new()) };
    let mut prefix = name.to_owned();
    prefix.push(SUFFIX);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let entry = entry?;
        let name = entry.file_name().into_encoded_bytes();
        if let Some(epoch) = name.strip_prefix(prefix.as_encoded_bytes()) {
            let epoch = std::str::from_utf8(epoch).ok().and_then(|epoch| epoch.parse().ok());
            found.extend(look_at(entry.path(), epoch)?);
        }
    }
    Ok(found)
}

/// `None` if the file was removed a moment ago, by a holder that closed.
fn look_at(path: PathBuf, epoch: Option<i64>) -> io::Result<Option<Found>> {
    let mut file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut text = String::new();
    // Where locks are mandatory it cannot be read while its holder lives.
    let store = file.read_to_string(&mut text).ok().and_then(|_| FileId::read(&text));
    Ok(Some(Found { path, epoch, store, file }))
}

/// Frees the leases of holders that are gone, and removes their files. Within a writing
/// transaction. If the transaction is not committed, their leases last until their end.
pub(crate) fn clear(
    connection: &Connection,
    path: &Path,
    now: Timestamp,
) -> Result<(), StoreError> {
    for found in all(path)? {
        if found.lives()? {
            continue;
        }
        if let Some(epoch) = found.epoch {
            free_leases(connection, epoch, now).map_err(store_error)?;
        }
        remove(&found.path)?;
    }
    Ok(())
}

/// Removes a file. It may be gone: a holder that closes removes its own.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Ends the leases of an epoch, so that a claim hands them out at once, in the order in which they
/// were due. O(k log n) for k leases.
pub(crate) fn free_leases(
    connection: &Connection,
    epoch: i64,
    now: Timestamp,
) -> rusqlite::Result<()> {
    connection.execute(
        // 3 is replaced: the newer generation waits for its own due time.
        "UPDATE job SET until = min(until, due, ?2), holder = NULL,
             visible_at = iif(state = 3, due, min(until, due, ?2))
         WHERE holder = ?1",
        [epoch, millis(now)],
    )?;
    Ok(())
}

/// Returns `true` if a row has a lease of this epoch.
pub(crate) fn has_leases(connection: &Connection, epoch: i64) -> rusqlite::Result<bool> {
    let any = "SELECT EXISTS (SELECT 1 FROM job WHERE holder = ?1)";
    connection.query_row(any, [epoch], |row| row.get(0))
}

/// The part of a holder's file name between the store's name and the epoch.
const SUFFIX: &str = "-holder-";

/// Locks a file. Returns `false` if another process has its lock.
fn try_lock(file: &File) -> io::Result<bool> {
    match FileExt::try_lock(file) {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
