//! Failures that a store on a Redis must survive.

use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{How, Server, server_suite};

fn connect(url: &str, queue: &str, how: How) -> Result<Box<dyn Store>, StoreError> {
    let store = RedisStore::builder(url, queue);
    let store = match how {
        How::Within(timeout) => store.timeout(timeout).connect(),
        How::Later(timeout) => store.timeout(timeout).connect_later(),
        How::ToRead => store.connect_to_read(),
    };
    Ok(Box::new(store?))
}

server_suite!(|| Server::redis(&[]), connect);
