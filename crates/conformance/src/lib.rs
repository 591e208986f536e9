#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod contract;
mod crowd;
mod differential;
mod exhaustive;
mod golden;
mod operations;
mod property;
mod random;
pub mod script;
mod suite;

pub use contract::*;
pub use crowd::differential_crowd;
pub use differential::differential_long_run;
pub use exhaustive::{BORDERS, exhaustive};
pub use golden::golden_examples;
pub use operations::check_random_operations;
pub use property::{property_any_sequence, property_end_of_time, property_many_ties, steps};
pub use random::Random;
pub use suite::{Check, TIME_LIMIT, checks};
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
