//! The promises of a store, kept by a PostgreSQL.

mod common;

use common::queue;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_durable::store::{Store, Timestamp};
use wheelhouse_store_conformance::{Bed, store_suite};
use wheelhouse_store_postgres::PostgresStore;

struct OnServer {
    url: String,
    queue: String,
    clock: Arc<AtomicU64>,
}

impl Bed for OnServer {
    fn connect(&mut self) -> Box<dyn Store> {
        let clock = self.clock.clone();
        let store = PostgresStore::builder(&self.url, &self.queue)
            .expect("a URL")
            .clock(move || Timestamp::from_millis(clock.load(Ordering::SeqCst)));
        Box::new(store.connect().expect("it connects"))
    }

    fn advance(&mut self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).expect("a short time");
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }
}

fn bed() -> Option<OnServer> {
    let url = common::shared()?;
    let clock = Arc::new(AtomicU64::new(1_790_000_000_000));
    Some(OnServer { url, queue: queue(), clock })
}

store_suite!(bed);
