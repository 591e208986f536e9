//! Failures that a store on a Redis must survive.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;
use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_conformance::history;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::failures::{Trial, Trials, cut_off, turn};
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

fn trial() -> Option<&'static Mutex<Trial>> {
    static TRIALS: Trials = Trials::new();
    TRIALS.next(|| Some(Trial { server: Server::redis(&[])?, connect }))
}

failure_suite!(trial);

#[test]
#[ignore = "a child"]
fn plays() {
    history::child(|address| connect(address.parse().unwrap(), "history", TIMEOUT));
}

/// The history of processes that are stopped and killed, on a network that is cut.
#[test]
fn a_history_of_three_processes_is_sound() {
    let Some(trial) = trial() else { return };
    let trial = turn(trial);
    let proxy = Proxy::to(trial.server.address());
    let store = connect(trial.server.address(), "history", TIMEOUT).unwrap();
    let logs = tempfile::tempdir().unwrap();
    let cut = |n: u32| cut_off(&proxy, n % 2 == 1);
    history::trial(&proxy.address().to_string(), logs.path(), true, cut, store);
}
