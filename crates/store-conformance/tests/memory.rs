//! The suite on the in-memory store.

use wheelhouse_durable::store::MemoryStore;
use wheelhouse_store_conformance::{Bed, random_run, store_suite};

fn bed() -> Option<Bed> {
    let mut store = None;
    Some(Bed::new(move |clock| store.get_or_insert_with(|| MemoryStore::with_clock(clock)).clone()))
}

store_suite!(bed);

#[test]
fn many_seeds() {
    for seed in 0..40 {
        bed().iter_mut().for_each(|bed| random_run(bed, seed, 1_000));
    }
}
