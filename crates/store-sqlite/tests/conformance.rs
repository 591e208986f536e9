//! The conformance suite, on a file.

use wheelhouse_store_conformance::{Bed, store_suite};
use wheelhouse_store_sqlite::SqliteStore;

fn bed() -> Option<Bed> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bed = Bed::new(move |clock| {
        SqliteStore::with_clock(folder.path().join("a.timers"), clock).expect("it opens")
    });
    Some(bed.wakes_across_connections(cfg!(target_os = "linux")))
}

store_suite!(bed);
