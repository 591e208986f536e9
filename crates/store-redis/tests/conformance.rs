//! The conformance suite, on a Redis.

mod common;

use wheelhouse_store_conformance::{
    Bed, Now, OnServer, a_clock_that_jumps_does_no_harm, store_suite,
};
use wheelhouse_store_redis::RedisStore;

fn on_server() -> Option<OnServer<impl FnMut(Now) -> RedisStore>> {
    let (url, queue) = (common::shared()?, common::queue());
    Some(OnServer::new(move |now| {
        let store = RedisStore::builder(&url, &queue);
        store.clock(now).connect().expect("it connects")
    }))
}

fn bed() -> Option<impl Bed> {
    on_server()
}

store_suite!(bed);

#[test]
fn a_servers_clock_that_jumps_does_no_harm() {
    on_server().into_iter().for_each(a_clock_that_jumps_does_no_harm);
}
