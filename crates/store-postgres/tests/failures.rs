//! Failures that a store on a PostgreSQL must survive.

use std::net::SocketAddr;
use std::time::Duration;
use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::{Server, failure_suite};

fn connect(
    address: SocketAddr,
    queue: &str,
    timeout: Duration,
) -> Result<Box<dyn Store>, StoreError> {
    let url = format!("postgres://postgres@{address}/postgres");
    let store = PostgresStore::builder(&url, queue)?.timeout(timeout);
    Ok(Box::new(store.connect()?))
}

failure_suite!(Server::postgres, connect);
