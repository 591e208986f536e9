//! What a store on a Redis survives.

use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::failures::Trial;
use wheelhouse_test_servers::{Server, failure_suite};

fn connect(
    address: SocketAddr,
    queue: &str,
    timeout: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    let store = RedisStore::builder(&format!("redis://{address}/"), queue).timeout(timeout);
    Ok(Box::new(store.connect()?))
}

fn trial() -> Option<&'static Mutex<Trial>> {
    static TRIAL: OnceLock<Option<Mutex<Trial>>> = OnceLock::new();
    let begin = || Some(Mutex::new(Trial { server: Server::redis(&[])?, connect }));
    TRIAL.get_or_init(begin).as_ref()
}

failure_suite!(trial);
