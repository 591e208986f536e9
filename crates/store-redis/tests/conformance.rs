//! The promises of a store, kept by a Redis.

mod common;

use wheelhouse_store_conformance::{Bed, OnServer, store_suite};
use wheelhouse_store_redis::RedisStore;

fn bed() -> Option<impl Bed> {
    let (url, queue) = (common::shared()?, common::queue());
    Some(OnServer::new(move |now| {
        let store = RedisStore::builder(&url, &queue);
        store.clock(now).connect().expect("it connects")
    }))
}

store_suite!(bed);
