//! The textbook's: a binary heap under a mutex, a thread that waits on a condition variable. A
//! cancellation frees the job at once and leaves its entry in the heap. So does moving a job, which
//! pushes another. When half of the entries are dead, the heap is compacted.
//!
//! The lazy one only writes the new time to a job that is moved to later, and pushes it when the
//! former time comes.

use crate::facility::{Answer, Facility, wait_for_marker};
use crate::ledger::{Beat, Job};
use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What is to be done, and when. Taken away when it is done or cancelled.
#[derive(Debug)]
struct Task {
    due: Instant,
    work: Option<Work>,
}

#[derive(Debug)]
enum Work {
    Job(Job),
    /// In a box, so that a job takes no more room.
    Beat(Box<(Beat, Duration)>),
    Mark(mpsc::Sender<()>),
}

impl Work {
    /// Runs it, and gives it back with its period if it is to run again.
    fn run(self) -> Option<(Self, Duration)> {
        match self {
            Self::Job(job) => job.run(),
            Self::Beat(mut again) => {
                again.0.run();
                let period = again.1;
                return (again.0.left() > 0).then_some((Self::Beat(again), period));
            }
            Self::Mark(done) => done.send(()).unwrap_or_default(),
        }
        None
    }
}

/// An entry in the heap: ordered by time, then by number.
struct Entry {
    due: Instant,
    number: u64,
    task: Arc<Mutex<Task>>,
}

impl Entry {
    fn key(&self) -> (Instant, u64) {
        (self.due, self.number)
    }

    /// Whether its job is to run, and has no other entry.
    fn is_live(&self, lazy: bool) -> bool {
        let task = lock(&self.task);
        task.work.is_some() && (lazy || task.due == self.due)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[derive(Default)]
struct State {
    heap: BinaryHeap<Reverse<Entry>>,
    next: u64,
    /// Entries whose job was cancelled, or has another.
    dead: usize,
    stopped: bool,
    lazy: bool,
}

/// From so many entries on the heap is compacted.
const COMPACTED: usize = 1_024;

impl State {
    /// Whether it is the first.
    fn push(&mut self, due: Instant, task: Arc<Mutex<Task>>) -> bool {
        let is_first = self.heap.peek().is_none_or(|Reverse(first)| due < first.due);
        self.next += 1;
        self.heap.push(Reverse(Entry { due, number: self.next, task }));
        is_first
    }

    /// An entry is dead: if half of them are, they are taken out, in O(n) for n/2 cancellations.
    fn bury(&mut self) {
        self.dead += 1;
        if self.heap.len() >= COMPACTED && self.dead > self.heap.len() / 2 {
            let lazy = self.lazy;
            self.heap.retain(|Reverse(entry)| entry.is_live(lazy));
            self.dead = 0;
        }
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A thread, and what it looks at.
pub struct HeapAndCondvar {
    shared: Arc<Shared>,
    is_lazy: bool,
    thread: JoinHandle<()>,
}

impl HeapAndCondvar {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start() -> Result<Self> {
        Self::with(State::default())
    }

    /// The same, and a refresh is a write to the job.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub fn lazy() -> Result<Self> {
        Self::with(State { lazy: true, ..State::default() })
    }

    fn with(state: State) -> Result<Self> {
        let is_lazy = state.lazy;
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let driver = Arc::clone(&shared);
        let thread = thread::Builder::new().name("heap-and-condvar".to_owned());
        let thread = thread.spawn(move || driver.drive()).context("cannot start a thread")?;
        Ok(Self { shared, is_lazy, thread })
    }

    fn push(&self, due: Instant, work: Work) -> Arc<Mutex<Task>> {
        let task = Arc::new(Mutex::new(Task { due, work: Some(work) }));
        let mut state = lock(&self.shared.state);
        let is_first = state.push(due, Arc::clone(&task));
        drop(state);
        if is_first {
            self.shared.changed.notify_one();
        }
        task
    }
}

/// Nothing that panics is done under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn drive(&self) {
        let mut state = lock(&self.state);
        while !state.stopped {
            let Some(Reverse(first)) = state.heap.peek() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let wait = first.due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                state = self
                    .changed
                    .wait_timeout(state, wait)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
                continue;
            }
            let Some(Reverse(entry)) = state.heap.pop() else { continue };
            let mut task = lock(&entry.task);
            if state.lazy && task.due > entry.due && task.work.is_some() {
                state.push(task.due, Arc::clone(&entry.task)); // it was refreshed
            } else if task.due == entry.due
                && let Some(work) = task.work.take()
            {
                drop((state, task));
                let again = work.run();
                state = lock(&self.state);
                if let Some((work, period)) = again {
                    let due = entry.due + period;
                    *lock(&entry.task) = Task { due, work: Some(work) };
                    state.push(due, entry.task);
                }
            } else {
                drop(task);
                state.dead = state.dead.saturating_sub(1);
            }
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
        // The lock of the heap is never waited for with that of a task.
        let cancelled = lock(&task).work.take();
        if cancelled.is_none() {
            return Answer::TooLate;
        }
        drop(cancelled);
        lock(&self.shared.state).bury();
        Answer::Done
    }

    fn open(&self, due: Instant, job: Job) -> Option<Session> {
        self.schedule(due, job)
    }

    fn refresh(&self, Session(task): &Session, due: Instant) -> Answer {
        // In this order, as in `drive`.
        let state = (!self.is_lazy).then(|| lock(&self.shared.state));
        let mut its = lock(task);
        if its.work.is_none() {
            return Answer::TooLate;
        }
        its.due = due;
        drop(its);
        let Some(mut state) = state else { return Answer::Done }; // noticed at the former time
        let is_first = state.push(due, Arc::clone(task));
        state.bury();
        drop(state);
        if is_first {
            self.shared.changed.notify_one();
        }
        Answer::Done
    }

    fn every(&self, first: Instant, period: Duration, beat: Beat) -> bool {
        self.push(first, Work::Beat(Box::new((beat, period))));
        true
    }

    fn settle(&self, _: usize) -> Result<()> {
        // All is in the heap when a call returns; only what is due may still be to run.
        wait_for_marker(|done| {
            self.push(Instant::now(), Work::Mark(done));
            true
        })
    }

    fn count(&self) -> Result<usize> {
        // One lock within the other, as in `drive`. What was cancelled or moved is in the heap
        // still.
        let is_live = |entry: &&Reverse<Entry>| entry.0.is_live(self.is_lazy);
        Ok(lock(&self.shared.state).heap.iter().filter(is_live).count())
    }

    fn stop(self) {
        lock(&self.shared.state).stopped = true;
        self.shared.changed.notify_one();
        self.thread.join().unwrap_or_default();
    }
}

/// The task that a caller has scheduled.
#[derive(Clone, Debug)]
pub struct Session(Arc<Mutex<Task>>);

impl fmt::Debug for HeapAndCondvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeapAndCondvar")
            .field("jobs", &lock(&self.shared.state).heap.len())
            .finish()
    }
}
