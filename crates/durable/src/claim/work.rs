//! A run, on a worker.

use super::ended::{End, Ended};
use super::flight::Flown;
use super::judge::{Verdict, judge};
use crate::Timers;
use crate::commit::Then;
use crate::drive::Shared;
use crate::handlers::{DurableRun, Failure, Held, Next};
use crate::observe::{EventKind, JobName, count};
use crate::plan::Policy;
use crate::store::{Again, Change, Leased, Timestamp, When};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wheelhouse_service::{Handle, Moment};

/// How long a job waits that was scheduled by a newer version.
const NOT_UNDERSTOOD: Duration = Duration::from_secs(60);

/// A job that was claimed.
pub(super) struct Task {
    timers: Timers,
    leased: Leased,
    held: Arc<Held>,
    claimed: Claimed,
    has_begun: bool,
    /// `None` when it has ended.
    flown: Option<Flown>,
}

/// When a job was claimed.
#[derive(Clone, Copy)]
pub(super) struct Claimed {
    /// By the store's clock.
    pub(super) now: Timestamp,
    /// By this program's: before the store was asked, and after it has answered.
    pub(super) asked: Moment,
    pub(super) answered: Moment,
}

/// What was found out when a worker was free for it.
struct Occurrence {
    /// What its ack says of the next.
    again: Option<Again>,
    missed: u64,
    is_periodic: bool,
    /// The store's clock, as far as it is known without asking.
    now: Timestamp,
}

/// What the worker makes of a handler's answer.
struct Conclusion {
    /// `None` if the handler has acked itself.
    change: Option<Change>,
    end: End,
}

impl Claimed {
    /// The store's clock at a later moment of this program's; behind by the way of an answer.
    fn now_at(self, moment: Moment) -> Timestamp {
        let since = moment.saturating_since(self.answered).as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        Timestamp::from_millis(self.now.as_millis().saturating_add(since))
    }
}

impl Task {
    /// It is in flight from here on.
    pub(super) fn new(timers: &Timers, leased: Leased, claimed: Claimed) -> Self {
        let shared = timers.shared();
        let until = claimed.asked.saturating_add(shared.settings.visibility);
        let held = Arc::new(Held::new(JobName::of(&leased.job), leased.token, until));
        let flown = Some(shared.flight.begin(&held));
        Self { timers: timers.clone(), leased, held, claimed, has_begun: false, flown }
    }

