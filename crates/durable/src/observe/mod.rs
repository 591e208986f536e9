//! Counters, distributions and events.

mod event;
mod prometheus;
mod report;
mod stats;

pub use event::{Event, EventKind, JobName};
pub(crate) use report::{Observer, Reporter};
pub(crate) use stats::{Counters, count};
pub use stats::{Counts, KindSnapshot, Snapshot, Summary};
