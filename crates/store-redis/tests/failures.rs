//! Failures that a store on a Redis must survive.

use std::net::SocketAddr;
use std::time::Duration;
use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{Server, failure_suite};

fn connect(
    address: SocketAddr,
    queue: &str,
    timeout: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    let store = RedisStore::builder(&format!("redis://{address}/"), queue).timeout(timeout);
    Ok(Box::new(store.connect()?))
}

failure_suite!(|| Server::redis(&[]), connect);
