//! Sessions and periodic jobs of facilities in which a job is a task that sleeps.

use crate::facility::Answer;
use crate::ledger::{Job, PeriodicJob};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The deadline of a session, in nanoseconds; [`OVER`] after it has expired.
pub(super) type Deadline = Arc<AtomicU64>;

const OVER: u64 = u64::MAX;

/// Sessions whose deadlines count from a moment. A refresh is one write and wakes no task: the task
/// checks its deadline when it wakes up.
#[derive(Clone, Copy)]
pub(super) struct Sessions {
    origin: Instant,
}

impl Sessions {
    pub(super) fn new() -> Self {
        Self { origin: Instant::now() }
    }

    fn nanos(self, due: Instant) -> u64 {
        due.saturating_duration_since(self.origin).as_nanos() as u64
    }

    pub(super) fn deadline(self, due: Instant) -> Deadline {
        Arc::new(AtomicU64::new(self.nanos(due)))
    }

    pub(super) fn refresh(self, deadline: &Deadline, due: Instant) -> Answer {
        let due = self.nanos(due);
        let later = |deadline| (deadline != OVER).then_some(due);
        match deadline.fetch_update(Ordering::AcqRel, Ordering::Acquire, later) {
            Ok(_) => Answer::Done,
            Err(_) => Answer::TooLate,
        }
    }

    /// Sleeps until the session's deadline, again if it was refreshed in the meantime, and runs the
    /// job.
    pub(super) async fn expire<F: Future>(
        self,
        sleep_until: impl Fn(Instant) -> F,
        deadline: Deadline,
        job: Job,
    ) {
        let mut due = deadline.load(Ordering::Acquire);
        loop {
            sleep_until(self.origin + Duration::from_nanos(due)).await;
            match deadline.compare_exchange(due, OVER, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return job.run(),
                Err(later) => due = later,
            }
        }
    }
}

/// Runs a job at this moment and then after each period.
pub(super) async fn run_again<F: Future>(
    sleep_until: impl Fn(Instant) -> F,
    mut next: Instant,
    period: Duration,
    mut job: PeriodicJob,
) {
    while job.left() > 0 {
        sleep_until(next).await;
        job.run();
        next += period;
    }
}
