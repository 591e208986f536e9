//! Counters and distributions, and their output.

mod prometheus;
mod stats;

pub use prometheus::Exposition;
pub(crate) use stats::Distributions;
pub use stats::{Counts, Distribution, Snapshot, Summary};
