//! What SQLite's errors mean for a store, and what helps.

use rusqlite::{Error, ErrorCode, ffi};
use std::io::{self, ErrorKind};
use wheelhouse_durable::store::StoreError;

/// What became of a call to SQLite, as an error of the store.
pub(crate) fn store_error(error: Error) -> StoreError {
    let io = |kind, remedy| StoreError::Io(io::Error::new(kind, format!("{error}: {remedy}")));
    // The index of the journal grows on the disk, too.
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) if extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => {
            io(ErrorKind::StorageFull, "free space on its disk; what was acknowledged is kept")
        }
        Some(ErrorCode::DiskFull) => {
            io(ErrorKind::StorageFull, "free space on its disk; what was acknowledged is kept")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => io(
            ErrorKind::PermissionDenied,
            "let this user write the file and its folder, on a disk that is not mounted read-only",
        ),
        Some(ErrorCode::CannotOpen) => {
            io(ErrorKind::NotFound, "does the folder exist, and may this user write to it?")
        }
        Some(ErrorCode::SystemIoFailure) => {
            io(ErrorKind::Other, "look for errors of the disk in the system's log; try again")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Unavailable(Box::new(error))
        }
        Some(ErrorCode::NotADatabase) => StoreError::Foreign("it is no SQLite database".into()),
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
        _ => not_sqlite(error),
    }
}

/// What has no code of SQLite's: a value that our own statements cannot have written, or else
/// something that nobody expects.
fn not_sqlite(error: Error) -> StoreError {
    match error {
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => StoreError::Damaged(error.to_string()),
        _ => StoreError::Io(io::Error::other(error)),
    }
}
