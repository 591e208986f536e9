//! With the feature `tracing`, each run is a span, so its log messages can be identified.

use crate::shared::Run;

/// The span of a run: `run`, at the level `INFO`, with the job, the number of the run and of the
/// attempt, and its lateness. Without the feature it is nothing.
pub(super) struct RunSpan(#[cfg(feature = "tracing")] tracing::Span);

impl RunSpan {
    /// Without a subscriber, this costs only the check for one.
    pub(super) fn of(run: &Run<'_>) -> Self {
        let _ = run;
        Self(
            #[cfg(feature = "tracing")]
            tracing::info_span!(
                "run",
                job = %run.job(),
                number = run.number(),
                attempt = run.attempt(),
                lateness = ?run.lateness(),
            ),
        )
    }

    /// Enters the span on this thread, until the returned guard is dropped.
    pub(super) fn enter(&self) -> impl Sized + '_ {
        #[cfg(feature = "tracing")]
        return self.0.enter();
    }
}
