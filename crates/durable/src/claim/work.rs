//! A job from its claim to its end.

use super::ended::{End, Ended, Renewed};
use super::flight::Flown;
use super::judge::{Verdict, judge};
use super::waiting::Slot;
use crate::Timers;
use crate::commit::{Promise, Rank, Receives};
use crate::drive::Shared;
use crate::handlers::{Failure, Handler, Held, Lane, Mark, Next};
use crate::observe::{EventKind, JobName, count};
use crate::plan::Policy;
use crate::store::{Again, Change, Kind, Leased, Timestamp, When};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wheelhouse_service::Moment;

/// How long a job waits if its policy is not understood.
const NOT_UNDERSTOOD: Duration = Duration::from_secs(60);

/// A job that was claimed.
pub(crate) struct Task {
    pub(super) timers: Timers,
    /// With the number of the attempt that will begin.
    pub(super) leased: Leased,
    pub(super) held: Arc<Held>,
    claimed: Claimed,
    is_suspect: bool,
    /// An earlier run of the same key in this program that has lost its lease, and whose handler
    /// had not returned when this job was claimed.
    hangs: Option<Arc<Held>>,
    /// The occurrence to run. `None` before the job is judged, and after the handler was called.
    pub(super) occurrence: Option<Occurrence>,
    pub(super) was_called: bool,
    /// `None` after the job has ended.
    flown: Option<Flown>,
    /// Its slot, from the time at which it is to begin.
    slot: Option<Slot>,
}

/// The receiver of an outcome.
pub(crate) enum Recipient {
    Tell(Promise),
    Ended(Ended),
    Renewed(Renewed),
    /// A run that begins by the change.
    Begun(Box<Task>),
    /// No receiver: a dead letter that the claimer removes.
    Forgotten,
}

impl Receives for Recipient {
    fn rank(&self) -> Rank {
        match self {
            Self::Tell(_) => Rank::Caller,
            Self::Renewed(_) => Rank::First,
            Self::Begun(_) => Rank::Last,
            Self::Ended(_) | Self::Forgotten => Rank::Usual,
        }
    }
}

/// When a job was claimed.
#[derive(Clone, Copy)]
pub(super) struct Claimed {
    /// By the store's clock.
    pub(super) now: Timestamp,
    /// By this program's clock: before the claim was sent, and after the store has answered.
    pub(super) asked: Moment,
    pub(super) answered: Moment,
}

/// The occurrence to run, as judged when a worker was free for it.
#[derive(Clone, Copy)]
pub(super) struct Occurrence {
    /// The next occurrence, for the ack.
    pub(super) again: Option<Again>,
    pub(super) missed: u64,
    pub(super) is_periodic: bool,
    /// The time by the store's clock, computed from that of the claim.
    pub(super) now: Timestamp,
}

/// The decision about a job for which a worker is free.
pub(super) enum Step {
    /// The job begins, by this change.
    Begin(Change),
    /// The job is skipped, buried or released.
    End(Box<Conclusion>),
    /// The lease of the job has run out.
    Lose,
}

/// The result of a handler: the next step, or the reason of its failure and `true` if that is
/// final.
pub(super) type Answer = Result<Next, (String, bool)>;

/// Converts a failure to text. This calls code of the user, which may panic.
pub(super) fn told(answer: Result<Next, Failure>) -> Answer {
    answer.map_err(|failure| (failure.to_string(), failure.is_final()))
}

/// The end of a job, and the change that commits it.
pub(super) struct Conclusion {
    /// `None` if the handler has committed the ack itself.
    change: Option<Change>,
    end: End,
}

impl Claimed {
    /// Returns the time by the store's clock at a later moment of this program's clock. It is
    /// behind by the time that the answer took to arrive.
    fn now_at(self, moment: Moment) -> Timestamp {
        let since = moment.saturating_since(self.answered).as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        Timestamp::from_millis(self.now.as_millis().saturating_add(since))
    }
}

impl Task {
    /// Creates the task of a claimed job, which is in flight from here on.
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
        let Policy { limit, context, .. } =
            Policy::from_text(&leased.job.policy).unwrap_or_default();
        let limit = limit.or(shared.settings.limit);
        // Only kinds with a handler are claimed.
        let lane = shared.handlers.get(&leased.job.kind).map_or(Lane::Threads, Handler::lane);
        let name = JobName::of(&leased.job);
        let held = Arc::new(Held::new(name, (leased.token, lane), until, (limit, context)));
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

    pub(super) fn lane(&self) -> Lane {
        self.held.lane
    }

    pub(super) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// Returns `true` if the job may be the one that kills the process.
    pub(super) fn is_suspect(&self) -> bool {
        self.is_suspect
    }

    pub(super) fn shared(&self) -> &Shared {
        self.timers.shared()
    }

