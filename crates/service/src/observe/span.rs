//! With the feature `tracing`: each run is a span, so that what it logs can be told apart.

#[cfg(feature = "tracing")]
mod real {
    use crate::handle::Run;

    /// The span of a run: `run`, at the level of information, with the job, the number of the run
    /// and of the try, and how late it is.
    pub(crate) struct RunSpan(tracing::Span);

    impl RunSpan {
        /// Costs a look whether anybody wants it, if nobody does.
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

        /// What this thread logs belongs to it, until what comes back is dropped.
        pub(crate) fn enter(&self) -> impl Drop + '_ {
            self.0.enter()
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod real {
    use crate::handle::Run;

    /// Nothing.
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
