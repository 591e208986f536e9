//! The conformance suite, on a PostgreSQL.

mod common;

use wheelhouse_store_conformance::{
    Bed, Now, OnServer, a_clock_that_jumps_does_no_harm, store_suite,
};
use wheelhouse_store_postgres::PostgresStore;

fn on_server() -> Option<OnServer<impl FnMut(Now) -> PostgresStore>> {
    let (url, queue) = (common::shared()?, common::queue());
    Some(OnServer::new(move |now| {
        let store = PostgresStore::builder(&url, &queue).expect("a URL");
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
