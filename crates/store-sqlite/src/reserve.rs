//! Space that is kept for the time when the disk is full.
//!
//! To begin and to end a job needs space too: each writes pages to the journal. So a file next
//! to the store, `orders.timers-reserve`, occupies space until the disk is full. Then it is
//! removed, and jobs run on the space that this gives back. New jobs are refused until the reserve
//! can be made again: otherwise they would use it up.

use crate::files::beside;
use rusqlite::Connection;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use wheelhouse_durable::store::StoreError;

/// A sixteenth of the disk, within these bounds. The journal is copied into the store's file at 16
/// MiB at the latest, and most of that overwrites pages that the file has.
const BYTES: RangeInclusive<u64> = 256 << 10..=4 << 20;

/// The file that occupies the space.
#[derive(Debug)]
pub(crate) struct Reserve(PathBuf);

impl Reserve {
    pub(crate) fn of(path: &Path) -> Self {
        Self(beside(path, "-reserve"))
    }

    pub(crate) fn is_there(&self) -> bool {
        self.0.exists()
    }

    /// Makes the file if it is missing.
    ///
    /// # Errors
    ///
    /// `StorageFull` if the disk has no space for it; then nothing is left of it.
    pub(crate) fn keep(&self) -> io::Result<()> {
        if self.is_there() {
            return Ok(());
        }
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let bytes = (fs4::total_space(folder)? / 16).clamp(*BYTES.start(), *BYTES.end());
        // Asked first, so that a program that schedules on a full disk does not write and remove
        // megabytes each time. Others may write in between: then the write fails.
        let made = match fs4::available_space(folder)? {
            available if available < bytes => Err(ErrorKind::StorageFull.into()),
            _ => self.fill(bytes),
        };
        made.map_err(|error: io::Error| {
            let (kind, path) = (error.kind(), self.0.display());
            let why = format!(
                "{error}: free {bytes} bytes and more on the disk of {path}; jobs that are stored \
                 run, and what was acknowledged is kept"
            );
            io::Error::new(kind, why)
        })
    }

    /// Writes the file under another name first: half of it is no reserve.
    fn fill(&self, bytes: u64) -> io::Result<()> {
        let part = beside(&self.0, ".part");
        let mut file = File::create(&part)?;
        let filled = (0..bytes / BLOCK as u64).try_for_each(|n| file.write_all(&block(n)));
        filled.and_then(|()| fs::rename(&part, &self.0)).inspect_err(|_| {
            let _ = fs::remove_file(&part);
        })
    }

    /// Gives the space back; whether there was a reserve.
    pub(crate) fn release(&self) -> bool {
        fs::remove_file(&self.0).is_ok()
    }

    /// Carries out what jobs need to begin or end. If the disk is full, gives the reserve back,
    /// copies the journal into the store's file so that its space is used again, and tries a
    /// second time.
    pub(crate) fn lend<T>(
        &self,
        connection: &mut Connection,
        mut attempt: impl FnMut(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match attempt(connection) {
            Err(error) if is_full(&error) => {
                self.release();
                // Copies what it can without waiting for readers.
                let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
                attempt(connection)
            }
            answer => answer,
        }
    }
}

/// Returns `true` if the disk had no space.
pub(crate) fn is_full(error: &StoreError) -> bool {
    matches!(error, StoreError::Io(error) if error.kind() == ErrorKind::StorageFull)
}

const BLOCK: usize = 4096;

/// Bytes that a file system cannot compress to nothing: the output of a linear congruential
/// generator.
fn block(seed: u64) -> [u8; BLOCK] {
    let mut state = seed;
    std::array::from_fn(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
}
