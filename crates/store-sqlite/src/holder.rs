//! Holders: the processes that hold leases, and whether they still live.
//!
//! Each value that opens a store takes an *epoch*, a number that was never used before, and locks a
//! holder file next to the store, `orders.timers-holder-7`. (The first part is the name of the
//! store itself, not of a symbolic link to it.) The rows of its leases have the epoch. The
//! operating system drops the lock when the process ends, however it ends. So a process that gets
//! the lock of another epoch's file knows that its holder is dead. No process identifier, start
//! time or machine name has to be trusted.
//!
//! A missing file proves nothing: it can be removed while its holder lives. Leases of such an epoch
//! last until their end. A holder that closes removes its file if it has no lease. Otherwise it
//! leaves the file, without the lock. It has the permissions of the store's file. A holder whose
//! file this user cannot read counts as living, and the store is then not opened if it has a
//! journal.
//!
//! A holder file names the store's file that its holder has open: the inode and the creation time
//! in nanoseconds, in decimal digits.

use crate::error::store_error;
use crate::files::{FileId, with_suffix};
use crate::row::millis;
use fs4::{FileExt, TryLockError};
use rusqlite::{Connection, Result};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use wheelhouse_durable::store::{StoreError, Timestamp};

/// An epoch and its lock, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) epoch: i64,
    pub(crate) path: PathBuf,
    /// The holder file, locked.
    pub(crate) file: File,
}

impl Holder {
    /// Takes the next epoch of the store at `path`. The connection must be in a writing
    /// transaction: otherwise another process that opens the store could remove the holder file
    /// before it is locked.
    pub(crate) fn next(connection: &Connection, path: &Path) -> Result<Self, StoreError> {
        let next = "UPDATE meta SET epoch = epoch + 1 RETURNING epoch";
        let epoch = connection.query_row(next, (), |row| row.get::<_, i64>(0));
        let epoch = epoch.map_err(store_error)?;
        let store = FileId::of(path);
        let permissions = fs::metadata(path).map(|meta| meta.permissions());
        let (new, path) =
            (with_suffix(path, "-holder.new"), with_suffix(path, &format!("{SUFFIX}{epoch}")));
        // The file gets its name once it is locked and complete.
        // Its holder also reads it: see `wake`.
        let options = &mut File::options();
        let mut file = options.read(true).write(true).create(true).truncate(true).open(&new)?;
        if !try_lock(&file)? {
            let why = format!("{} is locked by another process", new.display());
            return Err(StoreError::Unavailable(why.into()));
        }
        if let Some(store) = store {
            write!(file, "{store}")?;
            // Without a sync the file may be empty after a loss of power. Then it would not say
            // which file the journal belongs to.
            file.sync_all()?;
        }
        // Each user that may open the store must be able to read this file. If that fails, others
        // may be refused.
        if let Ok(permissions) = permissions {
            let _ = file.set_permissions(permissions);
        }
        fs::rename(&new, &path)?;
        Ok(Self { epoch, path, file })
    }

    /// Removes the holder file. No row may have this epoch any more. A value that is dropped
    /// instead leaves an unlocked file, which shows that its holder is dead.
    pub(crate) fn release(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A holder file that was found next to a store.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) epoch: i64,
    /// The file that the holder has open as the store, if it is recorded.
    pub(crate) store: Option<FileId>,
    /// `None` if this user may not read it.
    file: Option<File>,
}

impl Found {
    pub(crate) fn is_readable(&self) -> bool {
        self.file.is_some()
    }

    /// Returns `true` if the holder still has its file locked, or the file cannot be read.
    /// Otherwise this value now has the lock, and other processes would take it for the holder. So
    /// the caller must be in a writing transaction, or have found that the holder had another
    /// store's file open.
    pub(crate) fn lives(&self) -> io::Result<bool> {
        self.file.as_ref().map_or(Ok(true), |file| Ok(!try_lock(file)?))
    }
}

/// All holder files of the store at `path`. O(files in the folder).
pub(crate) fn all(path: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for (epoch, path) in paths(path)? {
        found.extend(look_at(epoch, path));
    }
    Ok(found)
}

/// The epochs and paths of all holder files of the store at `path`. O(files in the folder).
pub(crate) fn paths(path: &Path) -> io::Result<Vec<(i64, PathBuf)>> {
    let prefix = prefix(path);
    let mut paths = Vec::new();
    let folder = folder(path);
    let entries = fs::read_dir(folder).map_err(|error| {
        let why = format!("{error}: let this user read the folder {}", folder.display());
        io::Error::new(error.kind(), why)
    });
    for entry in entries? {
        let entry = entry?;
        paths.extend(epoch(&entry.file_name(), &prefix).map(|epoch| (epoch, entry.path())));
    }
    Ok(paths)
}

/// The epoch in the name of a holder file; `None` for other names, also with the same beginning.
fn epoch(name: &OsStr, prefix: &OsStr) -> Option<i64> {
    let digits = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes())?;
    let epoch: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    // No sign and no zero before it.
    (epoch > 0 && epoch.to_string().as_bytes() == digits).then_some(epoch)
}

/// The beginning of the names of the holder files of the store at `path`.
pub(crate) fn prefix(path: &Path) -> OsString {
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(SUFFIX);
    prefix
}

pub(crate) fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Opens and reads a holder file; `None` if a holder that closed has just removed it.
fn look_at(epoch: i64, path: PathBuf) -> Option<Found> {
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        file => file.ok(),
    };
    let mut text = String::new();
    // On systems with mandatory locks it cannot be read while its holder lives.
    let read = file.as_ref().and_then(|mut file| file.read_to_string(&mut text).ok());
    let store = read.and_then(|_| FileId::read(&text));
    Some(Found { path, epoch, store, file })
}

/// Frees the leases of dead holders, and removes their files. The connection must be in a writing
/// transaction. If that is not committed, the leases last until their end.
pub(crate) fn clear(
    connection: &Connection,
    path: &Path,
    now: Timestamp,
) -> Result<(), StoreError> {
    for found in all(path)? {
        if found.lives()? {
            continue;
        }
        free_leases(connection, found.epoch, now).map_err(store_error)?;
        remove(&found.path)?;
    }
    Ok(())
}

/// Removes a file. It may be missing: a holder that closes removes its own file.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Ends the leases of an epoch: a claim hands their jobs out at once, in the order of their due
/// times. O(k log n) for k leases.
pub(crate) fn free_leases(connection: &Connection, epoch: i64, now: Timestamp) -> Result<()> {
    connection.execute(
        // State 3 is `Replaced`: the newer generation waits for its own due time.
        "UPDATE job SET until = min(until, due, ?2), holder = NULL,
             visible_at = iif(state = 3, due, min(until, due, ?2))
         WHERE holder = ?1",
        [epoch, millis(now)],
    )?;
    Ok(())
}

/// Returns `true` if a row has a lease of this epoch.
pub(crate) fn has_leases(connection: &Connection, epoch: i64) -> Result<bool> {
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
