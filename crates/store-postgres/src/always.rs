//! The promises of a store whose claims all begin where the last one ended.

use crate::PostgresStore;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use wheelhouse_store_conformance::{Bed, OnServer, store_suite};
use wheelhouse_test_servers::Server;

fn bed() -> Option<impl Bed> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let server = SERVER.get_or_init(Server::postgres).as_ref()?;
    let url = format!("postgres://postgres@{}/postgres", server.address());
    let queue = format!("queue {}", COUNT.fetch_add(1, Ordering::SeqCst));
    Some(OnServer::new(move |now| {
        let builder = PostgresStore::builder(&url, &queue).expect("a URL");
        let store = builder.clock(now).connect().expect("it connects");
        store.floor.lock().always();
        store
    }))
}

store_suite!(bed);
