//! A run, on a worker.

use super::ended::{End, Ended};
use super::flight::Flown;
use crate::Timers;
use crate::commit::Then;
use crate::drive::Shared;
use crate::handlers::{DurableRun, Held, Next};
use crate::observe::{EventKind, count};
use crate::plan::Policy;
use crate::store::{Again, Change, Leased, Timestamp, When};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wheelhouse_service::Handle;

/// A job to be run.
pub(super) struct Task {
    pub(super) timers: Timers,
    pub(super) leased: Leased,
    pub(super) held: Arc<Held>,
    pub(super) again: Option<Again>,
    pub(super) missed: u64,
    pub(super) is_periodic: bool,
    /// The store's clock at the claim.
    pub(super) now: Timestamp,
    /// `None` when it has ended.
    pub(super) flown: Option<Flown>,
}

/// What the worker makes of a handler's answer.
struct Conclusion {
    /// `None` if the handler has acked itself.
    change: Option<Change>,
    end: End,
}

impl Task {
    /// Has a worker run it. If the service was stopped, the lease is left to run out.
    pub(super) fn launch(self, service: &Handle) {
        self.timers.shared().flight.hold(&self.held);
        drop(service.after(Duration::ZERO).run(move |_| self.run()));
    }

    fn shared(&self) -> &Shared {
        self.timers.shared()
    }

    fn run(mut self) {
        let shared = self.shared();
        let conclusion = if shared.stopping.load(Ordering::SeqCst) {
            self.release()
        } else if self.held.is_lost(shared.clock.now()) {
            if self.held.supersede() {
                count(&shared.counters.of(&self.held.name.kind).counts.leases_lost);
                shared.report(Some(self.held.name.clone()), EventKind::LeaseLost);
            }
            return drop(self.flown.take());
        } else {
            self.call()
        };
        self.end(conclusion);
    }

    /// Hands the end in.
    fn end(&mut self, Conclusion { change, end }: Conclusion) {
        let shared = self.timers.shared();
        shared.flight.let_go(&self.held);
        let (Some(change), Some(flown)) = (change, self.flown.take()) else { return };
        let ended = Ended { name: self.held.name.clone(), end, flown, repeated: false };
        shared.queue_of_changes.put(change, Then::Ended(ended));
    }

    fn release(&self) -> Conclusion {
        let (key, token) = (self.leased.job.key.clone(), self.leased.token);
        let change = Change::Release { key, token, when: When::After(Duration::ZERO) };
        Conclusion { change: Some(change), end: End::Released }
    }

    fn call(&self) -> Conclusion {
        let (shared, job) = (self.shared(), &self.leased.job);
        let counters = shared.counters.of(&job.kind);
        count(&counters.counts.started);
        counters.lateness.record_micros(self.now.saturating_since(job.due));
        let Some(handler) = shared.handlers.get(&job.kind) else {
            // Only kinds with a handler are claimed.
            return self.release();
        };
        let run = DurableRun {
            timers: &self.timers,
            leased: &self.leased,
            held: &self.held,
            missed: self.missed,
            again: self.again,
            started: self.now,
        };
        let began = shared.clock.now();
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!(
            "run", kind = %job.kind, key = %job.key,
            generation = job.generation, attempt = job.attempt
        )
        .entered();
        let answer = catch_unwind(AssertUnwindSafe(|| handler(&run, &job.payload)));
        counters.run_time.record_micros(shared.clock.now().saturating_since(began));
        match answer {
            Ok(Ok(next)) => self.succeeded(next),
            Ok(Err(failure)) => self.failed(failure.to_string(), failure.is_final()),
            Err(panic) => {
                count(&counters.counts.panicked);
                self.failed(format!("panicked: {}", message(panic)), false)
            }
        }
    }

    fn succeeded(&self, next: Next) -> Conclusion {
        let (key, token) = (self.leased.job.key.clone(), self.leased.token);
        let change = match next {
            Next::Acked => {
                let counters = self.shared().counters.of(&self.leased.job.kind);
                count(&counters.counts.acked);
                None
            }
            Next::Done => Some(Change::Ack { key, token, again: self.again }),
            Next::After(delay) => {
                let occurrence = self.leased.job.occurrence + self.missed + 1;
                let again = Some(Again { when: When::After(delay), occurrence });
                Some(Change::Ack { key, token, again })
            }
        };
        Conclusion { change, end: End::Done }
    }

    fn failed(&self, why: String, is_final: bool) -> Conclusion {
        let (shared, job) = (self.shared(), &self.leased.job);
        let (key, token) = (job.key.clone(), self.leased.token);
        let policy = Policy::from_text(&job.policy).unwrap_or_default();
        let most = policy.max_attempts.unwrap_or(shared.settings.max_attempts);
        let exhausted = job.attempt >= most;
        let (change, end) = if is_final || (exhausted && !self.is_periodic) {
            let reason = if is_final { why } else { format!("attempt {most} failed: {why}") };
            (Change::Bury { key, token, reason: reason.clone() }, End::Dead(reason))
        } else if exhausted {
            (Change::Ack { key, token, again: self.again }, End::GaveUp(why))
        } else {
            let wait = shared.settings.backoff.wait(job.attempt, token.0);
            (Change::Retry { key, token, when: When::After(wait) }, End::Retried(why, wait))
        };
        Conclusion { change: Some(change), end }
    }
}

impl Drop for Task {
    /// If no worker has taken it, because of a stop: gives the lease back.
    fn drop(&mut self) {
        if self.flown.is_some() {
            let released = self.release();
            self.end(released);
        }
        self.shared().flight.let_go(&self.held);
    }
}

/// What a handler panicked with, as text.
fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    // To drop what was thrown may throw again: then it is kept for ever.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text.unwrap_or_else(|| "(no message)".to_owned())
}
