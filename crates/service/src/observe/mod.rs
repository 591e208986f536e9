//! Counters, distributions and spans, and their output.

mod prometheus;
mod span;
mod stats;

pub use prometheus::Exposition;
pub(crate) use span::RunSpan;
pub(crate) use stats::Distributions;
pub use stats::{Counts, Snapshot, Summary};
