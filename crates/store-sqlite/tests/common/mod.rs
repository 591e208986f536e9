//! Helpers of the tests.
#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod child;

use std::path::PathBuf;
use tempfile::TempDir;
use wheelhouse_durable::store::StoreClock;
use wheelhouse_service::ManualClock;

/// A temporary folder, and the path of a store in it.
pub(crate) fn temporary() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.timers");
    (folder, path)
}

/// A clock that advances only by hand, and a store's clock that shows it.
pub(crate) fn manual() -> (ManualClock, StoreClock) {
    let clock = ManualClock::new();
    (clock.clone(), StoreClock::new(clock))
}
