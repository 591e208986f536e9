//! The periodic work of the claimer: it renews leases, reports slow handlers, reads pauses, and
//! looks for kinds without a handler.

use super::Claimer;
use crate::commit::{Pending, Rank, Receives};
use crate::lease::{JobLease, Mark};
use crate::observe::{EventKind, Reporter};
use crate::store::{Change, Outcome, PAUSE, StoreError};
use crate::timers::Paused;
use std::sync::Arc;
use wheelhouse_service::Moment;

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
}
