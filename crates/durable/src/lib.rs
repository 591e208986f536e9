//! Timers that survive a crash and a restart.

mod claim;
mod commit;
mod drive;
mod error;
mod handlers;
mod observe;
mod plan;
pub mod store;

pub use commit::Commit;
pub use drive::{Builder, Cancel, Durable, Timers};
pub use error::{Error, StartError};
pub use handlers::{DurableRun, Failure, Handlers, Next, Stop};
pub use observe::{Counts, Event, EventKind, JobName, Snapshot, Summary};
pub use plan::{Late, Missed, Plan};

/// The longest payload, in bytes: a mebibyte. What is longer is stored elsewhere, and its place is
/// scheduled.
pub const MAX_PAYLOAD: usize = 1 << 20;