    /// Has a worker run it, or leave it out. If the service was stopped, the lease is given back.
    pub(super) fn launch(self, service: &Handle) {
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
            self.judge()
        };
        self.end(conclusion);
    }

    /// Runs it, unless its policy says otherwise by now: it may have waited long for a worker.
    fn judge(&mut self) -> Conclusion {
        let now = self.claimed.now_at(self.shared().clock.now());
        let job = &self.leased.job;
        let (key, token) = (job.key.clone(), self.leased.token);
        let (change, end) = match judge(job, now, self.shared().settings.max_attempts) {
            Verdict::Run { again, missed, is_periodic } => {
                if job.attempt == 1 {
                    let counts = &self.shared().counters.of(&job.kind).counts;
                    counts.missed.fetch_add(missed, Ordering::Relaxed);
                }
                self.has_begun = true;
                return self.call(&Occurrence { again, missed, is_periodic, now });
            }
            Verdict::Skip { again, why } => {
                (Change::Ack { key, token, again }, why.map_or(End::Skipped, End::GaveUp))
            }
            Verdict::Bury(reason) => {
                (Change::Bury { key, token, reason: reason.clone() }, End::Dead(reason))
            }
            Verdict::NotUnderstood => {
                self.shared().report(Some(self.held.name.clone()), EventKind::NotUnderstood);
                let when = When::After(NOT_UNDERSTOOD);
                (Change::Release { key, token, when }, End::Released)
            }
        };
        Conclusion { change: Some(change), end }
    }

    /// Hands the end in.
    fn end(&mut self, Conclusion { change, end }: Conclusion) {
        let shared = self.timers.shared();
        self.held.end();
        let Some(flown) = self.flown.take() else { return };
        let Some(change) = change else { return };
        let ended = Ended { name: self.held.name.clone(), end, flown, repeated: false };
        shared.queue_of_changes.put(change, Then::Ended(ended));
    }

    fn release(&self) -> Conclusion {
        let (key, token) = (self.leased.job.key.clone(), self.leased.token);
        let change = Change::Release { key, token, when: When::After(Duration::ZERO) };
        Conclusion { change: Some(change), end: End::Released }
    }

    fn call(&self, occurrence: &Occurrence) -> Conclusion {
        let (shared, job) = (self.shared(), &self.leased.job);
        let counters = shared.counters.of(&job.kind);
        count(&counters.counts.started);
        counters.lateness.record_micros(occurrence.now.saturating_since(job.due));
        let Some(handler) = shared.handlers.get(&job.kind) else {
            // Only kinds with a handler are claimed.
            return self.release();
        };
        let run = DurableRun {
            timers: &self.timers,
            leased: &self.leased,
            held: &self.held,
            missed: occurrence.missed,
            again: occurrence.again,
            started: occurrence.now,
        };
        let began = shared.clock.now();
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!(
            "run", kind = %job.kind, key = %job.key,
            generation = job.generation, attempt = job.attempt
        )
        .entered();
        // The text of an error is the user's code, too.
        let told = |failure: Failure| (failure.to_string(), failure.is_final());
        let answer = catch_unwind(AssertUnwindSafe(|| handler(&run, &job.payload).map_err(told)));
        counters.run_time.record_micros(shared.clock.now().saturating_since(began));
        match answer {
            Ok(Ok(next)) => self.succeeded(next, occurrence),
            Ok(Err((why, is_final))) => self.failed(why, is_final, occurrence),
            Err(panic) => {
                count(&counters.counts.panicked);
                self.failed(format!("panicked: {}", message(panic)), false, occurrence)
            }
        }
    }

    fn succeeded(&self, next: Next, occurrence: &Occurrence) -> Conclusion {
        let Occurrence { again, missed, .. } = *occurrence;
        let (key, token) = (self.leased.job.key.clone(), self.leased.token);
        let change = match next {
            Next::Acked => {
                let counters = self.shared().counters.of(&self.leased.job.kind);
                count(&counters.counts.acked);
                None
            }
            Next::Done => Some(Change::Ack { key, token, again }),
            Next::After(delay) => {
                let occurrence = self.leased.job.occurrence + missed + 1;
                let again = Some(Again { when: When::After(delay), occurrence });
                Some(Change::Ack { key, token, again })
            }
        };
        Conclusion { change, end: End::Done }
    }

    fn failed(&self, why: String, is_final: bool, occurrence: &Occurrence) -> Conclusion {
        let Occurrence { again, is_periodic, .. } = *occurrence;
        let (shared, job) = (self.shared(), &self.leased.job);
        let (key, token) = (job.key.clone(), self.leased.token);
        let policy = Policy::from_text(&job.policy).unwrap_or_default();
        let most = policy.max_attempts.unwrap_or(shared.settings.max_attempts);
        let exhausted = job.attempt >= most;
        let (change, end) = if is_final || (exhausted && !is_periodic) {
            let reason = if is_final { why } else { format!("attempt {most} failed: {why}") };
            (Change::Bury { key, token, reason: reason.clone() }, End::Dead(reason))
        } else if exhausted {
            (Change::Ack { key, token, again }, End::GaveUp(why))
        } else {
            let wait = shared.settings.backoff.wait(job.attempt, token.0);
            (Change::Retry { key, token, when: When::After(wait) }, End::Retried(why, wait))
        };
        Conclusion { change: Some(change), end }
    }
}

impl Drop for Task {
    /// If no worker has taken it, because of a stop: gives the lease back. What has begun and was
    /// torn off keeps its attempt: its lease runs out.
    fn drop(&mut self) {
        if self.flown.is_some() && !self.has_begun && !std::thread::panicking() {
            let released = self.release();
            self.end(released);
        }
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
