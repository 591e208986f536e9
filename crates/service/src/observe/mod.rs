//! What the service counts and reports, and how that is shown.

mod prometheus;
mod stats;

pub(crate) use stats::Distributions;
pub use stats::{Counts, Snapshot, Summary};
