//! The run of a job that has begun: the call of a handler that is a closure. The run of an async
//! handler is in [`future`](super::future).

use super::future::HandlerFuture;
use super::work::{Answer, Conclusion, Occurrence, Task, told};
use crate::drive::Inside;
use crate::handlers::{DurableRun, Handler, Lane, Mark};
use crate::observe::{EventKind, count};
use crate::store::Outcome;
use std::borrow::Cow;
use std::sync::atomic::Ordering;
use wheelhouse_service::Moment;
use wheelhouse_service::internal::guarded;

impl Task {
    /// Called when its `Begin` was committed. If it was carried out, the run is handed to a worker
    /// or to the executor.
    pub(crate) fn tell(mut self, outcome: Outcome) {
        match outcome {
            // `Closed`: a commit whose answer was lost has carried it out, and a later cancel found
            // the job running.
            Outcome::Done | Outcome::Closed => {
                let is_first = self.held.mark(Mark::Begun);
                debug_assert!(is_first && !self.held.has(Mark::Ended), "leased, and not begun");
                if outcome == Outcome::Closed {
                    self.held.mark(Mark::Closed);
                }
                self.hand_over();
            }
            // The lease has run out by the clock, so another program may have the job. Otherwise
            // the job was cancelled, moved or replaced in time, and that call has returned success.
            _ if self.held.is_lost(self.shared().clock.now()) => self.lose(),
            _ => self.withdraw(),
        }
    }

    fn hand_over(self) {
        let timers = self.timers.clone();
        // If the service was stopped, it drops the task, which releases the lease.
        if let Some(service) = timers.shared().waiting.service() {
            match self.lane() {
                Lane::Threads => drop(service.execute(move |_| self.run())),
                Lane::Futures => drop(service.execute_async(move |_| HandlerFuture::new(self))),
            }
        }
    }

    fn run(mut self) {
        if let Some((occurrence, began)) = self.begin_call() {
            let conclusion = self.call(&occurrence, began);
            self.end(conclusion);
        }
    }

    /// Counts the run, whose handler is to be called now. Returns `None` if its lease has run out.
    pub(super) fn begin_call(&mut self) -> Option<(Occurrence, Moment)> {
        let Some(occurrence) = self.occurrence.take() else { unreachable!("it was judged") };
        let began = self.shared().clock.now();
        // Too late: the commit, or the wait for this worker, took longer than the lease. If another
        // program has the job by now, the store refuses the release.
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

    /// Returns the run that the handler receives.
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

    /// Takes out the payload, for a future that owns it.
    pub(super) fn take_payload(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.leased.job.payload)
    }

    /// Returns the span of the run, not entered.
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

    /// Returns the end of the job that follows from the answer of its handler.
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
