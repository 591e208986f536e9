//! Starts, owns and stops the parts: the store, the committer, the claimer, the workers.

mod away;
mod builder;
mod durable;
mod jobs;
mod parts;
mod paused;
mod pausing;
mod planning;
mod shard;
mod timers;

pub use builder::Builder;
pub use durable::Durable;
pub use jobs::{JobState, Jobs};
#[cfg(feature = "sim")]
pub(crate) use parts::Parts;
pub(crate) use paused::Paused;
pub use timers::{Cancel, Timers};

use crate::claim::{Flight, Waiting};
use crate::commit::{Queue, SharedStore};
use crate::handlers::Handler;
use crate::observe::Reporter;
use crate::store::{Gauges, Kind};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use wheelhouse_service::{Backoff, Clock};

/// Checked settings.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) visibility: Duration,
    pub(crate) poll: Duration,
    pub(crate) backoff: Backoff,
    pub(crate) catch_up_rate: Option<u32>,
    pub(crate) slow_after: Duration,
    pub(crate) limit: Option<Duration>,
    pub(crate) dead_for: Option<Duration>,
    pub(crate) most_dead: Option<usize>,
}

/// The state that all threads of a shard share.
pub(crate) struct Shared {
    pub(crate) queue: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: SharedStore,
    pub(crate) queue_of_changes: Arc<Queue>,
    pub(crate) handlers: BTreeMap<Kind, Handler>,
    pub(crate) settings: Settings,
    pub(crate) flight: Arc<Flight>,
    /// Shared by all shards.
    pub(crate) waiting: Arc<Waiting>,
    pub(crate) reporter: Arc<Reporter>,
    pub(crate) paused: RwLock<Paused>,
    /// Figures of the storage.
    pub(crate) gauges: Mutex<Gauges>,
    /// For each kind, how long ago its oldest waiting job could have begun.
    pub(crate) overdue: Mutex<BTreeMap<Kind, Duration>>,
    /// The timers are being stopped: leased jobs that have not begun must be released.
    pub(crate) stopping: AtomicBool,
}
