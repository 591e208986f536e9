//! The periodic work of the claimer: it renews leases, reports slow handlers, reads pauses, looks
//! for kinds without a handler, and removes dead letters that are too old or too many.

use super::Claimer;
use crate::commit::{Pending, Rank, Receives, carry_out};
use crate::lease::{JobLease, Mark, Message};
use crate::observe::{EventKind, Reporter, count};
use crate::store::{Change, Outcome, PAUSE, StoreError, Timestamp};
use crate::timers::{Paused, Settings};
use std::sync::Arc;
use wheelhouse_service::Moment;

const LETTERS_IN_PAGE: usize = 16;

const REMOVED_AT_ONCE: usize = 256;

/// A look for dead letters to remove. Each step makes one call of the store, by the connection of
/// the claims: renewals and claims wait for one step at most, and no end of a run waits in the
/// committer's queue behind thousands of letters.
#[derive(Default)]
pub(super) enum Letters {
    #[default]
    None,
    /// When each letter that was read became one, and its generation.
    Read(Vec<(Timestamp, u64)>),
    /// The generations of the letters to remove, the oldest last.
    Remove(Vec<u64>),
}

/// The renewal of a lease until a moment. If it fails, it is not retried: another one follows soon.
struct Renewal {
    lease: Arc<JobLease>,
    until: Moment,
    reporter: Arc<Reporter>,
}

impl Receives for Renewal {
    fn tell(self: Box<Self>, outcome: Outcome) {
        if self.lease.renew(self.until, outcome) {
            self.reporter.job(&self.lease.name, EventKind::LeaseLost);
        }
    }

    fn fail(self: Box<Self>, _: &Arc<StoreError>) -> Option<Pending> {
        None
    }
}

impl Claimer {
    /// Reports slow handlers. Wakes futures that must end: the timers of the pool cannot wake them
    /// while all of its threads are in handlers.
    pub(super) fn watch(&self) {
        let shared = self.timers.shared();
        let (now, slow_after) = (self.wheel.now(), shared.settings.slow_after);
        for lease in shared.flight.all() {
            let (slow, limit) = lease.takes_long(now, slow_after);
            if let Some(time) = slow {
                shared.reporter.job(&lease.name, EventKind::StillRunning(time));
            }
            if let Some(limit) = limit {
                shared.reporter.job(&lease.name, EventKind::TimedOut(limit));
            }
            if limit.is_some() || lease.is_lost(now) {
                lease.wake();
            }
        }
    }

    /// Renews the leases of all jobs in flight, except those of runs that have reached their
    /// limits.
    pub(super) fn renew(&self) {
        self.watch();
        let shared = self.timers.shared();
        let (now, visibility) = (self.wheel.now(), shared.settings.visibility);
        for lease in shared.flight.all().into_iter().filter(|lease| !lease.has(Mark::TimedOut)) {
            let (key, token) = (lease.name.key.clone(), lease.token);
            let (until, reporter) = (now.saturating_add(visibility), Arc::clone(&shared.reporter));
            let change = Change::Extend { key, token, visibility };
            let renewal = Renewal { lease, until, reporter };
            shared.queue_of_changes.put(Rank::First, change, renewal);
        }
    }

    /// Reads which kinds are paused, without a list of all kinds: a server may take long to list
    /// them, and claims and renewals would wait for the list. Returns `true` if the kinds to claim
    /// have changed.
    pub(super) fn look_for_pauses(&mut self) -> bool {
        let shared = self.timers.shared();
        let paused = Paused::read(&mut **self.store.lock(), &self.pauses);
        // Some errors are returned only once, by whichever call is next, so this one is reported.
        let paused = match paused {
            Ok(paused) => paused,
            Err(error) => {
                shared.reporter.report_failure(&error);
                return false;
            }
        };
        let mut is_new = false;
        for lane in &mut self.lanes {
            let kinds = paused.rest(&lane.all);
            is_new |= kinds != lane.kinds;
            lane.kinds = kinds;
        }
        *shared.paused.write() = paused;
        is_new
    }