    /// Decides what happens to the job. Called when a worker is free for it.
    pub(super) fn step(&mut self) -> Step {
        let shared = self.timers.shared();
        let is_kept_back = shared.stopping.load(Ordering::SeqCst);
        if self.held.is_lost(shared.clock.now()) {
            Step::Lose
        } else if is_kept_back || shared.paused.read().has(self.kind()) {
            Step::End(Box::new(self.release()))
        } else if self.hangs.as_ref().is_some_and(|before| before.is_in_handler()) {
            // A job that hangs in each attempt would occupy one worker after the other. It is
            // released, so that another program may run it. This program checks it as often as it
            // would renew the lease.
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

    /// Gives the job its slot. It is to begin.
    pub(super) fn take_room(&mut self, slot: Slot) {
        debug_assert!(self.slot.is_none() && self.occurrence.is_some(), "judged, and begun once");
        self.slot = Some(slot);
    }

    /// Ends a job that does not begin.
    pub(super) fn leave_out(mut self, step: Step) {
        match step {
            Step::End(conclusion) => self.end(*conclusion),
            Step::Lose => self.lose(),
            Step::Begin(_) => unreachable!("it begins"),
        }
    }

    /// Puts the `Begin` into the queue of the committer of its shard.
    pub(super) fn submit(self, change: Change) {
        let timers = self.timers.clone();
        timers.shared().queue_of_changes.put(change, Recipient::Begun(Box::new(self)));
    }

    pub(super) fn is_of(&self, timers: &Timers) -> bool {
        std::ptr::eq(self.timers.shared(), timers.shared())
    }

    /// Returns the change that releases the job when the store answers again. Called when the store
    /// is unreachable: the `Begin` may have been carried out. The slot is freed for jobs of other
    /// stores. If the `Begin` were repeated instead, all leased jobs would begin at once, before
    /// workers are free for them.
    pub(crate) fn give_back(mut self) -> Option<(Change, Ended)> {
        let released = self.release();
        self.ended(released)
    }

    /// Ends the run without a commit: its lease runs out, and the attempt counts.
    pub(super) fn leave_to_lease(&mut self) {
        self.held.mark(Mark::Ended);
        self.withdraw();
    }

    /// Ends the job for this program, without a commit.
    pub(crate) fn withdraw(&mut self) {
        drop(self.flown.take());
    }

    pub(super) fn lose(&mut self) {
        self.held.mark(Mark::Ended);
        let shared = self.timers.shared();
        if self.held.supersede() {
            count(&shared.reporter.counters.of(&self.held.name.kind).counts.leases_lost);
            shared.reporter.report(Some(self.held.name.clone()), EventKind::LeaseLost);
        }
        self.withdraw();
    }

    /// Returns the occurrence to run, or the end of the job if its policy forbids the run by now:
    /// the job may have waited long for a worker.
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

    /// Puts the end into the queue of the committer.
    pub(super) fn end(&mut self, conclusion: Conclusion) {
        if let Some((change, ended)) = self.ended(conclusion) {
            self.shared().queue_of_changes.put(change, Recipient::Ended(ended));
        }
    }

    /// Returns the end, to be committed. `None` if the job has ended already, or the handler has
    /// committed the ack.
    fn ended(&mut self, Conclusion { change, end }: Conclusion) -> Option<(Change, Ended)> {
        let shared = self.timers.shared();
        self.held.mark(Mark::Ended);
        if matches!(end, End::NotUnderstood) {
            shared.reporter.report(Some(self.held.name.clone()), EventKind::NotUnderstood);
        }
        let flown = self.flown.take()?;
        Some((change?, Ended { name: self.held.name.clone(), end, flown, repeated: false }))
    }

    pub(super) fn release(&self) -> Conclusion {
        self.release_at(When::After(Duration::ZERO))
    }

    /// Releases the job, so that it is visible at `when`.
    fn release_at(&self, when: When) -> Conclusion {
        let (key, token) = (self.leased.job.key.clone(), self.leased.token);
        let change = Change::Release { key, token, when };
        Conclusion { change: Some(change), end: End::Released }
    }

    pub(super) fn succeeded(&self, next: Next, occurrence: &Occurrence) -> Conclusion {
        let Occurrence { again, missed, .. } = *occurrence;
        let (key, token) = (self.leased.job.key.clone(), self.leased.token);
        let change = match next {
            Next::Acked => {
                let counters = self.shared().reporter.counters.of(&self.leased.job.kind);
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

    pub(super) fn failed(
        &self,
        why: String,
        is_final: bool,
        occurrence: &Occurrence,
    ) -> Conclusion {
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
            let wait = shared.settings.backoff.wait(job.attempt);
            (Change::Retry { key, token, when: When::After(wait) }, End::Retried(why, wait))
        };
        Conclusion { change: Some(change), end }
    }
}

impl Drop for Task {
    /// Releases the job if its handler was never called: because of a stop, or because an executor
    /// dropped the run. An executor may drop each run at once, so then the job is visible again
    /// only after the time in which its lease would be renewed. If the handler was called and did
    /// not end, the attempt counts, and the lease runs out.
    fn drop(&mut self) {
        if self.flown.is_none() || self.was_called {
            return;
        }
        let shared = self.timers.shared();
        let mut wait = Duration::ZERO;
        if self.held.is_running() && !shared.stopping.load(Ordering::SeqCst) {
            wait = shared.settings.visibility / 3;
            shared.reporter.report(Some(self.held.name.clone()), EventKind::Dropped(wait));
        }
        let released = self.release_at(When::After(wait));
        self.end(released);
    }
}

/// The longest reason that is stored, in bytes.
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

/// Returns `true` if the job has lost its lease and has used up at least half of its attempts. A
/// job whose handler failed has ended its lease, so it is no suspect, however often it failed.
fn is_suspect(leased: &Leased, max_attempts: u32) -> bool {
    let most = || Policy::from_text(&leased.job.policy).and_then(|policy| policy.max_attempts);
    leased.was_lost && leased.job.attempt >= most().unwrap_or(max_attempts).div_ceil(2)
}
