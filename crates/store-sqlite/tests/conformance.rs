//! The conformance suite, on a file.

use std::time::Duration;
use tempfile::TempDir;
use wheelhouse_durable::store::{Store, StoreClock};
use wheelhouse_service::{Clock, ManualClock};
use wheelhouse_store_conformance::{Bed, store_suite};
use wheelhouse_store_sqlite::SqliteStore;

struct InFile {
    folder: TempDir,
    clock: ManualClock,
}

impl Bed for InFile {
    fn connect(&mut self) -> Box<dyn Store> {
        let path = self.folder.path().join("a.timers");
        // A separate clock, as in another process.
        let clock = StoreClock::new(self.clock.clone());
        Box::new(SqliteStore::with_clock(path, clock).expect("it opens"))
    }

    fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
    }

    fn set_back(&mut self, by: Duration) {
        self.clock.set_wall(self.clock.wall() - by);
    }

    fn wakes_across_connections(&self) -> bool {
        cfg!(target_os = "linux")
    }
}

fn bed() -> Option<InFile> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    Some(InFile { folder, clock: ManualClock::new() })
}

store_suite!(bed);
