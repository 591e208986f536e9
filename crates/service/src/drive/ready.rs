//! Runs that wait only for the leading thread: closures that have a place in their group, async
//! jobs whose futures must be polled, and jobs that were due when they were scheduled.

use super::async_run::AsyncRun;
use super::due_run::DueRun;
use crate::handle::Handle;
use crate::sync::{AtomicU64, Mutex};
use async_task::Runnable;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

pub(crate) enum ReadyItem {
    Run(DueRun),
    Poll(Runnable),
    /// A run that must be handed out.
    Due(DueRun),
}

#[derive(Default)]
pub(crate) struct ReadyQueue {
    queue: Mutex<Queue>,
    /// The length of the queue, to be read without the lock.
    len: AtomicU64,
    /// The number of async runs, whether ready or not.
    tasks: AtomicU64,
}

#[derive(Default)]
struct Queue {
    ready: VecDeque<ReadyItem>,
    /// Nothing is taken out from here on.
    closed: bool,
}

impl ReadyQueue {
    /// Hands a run to the leading thread, and wakes it. If the queue is closed, the run is dropped,
    /// which reports it.
    pub(crate) fn push(timers: &Handle, run: ReadyItem) {
        let its = &timers.shared().ready;
        let mut queue = its.queue.lock();
        debug_assert_eq!(its.len(), queue.ready.len(), "the published length");
        if queue.closed {
            // Dropped without the lock: the run owns values of the user.
            drop(queue);
            return drop(run);
        }
        queue.ready.push_back(run);
        its.len.store(queue.ready.len() as u64, Ordering::SeqCst);
        drop(queue);
        timers.shards().signal.wake_sleeper();
    }

    /// Takes out the next run. With `only_runs`, it takes out neither a future, which may wake
    /// itself indefinitely, nor a run that must be handed out, which may schedule the next.
    pub(super) fn pop(&self, only_runs: bool) -> Option<ReadyItem> {
        if self.is_empty() {
            return None;
        }
        let mut queue = self.queue.lock();
        debug_assert_eq!(self.len(), queue.ready.len(), "the published length");
        if only_runs && !matches!(queue.ready.front(), Some(ReadyItem::Run(_))) {
            return None;
        }
        let run = queue.ready.pop_front();
        self.len.store(queue.ready.len() as u64, Ordering::SeqCst);
        run
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst) as usize
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if there is nothing to do here, now or later.
    pub(super) fn is_done(&self) -> bool {
        self.is_empty() && self.tasks.load(Ordering::SeqCst) == 0
    }

    /// Closes the queue, and drops the runs in it.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        let left = std::mem::take(&mut queue.ready);
        self.len.store(0, Ordering::SeqCst);
        drop(queue);
        drop(left);
    }

    /// Gives an async run to the leading thread, which polls it whenever it is woken.
    pub(super) fn spawn(run: AsyncRun, timers: Handle) {
        timers.shared().ready.tasks.fetch_add(1, Ordering::SeqCst);
        let task = Task { run, _counted: Counted(timers.clone()) };
        let schedule = move |runnable| Self::push(&timers, ReadyItem::Poll(runnable));
        let (runnable, task) = async_task::spawn(task, schedule);
        task.detach();
        runnable.schedule();
    }
}

/// An async run. Fields are dropped in order, so the run is dropped before it is counted as gone.
struct Task {
    run: AsyncRun,
    _counted: Counted,
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.run).poll(context)
    }
}

struct Counted(Handle);

impl Drop for Counted {
    fn drop(&mut self) {
        // The thread that drops the last one finds that nothing is left to do, and wakes the others
        // when it ends.
        let before = self.0.shared().ready.tasks.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "more runs have ended than begun");
    }
}
