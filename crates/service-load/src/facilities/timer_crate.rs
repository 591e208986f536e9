//! The crate `timer`: a heap on a thread, fed by a channel that a second thread empties.
//!
//! Its timers are due at times of the wall clock. A guard that is dropped cancels a callback, which
//! stays in the heap until its time; so that the job does not, it is taken out of the callback.

use crate::facility::{Answer, Facility, wait_for_marker, wait_until};
use crate::ledger::{Beat, Job};
use anyhow::Result;
use chrono::{TimeDelta, Utc};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use timer::{Guard, Timer};

/// A timer, which is stopped when it is dropped.
pub struct TimerCrate {
    timer: Timer,
    /// A reference for each job that is still to run.
    alive: Arc<()>,
    /// A reference in each callback.
    callbacks: Arc<()>,
}

/// The job of a callback, until somebody takes it.
type Held = Arc<Mutex<Option<(Job, Arc<()>)>>>;

/// A callback, and what it is to run.
pub struct Scheduled {
    guard: Mutex<Option<Guard>>,
    held: Held,
}

impl Drop for Scheduled {
    fn drop(&mut self) {
        // It is to run though nobody keeps this.
        take(&self.guard).into_iter().for_each(Guard::ignore);
    }
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl TimerCrate {
    /// Starts its threads. It panics where they cannot be started.
    pub fn start() -> Self {
        Self { timer: Timer::new(), alive: Arc::default(), callbacks: Arc::default() }
    }

    fn call_at(&self, due: Instant, held: &Held) -> Guard {
        let (held, callback) = (Arc::clone(held), Arc::clone(&self.callbacks));
        let run = move || {
            let _callback = &callback;
            take(&held).into_iter().for_each(|(job, _)| job.run());
        };
        self.timer.schedule_with_date(date(due), run)
    }
}

/// The time of the wall clock at a moment.
fn date(due: Instant) -> chrono::DateTime<Utc> {
    let left = due.saturating_duration_since(Instant::now());
    Utc::now() + TimeDelta::nanoseconds(i64::try_from(left.as_nanos()).unwrap_or(i64::MAX))
}

impl Facility for TimerCrate {
    type Handle = Scheduled;
    type Session = Scheduled;

    fn schedule(&self, due: Instant, job: Job) -> Option<Scheduled> {
        let held = Arc::new(Mutex::new(Some((job, Arc::clone(&self.alive)))));
        let guard = Mutex::new(Some(self.call_at(due, &held)));
        Some(Scheduled { guard, held })
    }

    fn cancel(&self, handle: Scheduled) -> Answer {
        drop(take(&handle.guard));
        if take(&handle.held).is_some() { Answer::Done } else { Answer::TooLate }
    }

    fn open(&self, due: Instant, job: Job) -> Option<Scheduled> {
        self.schedule(due, job)
    }

    fn refresh(&self, session: &Scheduled, due: Instant) -> Answer {
        // A callback cannot be moved: another one takes its place.
        let next = self.call_at(due, &session.held);
        let mut guard = session.guard.lock().unwrap_or_else(PoisonError::into_inner);
        drop(guard.replace(next));
        Answer::Sent
    }

    fn every(&self, first: Instant, period: Duration, mut beat: Beat) -> bool {
        let period = TimeDelta::from_std(period).ok();
        let mut alive = Some((Arc::clone(&self.alive), Arc::clone(&self.callbacks)));
        // It has no end of its own: what comes after the last run does nothing.
        let run = move || {
            if beat.left() > 0 {
                beat.run();
            }
            if beat.left() == 0 {
                drop(alive.take());
            }
        };
        self.timer.schedule(date(first), period, run).ignore();
        period.is_some()
    }

    fn settle(&self, _: usize) -> Result<()> {
        // Messages are taken in order, and what is overdue is run when they have been.
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
        // Its threads cannot be joined, but what they held can be waited for.
        let is_over = || Arc::strong_count(&self.callbacks) == 1;
        wait_until("callbacks are left", is_over).unwrap_or_default();
    }
}
