//! The ledger of runs. All facilities write to it, and all checks and figures are read from it.
//!
//! A run stores the moment at which it began, under the number of its job, and increments a
//! counter. That is a read of the clock and two writes to memory that was touched before. Quantiles
//! are computed after the play.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_machine::clock::WorkTime;

/// The moments at which the jobs of a range began to run. Each producer has its own ledger, so that
/// the benchmark itself shares nothing between producers.
#[derive(Debug)]
pub struct Ledger {
    origin: Instant,
    /// Nanoseconds since the origin plus one; zero means that the job has not run.
    began: Box<[AtomicU64]>,
    runs: AtomicU64,
    /// Second and later runs of a job.
    repeated: AtomicU64,
    pub(crate) work: JobWork,
}

impl Ledger {
    /// A ledger for jobs numbered from 0, whose moments count from `origin`. The jobs only note
    /// when they began.
    pub fn new(origin: Instant, jobs: usize) -> Arc<Self> {
        Self::with_work(origin, jobs, JobWork::Empty)
    }

    /// A ledger for jobs that do some work after they have noted when they began.
    pub(crate) fn with_work(origin: Instant, jobs: usize, work: JobWork) -> Arc<Self> {
        // Written one by one, so that a run never touches a page for the first time.
        let began = (0..jobs).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self { origin, began, runs: AtomicU64::new(0), repeated: AtomicU64::new(0), work })
    }

    /// A job of this ledger, to be given to a facility.
    pub fn job(self: &Arc<Self>, number: u32) -> Job {
        Job { number, ledger: Arc::clone(self) }
    }

    /// The moment this many nanoseconds after the origin.
    pub fn moment(&self, nanos: u64) -> Instant {
        self.origin + Duration::from_nanos(nanos)
    }

    /// Nanoseconds since the origin, now; 0 before it.
    pub fn now(&self) -> u64 {
        Instant::now().saturating_duration_since(self.origin).as_nanos() as u64
    }

    /// The number of its jobs that exist: neither run nor dropped. Valid if the caller has the only
    /// reference to the ledger itself.
    pub fn live_jobs(self: &Arc<Self>) -> usize {
        Arc::strong_count(self) - 1
    }

    /// The number of runs.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Acquire)
    }

    /// The number of runs of jobs that had run before.
    pub fn repeated_runs(&self) -> u64 {
        self.repeated.load(Ordering::Acquire)
    }

    /// When the last run of a job began, in nanoseconds since the origin; `None` if the job has not
    /// run.
    pub fn began(&self, number: usize) -> Option<u64> {
        self.began.get(number)?.load(Ordering::Acquire).checked_sub(1)
    }

    pub(crate) fn len(&self) -> usize {
        self.began.len()
    }

    fn note_run(&self, number: u32) {
        let began = self.now() + 1;
        if self.began[number as usize].swap(began, Ordering::AcqRel) != 0 {
            self.repeated.fetch_add(1, Ordering::AcqRel);
        }
        self.runs.fetch_add(1, Ordering::AcqRel);
    }
}

/// A job for a facility, of two words. A clone is the same job: if both run, the check finds it.
#[derive(Clone, Debug)]
pub struct Job {
    number: u32,
    ledger: Arc<Ledger>,
}

impl Job {
    /// Its number, unique within its ledger.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Notes that the run begins now, then does the work of the job.
    pub fn run(self) {
        self.ledger.note_run(self.number);
        self.ledger.work.run(self.number);
    }
}

/// A periodic job. Each of its runs is noted under its own number, so that the check finds a run
/// that is missing or repeated.
#[derive(Debug)]
pub struct PeriodicJob {
    next: Job,
    left: u32,
}

impl PeriodicJob {
    /// A job whose runs have these numbers, one after another.
    pub fn new(ledger: &Arc<Ledger>, numbers: std::ops::Range<u32>) -> Self {
        Self { next: ledger.job(numbers.start), left: numbers.len() as u32 }
    }

    /// The number of runs still to come.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Notes that the next run begins now. A run too many is noted as a second run of the last
    /// number.
    pub fn run(&mut self) {
        let Job { number, ledger } = &mut self.next;
        ledger.note_run(*number);
        self.left = self.left.saturating_sub(1);
        *number += u32::from(self.left > 0);
    }
}

/// The work that a job does after it has noted when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobWork {
    Empty,
    /// One job in `each` blocks its thread for this time. The others do nothing.
    SleepsOneIn {
        /// One of this many jobs, in the middle of them, blocks its thread.
        each: u32,
        /// For how long.
        time: Duration,
    },
    /// Each job uses a processor for this time.
    Spins(Duration),
}

impl JobWork {
    /// Returns `true` if the job with this number blocks its thread.
    pub(crate) fn sleeps(self, number: u32) -> bool {
        matches!(self, Self::SleepsOneIn { each, .. } if number % each == each / 2)
    }

    pub(crate) fn run(self, number: u32) {
        match self {
            Self::SleepsOneIn { time, .. } if self.sleeps(number) => thread::sleep(time),
            Self::Empty | Self::SleepsOneIn { .. } => {}
            Self::Spins(time) => spin(time),
        }
    }
}

/// Uses the processor for this time. Time in which other threads have the processor does not count:
/// otherwise a facility that runs too many jobs at once would do less work for each.
fn spin(time: Duration) {
    let mut left = time;
    while !left.is_zero() {
        let (taken, ()) = WorkTime::measure(|| {
            let until = Instant::now() + left;
            while Instant::now() < until {
                spin_loop();
            }
        });
        left = left.saturating_sub(taken.running);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_periodic_run_has_its_number_and_one_too_many_is_noticed() {
        let ledger = Ledger::new(Instant::now(), 5);
        let mut job = PeriodicJob::new(&ledger, 2..4);
        let ran = || [2, 3].map(|number| ledger.began(number).is_some());
        job.run();
        assert_eq!((ran(), job.left()), ([true, false], 1));
        job.run();
        assert_eq!((ran(), job.left(), ledger.repeated_runs()), ([true, true], 0, 0));
        job.run();
        assert_eq!((job.left(), ledger.repeated_runs(), ledger.began(4)), (0, 1, None));
    }

    #[test]
    fn moments_count_from_the_origin() {
        let origin = Instant::now() + Duration::from_secs(3600);
        let ledger = Ledger::new(origin, 1);
        assert_eq!(ledger.now(), 0);
        assert_eq!(ledger.moment(1_500), origin + Duration::from_nanos(1_500));
        ledger.job(0).run();
        assert_eq!(ledger.began(0), Some(0), "a run at the origin is a run");
    }

    #[test]
    fn one_job_in_each_n_blocks_its_thread() {
        let work = JobWork::SleepsOneIn { each: 3, time: Duration::from_millis(5) };
        let slow: Vec<_> = (0..7).filter(|number| work.sleeps(*number)).collect();
        assert_eq!(slow, [1, 4]);
        assert!(!JobWork::Empty.sleeps(1) && !JobWork::Spins(Duration::ZERO).sleeps(1));
    }
}
