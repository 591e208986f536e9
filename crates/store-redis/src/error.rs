//! Errors of a server and of its connections, as errors of the store.

use redis::{ErrorKind, RedisError};
use wheelhouse_durable::store::StoreError;

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
    if error.is_io_error() {
        return StoreError::Unavailable(Box::new(error));
    }
    if error.code() == Some("EPOCH") {
        return StoreError::Foreign("data of another epoch".into());
    }
    if lacks_queue(&error) {
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

/// Returns `true` if the server's certificate was not accepted. A retry does not help.
fn is_untrusted(error: &RedisError) -> bool {
    #[cfg(feature = "tls")]
    {
        use std::error::Error;
        let source = error.source().and_then(|source| source.downcast_ref());
        let io = source.and_then(|source: &std::sync::Arc<dyn Error + Send + Sync>| {
            source.downcast_ref::<std::io::Error>()
        });
        io.and_then(std::io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
    }
    #[cfg(not(feature = "tls"))]
    {
        let _ = error;
        false
    }
}

/// The error codes of a server that does not have the queue now: it is a replica, it still loads
/// its files, it is not part of its cluster, or the slot has moved. Nothing was carried out.
/// Another server has the queue, or will have it soon.
const LACKS_QUEUE: [&str; 10] = [
    "READONLY",
    "LOADING",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MOVED",
    "ASK",
    "NOREPLICAS",
    "UNBLOCKED",
    "FAILOVER",
];

/// Returns `true` if the queue is, or will be, on another server, and the call was not carried out.
pub(crate) fn lacks_queue(error: &RedisError) -> bool {
    let Some(code) = error.code() else { return false };
    // Up to Redis 6, an error within a script has the code in its text.
    let quoted =
        |code: &&str| error.detail().is_some_and(|text| text.contains(&format!("-{code} ")));
    LACKS_QUEUE.contains(&code) || LACKS_QUEUE.iter().any(quoted)
}

/// Converts an error by its code, the first word of the server's answer.
fn by_code(error: &RedisError) -> StoreError {
    match error.code() {
        Some("OOM") => StoreError::Io(std::io::Error::new(
            std::io::ErrorKind::StorageFull,
            format!("{error}: raise maxmemory; no acknowledged change is lost"),
        )),
        Some("MISCONF") => StoreError::Io(std::io::Error::other(format!(
            "{error}: the server cannot write its files; check its disk and log"
        ))),
        Some("WRONGTYPE") => StoreError::Foreign(error.to_string()),
        Some("NOAUTH" | "WRONGPASS" | "NOPERM") => {
            StoreError::Refused(format!("{error}; check the URL, its user and password"))
        }
        _ => StoreError::Io(std::io::Error::other(error.to_string())),
    }
}
