//! Disk space in reserve, for when the disk is full.
//!
//! To begin and end a job needs space, because each writes pages to the journal. So a file next to
//! the store, `orders.timers-reserve`, occupies space until the disk is full. Then it is removed,
//! and jobs run on the freed space. New jobs are refused until the reserve can be created again:
//! otherwise they would use up the space.

use crate::files::with_suffix;
use crate::holder::folder;
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use wheelhouse_durable::store::StoreError;

/// The bounds of the reserve, which is a sixteenth of the disk. It can be smaller than the journal:
/// the journal is copied into the store's file at 16 MiB at the latest, and most of that overwrites
/// pages that the file has.
const BYTES: RangeInclusive<u64> = 256 << 10..=4 << 20;

/// The file that occupies the space.
#[derive(Debug)]
pub(crate) struct Reserve(PathBuf);

impl Reserve {
    pub(crate) fn of(path: &Path) -> Self {
        Self(with_suffix(path, "-reserve"))
    }

    pub(crate) fn is_there(&self) -> bool {
        self.0.exists()
    }

    /// Creates the file if it is missing.
    ///
    /// # Errors
    ///
    /// `StorageFull` or `QuotaExceeded` if the disk has no space for it. Nothing is left of it
    /// then.
    pub(crate) fn keep(&self) -> io::Result<()> {
        if self.is_there() {
            return Ok(());
        }
        let folder = folder(&self.0);
        let bytes = (fs4::total_space(folder)? / 16).clamp(*BYTES.start(), *BYTES.end());
        // This check comes first, so that a program that schedules on a full disk does not write
        // and remove megabytes each time. If another program writes in between, the write fails.
        let made = match fs4::available_space(folder)? {
            available if available < bytes => Err(ErrorKind::StorageFull.into()),
            _ => self.fill(bytes),
        };
        made.map_err(|error: io::Error| {
            let (kind, path) = (error.kind(), self.0.display());
            let why = format!(
                "{error}: free at least {bytes} bytes on the disk of {path}; stored jobs run, and \
                 no acknowledged change is lost"
            );
            io::Error::new(kind, why)
        })
    }

    /// Writes the file under another name first, so that an incomplete file is never the reserve.
    fn fill(&self, bytes: u64) -> io::Result<()> {
        let part = with_suffix(&self.0, ".part");
        let mut file = File::create(&part)?;
        let filled = (0..bytes / BLOCK as u64).try_for_each(|n| file.write_all(&block(n)));
        filled.and_then(|()| fs::rename(&part, &self.0)).inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
    }

    /// Removes the reserve. Returns `true` if there was one.
    pub(crate) fn release(&self) -> bool {
        fs::remove_file(&self.0).is_ok()
    }

    /// Runs `attempt`, which begins or ends jobs. If the disk is full, removes the reserve, copies
    /// the journal into the store's file so that its space can be reused, and runs `attempt` again.
    pub(crate) fn lend<T>(
        &self,
        connection: &mut Connection,
        mut attempt: impl FnMut(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match attempt(connection) {
            Err(error) if is_full(&error) => {
                self.release();
                // `PASSIVE` copies as much as possible without waiting for readers.
                let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
                attempt(connection)
            }
            answer => answer,
        }
    }
}

/// Returns `true` if the error is a full disk or a used-up quota.
pub(crate) fn is_full(error: &StoreError) -> bool {
    use ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error, StoreError::Io(error) if matches!(error.kind(), QuotaExceeded | StorageFull))
}

const BLOCK: usize = 4096;

/// Bytes that a file system cannot compress: the output of a linear congruential generator.
fn block(seed: u64) -> [u8; BLOCK] {
    let mut state = seed;
    std::array::from_fn(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::store_error;
    use rusqlite::{Error, ffi};

    /// SQLite reports a used-up quota as a failed write, and the system under its own name.
    #[test]
    fn a_used_up_quota_is_a_full_disk() {
        let error = |code| store_error(Error::SqliteFailure(ffi::Error::new(code), None));
        for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_IOERR_WRITE] {
            let error = error(code);
            assert!(is_full(&error) && error.is_transient(), "{error}");
            assert!(error.to_string().contains("free space on its disk, or raise"), "{error}");
        }
        assert!(!is_full(&error(ffi::SQLITE_IOERR_READ)));
        assert!(is_full(&StoreError::Io(ErrorKind::QuotaExceeded.into())));
    }

    #[test]
    fn stored_jobs_use_the_space_of_the_reserve_if_the_quota_is_used_up() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::of(&folder.path().join("a.timers"));
        reserve.keep().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        let lent = reserve.lend(&mut connection, |_| match reserve.is_there() {
            true => Err(StoreError::Io(ErrorKind::QuotaExceeded.into())),
            false => Ok(17),
        });
        assert_eq!(lent.unwrap(), 17);
    }
}
