//! A test suite for the contract of [`Store`], for any implementation.
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
//! use std::time::Duration;
//! use wheelhouse_durable::store::{MemoryStore, Store, StoreClock};
//! use wheelhouse_service::{Clock, ManualClock};
//! use wheelhouse_store_conformance::Bed;
//!
//! struct InMemory {
//!     store: MemoryStore,
//!     clock: ManualClock,
//! }
//!
//! impl Bed for InMemory {
//!     fn connect(&mut self) -> Box<dyn Store> {
//!         Box::new(self.store.clone())
//!     }
//!
//!     fn advance(&mut self, by: Duration) {
//!         self.clock.advance(by);
//!     }
//!
//!     fn set_back(&mut self, by: Duration) {
//!         self.clock.set_wall(self.clock.wall() - by);
//!     }
//! }
//!
//! fn bed() -> Option<InMemory> {
//!     let clock = ManualClock::new();
//!     let store = MemoryStore::with_clock(StoreClock::new(clock.clone()));
//!     Some(InMemory { store, clock })
//! }
//!
//! wheelhouse_store_conformance::store_suite!(bed);
//! ```
//!
//! # Processes
//!
//! [`history`] tests several processes on one store while they are stopped, killed and cut off.
//! Each process logs its calls and the answers. A checker reads all logs: each acknowledged job ran
//! or was cancelled, each occurrence has one accepted ack, no run is early.
//!
//! # Formats
//!
//! [`write_golden`] and [`read_golden`] test that a store reads data that older versions wrote.
//!
//! # Limits
//!
//! The suite cannot test that a commit survives a power cut, nor that a failed batch has no effect.
//! A store needs its own tests for these.

mod checks;
mod golden;
pub mod history;
pub mod jobs;
mod model;
mod pair;
mod random;
mod rig;
mod server;
mod suite;

pub use checks::*;
pub use golden::{read_golden, write_golden};
pub use random::{random_changes, random_run};
pub use server::{Now, OnServer, a_clock_that_jumps_does_no_harm};
pub use suite::{Check, checks};

use std::time::Duration;
use wheelhouse_durable::store::Store;

/// A test bed: an empty store to test, and its clock.
pub trait Bed {
    /// Makes another connection to the store. It must see the data of all other connections, also
    /// if all of them were dropped before.
    fn connect(&mut self) -> Box<dyn Store>;

    /// Advances the store's clock by whole milliseconds. The clock must not advance otherwise.
    fn advance(&mut self, by: Duration);

    /// Sets the clock back by whole milliseconds, like an administrator or a failover to another
    /// server, but by no more than it was advanced. The store's time may stop instead until the
    /// clock has caught up.
    fn set_back(&mut self, by: Duration);

    /// Returns `true` if a waker is called when another connection commits. It is `false` for a
    /// store whose connections do not notify each other, such as a file on some systems.
    fn wakes_across_connections(&self) -> bool {
        true
    }
}

/// Makes a `#[test]` of each check. The argument is a function that returns an `Option<impl Bed>`,
/// called once for each test. If it returns `None`, the test prints "SKIPPED" and passes.
#[macro_export]
macro_rules! store_suite {
    ($bed:expr) => {
        $crate::for_each_check!([$crate::each_check_as_test] $bed);
    };
}
