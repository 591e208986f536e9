//! The promises of [`Store`] as a test suite, for any store.
//!
//! Each promise is a check: a function that is given a [`Bed`] and panics with what was promised
//! and what was seen. [`random_changes`] compares a store with a model, call by call.
//!
//! # Use
//!
//! A store's `tests/conformance.rs` makes a bed and names it; each check becomes a `#[test]`:
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
//! What several processes do to one store while they are stopped, killed and cut off is no
//! sequence of calls. [`history`] has each write down what it asked and what was answered, and a
//! checker that reads all of it: who was acknowledged ran or was cancelled, acks are accepted once,
//! nothing is early.
//!
//! # Formats
//!
//! [`write_golden`] and [`read_golden`] hold a store to reading what older versions wrote.
//!
//! # What it cannot see
//!
//! That a commit survives a power cut, and that of a batch which fails nothing is done: a store
//! shows that with its own loops.

mod checks;
mod golden;
pub mod history;
mod model;
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

/// An empty store to be tested, and its clock.
pub trait Bed {
    /// Another connection to it. The data are those that other connections see, also if all of them
    /// were dropped before.
    fn connect(&mut self) -> Box<dyn Store>;

    /// Moves the store's clock on, by whole milliseconds; nothing else moves it.
    fn advance(&mut self, by: Duration);

    /// Sets the clock back, by whole milliseconds, as an administrator does or a failover to
    /// another server. By no more than it was moved on. A store may stand still instead until the
    /// clock has caught up.
    fn set_back(&mut self, by: Duration);

    /// Whether a waker is called also when another connection commits. False for a store whose
    /// connections know nothing of each other, such as a file.
    fn wakes_across_connections(&self) -> bool {
        true
    }
}

/// Makes a `#[test]` of each check, on a store of its own. Its argument is called for an
/// `Option<impl Bed>`; if that is `None`, the test passes without having tested anything, so
/// whoever says so says it aloud.
#[macro_export]
macro_rules! store_suite {
    ($bed:expr) => {
        $crate::for_each_check!([$crate::each_check_as_test] $bed);
    };
}
