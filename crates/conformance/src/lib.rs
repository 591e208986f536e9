//! The contract of the trait [`Timer`](wheelhouse_core::Timer) as a test suite, for any backend.
//!
//! Each of the eleven promises of the [contract](wheelhouse_core#the-contract) is a check: a
//! function that is generic over a [`Backend`]. If the backend fails, the function panics with the
//! promise and the observed result. In addition there are random sequences, which shrink when they
//! fail ([`property_any_sequence`]), a long run compared with the oracle
//! ([`differential_long_run`]), and the examples of the articles that this project examines
//! ([`golden_examples`]).
//!
//! [`exhaustive`] plays every sequence of a few calls on a structure that can be cloned. It is not
//! part of the suite, because it is most useful on a wheel with two or four slots.
//!
//! # Use
//!
//! A backend's `tests/conformance.rs` is one line; each check becomes a `#[test]`:
//!
//! ```
//! # mod tests {
//! # mod wheelhouse_skip_list { pub use wheelhouse_conformance::OracleDefinition as Definition; }
//! wheelhouse_conformance::suite!(wheelhouse_skip_list::Definition);
//! # }
//! ```
//!
//! For a program that chooses backends at run time, the checks are also available as a list:
//!
//! ```
//! use wheelhouse_conformance::{OracleDefinition, checks};
//! use std::time::Duration;
//!
//! let minute = Duration::from_secs(60);
//! for check in checks::<OracleDefinition>() {
//!     if check.name.starts_with("contract_06") {
//!         assert_eq!(check.run_within(minute), Ok(()));
//!     }
//! }
//! ```
//!
//! # How results are checked
//!
//! * Results are compared with those of the [`Oracle`], an ordered map that is obviously right. Two
//!   structures agree if every call has the same result: each timer that fires with handle,
//!   deadline and value, in order, each value that is returned, each length.
//! * A structure that is [late by design](wheelhouse_core#structures-that-are-late-by-design) runs
//!   the same checks. When its timers fire is compared with its own bound.
//! * All random parts use one interpreter, [`script`]. So a sequence found by one part, for example
//!   by the fuzzer in `fuzz/`, is a test case for the others, and is printed as Rust code.
//! * Seeds are fixed, so failures are reproducible. The fuzzer searches with new seeds.
//!   `PROPTEST_RNG_SEED` and `PROPTEST_CASES` change the seed and the number of random sequences.
//! * Each check runs in its own thread and fails if it takes longer than [`TIME_LIMIT`]. So a
//!   structure that iterates over 2^60 ticks fails instead of hanging.
//!
//! # Limitations
//!
//! The suite does not check that a handle stays stale after four billion uses of its place, because
//! that would take minutes. A backend with its own storage should test it with a unit test that
//! sets the counter, as wheelhouse's [`Arena`](wheelhouse_core::arena::Arena) does. The suite does
//! not check the worst case of a single operation either: its counts are averages.
//!
//! # Crate features
//!
//! | feature | adds | by default |
//! |---|---|---|
//! | `memory` | the check of contract 8, which counts bytes with a global allocator | on |
//!
//! A program has only one global allocator. If your tests have their own, turn the feature off.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod contract;
mod differential;
mod exhaustive;
mod golden;
mod guard;
mod operations;
mod property;
mod random;
pub mod script;
mod suite;

pub use contract::*;
pub use differential::differential_long_run;
pub use exhaustive::exhaustive;
pub use golden::golden_examples;
pub use guard::{Check, TIME_LIMIT};
pub use operations::check_random_operations;
pub use property::{property_any_sequence, property_end_of_time, property_many_ties, steps};
pub use suite::checks;
pub use wheelhouse_oracle::{Oracle, OracleDefinition};

use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;

/// An empty structure without a meter, its clock at 0.
fn fresh<B: Backend, T>() -> B::Timer<T, NoMeter> {
    B::build()
}

/// The latest tick at which a timer inserted at `now` may fire: its deadline if the structure is
/// exact.
fn latest<B: Backend>(now: u64, deadline: u64) -> u64 {
    B::INFO.precision.latest(now, deadline)
}

/// Returns `release` in release builds, and `debug` in debug builds, to keep these short.
const fn sized(release: usize, debug: usize) -> usize {
    if cfg!(debug_assertions) { debug } else { release }
}
