//! Failures that a store on a Redis must survive.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;
use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_conformance::history;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::failures::{TestServer, TestServers, cut_off, lock_server};
use wheelhouse_test_servers::{Proxy, Server, failure_suite};

const TIMEOUT: Duration = Duration::from_secs(2);

fn connect(
    address: SocketAddr,
    queue: &str,
    timeout: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    let store = RedisStore::builder(&format!("redis://{address}/"), queue).timeout(timeout);
    Ok(Box::new(store.connect()?))
}

fn test_server() -> Option<&'static Mutex<TestServer>> {
    static SERVERS: TestServers = TestServers::new();
    SERVERS.next(|| Some(TestServer { server: Server::redis(&[])?, connect }))
}

failure_suite!(test_server);

#[test]
#[ignore = "a child"]
fn plays() {
    history::child(|address| connect(address.parse().unwrap(), "history", TIMEOUT));
}

/// The history of processes that are stopped and killed, on a network that is cut.
#[test]
fn a_history_of_three_processes_is_sound() {
    let Some(tested) = test_server() else { return };
    let tested = lock_server(tested);
    let proxy = Proxy::to(tested.server.address());
    let store = connect(tested.server.address(), "history", TIMEOUT).unwrap();
    let logs = tempfile::tempdir().unwrap();
    let cut = |n: u32| cut_off(&proxy, n % 2 == 1);
    history::trial(&proxy.address().to_string(), logs.path(), true, cut, store);
}
