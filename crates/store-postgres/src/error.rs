//! What the errors of a server and of the way there mean for a store.

use crate::tls::is_untrusted;
use std::io;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;
use wheelhouse_durable::store::StoreError;

pub(crate) fn store_error(error: Error) -> StoreError {
    if is_untrusted(&error) {
        let why = whole(&error);
        return StoreError::Refused(format!("{why}: see to the server's certificate, or its root"));
    }
    let Some(server) = error.as_db_error() else {
        let why = whole(&error);
        return match why.contains("does not support TLS") {
            true => StoreError::Refused(format!("{why}: leave `sslmode` out, or set `ssl` there")),
            false => StoreError::Unavailable(Box::new(error)),
        };
    };
    let (code, said) = (server.code(), server.message().to_owned());
    let io = |kind, remedy| StoreError::Io(io::Error::new(kind, format!("{said}: {remedy}")));
    match code.code().get(..2) {
        // Connections, resources, operators, and transactions that should be tried again.
        Some("08" | "40" | "57") => StoreError::Unavailable(Box::new(error)),
        Some("53") if *code == SqlState::DISK_FULL => io(
            io::ErrorKind::StorageFull,
            "free space on the server's disk; what was acknowledged is kept",
        ),
        Some("53" | "55") => StoreError::Unavailable(Box::new(error)),
        // Another transaction has put the same in meanwhile.
        Some("23") if *code == SqlState::UNIQUE_VIOLATION => {
            StoreError::Unavailable(Box::new(error))
        }
        // What is in the data: it will never be taken.
        Some("0A" | "22" | "23" | "54") => StoreError::Refused(said),
        Some("28" | "3D") => StoreError::Refused(format!("{said}; look at the URL")),
        Some("42") if *code == SqlState::INSUFFICIENT_PRIVILEGE => StoreError::Refused(format!(
            "{said}: let this user create and use the schema `wheelhouse`"
        )),
        Some("42") => StoreError::Foreign(format!("its schema `wheelhouse` is another's: {said}")),
        Some("25") => {
            io(io::ErrorKind::PermissionDenied, "the server only reads; connect to the primary")
        }
        Some("XX") => StoreError::Damaged(said),
        _ => StoreError::Io(io::Error::other(error)),
    }
}

/// An error and what it was caused by, which it does not say itself.
pub(crate) fn whole(error: &Error) -> String {
    let first = std::error::Error::source(error);
    let sources = std::iter::successors(first, |error| (*error).source());
    sources.fold(error.to_string(), |whole, source| format!("{whole}: {source}"))
}

/// A row was inserted by another transaction since it was looked for: to be tried again.
pub(crate) fn is_conflict(error: &StoreError) -> bool {
    let StoreError::Unavailable(error) = error else { return false };
    let code = error.downcast_ref::<Error>().and_then(Error::code);
    code.is_some_and(|code| code.code().starts_with("40")) || error.is::<Conflict>()
}

/// Another transaction put a job under a key of this one.
#[derive(Debug)]
pub(crate) struct Conflict;

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("another transaction put a job under the same key; roll back and try again")
    }
}

impl std::error::Error for Conflict {}

impl From<Conflict> for StoreError {
    fn from(conflict: Conflict) -> Self {
        Self::Unavailable(Box::new(conflict))
    }
}
