//! The promises of a store, kept by a PostgreSQL.

mod common;

use wheelhouse_store_conformance::{Bed, OnServer, store_suite};
use wheelhouse_store_postgres::PostgresStore;

fn bed() -> Option<impl Bed> {
    let (url, queue) = (common::shared()?, common::queue());
    Some(OnServer::new(move |now| {
        let store = PostgresStore::builder(&url, &queue).expect("a URL");
        store.clock(now).connect().expect("it connects")
    }))
}

store_suite!(bed);
