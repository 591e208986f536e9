//! With the feature `tracing`, each run is a span, so its log messages can be identified.

#[cfg(feature = "tracing")]
mod real {
    use crate::shared::Run;

    /// The span of a run: `run`, at the level `INFO`, with the job, the number of the run and of
    /// the attempt, and its lateness.
    pub(crate) struct RunSpan(tracing::Span);

    impl RunSpan {
        /// Without a subscriber, this costs only the check for one.
        pub(crate) fn of(run: &Run<'_>) -> Self {
            let span = tracing::info_span!(
                "run",
                job = %run.job(),
                number = run.number(),
                attempt = run.attempt(),
                lateness = ?run.lateness(),
            );
            Self(span)
        }

        /// Enters the span on this thread, until the returned guard is dropped.
        pub(crate) fn enter(&self) -> impl Drop + '_ {
            self.0.enter()
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod real {
    use crate::shared::Run;

    /// Does nothing.
    pub(crate) struct RunSpan;

    pub(crate) struct Entered;

    impl Drop for Entered {
        fn drop(&mut self) {}
    }

    impl RunSpan {
        pub(crate) fn of(_: &Run<'_>) -> Self {
            Self
        }

        pub(crate) fn enter(&self) -> Entered {
            Entered
        }
    }
}

pub(crate) use real::RunSpan;
