//! The run of a job that has begun: its handler is called. Those of async handlers are in
//! [`future`](super::future).

use super::future::HandlerFuture;
use super::work::{Answer, Conclusion, Occurrence, Task, told};
use crate::drive::Inside;
use crate::handlers::{DurableRun, Handler, Lane};
use crate::observe::{EventKind, count};
use crate::store::Outcome;
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use wheelhouse_service::Moment;
use wheelhouse_service::internal::guarded;

impl Task {
    /// Its `Begin` was committed: calls the handler, on a worker, if it was carried out.
    pub(crate) fn tell(mut self, outcome: Outcome) {
        match outcome {
            // `Closed`: it was carried out by a commit whose answer was lost, and a cancellation
            // has found it running since.
            Outcome::Done | Outcome::Closed => {
                self.held.begin(outcome == Outcome::Closed);
                let timers = self.timers.clone();
                // If the service was stopped, the lease is given back by the drop.
                if let Some(service) = timers.shared().waiting.service() {
                    match self.lane() {
                        Lane::Threads => drop(service.execute(move |_| self.run())),
                        Lane::Futures => {
                            drop(service.execute_async(move |_| HandlerFuture::new(self)));
                        }
                    }
                }
            }
            // By the clock another program may have it. Otherwise it was cancelled, moved or
            // replaced in time, and that call has returned so.
            _ if self.held.is_lost(self.shared().clock.now()) => self.lose(),
            _ => self.withdraw(),
        }
    }

    fn run(mut self) {
        if let Some((occurrence, began)) = self.begin_call() {
            let conclusion = self.call(&occurrence, began);
            self.end(conclusion);
        }
    }

    /// Its handler is called from here on: counts that. Returns `None` if it is too late.
    pub(super) fn begin_call(&mut self) -> Option<(Occurrence, Moment)> {
        let Some(occurrence) = self.occurrence.take() else { unreachable!("it was judged") };
        let began = self.shared().clock.now();
        // Begun too late: the commit or the way to this worker took longer than the lease. If
        // another program has the job by now, the release is refused.
        if self.held.is_lost(began) {
            let released = self.release();
            self.end(released);
            return None;
        }
        self.was_called = true;
        let job = &self.leased.job;
        let counters = self.shared().reporter.counters.of(&job.kind);
        count(&counters.counts.started);
        if job.attempt == 1 {
            counters.counts.missed.fetch_add(occurrence.missed, Ordering::Relaxed);
        }
        counters.lateness.record_micros(occurrence.now.saturating_since(job.due));
        self.held.call(began);
        Some((occurrence, began))
    }

    /// The run, for its handler.
    pub(super) fn run_of(&self, occurrence: &Occurrence) -> DurableRun<'_> {
        DurableRun {
            timers: Cow::Borrowed(&self.timers),
            held: Cow::Borrowed(&self.held),
            due: self.leased.job.due,
            missed: occurrence.missed,
            again: occurrence.again,
            started: occurrence.now,
        }
    }

    /// The payload, for a future, which keeps it.
    pub(super) fn take_payload(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.leased.job.payload)
    }

    /// The span of its run, not entered.
    #[cfg(feature = "tracing")]
    pub(super) fn span(&self) -> tracing::Span {
        let job = &self.leased.job;
        tracing::info_span!(
            "run", kind = %job.kind, key = %job.key,
            generation = job.generation, attempt = job.attempt
        )
    }

    fn call(&self, occurrence: &Occurrence, began: Moment) -> Conclusion {
        let (shared, job) = (self.shared(), &self.leased.job);
        let Some(Handler::Sync(handler)) = shared.handlers.get(&job.kind) else {
            unreachable!("it is claimed for the lane of its handler")
        };
        let run = self.run_of(occurrence);
        #[cfg(feature = "tracing")]
        let _span = self.span().entered();
        let inside = Inside::of(&shared.reporter.counters);
        let answer = guarded(|| told(handler(&run, &job.payload)));
        drop(inside);
        self.answered(answer, began, occurrence)
    }

    /// The end of the job that follows from the answer of its handler.
    pub(super) fn answered(
        &self,
        answer: Result<Answer, String>,
        began: Moment,
        occurrence: &Occurrence,
    ) -> Conclusion {
        let (shared, job) = (self.shared(), &self.leased.job);
        let counters = shared.reporter.counters.of(&job.kind);
        let took = shared.clock.now().saturating_since(began);
        if took > shared.settings.slow_after {
            count(&counters.counts.slow);
            shared.reporter.report(Some(self.held.name.clone()), EventKind::Slow(took));
        }
        counters.run_time.record_micros(took);
        if self.lane() == Lane::Threads {
            shared.flight.paces().learn(&job.kind, took);
        }
        match answer {
            Ok(Ok(next)) => self.succeeded(next, occurrence),
            Ok(Err((why, is_final))) => self.failed(why, is_final, occurrence),
            Err(message) => {
                count(&counters.counts.panicked);
                self.failed(format!("panicked: {message}"), false, occurrence)
            }
        }
    }
}
