//! Errors of SQLite as errors of the store, with their remedies.

use rusqlite::{Error, ErrorCode, ffi};
use std::io::{self, ErrorKind};
use wheelhouse_durable::store::StoreError;

/// The codes of a full disk. SQLite reports it as an I/O error when it grows the index of the
/// journal, and a used-up quota as a failed write. A disk that fails is not told apart from the
/// latter. To treat it as full does no harm: the reserve is removed, and the call is repeated. A
/// claim is repeated with fewer jobs, and a batch in parts.
const FULL: [i32; 3] = [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_IOERR_WRITE];

pub(crate) fn store_error(error: Error) -> StoreError {
    let io = |kind, remedy| StoreError::Io(io::Error::new(kind, format!("{error}: {remedy}")));
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        _ if extended.is_some_and(|code| FULL.contains(&code)) => io(
            ErrorKind::StorageFull,
            "free space on its disk, or raise the quota (or look for disk errors in the system's \
             log); no acknowledged change is lost",
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => io(
            ErrorKind::PermissionDenied,
            "let this user write the file and its folder, on a disk that is not mounted read-only",
        ),
        Some(ErrorCode::CannotOpen) => {
            io(ErrorKind::NotFound, "check that the folder exists and this user may write to it")
        }
        Some(ErrorCode::SystemIoFailure) => {
            io(ErrorKind::Other, "look for disk errors in the system's log, and try again")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Unavailable(Box::new(error))
        }
        Some(ErrorCode::NotADatabase) => StoreError::Foreign("it is not a SQLite database".into()),
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(error.to_string()),
        _ => match error {
            // A value that the statements of this crate cannot have written, or a missing row that
            // an index names.
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::QueryReturnedNoRows
            | Error::Utf8Error(..) => StoreError::Damaged(error.to_string()),
            _ => StoreError::Io(io::Error::other(error)),
        },
    }
}
