//! The textbook design: a binary heap under a mutex, and a thread that waits on a condition
//! variable. A cancellation frees the job at once and leaves its entry in the heap. Moving a job
//! also leaves its entry, and pushes another. When half of the entries are dead, the heap is
//! compacted.
//!
//! The lazy variant only writes the new time to a job that is moved to later, and pushes it again
//! when the former time comes. The variant with a pool hands due jobs to threads through a channel.

use crate::facility::{Answer, Facility, join, start_thread, wait_for_marker, wait_until};
use crate::ledger::{Job, PeriodicJob};
use crate::load::processors;
use anyhow::Result;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work, and when it is due. The work is taken out when it runs or is cancelled.
struct Task {
    due: Instant,
    work: Option<Work>,
}

enum Work {
    Job(Job),
    /// Boxed, so that it does not make every job larger.
    Periodic(Box<(PeriodicJob, Duration)>),
    Mark(mpsc::Sender<()>),
}

/// An entry in the heap: ordered by time, then by number.
struct HeapEntry {
    due: Instant,
    number: u64,
    task: Arc<Mutex<Task>>,
}

impl HeapEntry {
    fn key(&self) -> (Instant, u64) {
        (self.due, self.number)
    }

    /// Returns `true` if its job is to run and has no other entry.
    fn is_live(&self, lazy: bool) -> bool {
        let task = lock(&self.task);
        task.work.is_some() && (lazy || task.due == self.due)
    }
}

impl PartialEq for HeapEntry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for HeapEntry {}

impl PartialOrd for HeapEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeapEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Work that was taken out of its task because it is due.
type Due = (Arc<Mutex<Task>>, Work);

/// Runs work. If it is to run again, puts it back into its task, and returns the next time and the
/// task.
fn run_due((task, work): Due) -> Option<(Instant, Arc<Mutex<Task>>)> {
    match work {
        Work::Job(job) => job.run(),
        Work::Mark(done) => done.send(()).unwrap_or_default(),
        Work::Periodic(mut again) => {
            let (job, period) = &mut *again;
            job.run();
            if job.left() > 0 {
                let due = lock(&task).due + *period;
                *lock(&task) = Task { due, work: Some(Work::Periodic(again)) };
                return Some((due, task));
            }
        }
    }
    None
}

#[derive(Default)]
struct State {
    heap: BinaryHeap<Reverse<HeapEntry>>,
    next: u64,
    /// Entries whose job was cancelled or has another entry.
    dead: usize,
    stopped: bool,
}

/// A heap with fewer entries is not compacted.
const COMPACTED: usize = 1_024;

impl State {
    /// Pushes an entry. Returns `true` if it is the first one.
    fn push(&mut self, due: Instant, task: Arc<Mutex<Task>>) -> bool {
        let is_first = self.heap.peek().is_none_or(|Reverse(first)| due < first.due);
        self.next += 1;
        self.heap.push(Reverse(HeapEntry { due, number: self.next, task }));
        is_first
    }

    /// Counts a dead entry. If more than half of the entries are dead, removes them all: O(n) for
    /// n/2 cancellations.
    fn mark_dead(&mut self, lazy: bool) {
        self.dead += 1;
        if self.heap.len() >= COMPACTED && self.dead > self.heap.len() / 2 {
            self.heap.retain(|Reverse(entry)| entry.is_live(lazy));
            self.dead = 0;
        }
    }
}

/// Locks a mutex and ignores poison, because nothing that is done under these locks panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Shared {
    /// `true` if a refresh only writes to the job.
    is_lazy: bool,
    state: Mutex<State>,
    changed: Condvar,
    /// Work that was handed to the pool and is not finished.
    handed_over: AtomicUsize,
}

/// The heap, its waiting thread, and optionally a pool.
pub struct HeapAndCondvar {
    shared: Arc<Shared>,
    /// The first thread waits for due jobs. The others, if any, run them.
    threads: Vec<JoinHandle<()>>,
}

impl HeapAndCondvar {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start() -> Result<Self> {
        Self::on_one_thread(false)
    }

    /// The same. If `is_lazy`, a refresh only writes to the job.
    pub(crate) fn on_one_thread(is_lazy: bool) -> Result<Self> {
        let shared = Arc::new(Shared { is_lazy, ..Shared::default() });
        let its = Arc::clone(&shared);
        Ok(Self { shared, threads: vec![spawn(move || its.drive(run_due))?] })
    }

    /// The same as [`start`](Self::start), but jobs run on other threads: one for each processor,
    /// and at least four, as in the service.
    pub(crate) fn with_pool() -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let (sender, receiver) = crossbeam_channel::unbounded();
        let its = Arc::clone(&shared);
        // When the loop ends, the sender is dropped and the workers end.
        let driver = spawn(move || {
            its.drive(|due| {
                its.handed_over.fetch_add(1, AcqRel);
                sender.send(due).expect("the workers end after the sender");
                None
            });
        });
        let worker = |_| {
            let (its, receiver) = (Arc::clone(&shared), receiver.clone());
            spawn(move || receiver.iter().for_each(|due| its.run(due)))
        };
        let workers = (0..processors().max(4)).map(worker);
        let threads = [driver].into_iter().chain(workers).collect::<Result<_>>()?;
        Ok(Self { shared, threads })
    }

    fn push(&self, due: Instant, work: Work) -> Arc<Mutex<Task>> {
        let task = Arc::new(Mutex::new(Task { due, work: Some(work) }));
        self.shared.push(due, Arc::clone(&task));
        task
    }
}

