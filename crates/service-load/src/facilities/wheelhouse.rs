//! Our service, as its users see it.

use crate::facility::{Answer, Facility, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use smol_str::{SmolStr, format_smolstr};
use std::time::{Duration, Instant};
use wheelhouse_service::{
    Builder, ChangeError, Handle, JobHandle, Missed, Moment, MonotonicClock, Service,
};

/// A [`Service`], the clock that converts moments of the plan into moments of the service, and how
/// a caller opens and refreshes a session.
struct Wheelhouse<O, R> {
    service: Service,
    timers: Handle,
    clock: MonotonicClock,
    open: O,
    refresh: R,
}

/// The service with its defaults, except for what `build` changes. A caller keeps the handle of
/// each session.
pub(crate) fn by_handle(build: fn(Builder) -> Builder) -> Result<impl Facility> {
    let open = |timers: &Handle, due, job: Job| timers.at(due).run(move |_| job.run()).ok();
    start(build, open, |_: &Handle, session: &JobHandle, due| session.reschedule(due))
}

/// The same, and a caller knows the key of each session. It is stored inline, as close to the
/// caller as a handle is: a program has just read the key.
pub(crate) fn by_key(build: fn(Builder) -> Builder) -> Result<impl Facility> {
    let open = |timers: &Handle, due, job: Job| {
        let key = format_smolstr!("session {}", job.number());
        timers.at(due).key(key.as_str()).run(move |_| job.run()).ok()?;
        Some(key)
    };
    start(build, open, |timers: &Handle, key: &SmolStr, due| timers.reschedule(key, due))
}

fn start<O, R>(build: fn(Builder) -> Builder, open: O, refresh: R) -> Result<Wheelhouse<O, R>> {
    // A clock of the default kind. It is shared, because the plan of an experiment has moments of
    // the system's clock.
    let clock = MonotonicClock::new();
    let service = build(Service::builder().clock(clock)).start()?;
    Ok(Wheelhouse { timers: service.handle(), service, clock, open, refresh })
}

fn answer<T>(result: Result<T, ChangeError>) -> Answer {
    if result.is_ok() { Answer::Done } else { Answer::TooLate }
}

impl<S, O, R> Facility for Wheelhouse<O, R>
where
    S: Send,
    O: Fn(&Handle, Moment, Job) -> Option<S> + Sync,
    R: Fn(&Handle, &S, Moment) -> Result<(), ChangeError> + Sync,
{
    type Handle = JobHandle;
    type Session = S;

    fn schedule(&self, due: Instant, job: Job) -> Option<JobHandle> {
        self.timers.at(self.clock.moment(due)).run(move |_| job.run()).ok()
    }

    fn cancel(&self, handle: JobHandle) -> Answer {
        answer(handle.cancel())
    }

    fn open(&self, due: Instant, job: Job) -> Option<S> {
        (self.open)(&self.timers, self.clock.moment(due), job)
    }

    fn refresh(&self, session: &S, due: Instant) -> Answer {
        answer((self.refresh)(&self.timers, session, self.clock.moment(due)))
    }

    fn every(&self, first: Instant, period: Duration, mut job: PeriodicJob) -> bool {
        let times = job.left().into();
        let plan = self.timers.every(period).first_at(self.clock.moment(first)).times(times);
        // Missed runs are made up for, as in the other facilities.
        plan.missed(Missed::Burst).run(move |_| job.run()).is_ok()
    }

    fn settle(&self, pending: usize) -> Result<()> {
        // The intake is in order: when the last job has run, all before it have been taken in. Its
        // deadline is in the past, since one that is due now would be rounded up to the next tick,
        // which would count as backlog.
        wait_for_marker(|done| {
            self.timers.at(Moment::ORIGIN).run(move |_| done.send(()).unwrap_or_default()).is_ok()
        })?;
        // That job itself, and other running jobs, are removed a moment after their closures
        // return.
        wait_until("jobs that are over are still there", || self.timers.len() <= pending)
    }

    fn count(&self) -> Result<usize> {
        Ok(self.timers.len())
    }

    fn stop(self) {
        drop(self.service);
    }
}
