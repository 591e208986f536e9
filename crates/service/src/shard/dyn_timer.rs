//! A backend of any type, as a trait object.

use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The value that a backend stores for each job: a service runs on any `Timer<JobIndex>`. Only a
/// service creates these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobIndex(pub(super) u32);

/// A [`Timer`] of jobs, without the method that takes a closure, so that it can be a trait object.
pub(crate) trait DynTimer: Send {
    fn now(&self) -> Tick;
    /// For assertions.
    fn len(&self) -> usize;
    fn insert(&mut self, tick: Tick, job: JobIndex) -> TimerId;
    fn cancel(&mut self, timer: TimerId) -> Option<JobIndex>;
    fn reschedule(&mut self, timer: TimerId, tick: Tick) -> bool;
    fn deadline(&self, timer: TimerId) -> Option<Tick>;
    fn next_wakeup(&self) -> Option<Tick>;
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<JobIndex>>;
}

/// Cancels the timer of a job.
#[inline]
pub(super) fn cancel_timer(wheel: &mut dyn DynTimer, timer: TimerId, index: u32) {
    let cancelled = wheel.cancel(timer);
    debug_assert_eq!(cancelled, Some(JobIndex(index)), "the job has another timer, or none");
}

impl<B: Timer<JobIndex> + Send> DynTimer for B {
    fn now(&self) -> Tick {
        Timer::now(self)
    }

    fn len(&self) -> usize {
        Timer::len(self)
    }

    fn insert(&mut self, tick: Tick, job: JobIndex) -> TimerId {
        Timer::insert(self, tick, job)
    }

    fn cancel(&mut self, timer: TimerId) -> Option<JobIndex> {
        Timer::cancel(self, timer)
    }

    fn reschedule(&mut self, timer: TimerId, tick: Tick) -> bool {
        Timer::reschedule(self, timer, tick)
    }

    fn deadline(&self, timer: TimerId) -> Option<Tick> {
        Timer::deadline(self, timer)
    }

    fn next_wakeup(&self) -> Option<Tick> {
        Timer::next_wakeup(self)
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<JobIndex>> {
        Timer::pop_expired(self, now)
    }
}
