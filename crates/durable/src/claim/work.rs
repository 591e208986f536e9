//! A run, on a worker.

use super::ended::{End, Ended};
use super::flight::Flown;
use super::judge::{Verdict, judge};
use super::waiting::Slot;
use crate::Timers;
use crate::commit::Then;
use crate::drive::{Inside, Shared};
use crate::handlers::{DurableRun, Failure, Held, Next};
use crate::observe::{EventKind, JobName, count};
use crate::plan::Policy;
use crate::store::{Again, Change, Kind, Leased, Outcome, Timestamp, When};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wheelhouse_service::Moment;

/// How long a job waits that was scheduled by a newer version.
const NOT_UNDERSTOOD: Duration = Duration::from_secs(60);

/// A job that was claimed.
pub(crate) struct Task {
    timers: Timers,
    /// Its attempt is the one that is to begin.
    leased: Leased,
    held: Arc<Held>,
    claimed: Claimed,
    is_suspect: bool,
    /// A run of the same key in this program that lost its lease: its handler had not returned when
    /// this was claimed.
    hangs: Option<Arc<Held>>,
    /// The occurrence to run. `None` before it is judged, and when the handler has been called.
    occurrence: Option<Occurrence>,
    was_called: bool,
    /// `None` when it has ended.
    flown: Option<Flown>,
    /// The room that it takes, as soon as it is to begin.
    slot: Option<Slot>,
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

/// The findings when a worker was free for it.
#[derive(Clone, Copy)]
struct Occurrence {
    /// What its ack says of the next.
    again: Option<Again>,
    missed: u64,
    is_periodic: bool,
    /// The store's clock, as far as it is known without asking.
    now: Timestamp,
}

/// The decision about a job for which a worker is free.
pub(super) enum Step {
    /// It begins, by this change.
    Begin(Change),
    /// It is left out, buried or given back.
    End(Box<Conclusion>),
    /// Its lease is over.
    Lose,
}

/// The end of a job, made of its handler's answer.
pub(super) struct Conclusion {
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
    pub(super) fn new(
        timers: &Timers,
        mut leased: Leased,
        claimed: Claimed,
        hangs: Option<Arc<Held>>,
    ) -> Self {
        let shared = timers.shared();
        let until = claimed.asked.saturating_add(shared.settings.visibility);
        let is_suspect = is_suspect(&leased, shared.settings.max_attempts);
        leased.job.attempt = leased.job.attempt.saturating_add(1);
        let limit = Policy::from_text(&leased.job.policy).and_then(|policy| policy.limit);
        let limit = limit.or(shared.settings.limit);
        let held = Arc::new(Held::new(JobName::of(&leased.job), leased.token, until, limit));
        let flown = Some(shared.flight.begin(&held, leased.job.payload.len()));
        Self {
            timers: timers.clone(),
            leased,
            held,
            claimed,
            is_suspect,
            hangs,
            occurrence: None,
            was_called: false,
            flown,
            slot: None,
        }
    }

    pub(super) fn kind(&self) -> &Kind {
        &self.leased.job.kind
    }

    /// Returns `true` if it may be the job that kills the process.
    pub(super) fn is_suspect(&self) -> bool {
        self.is_suspect
    }

    fn shared(&self) -> &Shared {
        self.timers.shared()
    }

    /// Decides about it, as a worker is free for it.
    pub(super) fn step(&mut self) -> Step {
        let shared = self.timers.shared();
        let is_kept_back = shared.stopping.load(Ordering::SeqCst);
        if self.held.is_lost(shared.clock.now()) {
            Step::Lose
        } else if is_kept_back || shared.paused.read().has(self.kind()) {
            Step::End(Box::new(self.release()))
        } else if self.hangs.as_ref().is_some_and(|before| before.is_in_handler()) {
            // It would take one worker after the other. Another program may run it: this one comes
            // back to it as often as it would renew its lease.
            Step::End(Box::new(self.release_at(When::After(shared.settings.visibility / 3))))
        } else {
            match self.judge() {
                Ok(occurrence) => {
                    self.occurrence = Some(occurrence);
                    let (key, token) = (self.leased.job.key.clone(), self.leased.token);
                    Step::Begin(Change::Begin { key, token })
                }
                Err(conclusion) => Step::End(conclusion),
            }
        }
    }

    /// It is to begin, and takes this room.
    pub(super) fn take_room(&mut self, slot: Slot) {
        debug_assert!(self.slot.is_none() && self.occurrence.is_some(), "judged, and begun once");
        self.slot = Some(slot);
    }

    /// It does not begin after all.
    pub(super) fn leave_out(mut self, step: Step) {
        match step {
            Step::End(conclusion) => self.end(*conclusion),
            Step::Lose => self.lose(),
            Step::Begin(_) => unreachable!("it begins"),
        }
    }

    /// Hands its `Begin` to the committer of its shard.
    pub(super) fn submit(self, change: Change) {
        let timers = self.timers.clone();
        timers.shared().queue_of_changes.put(change, Then::Begun(Box::new(self)));
    }

