//! What a store on a PostgreSQL survives.

use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::failures::Trial;
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

fn trial() -> Option<&'static Mutex<Trial>> {
    static TRIAL: OnceLock<Option<Mutex<Trial>>> = OnceLock::new();
    let begin = || Some(Mutex::new(Trial { server: Server::postgres()?, connect }));
    TRIAL.get_or_init(begin).as_ref()
}

failure_suite!(trial);
