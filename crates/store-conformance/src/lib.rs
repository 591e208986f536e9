//! A test suite for the contract of [`Store`](wheelhouse_durable::store::Store), for any
//! implementation.
//!
//! Each guarantee is a check: a function that takes a [`Bed`] and panics with the expected and the
//! observed behavior. [`each_change_in_each_state`] and [`random_changes`] compare a store with a
//! model, call by call. [`jobs`] has the jobs and calls of a store's own tests.
//!
//! # Use
//!
//! A store's `tests/conformance.rs` defines a bed and passes it to the macro, which makes a
//! `#[test]` of each check:
//!
//! ```
//! use wheelhouse_durable::store::MemoryStore;
//! use wheelhouse_store_conformance::{Bed, store_suite};
//!
//! fn bed() -> Option<Bed> {
//!     let mut store = None;
//!     Some(Bed::new(move |clock| {
//!         store.get_or_insert_with(|| MemoryStore::with_clock(clock)).clone()
//!     }))
//! }
//!
//! store_suite!(bed);
//! ```
//!
//! # Processes
//!
//! [`history`] tests several processes on one store while they are stopped, killed and cut off.
//! Each process logs its calls and the answers, and a checker reads all logs.
//!
//! # Formats
//!
//! [`write_golden`] and [`read_golden`] test that a store reads data that older versions wrote.
//!
//! # Limits
//!
//! The suite cannot test that a commit survives a power cut, nor that a failed batch has no effect.
//! A store needs its own tests for these.

mod bed;
mod checks;
mod golden;
pub mod history;
pub mod jobs;
mod model;
mod pair;
mod random;
mod rig;
mod suite;

pub use bed::{Bed, Now};
pub use checks::*;
pub use golden::{read_golden, write_golden};
pub use random::{random_changes, random_run};
pub use suite::{Check, checks};

/// Makes a `#[test]` of each check. The argument is a function that returns an `Option<Bed>`,
/// called once for each test. If it returns `None`, the test prints "SKIPPED" and passes.
#[macro_export]
macro_rules! store_suite {
    ($bed:expr) => {
        $crate::for_each_check!([$crate::each_check_as_test] $bed);
    };
}
