//! What the errors of a server and of the way there mean for a store.

use crate::tls::is_untrusted;
use redis::{ErrorKind, RedisError};
use wheelhouse_durable::store::StoreError;

pub(crate) fn store_error(error: RedisError) -> StoreError {
    if is_untrusted(&error) {
        return StoreError::Refused(format!(
            "{error}: see to the server's certificate, or its root"
        ));
    }
    if error.is_timeout() {
        let why = "no answer in time; a server that encrypts and a URL that does not say so \
                   (rediss://), or the reverse, do not understand each other either";
        return StoreError::Unavailable(why.into());
    }
    if error.is_io_error() {
        return StoreError::Unavailable(Box::new(error));
    }
    if error.code() == Some("EPOCH") {
        return StoreError::Foreign("data of another epoch".into());
    }
    if is_elsewhere(&error) {
        return StoreError::Unavailable(Box::new(error));
    }
    match error.kind() {
        ErrorKind::InvalidClientConfig | ErrorKind::AuthenticationFailed => {
            StoreError::Refused(format!("{error}; look at the URL and its password"))
        }
        ErrorKind::UnexpectedReturnType | ErrorKind::Parse => {
            StoreError::Damaged(error.to_string())
        }
        _ => by_code(&error),
    }
}

/// The first words of answers that say that this server does not have the queue now: it is a
/// replica, it still reads its files, it is no part of its cluster, or the slot has moved. Nothing
/// was carried out. Another server has the queue, or will have it soon.
const ELSEWHERE: [&str; 10] = [
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
pub(crate) fn is_elsewhere(error: &RedisError) -> bool {
    let Some(code) = error.code() else { return false };
    // Up to version 6, an error within a script has it in its text.
    let quoted =
        |code: &&str| error.detail().is_some_and(|text| text.contains(&format!("-{code} ")));
    ELSEWHERE.contains(&code) || ELSEWHERE.iter().any(quoted)
}

/// By the first word of the server's answer.
fn by_code(error: &RedisError) -> StoreError {
    match error.code() {
        Some("OOM") => StoreError::Io(std::io::Error::new(
            std::io::ErrorKind::StorageFull,
            format!("{error}: raise maxmemory; what was acknowledged is kept"),
        )),
        Some("MISCONF") => StoreError::Io(std::io::Error::other(format!(
            "{error}: the server cannot write its files, look at its disk and log"
        ))),
        Some("WRONGTYPE") => StoreError::Foreign(error.to_string()),
        Some("NOAUTH" | "WRONGPASS" | "NOPERM") => {
            StoreError::Refused(format!("{error}; look at the URL, its user and password"))
        }
        _ => StoreError::Io(std::io::Error::other(error.to_string())),
    }
}
