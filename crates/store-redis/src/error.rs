//! What the errors of a server and of the way there mean for a store.

use crate::tls::is_untrusted;
use redis::{ErrorKind, RedisError, ServerErrorKind};
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
    match error.kind() {
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::TryAgain,
        ) => StoreError::Unavailable(Box::new(error)),
        ErrorKind::InvalidClientConfig | ErrorKind::AuthenticationFailed => {
            StoreError::Refused(format!("{error}; look at the URL and its password"))
        }
        ErrorKind::UnexpectedReturnType | ErrorKind::Parse => {
            StoreError::Damaged(error.to_string())
        }
        _ => by_code(&error),
    }
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