    pub(super) fn is_of(&self, timers: &Timers) -> bool {
        std::ptr::eq(self.timers.shared(), timers.shared())
    }

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
                    drop(service.after(Duration::ZERO).run(move |_| self.run()));
                }
            }
            // By the clock another program may have it. Otherwise it was cancelled, moved or
            // replaced in time, and that call has returned so.
            _ if self.held.is_lost(self.shared().clock.now()) => self.lose(),
            _ => self.withdraw(),
        }
    }

    /// Its store is away, and its `Begin` may have been carried out: what gives the job back when
    /// the store answers again. Jobs of other stores take its room. If it began by then without
    /// that, all that is leased would begin at once, ahead of the workers.
    pub(crate) fn give_back(mut self) -> Option<(Change, Ended)> {
        let released = self.release();
        self.ended(released)
    }

    /// The run that was to begin is none.
    pub(crate) fn withdraw(&mut self) {
        drop(self.flown.take());
    }

    fn lose(&mut self) {
        let shared = self.timers.shared();
        if self.held.supersede() {
            count(&shared.counters.of(&self.held.name.kind).counts.leases_lost);
            shared.report(Some(self.held.name.clone()), EventKind::LeaseLost);
        }
        self.withdraw();
    }

    fn run(mut self) {
        let Some(occurrence) = self.occurrence.take() else { unreachable!("it was judged") };
        // Begun too late: the commit or the way to this worker took longer than the lease. If
        // another program has the job by now, the release is refused.
        if self.held.is_lost(self.shared().clock.now()) {
            let released = self.release();
            return self.end(released);
        }
        self.was_called = true;
        let conclusion = self.call(&occurrence);
        self.end(conclusion);
    }

    /// The occurrence to run, unless its policy leaves it out by now: it may have waited long for a
    /// worker.
    fn judge(&self) -> Result<Occurrence, Box<Conclusion>> {
        let now = self.claimed.now_at(self.shared().clock.now());
        let job = &self.leased.job;
        let (key, token) = (job.key.clone(), self.leased.token);
        let (change, end) = match judge(job, now, self.shared().settings.max_attempts) {
            Verdict::Run { again, missed, is_periodic } => {
                return Ok(Occurrence { again, missed, is_periodic, now });
            }
            Verdict::Skip { again, why } => {
                (Change::Ack { key, token, again }, why.map_or(End::Skipped, End::GaveUp))
            }
            Verdict::Bury(reason) => {
                (Change::Bury { key, token, reason: reason.clone() }, End::Dead(reason))
            }
            Verdict::NotUnderstood => {
                let when = When::After(NOT_UNDERSTOOD);
                (Change::Release { key, token, when }, End::NotUnderstood)
            }
        };
        Err(Box::new(Conclusion { change: Some(change), end }))
    }

    /// Hands the end in.
    fn end(&mut self, conclusion: Conclusion) {
        if let Some((change, ended)) = self.ended(conclusion) {
            self.shared().queue_of_changes.put(change, Then::Ended(ended));
        }
    }

    /// The end, to be committed. `None` if there was one, or the handler has committed it.
    fn ended(&mut self, Conclusion { change, end }: Conclusion) -> Option<(Change, Ended)> {
        let shared = self.timers.shared();
        self.held.end();
        if matches!(end, End::NotUnderstood) {
            shared.report(Some(self.held.name.clone()), EventKind::NotUnderstood);
        }
        let flown = self.flown.take()?;
        Some((change?, Ended { name: self.held.name.clone(), end, flown, repeated: false }))
    }

    fn release(&self) -> Conclusion {
        self.release_at(When::After(Duration::ZERO))
    }

    /// Gives it back: it is visible then.
    fn release_at(&self, when: When) -> Conclusion {
        let (key, token) = (self.leased.job.key.clone(), self.leased.token);
        let change = Change::Release { key, token, when };
        Conclusion { change: Some(change), end: End::Released }
    }

    fn call(&self, occurrence: &Occurrence) -> Conclusion {
        let (shared, job) = (self.shared(), &self.leased.job);
        let counters = shared.counters.of(&job.kind);
        count(&counters.counts.started);
        if job.attempt == 1 {
            counters.counts.missed.fetch_add(occurrence.missed, Ordering::Relaxed);
        }
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
        self.held.call(began);
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!(
            "run", kind = %job.kind, key = %job.key,
            generation = job.generation, attempt = job.attempt
        )
        .entered();
        // The text of an error is the user's code, too.
        let told = |failure: Failure| (failure.to_string(), failure.is_final());
        let inside = Inside::of(shared);
        let answer = catch_unwind(AssertUnwindSafe(|| handler(&run, &job.payload).map_err(told)));
        drop(inside);
        let took = shared.clock.now().saturating_since(began);
        if took > shared.settings.slow_after {
            count(&counters.counts.slow);
            shared.report(Some(self.held.name.clone()), EventKind::Slow(took));
        }
        counters.run_time.record_micros(took);
        shared.waiting.learn(&job.kind, took);
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
            let reason = bounded(reason);
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
    /// If no worker has taken it, because of a stop: gives the lease back. A handler that was
    /// called and torn off keeps its attempt: its lease runs out.
    fn drop(&mut self) {
        if self.flown.is_some() && !self.was_called && !std::thread::panicking() {
            let released = self.release();
            self.end(released);
        }
    }
}

/// The most that is stored of a reason, in bytes.
const MOST_REASON: usize = 4_096;

/// A reason that is stored: the beginning of a long one, and how long it was.
fn bounded(mut reason: String) -> String {
    if reason.len() > MOST_REASON {
        let rest = format!(".. ({} bytes)", reason.len());
        let fits = (0..=MOST_REASON - rest.len()).rev().find(|at| reason.is_char_boundary(*at));
        reason.truncate(fits.unwrap_or(0));
        reason += &rest;
    }
    reason
}

/// Returns `true` if a job has lost its lease, and has used up half of its attempts or more. A job
/// that failed gave its lease back, and is no suspect however often it failed.
fn is_suspect(leased: &Leased, max_attempts: u32) -> bool {
    let most = || Policy::from_text(&leased.job.policy).and_then(|policy| policy.max_attempts);
    leased.was_lost && leased.job.attempt >= most().unwrap_or(max_attempts).div_ceil(2)
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
