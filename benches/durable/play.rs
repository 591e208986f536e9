//! What is asked of each contender.

use crate::subject::Subject;
use crate::waiting::{Work, wait_together};
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

/// Name and value of each figure; `None` where there is none.
pub(crate) type Figures = Vec<(String, Option<f64>)>;

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Play {
    /// Jobs that are pending.
    pub(crate) jobs: u64,
    /// Seconds for each figure.
    pub(crate) seconds: f64,
    /// Changes in a batch.
    pub(crate) batch: usize,
}

const DAY: u64 = 86_400;

/// Pending jobs are due within a day, in no order of their keys, and not while this runs.
fn far(job: u64) -> Duration {
    Duration::from_secs(7_200 + job.wrapping_mul(7_919) % DAY)
}

impl Play {
    /// Loads the jobs that are pending.
    pub(crate) fn load(&self, subject: &mut Box<dyn Subject>) -> Result<()> {
        let jobs: Vec<u64> = (0..self.jobs).collect();
        jobs.chunks(5_000).try_for_each(|some| subject.schedule(some, far(some[0])))
    }

    /// All figures but the opening.
    pub(crate) fn all(&self, subject: Box<dyn Subject>) -> Result<(Box<dyn Subject>, Figures)> {
        let mut subject = subject;
        let mut figures = Figures::new();
        for (name, batch) in [("one", 1), ("batch", self.batch)] {
            let done = self.schedule(&mut subject, batch)?;
            let jobs: Vec<u64> = (self.jobs..self.jobs + done.0).collect();
            figures.push((format!("schedule\n{name}"), Some(done.1)));
            let refresh = timed(&jobs, batch, |some| subject.refresh(some, far(some[0] + 1)))?;
            figures.push((format!("refresh\n{name}"), Some(refresh)));
            let cancel = timed(&jobs, batch, |some| subject.cancel(some))?;
            figures.push((format!("cancel\n{name}"), Some(cancel)));
            figures.push((format!("fire\n{name}"), Some(self.fire(&mut subject, &jobs, batch)?)));
        }
        let next = self.jobs;
        for work in [Work::Schedule, Work::Cancel] {
            let waited = wait_together(subject, work, next, self.seconds)?;
            subject = waited.subject;
            figures.push((format!("{}\n64", work.name()), Some(waited.rate)));
            let p99 = waited.p99.as_secs_f64() * 1e3;
            figures.push((format!("{} 64\np99 ms", work.name()), Some(p99)));
        }
        // What was scheduled and not cancelled again.
        let left = subject.count()?.saturating_sub(self.jobs);
        ensure!(left == 0, "{left} jobs are left");
        Ok((subject, figures))
    }

    /// Schedules for the time of a figure; how many, and how many a second.
    fn schedule(&self, subject: &mut Box<dyn Subject>, batch: usize) -> Result<(u64, f64)> {
        let (begun, mut done) = (Instant::now(), 0);
        while begun.elapsed().as_secs_f64() < self.seconds {
            let from = self.jobs + done;
            let some: Vec<u64> = (from..from + batch as u64).collect();
            subject.schedule(&some, far(from))?;
            done += batch as u64;
        }
        Ok((done, done as f64 / begun.elapsed().as_secs_f64()))
    }

    /// Fires as many jobs as were scheduled before, all due.
    fn fire(&self, subject: &mut Box<dyn Subject>, jobs: &[u64], batch: usize) -> Result<f64> {
        for some in jobs.chunks(1_000) {
            subject.schedule(some, Duration::ZERO)?;
        }
        // A delay is rounded up to the next millisecond.
        std::thread::sleep(Duration::from_millis(2));
        let (begun, mut fired) = (Instant::now(), 0);
        while fired < jobs.len() {
            let some = subject.fire(batch)?;
            ensure!(some > 0, "only {fired} of {} are due", jobs.len());
            fired += some;
        }
        Ok(fired as f64 / begun.elapsed().as_secs_f64())
    }
}

/// Does something with all jobs, so many at a time; how many a second.
fn timed(jobs: &[u64], batch: usize, each: impl FnMut(&[u64]) -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    jobs.chunks(batch).try_for_each(each)?;
    Ok(jobs.len() as f64 / begun.elapsed().as_secs_f64())
}
