//! The crate `timer`: a heap on one thread, fed by a channel that a second thread empties.
//!
//! Its timers are due at times of the wall clock. Dropping a guard cancels a callback, but the
//! callback stays in the heap until its time. The job is taken out of the callback, so that it is
//! freed at once.

use crate::facility::{Answer, Facility, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use anyhow::Result;
use chrono::{TimeDelta, Utc};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use timer::{Guard, Timer};

/// A timer. Dropping it stops it.
pub struct TimerCrate {
    timer: Timer,
    /// Each job that is still to run holds a reference.
    alive: Arc<()>,
    /// Each callback holds a reference.
    callbacks: Arc<()>,
}

/// The job of a callback, until it is taken.
type JobSlot = Arc<Mutex<Option<(Job, Arc<()>)>>>;

/// A callback and its job.
pub struct Scheduled {
    guard: Mutex<Option<Guard>>,
    job_slot: JobSlot,
}

impl Drop for Scheduled {
    fn drop(&mut self) {
        // The job is to run even if the caller drops this.
        take(&self.guard).into_iter().for_each(Guard::ignore);
    }
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl TimerCrate {
    /// Starts its threads. Panics if they cannot be started.
    pub fn start() -> Self {
        Self { timer: Timer::new(), alive: Arc::default(), callbacks: Arc::default() }
    }

    fn call_at(&self, due: Instant, job_slot: &JobSlot) -> Guard {
        let (job_slot, callback) = (Arc::clone(job_slot), Arc::clone(&self.callbacks));
        let run = move || {
            let _callback = &callback;
            take(&job_slot).into_iter().for_each(|(job, _)| job.run());
        };
        self.timer.schedule_with_date(date(due), run)
    }
}

/// The wall-clock time of a moment.
fn date(due: Instant) -> chrono::DateTime<Utc> {
    let left = due.saturating_duration_since(Instant::now());
    Utc::now() + TimeDelta::nanoseconds(i64::try_from(left.as_nanos()).unwrap_or(i64::MAX))
}

impl Facility for TimerCrate {
    type Handle = Scheduled;
    type Session = Scheduled;

    fn schedule(&self, due: Instant, job: Job) -> Option<Scheduled> {
        let job_slot = Arc::new(Mutex::new(Some((job, Arc::clone(&self.alive)))));
        let guard = Mutex::new(Some(self.call_at(due, &job_slot)));
        Some(Scheduled { guard, job_slot })
    }

    fn cancel(&self, handle: Scheduled) -> Answer {
        drop(take(&handle.guard));
        if take(&handle.job_slot).is_some() { Answer::Done } else { Answer::TooLate }
    }

    fn open(&self, due: Instant, job: Job) -> Option<Scheduled> {
        self.schedule(due, job)
    }

    fn refresh(&self, session: &Scheduled, due: Instant) -> Answer {
        // A callback cannot be moved: it is replaced by another.
        let next = self.call_at(due, &session.job_slot);
        let mut guard = session.guard.lock().unwrap_or_else(PoisonError::into_inner);
        drop(guard.replace(next));
        Answer::Sent
    }

    fn every(&self, first: Instant, period: Duration, mut job: PeriodicJob) -> bool {
        let period = TimeDelta::from_std(period).ok();
        let mut alive = Some((Arc::clone(&self.alive), Arc::clone(&self.callbacks)));
        // The crate's timer repeats for ever: callbacks after the last run do nothing.
        let run = move || {
            if job.left() > 0 {
                job.run();
            }
            if job.left() == 0 {
                drop(alive.take());
            }
        };
        self.timer.schedule(date(first), period, run).ignore();
        period.is_some()
    }

    fn settle(&self, _: usize) -> Result<()> {
        // Messages are received in order, and an overdue callback runs only after the messages
        // before it were received.
        wait_for_marker(|done| {
            let send = move || done.send(()).unwrap_or_default();
            self.timer.schedule_with_date(Utc::now() - TimeDelta::days(1), send).ignore();
            true
        })
    }

    fn count(&self) -> Result<usize> {
        Ok(Arc::strong_count(&self.alive) - 1)
    }

    fn stop(self) {
        drop(self.timer);
        // Its threads cannot be joined, so this waits until they have dropped their callbacks.
        let is_over = || Arc::strong_count(&self.callbacks) == 1;
        wait_until("callbacks are left", is_over).unwrap_or_default();
    }
}
