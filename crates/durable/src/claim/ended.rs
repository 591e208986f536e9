//! The end of a run and the renewal of a lease: what follows from their commits.

use super::flight::Flown;
use crate::handlers::{Held, Mark};
use crate::observe::{EventKind, JobName, Reporter, count};
use crate::store::{Outcome, StoreError};
use std::sync::Arc;
use std::time::Duration;
use wheelhouse_service::Moment;

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// Its handler succeeded.
    Done,
    /// It failed with this message, and is retried after this time.
    Retried(String, Duration),
    /// It is not retried, for this reason.
    Dead(String),
    /// An occurrence of a periodic job was given up, for this reason.
    GaveUp(String),
    /// It was skipped because it was too late.
    Skipped,
    /// It did not begin.
    Released,
    /// It did not begin, because this program does not understand its policy.
    NotUnderstood,
}

/// The end of a run, on its way to the store.
pub(crate) struct Ended {
    pub(super) name: JobName,
    pub(super) end: End,
    /// The job is in flight until this is dropped.
    pub(super) flown: Flown,
    /// An earlier commit of it failed, but may have taken effect.
    pub(super) repeated: bool,
}

impl Ended {
    /// Marks it as repeated, to be committed again.
    pub(crate) fn again(self) -> Self {
        Self { repeated: true, ..self }
    }

    /// Reports that the store refuses it for good.
    pub(crate) fn give_up(self, reporter: &Reporter, error: &StoreError) {
        reporter.report(Some(self.name), EventKind::EndRefused(error.to_string()));
    }

    /// Counts and reports the end, by the outcome of its commit.
    pub(crate) fn tell(self, reporter: &Reporter, outcome: Outcome) {
        let Self { name, end, flown, repeated } = self;
        let counts = &reporter.counters.of(&name.kind).counts;
        let report = |kind| reporter.report(Some(name), kind);
        let done = match outcome {
            Outcome::Done => true,
            // The run has already ended. If this is a repeat, the failed commit has ended it.
            Outcome::Absent | Outcome::Superseded => repeated,
            _ => false,
        };
        match end {
            _ if outcome == Outcome::Closed => count(&counts.closed),
            End::Done if done => count(&counts.acked),
            End::Done => {
                count(&counts.superseded);
                report(EventKind::Superseded);
            }
            _ if !done => count(&counts.leases_lost),
            End::Retried(why, wait) => {
                count(&counts.retried);
                report(EventKind::Failed(why, wait));
            }
            End::Dead(why) => {
                count(&counts.dead);
                report(EventKind::Dead(why));
            }
            End::GaveUp(why) => {
                count(&counts.given_up);
                report(EventKind::GaveUp(why));
            }
            End::Skipped => {
                count(&counts.skipped);
                report(EventKind::Skipped);
            }
            End::Released | End::NotUnderstood => count(&counts.released),
        }
        drop(flown);
    }
}

/// The renewal of a lease, on its way to the store.
pub(crate) struct Renewed {
    pub(super) held: Arc<Held>,
    /// When the lease ends, if it is renewed.
    pub(super) until: Moment,
}

impl Renewed {
    pub(crate) fn tell(self, reporter: &Reporter, outcome: Outcome) {
        match outcome {
            Outcome::Done => self.held.extend(self.until),
            Outcome::Closed => {
                self.held.extend(self.until);
                self.held.mark(Mark::Closed);
            }
            // Only for a run in progress. If the run has ended since, the outcome of its end shows
            // whether the lease was lost. If it has not begun, the job may have been cancelled, and
            // the outcome of its `Begin` shows that.
            _ if self.held.is_running() && self.held.supersede() => {
                count(&reporter.counters.of(&self.held.name.kind).counts.leases_lost);
                reporter.report(Some(self.held.name.clone()), EventKind::LeaseLost);
            }
            _ => {}
        }
    }
}