    /// Reports each due kind without a handler, once. Records how long the oldest job of each other
    /// kind has waited.
    pub(super) fn look_for_kinds(&mut self) {
        let shared = self.timers.shared();
        let mut store = self.store.lock();
        let gauges = store.gauges();
        let found = store.kinds().and_then(|kinds| Ok((kinds, store.now()?)));
        drop(store);
        match gauges {
            Ok(gauges) => *shared.gauges.lock() = gauges,
            Err(error) => shared.reporter.report_failure(&error),
        }
        let (found, now) = match found {
            Ok(found) => found,
            Err(error) => return shared.reporter.report_failure(&error),
        };
        let (known, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(kind, _)| shared.handlers.contains_key(kind));
        let waits = |(kind, first)| (kind, now.saturating_since(first));
        *shared.overdue.lock() = known.into_iter().map(waits).collect();
        for (kind, first) in others {
            let is_due = first <= now && !kind.starts_with(PAUSE);
            if is_due && self.unknown.insert(kind.clone()) {
                shared.reporter.report(None, EventKind::UnknownKind(kind));
            }
        }
    }

    /// Begins a look, unless letters may be kept without limits, or an earlier look has not ended.
    pub(super) fn look_for_letters(&mut self) {
        let Settings { dead_for, most_dead, .. } = self.timers.shared().settings;
        let is_limited = dead_for.is_some() || most_dead.is_some();
        if is_limited && matches!(self.letters, Letters::None) {
            self.letters = Letters::Read(Vec::new());
            self.timers.shared().flight.tell(Message::Letters);
        }
    }

    /// Makes the next step. A look that fails is repeated within a minute.
    pub(super) fn step_letters(&mut self) {
        let letters = std::mem::take(&mut self.letters);
        let (next, shared) = (self.next_letters(letters), self.timers.shared());
        match next {
            Ok(Letters::None) => {}
            Ok(next) => {
                shared.flight.tell(Message::Letters);
                self.letters = next;
            }
            Err(error) => shared.reporter.report_failure(&error),
        }
    }

    fn next_letters(&self, letters: Letters) -> Result<Letters, StoreError> {
        let mut store = self.store.lock();
        match letters {
            Letters::None => unreachable!("a step is made during a look"),
            Letters::Read(mut read) => {
                let after = read.last().map(|(_, generation)| *generation);
                let page = store.dead(after, LETTERS_IN_PAGE)?;
                if page.is_empty() {
                    return Ok(Letters::Remove(self.surplus(read, store.now()?)));
                }
                read.extend(page.iter().map(|its| (its.at, its.job.generation)));
                Ok(Letters::Read(read))
            }
            Letters::Remove(mut rest) => {
                let some = rest.split_off(rest.len().saturating_sub(REMOVED_AT_ONCE));
                if some.is_empty() {
                    return Ok(Letters::None);
                }
                let forget = |generation| Change::Forget { generation };
                let changes: Vec<Change> = some.into_iter().map(forget).collect();
                let reporter = &self.timers.shared().reporter;
                let outcomes = carry_out(reporter, &mut **store, &changes)?;
                let done = outcomes.iter().filter(|outcome| **outcome == Outcome::Done);
                done.for_each(|_| count(&reporter.counters.others.counts.forgotten));
                Ok(Letters::Remove(rest))
            }
        }
    }

    /// Returns the generations of the letters that are too old or too many, the oldest last.
    fn surplus(&self, mut letters: Vec<(Timestamp, u64)>, now: Timestamp) -> Vec<u64> {
        let Settings { dead_for, most_dead, .. } = self.timers.shared().settings;
        letters.sort_unstable();
        let is_old = |at: Timestamp| dead_for.is_some_and(|time| at.saturating_add(time) <= now);
        let old = letters.iter().take_while(|(at, _)| is_old(*at)).count();
        let surplus = old.max(letters.len().saturating_sub(most_dead.unwrap_or(usize::MAX)));
        letters[..surplus].iter().rev().map(|(_, generation)| *generation).collect()
    }
}
