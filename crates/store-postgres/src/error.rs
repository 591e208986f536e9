//! Errors of a server and of its connections, as errors of the store.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;
use tokio_postgres::error::SqlState;
use wheelhouse_durable::store::StoreError;

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

pub(crate) fn store_error(error: tokio_postgres::Error) -> StoreError {
    if is_untrusted(&error) {
        let why = with_sources(&error);
        return StoreError::Refused(format!("{why}: check the server's certificate, or its root"));
    }
    let Some(server) = error.as_db_error() else {
        let why = with_sources(&error);
        return match why.contains("does not support TLS") {
            true => StoreError::Refused(format!("{why}: leave `sslmode` out, or set `ssl` there")),
            false => StoreError::Unavailable(Box::new(error)),
        };
    };
    let (code, message) = (server.code(), server.message().to_owned());
    let io = |kind, remedy| StoreError::Io(io::Error::new(kind, format!("{message}: {remedy}")));
    match (code.code().get(..2), code.code()) {
        // A conflict with another transaction, which may have inserted the same key; an earlier
        // statement has failed; a division by zero, by which a statement finds that a row was
        // changed after it began.
        (Some("40"), _) | (_, "22012" | "23505" | "25P02" | "55P03") => conflict(&message),
        // It is not the primary, or no longer.
        (_, "25006") => {
            io(ErrorKind::ReadOnlyFilesystem, "the server is read-only; connect to the primary")
        }
        (_, "08P01") if message.contains("statement pooling") => StoreError::Refused(format!(
            "{message}: let the pooler lend sessions to transactions (`pool_mode = transaction`), \
             or give the address of the server"
        )),
        (_, "53100") => io(
            ErrorKind::StorageFull,
            "free space on the server's disk; no acknowledged change is lost",
        ),
        // Connections, resources, operators, and statements that this server no longer has.
        (Some("08" | "53" | "55" | "57"), _) | (_, "25P03" | "25P04" | "26000") => {
            StoreError::Unavailable(Box::new(error))
        }
        // By the name of a function: the message may be in another language.
        (_, "0A000") if server.routine() == Some("RevalidateCachedQuery") => {
            StoreError::Unavailable(Box::new(error))
        }
        (_, "22P05") => StoreError::Refused(format!(
            "{message}: keep timers in a database whose encoding is UTF8, or name queues and kinds \
             in ASCII"
        )),
        // The data cannot be stored: a retry would fail too.
        (Some("0A" | "22" | "23" | "54"), _) => StoreError::Refused(message),
        (Some("28" | "3D"), _) => StoreError::Refused(format!("{message}; check the URL")),
        (_, "42501") => StoreError::Refused(format!(
            "{message}: let this user create and use the schema `wheelhouse`"
        )),
        // Tables and columns that are missing, or have another type.
        (_, "42P01" | "42703" | "42804" | "42883" | "3F000") => {
            StoreError::Foreign(format!("its schema `wheelhouse` is another program's: {message}"))
        }
        (Some("XX"), _) => StoreError::Damaged(message),
        _ => StoreError::Io(io::Error::other(error)),
    }
}

/// Converts an error of a new connection. If the server cannot be reached, adds the remedy.
pub(crate) fn connect_error(error: tokio_postgres::Error) -> StoreError {
    let is_away = error.source().is_some_and(|source| source.is::<io::Error>());
    let why = with_sources(&error);
    match store_error(error) {
        StoreError::Unavailable(_) if is_away => StoreError::unreachable(why),
        other => other,
    }
}

/// Returns `true` if the server's certificate was not accepted. A retry does not help.
#[cfg(feature = "tls")]
fn is_untrusted(error: &tokio_postgres::Error) -> bool {
    let source = error.source();
    let io = source.and_then(|source| source.downcast_ref::<std::io::Error>());
    io.and_then(std::io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
}

#[cfg(not(feature = "tls"))]
fn is_untrusted(_: &tokio_postgres::Error) -> bool {
    false
}

/// A conflict with another transaction, which locked or inserted the same rows.
pub(crate) fn conflict(why: &str) -> StoreError {
    StoreError::Io(io::Error::new(
        ErrorKind::ResourceBusy,
        format!("{why}; roll back and try again"),
    ))
}

/// The server has not answered in time.
pub(crate) fn timeout(time: Duration) -> StoreError {
    let why = format!("no answer within {time:?}");
    StoreError::Unavailable(Box::new(io::Error::new(ErrorKind::TimedOut, why)))
}

/// Returns `true` if a statement exceeded its timeout, here or on the server.
pub(crate) fn is_timeout(error: &StoreError) -> bool {
    let StoreError::Unavailable(error) = error else { return false };
    let code = error.downcast_ref().and_then(tokio_postgres::Error::code);
    let here = error.downcast_ref().map(io::Error::kind);
    here == Some(ErrorKind::TimedOut) || code == Some(&SqlState::QUERY_CANCELED)
}

/// Returns `true` if the server has refused a statement, which has had no effect then. The other
/// errors of a server that is away can follow the commit of the statement.
pub(crate) fn was_refused(error: &StoreError) -> bool {
    let StoreError::Unavailable(error) = error else { return false };
    let code = error.downcast_ref().and_then(tokio_postgres::Error::code);
    code.is_some_and(|code| !["08", "57P"].iter().any(|class| code.code().starts_with(class)))
}

/// How to repeat a transaction that has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    /// Not at all: it would fail again.
    Never,
    /// On the same connection.
    SameConnection,
    /// On a new connection: this one is broken, or leads to a read-only server.
    NewConnection,
}

pub(crate) fn retry(error: &StoreError) -> Retry {
    match error {
        StoreError::Unavailable(_) => Retry::NewConnection,
        StoreError::Io(error) if error.kind() == ErrorKind::ResourceBusy => Retry::SameConnection,
        StoreError::Io(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => {
            Retry::NewConnection
        }
        _ => Retry::Never,
    }
}

/// The message of an error with those of its sources, which the error itself does not show.
pub(crate) fn with_sources(error: &tokio_postgres::Error) -> String {
    let first = error.source();
    let sources = std::iter::successors(first, |error| (*error).source());
    sources.fold(error.to_string(), |whole, source| format!("{whole}: {source}"))
}

#[cfg(test)]
mod tests {
    use crate::PostgresStore;
    use wheelhouse_store_conformance::jobs::fails;

    const FORM: &str = "write postgres://user:password@host/database";

    #[test]
    fn a_url_that_cannot_be_used_is_refused_with_the_form_of_one() {
        for (url, cause) in [
            ("http://localhost", "the URL: invalid connection string"),
            ("postgres:/x", "the URL: invalid connection string"),
            ("no url", "the URL: invalid connection string"),
            ("postgres://me:secret@h:port/a", "the URL: invalid connection string"),
            ("", "the URL names no host"),
            ("user=me password=secret", "the URL names no host"),
        ] {
            let error = fails(PostgresStore::connect(url, "q"), cause).to_string();
            assert!(error.contains(FORM) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_server_that_is_away_is_unreachable_with_a_remedy() {
        for url in ["postgres://me:secret@127.0.0.1:1/a", "host=/nonexistent user=me"] {
            let error = fails(PostgresStore::connect(url, "q"), "the store cannot be reached");
            let text = error.to_string();
            assert!(error.is_transient() && !text.contains("secret"), "{text}");
            for part in ["error connecting to server: ", "start the server", "`connect_later`"] {
                assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
            }
        }
    }
}
