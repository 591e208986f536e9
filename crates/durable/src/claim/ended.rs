//! How a job ends, the change that commits it, and what follows from the outcome.

use crate::commit::{Pending, Receives};
use crate::lease::{InFlight, Mark};
use crate::observe::{EventKind, count};
use crate::store::{Again, Change, Outcome, StoreError, When};
use std::sync::Arc;
use std::time::Duration;

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
