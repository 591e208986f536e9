//! The run of a job that has begun: the call of a handler that is a closure. The run of an async
//! handler is in [`future`](super::future).

use super::future::HandlerFuture;
use super::work::{End, Task, begins};
use crate::error::Failure;
use crate::handlers::{DurableRun, Handler, Next, Occurrence};
use crate::lease::{Lane, Mark};
use crate::observe::{EventKind, count};
use crate::store::{Again, Outcome, When};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wheelhouse_service::Moment;
use wheelhouse_service::internal::guarded;

pub(super) type Answer = Result<Next, Failed>;

pub(super) enum Failed {
    Error(String),
    /// The job is not retried.
    Stop(String),
    Panic(String),
}

impl Failed {
    /// Converts a failure to text. This calls code of the user, which may panic.
    pub(super) fn of(failure: Failure) -> Self {
        let why = failure.to_string();
        if failure.is_final() { Self::Stop(why) } else { Self::Error(why) }
    }
}

/// The span of a run. Nothing without the feature `tracing`.
pub(super) struct Span(#[cfg(feature = "tracing")] tracing::Span);

impl Span {
    pub(super) fn in_scope<T>(&self, code: impl FnOnce() -> T) -> T {
        #[cfg(feature = "tracing")]
        let _entered = self.0.enter();
        code()
    }
}

impl Task {
    /// Called when its `Begin` was committed. If it was carried out, the run is handed to a worker
    /// or to the executor.
    pub(super) fn begun(mut self, outcome: Outcome) {
        if begins(outcome) {
            let is_first = self.lease.mark(Mark::Begun);
            debug_assert!(is_first && !self.lease.has(Mark::Ended), "leased, and not begun");
            if outcome == Outcome::Closed {
                self.lease.mark(Mark::Closed);
            }
            self.hand_over();
        } else if self.lease.is_lost(self.shared().clock.now()) {
            // By the clock, so another program may have the job.
            self.lose();
        } else {
            // The job was cancelled, moved or replaced in time, and that call has returned success.
            self.withdraw();
        }
    }

    fn hand_over(self) {
        let waiting = Arc::clone(self.waiting());
        // If the service was stopped, it drops the task, which releases the lease.
        match self.lease.lane {
            Lane::Threads => drop(waiting.service.execute(move |_| self.run())),
            Lane::Futures => {
                drop(waiting.service.execute_async(move |_| HandlerFuture::new(self)));
            }
        }
    }

    fn run(mut self) {
        let Some((occurrence, began)) = self.begin_call() else { return };
        let shared = self.timers.shared();
        let Some(Handler::Sync(handler)) = shared.handlers.get(&self.job.kind) else {
            unreachable!("it is claimed for the lane of its handler")
        };
        let run = self.run_of(occurrence);
        let answer = self.span().in_scope(|| {
            guarded(|| handler(&run, &self.job.payload).map_err(Failed::of))
                .unwrap_or_else(|message| Err(Failed::Panic(message)))
        });
        self.answered(answer, began, occurrence);
    }

    /// Counts the run, whose handler is to be called now. Returns `None` if its lease has run out.
    pub(super) fn begin_call(&mut self) -> Option<(Occurrence, Moment)> {
        let Some(occurrence) = self.occurrence.take() else { unreachable!("it was judged") };
        let began = self.shared().clock.now();
        // Too late: the commit, or the wait for this worker, took longer than the lease. If another
        // program has the job by now, the store refuses the release.
        if self.lease.is_lost(began) {
            self.end(End::Released(Duration::ZERO));
            return None;
        }
        let counters = self.shared().reporter.counters.of(&self.job.kind);
        count(&counters.counts.started);
        if self.job.attempt == 1 {
            counters.counts.missed.fetch_add(occurrence.missed, Ordering::Relaxed);
        }
        counters.lateness.record_micros(occurrence.now.saturating_since(self.job.due));
        self.lease.call(began);
        Some((occurrence, began))
    }

    pub(super) fn run_of(&self, occurrence: Occurrence) -> DurableRun<'_> {
        let (timers, lease) = (Cow::Borrowed(&self.timers), Cow::Borrowed(&self.lease));
        DurableRun { timers, lease, due: self.job.due, occurrence }
    }

    pub(super) fn span(&self) -> Span {
        Span(
            #[cfg(feature = "tracing")]
            tracing::info_span!(
                "run", kind = %self.job.kind, key = %self.job.key,
                generation = self.job.generation, attempt = self.job.attempt
            ),
        )
    }

    pub(super) fn answered(&mut self, answer: Answer, began: Moment, occurrence: Occurrence) {
        let shared = self.shared();
        let took = shared.clock.now().saturating_since(began);
        if took > shared.settings.slow_after {
            shared.reporter.job(&self.lease.name, EventKind::Slow(took));
        }
        // The claimer has not looked since.
        let is_over = self.lease.limit.is_some_and(|limit| took >= limit);
        if is_over && self.lease.mark(Mark::TimedOut) {
            count(&shared.reporter.counters.of(&self.job.kind).counts.timed_out);
        }
        shared.reporter.counters.of(&self.job.kind).run_time.record_micros(took);
        if self.lease.lane == Lane::Threads {
            shared.flight.paces.learn(&self.job.kind, took);
        }
        match self.end_of(answer, occurrence) {
            Some(end) => self.end(end),
            None => self.withdraw(),
        }
    }

    /// Returns the end that follows from an answer. `None` if the handler has committed its ack.
    fn end_of(&self, answer: Answer, occurrence: Occurrence) -> Option<End> {
        let Occurrence { again, missed, is_periodic, .. } = occurrence;
        let (shared, job, most) = (self.shared(), &self.job, self.most);
        let counts = &shared.reporter.counters.of(&job.kind).counts;
        let why = match answer {
            Ok(Next::Done) => return Some(End::Done(again)),
            Ok(Next::After(delay)) => {
                let occurrence = job.occurrence + missed + 1;
                return Some(End::Done(Some(Again { when: When::After(delay), occurrence })));
            }
            Ok(Next::Acked) => {
                count(&counts.acked);
                return None;
            }
            Err(Failed::Stop(why)) => return Some(End::Dead(bounded(why))),
            Err(Failed::Error(why)) => why,
            Err(Failed::Panic(message)) => {
                count(&counts.panicked);
                format!("panicked: {message}")
            }
        };
        Some(match job.attempt >= most {
            false => End::Retried(why, shared.settings.backoff.wait(job.attempt)),
            true if is_periodic => End::GaveUp(why, again),
            true => End::Dead(bounded(format!("attempt {most} failed: {why}"))),
        })
    }
}

const MOST_REASON: usize = 4_096;

/// Shortens a long reason to its beginning and its length.
fn bounded(mut reason: String) -> String {
    if reason.len() > MOST_REASON {
        let rest = format!(".. ({} bytes)", reason.len());
        let fits = (0..=MOST_REASON - rest.len()).rev().find(|at| reason.is_char_boundary(*at));
        reason.truncate(fits.unwrap_or(0));
        reason += &rest;
    }
    reason
}
