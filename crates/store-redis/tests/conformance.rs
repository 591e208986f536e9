//! The conformance suite, on a Redis.

use wheelhouse_store_conformance::{Bed, a_clock_that_jumps_does_no_harm, store_suite};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{Server, queue};

fn bed() -> Option<Bed> {
    let (url, queue) = (Server::shared_redis()?.url(), queue());
    Some(Bed::on_server(move |now| {
        RedisStore::builder(&url, &queue).clock(now).connect().expect("it connects")
    }))
}

store_suite!(bed);

#[test]
fn a_servers_clock_that_jumps_does_no_harm() {
    bed().iter_mut().for_each(a_clock_that_jumps_does_no_harm);
}
