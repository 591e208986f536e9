//! Our service, as its users see it.

use crate::facility::{Answer, Facility, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use smol_str::{SmolStr, format_smolstr};
use std::marker::PhantomData;
use std::time::{Duration, Instant};
use wheelhouse_service::{
    Builder, ChangeError, Handle, JobHandle, Missed, Moment, MonotonicClock, Service,
};

/// How a caller identifies its sessions.
pub(crate) trait SessionLookup: Sync {
    /// Identifies a session for a refresh.
    type Session: Send;

    fn open(timers: &Handle, due: Moment, job: Job) -> Option<Self::Session>;

    fn refresh(timers: &Handle, session: &Self::Session, due: Moment) -> Result<(), ChangeError>;
}

/// The caller keeps the handle of the job.
pub(crate) struct ByHandle;

impl SessionLookup for ByHandle {
    type Session = JobHandle;

    fn open(timers: &Handle, due: Moment, job: Job) -> Option<JobHandle> {
        timers.at(due).run(move |_| job.run()).ok()
    }

    fn refresh(_: &Handle, session: &JobHandle, due: Moment) -> Result<(), ChangeError> {
        session.reschedule(due)
    }
}

/// The caller knows the key of the session.
pub(crate) struct ByKey;

impl SessionLookup for ByKey {
    /// Stored inline, as close to the caller as a handle is: a program has just read the key.
    type Session = SmolStr;

    fn open(timers: &Handle, due: Moment, job: Job) -> Option<SmolStr> {
        let key = format_smolstr!("session {}", job.number());
        timers.at(due).key(key.as_str()).run(move |_| job.run()).ok()?;
        Some(key)
    }

    fn refresh(timers: &Handle, key: &SmolStr, due: Moment) -> Result<(), ChangeError> {
        timers.reschedule(key, due)
    }
}

/// A [`Service`], and the clock that converts moments of the plan into moments of the service.
pub(crate) struct Wheelhouse<K> {
    service: Service,
    timers: Handle,
    clock: MonotonicClock,
    session_lookup: PhantomData<K>,
}

impl<K> Wheelhouse<K> {
    /// Starts the service with the defaults of [`Service::start`], except for what `build` changes.
    pub(crate) fn start(build: fn(Builder) -> Builder) -> Result<Self> {
        // A clock of the default kind. It is shared, because the plan of an experiment has moments
        // of the system's clock.
        let clock = MonotonicClock::new();
        let service = build(Service::builder().clock(clock)).start()?;
        Ok(Self { timers: service.handle(), service, clock, session_lookup: PhantomData })
    }
}

fn answer<T>(result: Result<T, ChangeError>) -> Answer {
    if result.is_ok() { Answer::Done } else { Answer::TooLate }
}

impl<K: SessionLookup> Facility for Wheelhouse<K> {
    type Handle = JobHandle;
    type Session = K::Session;

    fn schedule(&self, due: Instant, job: Job) -> Option<JobHandle> {
        self.timers.at(self.clock.moment(due)).run(move |_| job.run()).ok()
    }

    fn cancel(&self, handle: JobHandle) -> Answer {
        answer(handle.cancel())
    }

    fn open(&self, due: Instant, job: Job) -> Option<K::Session> {
        K::open(&self.timers, self.clock.moment(due), job)
    }

    fn refresh(&self, session: &K::Session, due: Instant) -> Answer {
        answer(K::refresh(&self.timers, session, self.clock.moment(due)))
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
