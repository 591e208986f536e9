//! Timers on two servers, one of which is unreachable.

mod common;

use std::time::Duration;
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::{Server, shards};

#[test]
fn a_program_starts_while_a_server_is_away() {
    let (Some(first), Some(second)) = (Server::postgres(), Server::postgres()) else { return };
    shards::a_program_starts_while_a_server_is_away([first, second], |server| {
        let builder = PostgresStore::builder(&common::url(server), "orders").unwrap();
        builder.timeout(Duration::from_millis(500)).connect_later().unwrap()
    });
}
