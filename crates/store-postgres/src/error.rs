//! What the errors of a server and of the way there mean for a store.

use crate::tls::is_untrusted;
use std::error::Error;
use std::time::Duration;
use std::{fmt, io};
use tokio_postgres::error::SqlState;
use wheelhouse_durable::store::StoreError;

pub(crate) fn store_error(error: tokio_postgres::Error) -> StoreError {
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
    match (code.code().get(..2), code.code()) {
        // Other transactions are in the way, or this one has failed before.
        (Some("40"), _) | (_, "25P02" | "55P03") => Conflict(said).into(),
        (_, "25006") => OnlyReads(said).into(),
        (_, "08P01") if said.contains("statement pooling") => StoreError::Refused(format!(
            "{said}: let the pooler lend sessions to transactions (`pool_mode = transaction`), or \
             give the address of the server"
        )),
        // Connections, resources, operators, and statements that this server no longer has.
        (Some("08" | "57"), _) | (_, "25P03" | "25P04" | "26000") => {
            StoreError::Unavailable(Box::new(error))
        }
        (_, "0A000") if said.contains("cached plan") => StoreError::Unavailable(Box::new(error)),
        (_, "53100") => io(
            io::ErrorKind::StorageFull,
            "free space on the server's disk; what was acknowledged is kept",
        ),
        (Some("53" | "55"), _) => StoreError::Unavailable(Box::new(error)),
        // Another transaction has put the same in meanwhile.
        (_, "23505") => Conflict(said).into(),
        (_, "22P05") => StoreError::Refused(format!(
            "{said}: keep timers in a database whose encoding is UTF8, or name queues and kinds \
             in ASCII"
        )),
        // Something in the data: it will never be taken.
        (Some("0A" | "22" | "23" | "54"), _) => StoreError::Refused(said),
        (Some("28" | "3D"), _) => StoreError::Refused(format!("{said}; look at the URL")),
        (_, "42501") => StoreError::Refused(format!(
            "{said}: let this user create and use the schema `wheelhouse`"
        )),
        // Tables and columns that are not there, or are of another type.
        (_, "42P01" | "42703" | "42804" | "42883" | "3F000") => {
            StoreError::Foreign(format!("its schema `wheelhouse` is another's: {said}"))
        }
        (Some("XX"), _) => StoreError::Damaged(said),
        _ => StoreError::Io(io::Error::other(error)),
    }
}

/// The server has not answered in time.
#[derive(Debug)]
pub(crate) struct Late(pub(crate) Duration);

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no answer within {:?}", self.0)
    }
}

impl Error for Late {}

impl From<Late> for StoreError {
    fn from(late: Late) -> Self {
        Self::Unavailable(Box::new(late))
    }
}

/// Returns `true` if a statement was given up because of the time that it took: here, or by the
/// server.
pub(crate) fn took_too_long(error: &StoreError) -> bool {
    let StoreError::Unavailable(error) = error else { return false };
    let code = error.downcast_ref().and_then(tokio_postgres::Error::code);
    error.is::<Late>() || code == Some(&SqlState::QUERY_CANCELED)
}

/// How a transaction that has changed nothing is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It would fail again.
    Never,
    /// On the same connection.
    Here,
    /// On a new connection: this one is broken, or leads to a server that does not write.
    Elsewhere,
}

pub(crate) fn again(error: &StoreError) -> Again {
    match error {
        StoreError::Unavailable(_) => Again::Elsewhere,
        StoreError::Io(error) => match error.get_ref() {
            Some(inner) if inner.is::<Conflict>() => Again::Here,
            Some(inner) if inner.is::<OnlyReads>() => Again::Elsewhere,
            _ => Again::Never,
        },
        _ => Again::Never,
    }
}

/// The server was the primary, or never has been.
#[derive(Debug)]
struct OnlyReads(String);

impl fmt::Display for OnlyReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the server only reads; connect to the primary", self.0)
    }
}

impl Error for OnlyReads {}

impl From<OnlyReads> for StoreError {
    fn from(error: OnlyReads) -> Self {
        Self::Io(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, error))
    }
}

/// Another transaction was in the way: it locked or inserted the same rows.
#[derive(Debug)]
pub(crate) struct Conflict(String);

impl Conflict {
    pub(crate) fn of_keys() -> Self {
        Self("another transaction put a job under the same key".into())
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; roll back and try again", self.0)
    }
}

impl Error for Conflict {}

impl From<Conflict> for StoreError {
    fn from(conflict: Conflict) -> Self {
        Self::Io(io::Error::new(io::ErrorKind::ResourceBusy, conflict))
    }
}

/// An error and what it was caused by, which it does not say itself.
pub(crate) fn whole(error: &tokio_postgres::Error) -> String {
    let first = error.source();
    let sources = std::iter::successors(first, |error| (*error).source());
    sources.fold(error.to_string(), |whole, source| format!("{whole}: {source}"))
}
