//! The suite on the in-memory store.

use std::time::Duration;
use wheelhouse_durable::store::{MemoryStore, Store, StoreClock};
use wheelhouse_service::{Clock, ManualClock};
use wheelhouse_store_conformance::{Bed, random_run};

struct InMemory {
    store: MemoryStore,
    clock: ManualClock,
}

impl Bed for InMemory {
    fn connect(&mut self) -> Box<dyn Store> {
        Box::new(self.store.clone())
    }

    fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
    }

    fn set_back(&mut self, by: Duration) {
        self.clock.set_wall(self.clock.wall() - by);
    }
}

fn bed() -> Option<InMemory> {
    let clock = ManualClock::new();
    let store = MemoryStore::with_clock(StoreClock::new(clock.clone()));
    Some(InMemory { store, clock })
}

wheelhouse_store_conformance::store_suite!(bed);

#[test]
fn many_seeds() {
    for seed in 0..40 {
        bed().iter_mut().for_each(|bed| random_run(bed, seed, 1_000));
    }
}
