//! A backend of any type, as a trait object.

use wheelhouse_core::{Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;

/// The value that a backend stores for each job: a service runs on any `Timer<JobIndex>`. Only a
/// service creates these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobIndex(pub(super) u32);

pub(crate) type DynTimer = dyn Timer<JobIndex> + Send;

/// The backend of a shard, unless the user has set one.
pub(crate) fn default_wheel() -> Box<DynTimer> {
    Box::new(HierarchicalWheel::new())
}

#[inline]
pub(super) fn cancel_timer(wheel: &mut DynTimer, timer: TimerId, index: u32) {
    let cancelled = wheel.cancel(timer);
    debug_assert_eq!(cancelled, Some(JobIndex(index)), "the job has another timer, or none");
}
