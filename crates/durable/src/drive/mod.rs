//! Starts, holds and stops the parts: the store, the committer, the claimer, the workers.

mod away;
mod builder;
mod durable;
mod inside;
mod jobs;
mod paused;
mod shard;
mod timers;

pub use builder::Builder;
pub use durable::Durable;
pub(crate) use inside::Inside;
pub use jobs::{JobState, Jobs};
pub(crate) use paused::Paused;
pub use timers::{Cancel, Timers};

use crate::claim::{Flight, Waiting};
use crate::commit::Queue;
use crate::handlers::Handler;
use crate::observe::{Counters, Event, EventKind, JobName};
use crate::store::{Backoff, Kind, Kinds, Store, StoreError};
use parking_lot::{FairMutex, Mutex, RwLock};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use wheelhouse_service::Clock;

/// A connection, which is the turn of one thread at a time, in the order in which they came: a
/// committer that always has more to do must not keep the claimer away.
pub(crate) type SharedStore = Arc<FairMutex<Box<dyn Store>>>;

/// Checked settings.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) visibility: Duration,
    pub(crate) poll: Duration,
    pub(crate) max_attempts: u32,
    pub(crate) backoff: Backoff,
    pub(crate) catch_up_rate: Option<u32>,
    pub(crate) slow_after: Duration,
    pub(crate) limit: Option<Duration>,
    pub(crate) dead_for: Option<Duration>,
    pub(crate) most_dead: Option<usize>,
}

/// What is told of what goes wrong.
pub(crate) type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// What all threads of a shard share.
pub(crate) struct Shared {
    pub(crate) queue: String,
    /// Of several stores which one.
    pub(crate) store_name: Option<String>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store: SharedStore,
    pub(crate) queue_of_changes: Queue,
    pub(crate) handlers: BTreeMap<Kind, Arc<Handler>>,
    pub(crate) kinds: Kinds,
    pub(crate) settings: Settings,
    pub(crate) flight: Arc<Flight>,
    /// Shared by all shards.
    pub(crate) waiting: Arc<Waiting>,
    /// Of all shards.
    pub(crate) counters: Arc<Counters>,
    pub(crate) observer: Option<Observer>,
    pub(crate) paused: RwLock<Paused>,
    /// Figures of the storage.
    pub(crate) gauges: Mutex<BTreeMap<&'static str, u64>>,
    /// How long ago the first job of each kind that waits could have begun.
    pub(crate) overdue: Mutex<BTreeMap<Kind, Duration>>,
    /// What was leased and has not begun is to be given back.
    pub(crate) stopping: AtomicBool,
}

impl Shared {
    /// Tells that the store has failed.
    pub(crate) fn report_failure(&self, error: &StoreError) {
        let error = match &self.store_name {
            Some(name) => format!("{name}: {error}"),
            None => error.to_string(),
        };
        self.report(None, EventKind::StoreFailed(error));
    }

    /// Tells those who want to know.
    pub(crate) fn report(&self, job: Option<JobName>, kind: EventKind) {
        let event = Event { job, kind };
        #[cfg(feature = "tracing")]
        tracing::warn!("{event}");
        if let Some(observer) = &self.observer {
            // A callback that panics must not end the thread it is called on.
            catch_unwind(AssertUnwindSafe(|| observer(&event))).unwrap_or_default();
        }
    }
}
