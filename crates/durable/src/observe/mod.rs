//! Counters, distributions and events.

mod event;
mod prometheus;
mod stats;

pub use event::{Event, EventKind, JobName};
pub(crate) use stats::{Counters, count};
pub use stats::{Counts, KindSnapshot, Snapshot, Summary};

use crate::store::StoreError;
use std::sync::Arc;
use wheelhouse_service::internal::guarded;

pub(crate) type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Counts and reports the events of a shard.
pub(crate) struct Reporter {
    /// Shared by all shards.
    pub(crate) counters: Arc<Counters>,
    pub(crate) observer: Option<Observer>,
    /// The name of the store for reports. `None` if there is only one store.
    pub(crate) store_name: Option<String>,
}

impl Reporter {
    /// Counts and reports that the store has failed.
    pub(crate) fn report_failure(&self, error: &StoreError) {
        count(&self.counters.others.counts.store_errors);
        let error = match &self.store_name {
            Some(name) => format!("{name}: {error}"),
            None => error.to_string(),
        };
        self.report(None, EventKind::StoreFailed(error));
    }

    /// Counts and reports an event of a job.
    pub(crate) fn job(&self, job: &JobName, kind: EventKind) {
        let counts = &self.counters.of(&job.kind).counts;
        match kind {
            EventKind::Failed(..) => count(&counts.retried),
            EventKind::Dead(_) => count(&counts.dead),
            EventKind::GaveUp(_) => count(&counts.given_up),
            EventKind::Skipped => count(&counts.skipped),
            EventKind::Superseded => count(&counts.superseded),
            EventKind::LeaseLost => count(&counts.leases_lost),
            EventKind::Slow(_) => count(&counts.slow),
            EventKind::TimedOut(_) => count(&counts.timed_out),
            _ => {}
        }
        self.report(Some(job.clone()), kind);
    }

    /// Reports an event to the callback, and by `tracing`.
    pub(crate) fn report(&self, job: Option<JobName>, kind: EventKind) {
        let event = Event { job, kind };
        #[cfg(feature = "tracing")]
        tracing::warn!("{event}");
        if let Some(observer) = &self.observer {
            // A callback that panics must not end the thread it is called on.
            guarded(|| observer(&event)).unwrap_or_default();
        }
    }
}
