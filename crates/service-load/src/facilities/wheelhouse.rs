//! Our service, as its users have it.

use crate::facility::{Answer, Facility, wait_for_marker, wait_until};
use crate::ledger::{Beat, Job};
use anyhow::Result;
use smol_str::{SmolStr, format_smolstr};
use std::fmt;
use std::marker::PhantomData;
use std::time::{Duration, Instant};
use wheelhouse_binary_heap::BinaryHeap;
use wheelhouse_service::{
    Builder, ChangeError, Handle, JobHandle, Missed, Moment, MonotonicClock, Service,
};

/// How sessions are kept.
pub trait Keeping: Sync {
    /// By which a session is refreshed.
    type Session: Send;

    /// Opens one.
    fn open(timers: &Handle, due: Moment, job: Job) -> Option<Self::Session>;

    /// Refreshes it.
    fn refresh(timers: &Handle, session: &Self::Session, due: Moment) -> Result<(), ChangeError>;
}

/// The caller keeps the handle of the job.
#[derive(Debug)]
pub struct ByHandle;

impl Keeping for ByHandle {
    type Session = JobHandle;

    fn open(timers: &Handle, due: Moment, job: Job) -> Option<JobHandle> {
        timers.at(due).run(move |_| job.run()).ok()
    }

    fn refresh(_: &Handle, session: &JobHandle, due: Moment) -> Result<(), ChangeError> {
        session.reschedule(due)
    }
}

/// The caller knows the session by its name.
#[derive(Debug)]
pub struct ByKey;

impl Keeping for ByKey {
    /// Lies where the handles do beside it: a program has just read the key.
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

/// A [`Service`], and the clock by which a moment of the plan becomes one of the service.
pub struct Wheelhouse<K> {
    service: Service,
    timers: Handle,
    clock: MonotonicClock,
    keeping: PhantomData<K>,
}

impl<K> Wheelhouse<K> {
    /// As [`Service::start`] does, with this tick: nothing else is set.
    ///
    /// # Errors
    ///
    /// If the tick cannot be, or threads cannot be started.
    pub fn start(tick: Duration) -> Result<Self> {
        Self::of(tick, |builder| builder)
    }

    /// With one thread, which waits for what is due and runs it.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn with_one_worker(tick: Duration) -> Result<Self> {
        Self::of(tick, |builder| builder.workers(1))
    }

    /// As soon as it can be: Linux is to put no wake-ups together either.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn finest() -> Result<Self> {
        let tick = Duration::from_micros(1);
        Self::of(tick, |builder| builder)
    }

    /// On the binary heap.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn on_heap(tick: Duration) -> Result<Self> {
        Self::of(tick, |builder| builder.backend(BinaryHeap::new()))
    }

    fn of(tick: Duration, build: impl FnOnce(Builder) -> Builder) -> Result<Self> {
        // The kind of clock that a service has by default. This one is shared, because the plan of
        // an experiment has moments of the system's clock.
        let clock = MonotonicClock::new();
        let service = build(Service::builder().tick(tick).clock(clock)).start()?;
        Ok(Self { timers: service.handle(), service, clock, keeping: PhantomData })
    }
}

fn answer<T>(result: Result<T, ChangeError>) -> Answer {
    if result.is_ok() { Answer::Done } else { Answer::TooLate }
}

impl<K: Keeping> Facility for Wheelhouse<K> {
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

    fn every(&self, first: Instant, period: Duration, mut beat: Beat) -> bool {
        let times = beat.left().into();
        let plan = self.timers.every(period).first_at(self.clock.moment(first)).times(times);
        // Each period has its beat, as in the other facilities.
        plan.missed(Missed::Burst).run(move |_| beat.run()).is_ok()
    }

    fn settle(&self, pending: usize) -> Result<()> {
        // The intake is in order: when a job that was given last has run, all before it has been
        // taken in. Its time is past; one that was due now would be rounded up to the next tick,
        // and that would be counted as backlog.
        wait_for_marker(|done| {
            self.timers.at(Moment::ORIGIN).run(move |_| done.send(()).unwrap_or_default()).is_ok()
        })?;
        // That job itself, and others whose runs go on, are over a moment after they have done what
        // they were to do.
        wait_until("jobs that are over are still there", || self.timers.len() <= pending)
    }

    fn count(&self) -> Result<usize> {
        Ok(self.timers.len())
    }

    fn stop(self) {
        drop(self.service);
    }
}

impl<K> fmt::Debug for Wheelhouse<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wheelhouse").field(&self.service).finish()
    }
}
