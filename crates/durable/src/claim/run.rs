//! The run of a job that has begun: the call of a closure, or the future of an async handler.

use super::work::{End, Task, begins};
use crate::error::Failure;
use crate::handlers::{DurableRun, Handler, Next, Occurrence, RunFuture};
use crate::lease::{JobLease, Lane, Mark};
use crate::observe::{EventKind, count};
use crate::store::{Again, Outcome, When};
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use wheelhouse_service::Moment;
use wheelhouse_service::future::Sleep;
use wheelhouse_service::internal::guarded;

type Answer = Result<Next, Failed>;

enum Failed {
    Error(String),
    /// The job is not retried.
    Stop(String),
    Panic(String),
}

impl Failed {
    /// Converts a failure to text. This calls code of the user, which may panic.
    fn of(failure: Failure) -> Self {
        let why = failure.to_string();
        if failure.is_final() { Self::Stop(why) } else { Self::Error(why) }
    }
}

/// The span of a run. Nothing without the feature `tracing`.
struct Span(#[cfg(feature = "tracing")] tracing::Span);

impl Span {
    fn in_scope<T>(&self, code: impl FnOnce() -> T) -> T {
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
    fn begin_call(&mut self) -> Option<(Occurrence, Moment)> {
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

    fn run_of(&self, occurrence: Occurrence) -> DurableRun<'_> {
        let (timers, lease) = (Cow::Borrowed(&self.timers), Cow::Borrowed(&self.lease));
        DurableRun { timers, lease, due: self.job.due, occurrence }
    }

    fn span(&self) -> Span {
        Span(
            #[cfg(feature = "tracing")]
            tracing::info_span!(
                "run", kind = %self.job.kind, key = %self.job.key,
                generation = self.job.generation, attempt = self.job.attempt
            ),
        )
    }

    fn answered(&mut self, answer: Answer, began: Moment, occurrence: Occurrence) {
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

/// The future that an executor polls. The first poll calls the handler. It is ready when the
/// handler's future is ready, or was dropped because the run must end.
///
/// Each event that must end the run wakes this future, by [`JobLease::wake`]. The next poll then
/// drops the handler's future. So only the executor drops it, and never while it is polled.
struct HandlerFuture {
    task: Task,
    /// `None` before the handler is called, and when the run has ended.
    call: Option<Call>,
}

struct Call {
    future: RunFuture,
    occurrence: Occurrence,
    began: Moment,
    /// Ready when the lease ends, as last known, or the limit is reached.
    sleep: Option<Sleep>,
    span: Span,
}

/// Why a future is dropped before it is ready.
enum Reason {
    /// Another program has the job, or may have it.
    Lost,
    TimedOut,
    /// The program no longer waits for it: the time of a `stop_within` is over.
    Abandoned,
}

impl Call {
    fn limit(&self, lease: &JobLease) -> Option<Moment> {
        self.began.checked_add(lease.limit?)
    }

    fn must_end(&self, lease: &JobLease, now: Moment) -> Option<Reason> {
        if lease.has(Mark::Abandoned) {
            Some(Reason::Abandoned)
        } else if lease.is_lost(now) {
            Some(Reason::Lost)
        } else {
            self.limit(lease).filter(|limit| *limit <= now).map(|_| Reason::TimedOut)
        }
    }

    /// Polls the handler's future. An error is converted to text here, within the guard: the user's
    /// `Display` may panic too.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Answer> {
        let future = self.future.as_mut();
        self.span.in_scope(|| {
            guarded(|| future.poll(context).map(|answer| answer.map_err(Failed::of)))
                .unwrap_or_else(|message| Poll::Ready(Err(Failed::Panic(message))))
        })
    }
}

impl HandlerFuture {
    fn new(task: Task) -> Self {
        Self { task, call: None }
    }

    /// Calls the handler. Returns `false` if the run has ended already.
    fn call(&mut self) -> bool {
        let Some((occurrence, began)) = self.task.begin_call() else { return false };
        let payload = std::mem::take(&mut self.task.job.payload);
        let Some(Handler::Async(handler)) = self.task.shared().handlers.get(&self.task.job.kind)
        else {
            unreachable!("it is claimed for the lane of its handler")
        };
        let (run, span) = (self.task.run_of(occurrence).into_owned(), self.task.span());
        match span.in_scope(|| guarded(|| handler(run, payload))) {
            Ok(future) => {
                self.call = Some(Call { future, occurrence, began, sleep: None, span });
                true
            }
            Err(message) => {
                self.task.answered(Err(Failed::Panic(message)), began, occurrence);
                false
            }
        }
    }

    /// Polls the handler's future, after checking whether the run must end. Ready with the answer
    /// of the handler, or with the reason why the future must be dropped.
    fn poll_call(&mut self, context: &mut Context<'_>) -> Poll<Result<Answer, Reason>> {
        let Some(call) = &mut self.call else { unreachable!("its handler was called") };
        let (lease, shared) = (&self.task.lease, self.task.shared());
        // Registered before the check: an event after the check finds the waker.
        lease.wake_by(context.waker());
        if let Some(reason) = call.must_end(lease, shared.clock.now()) {
            return Poll::Ready(Err(reason));
        }
        if let Poll::Ready(answer) = call.poll(context) {
            return Poll::Ready(Ok(answer));
        }
        let service = &self.task.waiting().service;
        loop {
            let until = lease.until();
            let next = call.limit(lease).map_or(until, |limit| limit.min(until));
            let sleep = call.sleep.get_or_insert_with(|| service.sleep_until(next));
            match Pin::new(sleep).poll(context) {
                Poll::Pending => return Poll::Pending,
                // The service is being stopped, or the time is out of range. The claimer wakes the
                // future instead: see `Claimer::watch`.
                Poll::Ready(Err(_)) => return Poll::Pending,
                Poll::Ready(Ok(())) => call.sleep = None,
            }
            // If the lease was renewed, the loop sleeps again.
            if let Some(reason) = call.must_end(lease, shared.clock.now()) {
                return Poll::Ready(Err(reason));
            }
        }
    }

    fn end(&mut self, ended: Result<Answer, Reason>) {
        let Some(Call { future, occurrence, began, span, .. }) = self.call.take() else { return };
        span.in_scope(|| guarded(|| drop(future)).unwrap_or_default());
        let answer = match ended {
            Ok(answer) => answer,
            Err(Reason::Lost) => return self.task.lose(),
            // The lease runs out, and the attempt counts.
            Err(Reason::Abandoned) => return self.task.withdraw(),
            Err(Reason::TimedOut) => {
                let lease = &self.task.lease;
                let limit = lease.limit.unwrap_or_default();
                // Unless the claimer has reported it.
                if lease.mark(Mark::TimedOut) {
                    self.task.shared().reporter.job(&lease.name, EventKind::TimedOut(limit));
                }
                Err(Failed::Error(format!("it reached its limit of {limit:?} and was dropped")))
            }
        };
        self.task.answered(answer, began, occurrence);
    }
}

impl Future for HandlerFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.call.is_none() && !self.call() {
            return Poll::Ready(());
        }
        self.poll_call(context).map(|ended| self.end(ended))
    }
}

impl Drop for HandlerFuture {
    /// If the executor drops it before it is ready, the run has failed. If the handler was not
    /// called yet, the drop of the task releases the job.
    fn drop(&mut self) {
        let why = "its executor dropped it before it was ready".to_owned();
        self.end(Ok(Err(Failed::Error(why))));
    }
}
