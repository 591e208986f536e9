//! A job from its claim to its end, and what follows from the outcome of its end.

use super::judge::{NOT_UNDERSTOOD, judge};
use super::waiting::{Slot, Waiting};
use crate::commit::{Pending, Rank, Receives};
use crate::handlers::{Handler, Occurrence};
use crate::lease::{InFlight, JobLease, Lane, Mark};
use crate::observe::{EventKind, count};
use crate::plan::Policy;
use crate::store::{Again, Change, Entry, Leased, Outcome, StoreError, Timestamp, When};
use crate::timers::{Shared, Timers};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wheelhouse_service::Moment;

pub(crate) struct Task {
    pub(super) timers: Timers,
    pub(super) lease: Arc<JobLease>,
    /// With the number of the attempt that will begin.
    pub(super) job: Entry,
    /// `None` if it has a part that this program does not know.
    policy: Option<Policy>,
    pub(super) most: u32,
    claimed: Claimed,
    /// It may be the job that kills the process: it has lost its lease, and has used up at least
    /// half of its attempts. A job whose handler failed has ended its lease, so it is no suspect.
    pub(super) is_suspect: bool,
    pub(super) is_begun: bool,
    /// An earlier run of the same key in this program that has lost its lease, and that had not
    /// ended when this job was claimed.
    hangs: Option<Arc<JobLease>>,
    /// The occurrence to run. `None` before the job is judged, and after the handler was called.
    pub(super) occurrence: Option<Occurrence>,
    /// `None` after the job has ended.
    in_flight: Option<InFlight>,
    /// Its slot, from the time at which it is to begin.
    pub(super) slot: Option<Slot>,
}

#[derive(Clone, Copy)]
pub(super) struct Claimed {
    /// By the store's clock.
    pub(super) now: Timestamp,
    /// By this program's clock: before the claim was sent, and after the store has answered.
    pub(super) asked: Moment,
    pub(super) answered: Moment,
}

impl Task {
    /// Creates the task of a claimed job, which is in flight from here on.
    pub(super) fn new(
        timers: &Timers,
        leased: Leased,
        claimed: Claimed,
        hangs: Option<Arc<JobLease>>,
    ) -> Self {
        let Shared { settings, handlers, flight, .. } = timers.shared();
        let is_begun = leased.has_begun();
        let Leased { mut job, token, was_lost, .. } = leased;
        debug_assert!(!(is_begun && was_lost), "a claim begins first attempts only: {job:?}");
        let mut policy = Policy::from_text(&job.policy);
        let its = policy.as_mut();
        let (most, limit, context) = its.map_or_else(Default::default, |its| {
            (its.max_attempts, its.limit, std::mem::take(&mut its.context))
        });
        let most = most.unwrap_or(settings.backoff.most_attempts());
        let is_suspect = was_lost && job.attempt >= most.div_ceil(2);
        job.attempt = job.attempt.saturating_add(u32::from(!is_begun));
        // Only kinds with a handler are claimed.
        let lane = handlers.get(&job.kind).map_or(Lane::Threads, Handler::lane);
        let until = claimed.asked.saturating_add(settings.visibility);
        let limit = limit.or(settings.limit);
        let lease = Arc::new(JobLease::new(&job, token, lane, until, limit, context));
        let in_flight = Some(flight.begin(&lease));
        Self {
            timers: timers.clone(),
            lease,
            job,
            policy,
            most,
            claimed,
            is_suspect,
            is_begun,
            hangs,
            occurrence: None,
            in_flight,
            slot: None,
        }
    }

    pub(super) fn shared(&self) -> &Shared {
        self.timers.shared()
    }

    /// The queue that gave it its slot.
    pub(super) fn waiting(&self) -> &Arc<Waiting> {
        let waiting = self.slot.as_ref().and_then(|slot| slot.waiting.as_ref());
        waiting.unwrap_or_else(|| unreachable!("a job that begins has a slot"))
    }