fn spawn(run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    start_thread("heap-and-condvar", run)
}

impl Shared {
    /// Passes due work to `run`, until it is stopped. A task that `run` returns is pushed again.
    fn drive(&self, run: impl Fn(Due) -> Option<(Instant, Arc<Mutex<Task>>)>) {
        let mut state = lock(&self.state);
        while !state.stopped {
            let Some(Reverse(first)) = state.heap.peek() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let wait = first.due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                let waited = self.changed.wait_timeout(state, wait);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let Some(Reverse(entry)) = state.heap.pop() else { continue };
            let mut task = lock(&entry.task);
            if self.is_lazy && task.due > entry.due && task.work.is_some() {
                state.push(task.due, Arc::clone(&entry.task)); // it was refreshed
            } else if task.due == entry.due
                && let Some(work) = task.work.take()
            {
                drop((state, task));
                let again = run((entry.task, work));
                state = lock(&self.state);
                if let Some((due, task)) = again {
                    state.push(due, task);
                }
            } else {
                drop(task);
                state.dead = state.dead.saturating_sub(1);
            }
        }
    }

    fn run(&self, due: Due) {
        if let Some((due, task)) = run_due(due) {
            self.push(due, task);
        }
        self.handed_over.fetch_sub(1, AcqRel);
    }

    fn push(&self, due: Instant, task: Arc<Mutex<Task>>) {
        let is_first = lock(&self.state).push(due, task);
        if is_first {
            self.changed.notify_one();
        }
    }
}

impl Facility for HeapAndCondvar {
    type Handle = Session;
    type Session = Session;

    fn schedule(&self, due: Instant, job: Job) -> Option<Session> {
        Some(Session(self.push(due, Work::Job(job))))
    }

    fn cancel(&self, Session(task): Session) -> Answer {
        // The lock of the task is released before that of the heap is taken: `drive` takes them in
        // the other order.
        let cancelled = lock(&task).work.take();
        if cancelled.is_none() {
            return Answer::TooLate;
        }
        drop(cancelled);
        lock(&self.shared.state).mark_dead(self.shared.is_lazy);
        Answer::Done
    }

    fn open(&self, due: Instant, job: Job) -> Option<Session> {
        self.schedule(due, job)
    }

    fn refresh(&self, Session(task): &Session, due: Instant) -> Answer {
        // The lock of the heap before that of the task, as in `drive`.
        let state = (!self.shared.is_lazy).then(|| lock(&self.shared.state));
        let mut its = lock(task);
        if its.work.is_none() {
            return Answer::TooLate;
        }
        its.due = due;
        drop(its);
        let Some(mut state) = state else { return Answer::Done }; // noticed at the former time
        let is_first = state.push(due, Arc::clone(task));
        state.mark_dead(false);
        drop(state);
        if is_first {
            self.shared.changed.notify_one();
        }
        Answer::Done
    }

    fn every(&self, first: Instant, period: Duration, job: PeriodicJob) -> bool {
        self.push(first, Work::Periodic(Box::new((job, period))));
        true
    }

    fn settle(&self, _: usize) -> Result<()> {
        // All jobs are in the heap when a call returns; only due jobs may still have to run.
        wait_for_marker(|done| {
            self.push(Instant::now(), Work::Mark(done));
            true
        })?;
        wait_until("jobs are running", || self.shared.handed_over.load(Acquire) == 0)
    }

    fn count(&self) -> Result<usize> {
        // One lock within the other, as in `drive`. Cancelled and moved jobs still have entries in
        // the heap.
        let is_live = |entry: &&Reverse<HeapEntry>| entry.0.is_live(self.shared.is_lazy);
        Ok(lock(&self.shared.state).heap.iter().filter(is_live).count())
    }

    fn stop(self) {
        lock(&self.shared.state).stopped = true;
        self.shared.changed.notify_one();
        self.threads.into_iter().for_each(join);
    }
}

/// The task that a caller has scheduled.
#[derive(Clone)]
pub struct Session(Arc<Mutex<Task>>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{JobWork, Ledger};

    #[test]
    fn a_job_that_blocks_a_thread_of_the_pool_delays_no_other() {
        let second = Duration::from_secs(1);
        let work = JobWork::SleepsOneIn { each: 2, time: second };
        let (ledger, facility) =
            (Ledger::with_work(Instant::now(), 2, work), HeapAndCondvar::with_pool().unwrap());
        for (number, millis) in [(1, 1), (0, 10)] {
            facility.schedule(ledger.moment(millis * 1_000_000), ledger.job(number)).unwrap();
        }
        wait_until("jobs have not begun", || ledger.runs() == 2).unwrap();
        facility.settle(0).unwrap();
        let began = |number| ledger.began(number).unwrap();
        assert!(began(0) - began(1) < second.as_nanos() as u64, "{ledger:?}");
        assert!(ledger.now() >= began(1) + second.as_nanos() as u64, "it waits for the slow one");
        facility.stop();
    }
}
