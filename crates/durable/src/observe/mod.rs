//! Counters, distributions and events.

mod event;
mod prometheus;
mod stats;

pub use event::{Event, EventKind, JobName};
pub(crate) use stats::{Counters, count};
pub use stats::{Counts, KindSnapshot, Snapshot, Summary};
