//! Errors of a server and of its connections, as errors of the store.

use redis::{ErrorKind, RedisError};
use wheelhouse_durable::store::StoreError;

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

pub(crate) fn store_error(error: RedisError) -> StoreError {
    if is_untrusted(&error) {
        return StoreError::Refused(format!(
            "{error}: check the server's certificate, or its root"
        ));
    }
    if error.is_timeout() {
        let why = "no answer in time; the server may be down, or only one of the server and the \
                   URL (rediss://) may use encryption";
        return StoreError::Unavailable(why.into());
    }
    if error.is_io_error() || lacks_queue(&error) {
        return StoreError::Unavailable(Box::new(error));
    }
    match error.kind() {
        ErrorKind::InvalidClientConfig | ErrorKind::AuthenticationFailed => {
            StoreError::Refused(format!("{error}; check the URL and its password"))
        }
        ErrorKind::UnexpectedReturnType | ErrorKind::Parse => {
            StoreError::Damaged(error.to_string())
        }
        _ => by_code(&error),
    }
}

/// Converts an error of a new connection. If the server cannot be reached, adds the remedy.
pub(crate) fn connect_error(error: RedisError) -> StoreError {
    let is_away = error.is_io_error() && !error.is_timeout();
    match store_error(error) {
        StoreError::Unavailable(error) if is_away => StoreError::unreachable(error),
        other => other,
    }
}

/// Converts an error of a URL.
pub(crate) fn url_error(error: &RedisError) -> StoreError {
    StoreError::Refused(format!(
        "the URL: {error}; write redis://user:password@host:6379/0, or unix:///path/to/socket"
    ))
}

/// Returns `true` if the server's certificate was not accepted. A retry does not help.
#[cfg(feature = "tls")]
fn is_untrusted(error: &RedisError) -> bool {
    use std::error::Error;
    let source = error.source().and_then(|source| source.downcast_ref());
    let io = source.and_then(|source: &std::sync::Arc<dyn Error + Send + Sync>| {
        source.downcast_ref::<std::io::Error>()
    });
    io.and_then(std::io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
}

#[cfg(not(feature = "tls"))]
fn is_untrusted(_: &RedisError) -> bool {
    false
}

/// The error codes of a server that does not have the queue now: it is a replica, it still loads
/// its files, it is not part of its cluster, or the slot has moved. Nothing was carried out.
/// Another server has the queue, or will have it soon.
const LACKS_QUEUE: [&str; 9] = [
    "READONLY",
    "LOADING",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MOVED",
    "ASK",
    "NOREPLICAS",
    "UNBLOCKED",
];

/// The code of an error: the first word of the server's answer. Up to Redis 6, an error within a
/// script has the code in its text: `ERR Error running script ..: @user_script: 9: -OOM ..`.
fn code(error: &RedisError) -> Option<&str> {
    let code = error.code()?;
    let text = error.detail().filter(|_| code == "ERR").and_then(|text| text.rsplit_once(": -"));
    text.and_then(|(_, text)| text.split(' ').next()).or(Some(code))
}

/// Returns `true` if the queue is, or will be, on another server, and the call was not carried out.
pub(crate) fn lacks_queue(error: &RedisError) -> bool {
    code(error).is_some_and(|code| LACKS_QUEUE.contains(&code))
}

/// Converts an error by its code.
fn by_code(error: &RedisError) -> StoreError {
    match code(error) {
        Some("OOM") => StoreError::Io(std::io::Error::new(
            std::io::ErrorKind::StorageFull,
            format!("{error}: raise maxmemory; no acknowledged change is lost"),
        )),
        Some("MISCONF") => StoreError::Io(std::io::Error::other(format!(
            "{error}: the server cannot write its files; check its disk and log"
        ))),
        Some("WRONGTYPE") => StoreError::Foreign(error.to_string()),
        Some("EPOCH") => StoreError::Foreign("data of another epoch".into()),
        Some("NOAUTH" | "WRONGPASS" | "NOPERM") => {
            StoreError::Refused(format!("{error}; check the URL, its user and password"))
        }
        _ => StoreError::Io(std::io::Error::other(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::{LACKS_QUEUE, lacks_queue, store_error};
    use crate::RedisStore;
    use redis::{RedisError, parse_redis_value};
    use std::io::ErrorKind;
    use wheelhouse_durable::store::StoreError;
    use wheelhouse_store_conformance::jobs::fails;

    /// The error that a line of a server's answer becomes.
    fn error(line: &str) -> RedisError {
        let answer = parse_redis_value(format!("-{line}\r\n").as_bytes());
        answer.and_then(redis::Value::extract_error).expect_err("it is an error")
    }

    const SCRIPT: &str = "ERR Error running script (call to f_0a1b): @user_script:9:";

    /// The answers of a server that is a replica, or loads its files, or is no longer responsible:
    /// to a command, to a script, and to a script of Redis 6.
    #[test]
    fn each_code_of_a_server_that_lacks_the_queue_is_known() {
        for code in LACKS_QUEUE {
            for line in [
                format!("{code} 7000 127.0.0.1:7001"),
                format!("{code} not now script: f_0a1b, on @user_script:9."),
                format!("{SCRIPT} @user_script: 9: -{code} not now"),
            ] {
                assert!(lacks_queue(&error(&line)), "{line}");
                let told = store_error(error(&line));
                assert!(matches!(told, StoreError::Unavailable(_)), "{line}: {told:?}");
            }
            let page = include_str!("lib.rs");
            assert!(page.contains(&format!("`{code}`")), "{code} is not documented");
        }
    }

    const OTHER_ERRORS: [&str; 10] = [
        "ERR unknown command 'EVALSHA'",
        "ERR the word READONLY in a text",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "MISCONF Redis is configured to save RDB snapshots",
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "NOPERM this user has no permissions",
        "NOAUTH Authentication required.",
        "NOSCRIPT No matching script.",
        "BUSY Redis is busy running a script.",
        "EPOCH",
    ];

    #[test]
    fn other_errors_are_not_taken_for_a_server_that_lacks_the_queue() {
        for line in OTHER_ERRORS {
            assert!(!lacks_queue(&error(line)), "{line}");
        }
    }

    /// The answers to a command or script, and to a script of Redis 6.
    #[test]
    fn a_full_server_is_known_and_no_other_error_is_taken_for_it() {
        for line in OTHER_ERRORS {
            for line in [line.to_owned(), format!("{SCRIPT} @user_script: 9: -{line}")] {
                let told = store_error(error(&line));
                let is_full =
                    matches!(&told, StoreError::Io(why) if why.kind() == ErrorKind::StorageFull);
                assert_eq!(is_full, line.contains("OOM"), "{line}: {told:?}");
            }
        }
    }

    #[test]
    fn a_url_that_cannot_be_used_is_refused_with_the_form_of_one() {
        for url in ["http://me:secret@localhost", "redis:/x", "no url", ""] {
            let error = fails(RedisStore::connect(url, "q"), "the URL: ").to_string();
            let form = "write redis://user:password@host:6379/0";
            assert!(error.contains(form) && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_server_that_is_away_is_unreachable_with_a_remedy() {
        for url in ["redis://me:secret@127.0.0.1:1/", "unix:///nonexistent/redis.sock"] {
            let error = fails(RedisStore::connect(url, "q"), "the store cannot be reached");
            let text = error.to_string();
            assert!(error.is_transient() && !text.contains("secret"), "{text}");
            for part in ["(os error", "start the server", "`connect_later`"] {
                assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
            }
        }
    }
}
