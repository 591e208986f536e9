//! Where a shard counts, and reports what goes wrong.

use super::{Counters, Event, EventKind, JobName};
use crate::store::StoreError;
use std::sync::Arc;
use wheelhouse_service::internal::guarded;

/// A callback for what goes wrong.
pub(crate) type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// See the [module](self).
pub(crate) struct Reporter {
    /// The counters of all shards.
    pub(crate) counters: Arc<Counters>,
    pub(crate) observer: Option<Observer>,
    /// The name of the store, if there are several.
    pub(crate) store_name: Option<String>,
}

impl Reporter {
    /// Reports that the store has failed.
    pub(crate) fn report_failure(&self, error: &StoreError) {
        let error = match &self.store_name {
            Some(name) => format!("{name}: {error}"),
            None => error.to_string(),
        };
        self.report(None, EventKind::StoreFailed(error));
    }

    /// Calls the observer, if there is one.
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
