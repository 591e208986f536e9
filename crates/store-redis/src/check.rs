//! Checks that a server keeps what it acknowledges.

use crate::error::{Result, store_error};
use std::collections::HashMap;
use wheelhouse_durable::store::StoreError;

/// The message for a server that refuses `CONFIG GET`.
const NO_ANSWER: &str = "the server refuses CONFIG GET, so it is not known whether it keeps what \
    it acknowledges; set `appendonly yes` and `maxmemory-policy noeviction`, and connect unchecked";

/// Refuses a server that has no append-only file, or that evicts data when memory is short.
pub(crate) fn is_durable(connection: &mut redis::Connection) -> Result<()> {
    let mut command = redis::cmd("CONFIG");
    // One pattern for all of them, as before Redis 7 there may be only one.
    command.arg("GET").arg("[am][pa][px]*");
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

#[cfg(test)]
mod tests {
    use crate::RedisStore;
    use crate::connection::{CHECK, Connection};
    use std::cell::Cell;
    use std::time::{Duration, Instant};
    use wheelhouse_durable::store::StoreError;
    use wheelhouse_store_conformance::jobs::fails;
    use wheelhouse_test_servers::Server;

    fn ask<T: redis::FromRedisValue>(url: &str, command: &str) -> T {
        let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        let mut words = command.split(' ');
        let command = &mut redis::cmd(words.next().unwrap());
        command.arg(words.collect::<Vec<_>>()).query(&mut connection).unwrap()
    }

    /// How often the server was asked for its settings.
    fn asked(url: &str) -> u32 {
        let stats: String = ask(url, "INFO commandstats");
        let line = stats.lines().find(|line| line.starts_with("cmdstat_config|get:"));
        let calls = line.and_then(|line| line.split_once("calls=")?.1.split_once(','));
        calls.map_or(0, |(calls, _)| calls.parse().unwrap())
    }

    #[test]
    fn a_server_is_asked_when_it_is_connected_and_once_a_minute() {
        let Some(server) = Server::redis(&[]) else { return };
        let url = server.url();
        let () = ask(&url, "CONFIG SET slowlog-log-slower-than 0");
        let mut connection = Connection::open(RedisStore::builder(&url, "a")).unwrap();
        assert_eq!(asked(&url), 1, "at the connection");
        // The fourth part is the command. Before Redis 7 it had one pattern at most.
        let log: Vec<(u64, u64, u64, Vec<String>, String, String)> = ask(&url, "SLOWLOG GET 99");
        let is_known = |words: &[String]| words.len() == 3 && words[..2] == ["CONFIG", "GET"];
        assert!(log.iter().any(|entry| is_known(&entry.3)), "{log:?}");
        let calls = Cell::new(0);
        let mut call_at = |at: Instant| {
            connection.with(at, |connection| {
                calls.set(calls.get() + 1);
                redis::cmd("PING").exec(connection)
            })
        };
        let (millisecond, first) = (Duration::from_millis(1), Instant::now() + CHECK);
        call_at(first - CHECK / 2).unwrap();
        assert_eq!(asked(&url), 1, "within the minute");
        call_at(first).unwrap();
        assert_eq!(asked(&url), 2, "after a minute");
        let second = first + CHECK;
        call_at(second - millisecond).unwrap();
        assert_eq!(asked(&url), 2, "within the next minute");

        let () = ask(&url, "CONFIG SET appendonly no");
        call_at(second - millisecond).unwrap();
        assert_eq!((asked(&url), calls.get()), (2, 4), "not noticed within the minute");
        for asks in [3, 4] {
            let error = fails(call_at(second), "appendonly");
            // Transient, because the queue is in use: the ends of runs are repeated.
            assert!(matches!(error, StoreError::Io(_)) && error.is_transient(), "{error}");
            assert_eq!((asked(&url), calls.get()), (asks, 4), "each call asks, and is not made");
        }
        let () = ask(&url, "CONFIG SET appendonly yes");
        call_at(second).unwrap();
        call_at(second + CHECK - millisecond).unwrap();
        assert_eq!((asked(&url), calls.get()), (5, 6), "asked once, and used again");
    }
}