    /// Decides what happens to the job, for which a worker is free. Returns its end if it does not
    /// begin. If its claim has begun the run, the end undoes that: a release subtracts the attempt.
    pub(super) fn decide(&mut self) -> Result<(), End> {
        let Shared { settings, clock, stopping, paused, .. } = self.timers.shared();
        let now = clock.now();
        if self.lease.is_lost(now) {
            // If another program has the job by now, the store refuses the release.
            return Err(End::Released(Duration::ZERO));
        }
        // A stop waits for runs that have begun: a cancel may have returned `Running` for them.
        let is_stopping = stopping.load(Ordering::SeqCst) && !self.is_begun;
        if is_stopping || paused.read().has(&self.job.kind) {
            return Err(End::Released(Duration::ZERO));
        }
        // A job that hangs in each attempt would occupy one worker after the other. It is released,
        // so that another program may run it. This program checks it as often as it would renew the
        // lease.
        if self.hangs.as_ref().is_some_and(|before| before.is_in_handler()) {
            return Err(End::Released(settings.visibility / 3));
        }
        // The job may have waited long, so its policy may forbid the run by now. The time by the
        // store's clock is behind by the time that the answer of the claim took to arrive.
        let since = now.saturating_since(self.claimed.answered).as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        let now = Timestamp::from_millis(self.claimed.now.as_millis().saturating_add(since));
        self.occurrence = Some(judge(&self.job, self.policy.as_ref(), now, self.most)?);
        Ok(())
    }

    pub(super) fn begin(&self) -> Change {
        debug_assert!(!self.is_begun, "it has begun already");
        Change::Begin { key: self.job.key.clone(), token: self.lease.token }
    }

    /// Puts the `Begin` into the queue of the committer of its shard.
    pub(super) fn submit(self) {
        let (timers, begin) = (self.timers.clone(), self.begin());
        timers.shared().queue_of_changes.put(Rank::Last, begin, self);
    }

    /// Ends the job for this program, without a commit.
    pub(super) fn withdraw(&mut self) {
        self.lease.mark(Mark::Ended);
        drop(self.in_flight.take());
    }

    pub(super) fn lose(&mut self) {
        if self.lease.supersede() {
            self.shared().reporter.job(&self.lease.name, EventKind::LeaseLost);
        }
        self.withdraw();
    }

    pub(super) fn end(&mut self, end: End) {
        if let Some(ended) = self.ended(end) {
            let change = ended.change();
            self.shared().queue_of_changes.put(Rank::Usual, change, ended);
        }
    }

    /// Returns the end, to be committed. `None` if the job has ended already.
    fn ended(&mut self, end: End) -> Option<Ended> {
        self.lease.mark(Mark::Ended);
        // When the job is due, and then once a minute.
        if matches!(end, End::NotUnderstood(wait) if NOT_UNDERSTOOD.contains(&wait)) {
            self.shared().reporter.job(&self.lease.name, EventKind::NotUnderstood);
        }
        Some(Ended::new(end, self.in_flight.take()?))
    }
}

/// Returns `true` if a `Begin` with this outcome was carried out. `Closed`: a commit whose answer
/// was lost has carried it out, and a later cancel found the job running.
pub(super) fn begins(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Done | Outcome::Closed)
}

/// The receiver of the change by which it begins.
impl Receives for Task {
    fn tell(self: Box<Self>, outcome: Outcome) {
        let waiting = Arc::clone(self.waiting());
        // Not for a run that does not begin: it may be reported to an observer, which may use the
        // connection that a claimer holds while it waits for the order.
        let _order = begins(outcome).then(|| waiting.keep_order());
        self.begun(outcome);
    }

    /// The job is released when the store answers again, since the `Begin` may have been carried
    /// out. The slot is freed for jobs of other stores. If the `Begin` were repeated instead, all
    /// leased jobs would begin at once, before workers are free for them.
    fn fail(mut self: Box<Self>, error: &Arc<StoreError>) -> Option<Pending> {
        if !error.is_transient() {
            // Refused for good: the lease runs out.
            self.withdraw();
            return None;
        }
        let ended = self.ended(End::Released(Duration::ZERO))?;
        Some((ended.change(), Box::new(ended)))
    }
}

