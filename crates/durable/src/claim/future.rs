//! The run of an async handler.

use super::run::{Answer, Failed, Span};
use super::work::Task;
use crate::handlers::{Handler, Occurrence, RunFuture};
use crate::lease::{JobLease, Mark};
use crate::observe::EventKind;
use std::pin::Pin;
use std::task::{Context, Poll};
use wheelhouse_service::Moment;
use wheelhouse_service::future::Sleep;
use wheelhouse_service::internal::guarded;

/// The future that an executor polls. The first poll calls the handler. It is ready when the
/// handler's future is ready, or was dropped because the run must end.
///
/// Each event that must end the run wakes this future, by [`JobLease::wake`]. The next poll then
/// drops the handler's future. So only the executor drops it, and never while it is polled.
pub(super) struct HandlerFuture {
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
    pub(super) fn new(task: Task) -> Self {
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
