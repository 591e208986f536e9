//! What the service counts and reports, and how that is shown.

mod prometheus;
mod span;
mod stats;

pub use prometheus::Exposition;
pub(crate) use span::RunSpan;
pub(crate) use stats::Distributions;
pub use stats::{Counts, Snapshot, Summary};