impl Drop for Task {
    /// Releases the job if its handler was never called: because of a stop, or because an executor
    /// dropped the run. An executor may drop each run at once, so then the job is visible again
    /// only after the time in which its lease would be renewed. If the handler was called and did
    /// not end, the attempt counts, and the lease runs out.
    fn drop(&mut self) {
        if self.in_flight.is_none() || self.lease.is_in_handler() {
            return;
        }
        let Shared { settings, stopping, reporter, .. } = self.timers.shared();
        let mut wait = Duration::ZERO;
        if self.lease.is_running() && !stopping.load(Ordering::SeqCst) {
            wait = settings.visibility / 3;
            reporter.job(&self.lease.name, EventKind::Dropped(wait));
        }
        self.end(End::Released(wait));
    }
}

/// How a job ended. A periodic job continues with the next occurrence, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Its handler succeeded.
    Done(Option<Again>),
    /// It failed with this message, and is retried after this time.
    Retried(String, Duration),
    /// It is not retried, for this reason.
    Dead(String),
    /// An occurrence of a periodic job was given up, for this reason.
    GaveUp(String, Option<Again>),
    /// It was skipped because it was too late.
    Skipped(Option<Again>),
    /// It did not begin, and is due again after this time.
    Released(Duration),
    /// It did not begin, because this program does not understand its policy. It is due again
    /// after this time.
    NotUnderstood(Duration),
}

/// The end of a job, on its way to the store. The job is in flight until this is dropped.
pub(crate) struct Ended {
    end: End,
    in_flight: InFlight,
    /// An earlier commit of it failed, but may have taken effect.
    repeated: bool,
}

impl Ended {
    pub(super) fn new(end: End, in_flight: InFlight) -> Self {
        Self { end, in_flight, repeated: false }
    }

    pub(crate) fn change(&self) -> Change {
        let lease = &self.in_flight.lease;
        let (key, token) = (lease.name.key.clone(), lease.token);
        match &self.end {
            End::Done(again) | End::GaveUp(_, again) | End::Skipped(again) => {
                Change::Ack { key, token, again: *again }
            }
            End::Retried(_, wait) => Change::Retry { key, token, when: When::After(*wait) },
            End::Dead(reason) => Change::Bury { key, token, reason: reason.clone() },
            End::Released(wait) | End::NotUnderstood(wait) => {
                Change::Release { key, token, when: When::After(*wait) }
            }
        }
    }
}

impl Receives for Ended {
    fn tell(self: Box<Self>, outcome: Outcome) {
        let Self { end, in_flight, repeated } = *self;
        let (name, reporter) = (&in_flight.lease.name, &in_flight.flight.reporter);
        let counts = &reporter.counters.of(&name.kind).counts;
        let done = match outcome {
            Outcome::Done => true,
            // The run has already ended. If this is a repeat, the failed commit has ended it. If
            // the lease has run out since, another program may have ended it instead.
            Outcome::Absent | Outcome::Superseded => repeated && !in_flight.is_lost(),
            _ => false,
        };
        let is_closed = outcome == Outcome::Closed;
        // Otherwise the job was cancelled, moved or replaced while it waited.
        let is_lost = in_flight.lease.has(Mark::Begun) || in_flight.is_lost();
        // Once for each lease: a refused renewal may have counted it.
        if !done && !is_closed && is_lost && in_flight.lease.mark(Mark::Superseded) {
            count(&counts.leases_lost);
        }
        match end {
            _ if is_closed => count(&counts.closed),
            End::Done(_) if done => count(&counts.acked),
            End::Done(_) => reporter.job(name, EventKind::Superseded),
            _ if !done => {}
            End::Retried(why, wait) => reporter.job(name, EventKind::Failed(why, wait)),
            End::Dead(why) => reporter.job(name, EventKind::Dead(why)),
            End::GaveUp(why, _) => reporter.job(name, EventKind::GaveUp(why)),
            End::Skipped(_) => reporter.job(name, EventKind::Skipped),
            End::Released(_) | End::NotUnderstood(_) => count(&counts.released),
        }
    }

    fn fail(mut self: Box<Self>, error: &Arc<StoreError>) -> Option<Pending> {
        if error.is_transient() {
            self.repeated = true;
            return Some((self.change(), self));
        }
        // Refused for good: the lease runs out, and the attempt counts.
        let (name, reporter) = (&self.in_flight.lease.name, &self.in_flight.flight.reporter);
        reporter.job(name, EventKind::EndRefused(error.to_string()));
        None
    }
}
