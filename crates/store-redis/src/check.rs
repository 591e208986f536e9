//! Checks that a server keeps what it acknowledges.

use crate::error::store_error;
use std::collections::HashMap;
use wheelhouse_durable::store::StoreError;

/// The message for a server that refuses `CONFIG GET`.
const NO_ANSWER: &str = "the server refuses CONFIG GET, so it is not known whether it keeps what \
    it acknowledges; set `appendonly yes` and `maxmemory-policy noeviction`, and connect unchecked";

/// Refuses a server that has no append-only file, or that evicts data when memory is short.
pub(crate) fn is_durable(connection: &mut redis::Connection) -> Result<(), StoreError> {
    let mut command = redis::cmd("CONFIG");
    command.arg("GET").arg("appendonly").arg("maxmemory").arg("maxmemory-policy");
    let settings: HashMap<String, String> = match command.query(connection) {
        Err(error) if error.is_io_error() => return Err(store_error(error)),
        Err(_) => return Err(StoreError::Refused(NO_ANSWER.into())),
        Ok(settings) => settings,
    };
    let setting = |name| settings.get(name).map_or("", String::as_str);
    if setting("appendonly") != "yes" {
        return Err(StoreError::Refused(
            "the server has no append-only file and would lose jobs in a crash: set `appendonly \
             yes` (CONFIG SET appendonly yes), or connect unchecked"
                .into(),
        ));
    }
    let policy = setting("maxmemory-policy");
    if setting("maxmemory") != "0" && policy != "noeviction" {
        return Err(StoreError::Refused(format!(
            "the server evicts data, including jobs, when it is full (maxmemory-policy {policy}): \
             set `maxmemory-policy noeviction`, or connect unchecked"
        )));
    }
    Ok(())
}
