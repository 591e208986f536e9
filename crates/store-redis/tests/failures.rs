//! Failures that a store on a Redis must survive.

use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{Server, server_suite};

server_suite!(|| Server::redis(&[]), |url, queue| RedisStore::builder(url, queue));
