//! One server for all tests of a program.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use wheelhouse_test_servers::Server;

/// The URL of a server that all tests of this program share; `None` if Redis is not installed.
pub(crate) fn shared() -> Option<String> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(|| Server::redis(&[])).as_ref().map(url)
}

/// The URL of a server.
pub(crate) fn url(server: &Server) -> String {
    format!("redis://{}/", server.address())
}

/// The name of a queue that no other test uses.
pub(crate) fn queue() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("queue {}", COUNT.fetch_add(1, Ordering::SeqCst))
}

/// A connection of a user.
pub(crate) fn connection(url: &str) -> redis::Connection {
    redis::Client::open(url).unwrap().get_connection().unwrap()
}
