//! The claims of a lane.

use crate::lease::Lane;
use crate::store::{Kinds, Next};
use crate::timers::Shared;
use std::time::Duration;
use wheelhouse_service::Moment;

/// A job that is later than this counts towards the catch-up rate.
pub(super) const LATE: Duration = Duration::from_secs(1);

pub(super) struct LaneClaims {
    pub(super) lane: Lane,
    /// The kinds of this lane that have handlers.
    pub(super) all: Kinds,
    /// The kinds of `all` that are not paused.
    pub(super) kinds: Kinds,
    /// The result of the last claim, and the time before it was sent.
    pub(super) last: Option<(Next, Moment)>,
    pub(super) was_served: bool,
    pub(super) has_failed: bool,
}

impl LaneClaims {
    /// Returns `None` if the lane has no handler.
    pub(super) fn new(shared: &Shared, lane: Lane) -> Option<Self> {
        let handlers = shared.handlers.iter().filter(|(_, handler)| handler.lane() == lane);
        let all = Kinds::new(handlers.map(|(kind, _)| kind.clone()));
        let kinds = all.clone();
        let (was_served, has_failed) = (false, false);
        (!all.is_empty()).then_some(Self { lane, all, kinds, last: None, was_served, has_failed })
    }

    /// Returns `true` if the first visible job is late by now, judging by the last claim.
    pub(super) fn is_late(&self, asked: Moment) -> bool {
        self.last.is_none_or(|(next, then)| {
            let now = next.now.saturating_add(asked.saturating_since(then));
            next.visible_at.is_some_and(|at| now.saturating_since(at) > LATE)
        })
    }
}
