//! Desks: what producers send their requests to. One is durable timers, as in a program; the other
//! is a bare database with a minimal group commit.

use crate::subject::{KIND, PAYLOAD, Subject, key};
use anyhow::{Result, ensure};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wheelhouse_durable::{Cancel, Commit, Timers};

/// A request, for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Schedule a new job with this delay.
    Schedule(Duration),
    /// Move an existing job.
    Refresh(Duration),
    /// Cancel an existing job.
    Cancel,
}

/// The most outstanding requests of a producer that does not wait for each.
const WINDOW: usize = 4_096;

/// Accepts requests from any number of threads.
pub(crate) trait Desk: Sync {
    /// Carries out a request. Returns when it is durable.
    fn ask(&self, work: Work, job: u64) -> Result<()>;

    /// Carries out requests without waiting for each. Returns when all are durable.
    fn ask_all(&self, work: Work, jobs: &[u64]) -> Result<()>;
}

/// An answer to wait for.
enum Answer {
    Key(Commit<wheelhouse_durable::store::Key>),
    Done(Commit<()>),
    Cancelled(Commit<Cancel>),
}

impl Answer {
    fn wait(self) -> Result<()> {
        match self {
            Self::Key(commit) => drop(commit.wait()?),
            Self::Done(commit) => commit.wait()?,
            Self::Cancelled(commit) => {
                let answer = commit.wait()?;
                ensure!(answer == Cancel::Cancelled, "{answer:?} instead of cancelled");
            }
        }
        Ok(())
    }
}

fn submit(timers: &Timers, work: Work, job: u64) -> Result<Answer> {
    Ok(match work {
        Work::Schedule(delay) => {
            Answer::Key(timers.after(delay).key(key(job)).submit_bytes(KIND, PAYLOAD))
        }
        Work::Refresh(delay) => {
            let when = wheelhouse_durable::store::When::After(delay);
            Answer::Done(timers.submit_move(key(job), when)?)
        }
        Work::Cancel => Answer::Cancelled(timers.submit_cancel(key(job))?),
    })
}

impl Desk for Timers {
    fn ask(&self, work: Work, job: u64) -> Result<()> {
        submit(self, work, job)?.wait()
    }

    fn ask_all(&self, work: Work, jobs: &[u64]) -> Result<()> {
        let mut under_way = VecDeque::with_capacity(WINDOW);
        for job in jobs {
            if under_way.len() == WINDOW {
                under_way.pop_front().map_or(Ok(()), Answer::wait)?;
            }
            under_way.push_back(submit(self, work, *job)?);
        }
        under_way.into_iter().try_for_each(Answer::wait)
    }
}

/// The floor: one of the waiting threads commits all requests that have gathered.
pub(crate) struct Bare {
    subject: Mutex<Box<dyn Subject>>,
    gathered: Mutex<Gathered>,
    committed: Condvar,
    batch: usize,
}

#[derive(Default)]
struct Gathered {
    /// The jobs of the waiting requests, all for the same work.
    jobs: Vec<u64>,
    /// The number of requests so far, and how many of them are durable.
    asked: u64,
    done: u64,
    /// `true` while a thread commits.
    busy: bool,
}

impl Bare {
    pub(crate) fn new(subject: Box<dyn Subject>, batch: usize) -> Self {
        let (subject, gathered) = (Mutex::new(subject), Mutex::default());
        Self { subject, gathered, committed: Condvar::new(), batch }
    }

    fn carry_out(&self, work: Work, jobs: &[u64]) -> Result<()> {
        let mut subject = held(&self.subject);
        jobs.chunks(self.batch).try_for_each(|some| carry_out(&mut **subject, work, some))
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn carry_out(subject: &mut dyn Subject, work: Work, jobs: &[u64]) -> Result<()> {
    match work {
        Work::Schedule(delay) => subject.schedule(jobs, delay),
        Work::Refresh(delay) => subject.refresh(jobs, delay),
        Work::Cancel => subject.cancel(jobs),
    }
}

impl Desk for Bare {
    fn ask(&self, work: Work, job: u64) -> Result<()> {
        let mut gathered = held(&self.gathered);
        gathered.jobs.push(job);
        gathered.asked += 1;
        let mine = gathered.asked;
        while gathered.done < mine {
            if gathered.busy {
                let woken = self.committed.wait(gathered);
                gathered = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let jobs = std::mem::take(&mut gathered.jobs);
            gathered.busy = true;
            drop(gathered);
            let outcome = self.carry_out(work, &jobs);
            gathered = held(&self.gathered);
            gathered.done += jobs.len() as u64;
            gathered.busy = false;
            self.committed.notify_all();
            outcome?;
        }
        Ok(())
    }

    fn ask_all(&self, work: Work, jobs: &[u64]) -> Result<()> {
        self.carry_out(work, jobs)
    }
}
