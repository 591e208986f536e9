//! Who holds leases, and who of them is gone.
//!
//! Each value that opens a file takes an *epoch*, a number that nobody had before, and locks a file
//! beside the store whose name has the epoch: `orders.timers-holder-7`; the name of the store
//! itself, and not that of a symbolic link to it. Its leases have the epoch in their rows. The
//! operating system drops the lock when the process ends, in whatever way. So whoever gets the lock
//! of another epoch's file, or finds no such file, knows that its holder is gone; no process
//! identifier, start time or name of a machine has to be trusted.

use crate::error::store_error;
use crate::row::millis;
use fs4::{FileExt, TryLockError};
use rusqlite::Connection;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
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
        let epoch = connection.query_row(next, (), |row| row.get(0)).map_err(store_error)?;
        let path = file_of(path, epoch);
        let file = File::create(&path)?;
        if !try_lock(&file)? {
            let why = format!("{} is locked by another process", path.display());
            return Err(StoreError::Unavailable(why.into()));
        }
        Ok(Self { epoch, path, _file: file })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // One that stays is removed by who opens the store next.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the files of holders that are gone. Within a writing transaction, as `next`.
pub(crate) fn remove_gone(path: &Path) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    let mut prefix = name.to_owned();
    prefix.push(SUFFIX);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    for entry in fs::read_dir(folder.unwrap_or(Path::new(".")))? {
        let entry = entry?;
        let bytes = entry.file_name().into_encoded_bytes();
        if bytes.starts_with(prefix.as_encoded_bytes()) && is_gone(&entry.path())? {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Removes a file. It may have gone meanwhile: who closes a store removes its own.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Lets the leases of holders that are gone end, so that a claim hands them out at once, in the
/// order in which they were due. Within a writing transaction, after `remove_gone`.
pub(crate) fn free_leases(
    connection: &Connection,
    path: &Path,
    now: Timestamp,
) -> rusqlite::Result<()> {
    // One search for each holder, and not a walk over all that is held.
    let mut held = connection.prepare(
        "WITH RECURSIVE held (holder) AS (
             SELECT min(holder) FROM job WHERE holder IS NOT NULL
             UNION ALL
             SELECT (SELECT min(holder) FROM job WHERE holder > held.holder)
             FROM held WHERE holder IS NOT NULL)
         SELECT holder FROM held WHERE holder IS NOT NULL",
    )?;
    let held: Vec<i64> = held.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?;
    for epoch in held.into_iter().filter(|epoch| !file_of(path, *epoch).exists()) {
        connection.execute(
            // 3 is replaced: the newer generation waits for its own due time.
            "UPDATE job SET until = min(until, due, ?2), holder = NULL,
                 visible_at = iif(state = 3, due, min(until, due, ?2))
             WHERE holder = ?1",
            [epoch, millis(now)],
        )?;
    }
    Ok(())
}

/// What follows the store's name in that of a holder's file, before the epoch.
const SUFFIX: &str = "-holder-";

fn file_of(path: &Path, epoch: i64) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!("{SUFFIX}{epoch}"));
    name.into()
}

/// Whether nobody has the lock of this file.
fn is_gone(path: &Path) -> io::Result<bool> {
    match File::open(path) {
        Ok(file) => try_lock(&file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Locks a file; whether nobody else had its lock.
fn try_lock(file: &File) -> io::Result<bool> {
    match FileExt::try_lock(file) {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
