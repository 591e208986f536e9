//! The heap of entries, ordered by time, and the work of each.

use crate::ledger::{Job, PeriodicJob};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Work, and when it is due. The work is taken out when it runs or is cancelled.
pub(super) struct Task {
    pub(super) due: Instant,
    pub(super) work: Option<Work>,
}

pub(super) enum Work {
    Job(Job),
    /// Boxed, so that it does not make every job larger.
    Periodic(Box<(PeriodicJob, Duration)>),
    Mark(mpsc::Sender<()>),
}

/// An entry in the heap: ordered by time, then by number.
pub(super) struct HeapEntry {
    pub(super) due: Instant,
    number: u64,
    pub(super) task: Arc<Mutex<Task>>,
}

impl HeapEntry {
    fn key(&self) -> (Instant, u64) {
        (self.due, self.number)
    }

    /// Returns `true` if its job is to run and has no other entry.
    pub(super) fn is_live(&self, lazy: bool) -> bool {
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
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeapEntry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Work that was taken out of its task because it is due.
pub(super) type Due = (Arc<Mutex<Task>>, Work);

/// Runs work. If it is to run again, puts it back into its task, and returns the next time and the
/// task.
pub(super) fn run((task, work): Due) -> Option<(Instant, Arc<Mutex<Task>>)> {
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
pub(super) struct State {
    pub(super) heap: BinaryHeap<Reverse<HeapEntry>>,
    next: u64,
    /// Entries whose job was cancelled or has another entry.
    pub(super) dead: usize,
    pub(super) stopped: bool,
}

/// A heap with fewer entries is not compacted.
const COMPACTED: usize = 1_024;

impl State {
    /// Pushes an entry. Returns `true` if it is the first one.
    pub(super) fn push(&mut self, due: Instant, task: Arc<Mutex<Task>>) -> bool {
        let is_first = self.heap.peek().is_none_or(|Reverse(first)| due < first.due);
        self.next += 1;
        self.heap.push(Reverse(HeapEntry { due, number: self.next, task }));
        is_first
    }

    /// Counts a dead entry. If more than half of the entries are dead, removes them all: O(n) for
    /// n/2 cancellations.
    pub(super) fn mark_dead(&mut self, lazy: bool) {
        self.dead += 1;
        if self.heap.len() >= COMPACTED && self.dead > self.heap.len() / 2 {
            self.heap.retain(|Reverse(entry)| entry.is_live(lazy));
            self.dead = 0;
        }
    }
}

/// Locks a mutex and ignores poison, because nothing that is done under these locks panics.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
