//! The run of an async handler.

use super::work::{Answer, Occurrence, Task, told};
use crate::drive::Inside;
use crate::handlers::{Handler, Held, Mark, RunFuture};
use crate::observe::{EventKind, count};
use std::pin::Pin;
use std::task::{Context, Poll};
use wheelhouse_service::Moment;
use wheelhouse_service::future::Sleep;
use wheelhouse_service::internal::guarded;

/// The future that an executor polls. The first poll calls the handler. It is ready when the
/// handler's future is ready, or was dropped because the run must end.
///
/// Each event that must end the run wakes this future, by [`Held::wake`]. The next poll then drops
/// the handler's future. So only the executor drops it, and never while it is polled.
pub(super) struct HandlerFuture {
    task: Task,
    /// `None` before the handler is called, and when the run has ended.
    call: Option<Call>,
}

/// The call of a handler.
struct Call {
    future: RunFuture,
    occurrence: Occurrence,
    began: Moment,
    /// Ready when the lease ends, as last known, or the limit is reached.
    sleep: Option<Sleep>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
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
    /// When the run reaches its limit.
    fn limit(&self, held: &Held) -> Option<Moment> {
        self.began.checked_add(held.limit?)
    }

    fn must_end(&self, held: &Held, now: Moment) -> Option<Reason> {
        if held.has(Mark::Abandoned) {
            Some(Reason::Abandoned)
        } else if held.is_lost(now) {
            Some(Reason::Lost)
        } else if self.limit(held).is_some_and(|limit| limit <= now) {
            Some(Reason::TimedOut)
        } else {
            None
        }
    }

    /// Polls the handler's future. An error is converted to text here, within the guard: the user's
    /// `Display` may panic too.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Answer, String>> {
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        match guarded(|| self.future.as_mut().poll(context).map(told)) {
            Ok(polled) => polled.map(Ok),
            Err(message) => Poll::Ready(Err(message)),
        }
    }

    /// Drops the handler's future, and returns the rest.
    fn end(self) -> (Occurrence, Moment) {
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        guarded(|| drop(self.future)).unwrap_or_default();
        (self.occurrence, self.began)
    }
}

impl HandlerFuture {
    pub(super) fn new(task: Task) -> Self {
        Self { task, call: None }
    }

    /// Calls the handler. Returns `false` if the run has ended already.
    fn call(&mut self) -> bool {
        let Some((occurrence, began)) = self.task.begin_call() else { return false };
        let payload = self.task.take_payload();
        let handlers = &self.task.shared().handlers;
        let Some(Handler::Async(handler)) = handlers.get(self.task.kind()) else {
            unreachable!("it is claimed for the lane of its handler")
        };
        let run = self.task.run_of(&occurrence).into_owned();
        #[cfg(feature = "tracing")]
        let span = self.task.span();
        #[cfg(feature = "tracing")]
        let entered = span.enter();
        let called = guarded(|| handler(run, payload));
        #[cfg(feature = "tracing")]
        drop(entered);
        match called {
            Ok(future) => {
                let call = Call {
                    future,
                    occurrence,
                    began,
                    sleep: None,
                    #[cfg(feature = "tracing")]
                    span,
                };
                self.call = Some(call);
                true
            }
            Err(message) => {
                let conclusion = self.task.answered(Err(message), began, &occurrence);
                self.task.end(conclusion);
                false
            }
        }
    }

    /// Polls the handler's future, after checking whether the run must end. Ready with the answer
    /// of the handler, or with the reason why the future must be dropped.
    fn poll_call(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Result<Answer, String>, Reason>> {
        let Some(call) = &mut self.call else { unreachable!("its handler was called") };
        let (held, shared) = (self.task.held(), self.task.shared());
        // Registered before the check: an event after the check finds the waker.
        held.wake_by(context.waker());
        if let Some(reason) = call.must_end(held, shared.clock.now()) {
            return Poll::Ready(Err(reason));
        }
        if let Poll::Ready(answer) = call.poll(context) {
            return Poll::Ready(Ok(answer));
        }
        let Some(service) = shared.waiting.service() else { return Poll::Pending };
        loop {
            let next = call.limit(held).into_iter().chain([held.until()]).min();
            let sleep = call
                .sleep
                .get_or_insert_with(|| service.sleep_until(next.expect("a lease has an end")));
            match Pin::new(sleep).poll(context) {
                Poll::Pending => return Poll::Pending,
                // The service is being stopped, or the time is out of range. The claimer wakes the
                // future instead: see `Claimer::watch`.
                Poll::Ready(Err(_)) => return Poll::Pending,
                Poll::Ready(Ok(())) => call.sleep = None,
            }
            // If the lease was renewed, the loop sleeps again.
            if let Some(reason) = call.must_end(held, shared.clock.now()) {
                return Poll::Ready(Err(reason));
            }
        }
    }

    /// Drops the handler's future, and ends the run.
    fn end(&mut self, ended: Result<Result<Answer, String>, Reason>) {
        let Some(call) = self.call.take() else { return };
        let (occurrence, began) = call.end();
        let answer = match ended {
            Ok(answer) => answer,
            Err(Reason::Lost) => return self.task.lose(),
            Err(Reason::Abandoned) => return self.task.leave_to_lease(),
            Err(Reason::TimedOut) => Ok(Err((self.time_out(), false))),
        };
        let conclusion = self.task.answered(answer, began, &occurrence);
        self.task.end(conclusion);
    }

    /// Reports that the run has reached its limit, unless the claimer has reported it. Returns the
    /// reason as text.
    fn time_out(&self) -> String {
        let (held, shared) = (self.task.held(), self.task.shared());
        let limit = held.limit.unwrap_or_default();
        if held.mark(Mark::TimedOut) {
            count(&shared.reporter.counters.of(&held.name.kind).counts.timed_out);
            shared.reporter.report(Some(held.name.clone()), EventKind::TimedOut(limit));
        }
        format!("it reached its limit of {limit:?} and was dropped")
    }
}

impl Future for HandlerFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let _inside = Inside::of(&self.task.shared().reporter.counters);
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
        let _inside = Inside::of(&self.task.shared().reporter.counters);
        let why = "its executor dropped it before it was ready".to_owned();
        self.end(Ok(Ok(Err((why, false)))));
    }
}
