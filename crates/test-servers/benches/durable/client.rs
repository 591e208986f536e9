//! The clients to which producers send their requests. One is durable timers, as in a program; the
//! other is a bare database with a minimal group commit.

use crate::prelude::*;
use std::collections::VecDeque;
use std::sync::{Condvar, MutexGuard};
use wheelhouse_durable::store::When;
use wheelhouse_durable::{Cancel, Timers};

/// The most outstanding requests of a producer that does not wait for each.
const WINDOW: usize = 4_096;

/// Accepts requests from any number of threads.
pub(crate) trait Client: Sync {
    /// Carries out a request. Returns when it is durable.
    fn request(&self, request: Request, job: u64) -> Result<()>;

    /// Carries out requests without waiting for each. Returns when all are durable.
    fn request_all(&self, request: Request, jobs: &[u64]) -> Result<()>;
}

type Wait = Box<dyn FnOnce() -> Result<()>>;

fn submit(timers: &Timers, request: Request, job: u64) -> Wait {
    let key = key(job);
    match request {
        Request::Schedule(delay) => {
            let commit = timers.after(delay).key(key).submit_bytes(KIND, PAYLOAD);
            Box::new(move || Ok(commit.wait().map(drop)?))
        }
        Request::Refresh(delay) => {
            let commit = timers.submit_move(key, When::After(delay));
            Box::new(move || Ok(commit.wait()?))
        }
        Request::Cancel => {
            let commit = timers.submit_cancel(key);
            Box::new(move || check_cancelled(commit.wait()?))
        }
    }
}

fn check_cancelled(answer: Cancel) -> Result<()> {
    ensure!(answer == Cancel::Cancelled, "{answer:?} instead of cancelled");
    Ok(())
}

impl Client for Timers {
    fn request(&self, request: Request, job: u64) -> Result<()> {
        let key = key(job);
        match request {
            Request::Schedule(delay) => {
                self.after(delay).key(key).schedule_bytes(KIND, PAYLOAD)?;
                Ok(())
            }
            Request::Refresh(delay) => Ok(self.refresh(key, delay)?),
            Request::Cancel => check_cancelled(self.cancel(key)?),
        }
    }

    fn request_all(&self, request: Request, jobs: &[u64]) -> Result<()> {
        let mut under_way = VecDeque::<Wait>::with_capacity(WINDOW);
        for job in jobs {
            if under_way.len() == WINDOW {
                under_way.pop_front().map_or(Ok(()), |wait| wait())?;
            }
            under_way.push_back(submit(self, request, *job));
        }
        under_way.into_iter().try_for_each(|wait| wait())
    }
}

/// The floor: one of the waiting threads commits all requests that have gathered.
pub(crate) struct GroupCommit {
    storage: Mutex<Box<dyn JobStorage>>,
    waiting: Mutex<WaitingRequests>,
    committed: Condvar,
    batch: usize,
}

#[derive(Default)]
struct WaitingRequests {
    /// The jobs of the waiting requests, all for the same kind of change.
    jobs: Vec<u64>,
    /// The number of requests so far, and how many of them are durable.
    asked: u64,
    done: u64,
    /// `true` while a thread commits.
    busy: bool,
}

impl GroupCommit {
    pub(crate) fn new(storage: Box<dyn JobStorage>, batch: usize) -> Self {
        let (storage, waiting) = (Mutex::new(storage), Mutex::default());
        Self { storage, waiting, committed: Condvar::new(), batch }
    }

    fn carry_out(&self, request: Request, jobs: &[u64]) -> Result<()> {
        let mut storage = lock(&self.storage);
        jobs.chunks(self.batch).try_for_each(|some| storage.change(request, some))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client for GroupCommit {
    fn request(&self, request: Request, job: u64) -> Result<()> {
        let mut waiting = lock(&self.waiting);
        waiting.jobs.push(job);
        waiting.asked += 1;
        let mine = waiting.asked;
        while waiting.done < mine {
            if waiting.busy {
                let woken = self.committed.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let jobs = std::mem::take(&mut waiting.jobs);
            waiting.busy = true;
            drop(waiting);
            let outcome = self.carry_out(request, &jobs);
            waiting = lock(&self.waiting);
            waiting.done += jobs.len() as u64;
            waiting.busy = false;
            self.committed.notify_all();
            outcome?;
        }
        Ok(())
    }

    fn request_all(&self, request: Request, jobs: &[u64]) -> Result<()> {
        self.carry_out(request, jobs)
    }
}
