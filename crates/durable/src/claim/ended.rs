//! What is done when the end of a run, or a renewal, is committed.

use super::flight::Flown;
use crate::handlers::Held;
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
    /// Failed with this message, and is tried again after this time.
    Retried(String, Duration),
    /// Is not tried again, for this reason.
    Dead(String),
    /// An occurrence of a periodic job was given up, for this reason.
    GaveUp(String),
    /// Came too late.
    Skipped,
    /// Did not begin.
    Released,
    /// Did not begin, as its policy is not known.
    NotUnderstood,
}

/// The end of a run, on its way to the store.
pub(crate) struct Ended {
    pub(super) name: JobName,
    pub(super) end: End,
    /// The job is in flight until this is dropped.
    pub(super) flown: Flown,
    /// A commit of it failed before, and may have taken effect.
    pub(super) repeated: bool,
}

impl Ended {
    /// To be committed again.
    pub(crate) fn again(self) -> Self {
        Self { repeated: true, ..self }
    }

    /// The store does not take it, now or later.
    pub(crate) fn give_up(self, reporter: &Reporter, error: &StoreError) {
        reporter.report(Some(self.name), EventKind::EndRefused(error.to_string()));
    }

    /// Counts the end, and reports it if something went wrong.
    pub(crate) fn tell(self, reporter: &Reporter, outcome: Outcome) {
        let Self { name, end, flown, repeated } = self;
        let counts = &reporter.counters.of(&name.kind).counts;
        let report = |kind| reporter.report(Some(name), kind);
        let done = match outcome {
            Outcome::Done => true,
            // It is found ended: by the commit that failed, for all that is known.
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
    /// When it ends, if it is renewed.
    pub(super) until: Moment,
}

impl Renewed {
    pub(crate) fn tell(self, reporter: &Reporter, outcome: Outcome) {
        match outcome {
            Outcome::Done => self.held.extend(self.until),
            Outcome::Closed => {
                self.held.extend(self.until);
                self.held.close();
            }
            // If the run has ended since, the outcome of its end shows if it was lost. One that has
            // not begun may have been cancelled, which the outcome of its `Begin` shows.
            _ if self.held.is_running() && self.held.supersede() => {
                count(&reporter.counters.of(&self.held.name.kind).counts.leases_lost);
                reporter.report(Some(self.held.name.clone()), EventKind::LeaseLost);
            }
            _ => {}
        }
    }
}
