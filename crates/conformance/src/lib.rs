//! The contract of wheelhouse's [`Timer`] trait as a test suite, for any backend.
//!
//! Each of the eleven promises of the [contract](wheelhouse_core#the-contract) is a check: a
//! function that is generic over a [`Backend`] and panics with what was promised and what was seen.
//! Beside them stand random sequences that shrink ([`property_any_sequence`]), a long run against
//! the oracle ([`differential_long_run`]), and the worked examples of the articles that this
//! project examines (`golden_..`).
//!
//! [`exhaustive`] plays every sequence of a few calls on a structure that can be cloned. It is not
//! part of the suite, because it is of most use on a wheel with two or four slots.
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
//! A program that chooses backends as it runs takes the same checks as a list:
//!
//! ```
//! use wheelhouse_conformance::{OracleDefinition, checks};
//! use std::time::Duration;
//!
//! for check in checks::<OracleDefinition>().iter().filter(|check| check.contract == Some(6)) {
//!     assert_eq!(check.run_within(Duration::from_secs(60)), Ok(()));
//! }
//! ```
//!
//! A structure that is [late by design](wheelhouse_core#structures-that-are-late-by-design) has a
//! suite of its own, [`approximate_suite!`] and [`approximate_checks`]: the promises that hold as
//! they stand, the others as they are changed (`approximate_..`), and a long run in which every
//! answer is held to the structure's own bound.
//!
//! # How it decides
//!
//! * Against the [`Oracle`], an ordered map that is right because it is obvious. Two structures
//!   agree if they answer every call alike: each expiry with handle, deadline and value in order,
//!   each value given back, each length.
//! * The random parts all go through one interpreter, [`script`], so that a sequence found by one
//!   (the fuzzer in `fuzz/`, say) is a test case for the others, and prints as Rust code.
//! * Seeds are fixed: a test that fails fails again. Searching with fresh randomness is the
//!   fuzzer's part; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` change the seed and the number of
//!   random sequences.
//! * Each check runs in a thread of its own and has [`TIME_LIMIT`] to end, so that a structure that
//!   walks 2^60 ticks fails instead of hanging.
//!
//! # What it cannot see
//!
//! That a handle stays stale after four billion uses of its place: a run of that length takes
//! minutes. A backend with storage of its own must show it with a unit test that sets the count, as
//! that of wheelhouse's [`Arena`](wheelhouse_core::arena::Arena) does. And the worst case of one
//! operation: the counts are averages.
//!
//! # Features
//!
//! `memory` (on by default): contract 8 counts bytes through a global allocator. Turn it off where
//! there is one already; the check is then left out.

mod contract;
mod differential;
mod exhaustive;
mod golden;
mod guard;
mod property;
mod random;
pub mod script;
mod suite;
mod whole;

pub use contract::*;
pub use differential::{LONG_RUN, differential_long_run, differential_run};
pub use exhaustive::exhaustive;
pub use golden::*;
pub use guard::{Check, TIME_LIMIT};
pub use property::{property_any_sequence, property_end_of_time, property_many_ties, steps};
pub use suite::{approximate_checks, checks};
pub use wheelhouse_oracle::{Oracle, OracleDefinition};
pub use whole::stays_whole;

use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;

/// An empty structure that does not count its work, its clock at 0.
fn fresh<B: Backend, T>() -> B::Timer<T, NoMeter> {
    B::build()
}

/// An empty structure with its clock at `start`.
fn fresh_at<B: Backend, T>(start: u64) -> B::Timer<T, NoMeter> {
    let mut timer = B::build();
    timer.advance(start, |_| ());
    timer
}

/// Starts timers, given as (deadline, value).
fn insert<T>(timer: &mut impl Timer<T>, timers: impl IntoIterator<Item = (u64, T)>) {
    for (deadline, value) in timers {
        timer.insert(deadline, value);
    }
}

/// The tick at which a timer inserted at `now` has fired at the latest: its deadline, if the
/// structure is exact.
fn latest<B: Backend>(now: u64, deadline: u64) -> u64 {
    B::INFO.precision.latest(now, deadline)
}

/// What one advance fires, as (deadline, value).
fn fired<T>(timer: &mut impl Timer<T>, to: u64) -> Vec<(u64, T)> {
    let mut fired = Vec::new();
    let count = timer.advance(to, |expired| fired.push((expired.deadline, expired.value)));
    assert_eq!(count, fired.len(), "advance returns how many timers fired");
    fired
}

/// What `pop_expired` yields until it has no more, as (deadline, value).
fn popped<T>(timer: &mut impl Timer<T>, to: u64) -> Vec<(u64, T)> {
    std::iter::from_fn(|| timer.pop_expired(to))
        .map(|expired| (expired.deadline, expired.value))
        .collect()
}

/// A size that keeps debug runs short.
const fn sized(release: usize, debug: usize) -> usize {
    if cfg!(debug_assertions) { debug } else { release }
}
