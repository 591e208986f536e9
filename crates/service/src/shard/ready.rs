//! Runs that wait only for the leading thread: closures that have a place in their group, async
//! jobs whose futures must be polled, and jobs that were due when they were scheduled.

use super::handover::HandedOut;
use crate::job::GroupPermit;
use crate::sync::{AtomicU64, Mutex};
use async_task::Runnable;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;

pub(crate) enum ReadyItem {
    /// A closure with its place in a group; or, without a place, a run that was due when it was
    /// scheduled, and may have to be handed out.
    Run(HandedOut, Option<GroupPermit>),
    Poll(Runnable),
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
    /// Adds a run. Returns it if the queue is closed.
    pub(crate) fn push(&self, run: ReadyItem) -> Result<(), ReadyItem> {
        let mut queue = self.queue.lock();
        debug_assert_eq!(self.len(), queue.ready.len(), "the published length");
        if queue.closed {
            return Err(run);
        }
        queue.ready.push_back(run);
        self.len.store(queue.ready.len() as u64, Ordering::SeqCst);
        Ok(())
    }

    /// Takes out the next run. With `only_groups`, it takes out neither a future, which may wake
    /// itself indefinitely, nor a run that was due when it was scheduled, which may schedule the
    /// next.
    pub(crate) fn pop(&self, only_groups: bool) -> Option<ReadyItem> {
        if self.is_empty() {
            return None;
        }
        let mut queue = self.queue.lock();
        debug_assert_eq!(self.len(), queue.ready.len(), "the published length");
        if only_groups && !matches!(queue.ready.front(), Some(ReadyItem::Run(_, Some(_)))) {
            return None;
        }
        let run = queue.ready.pop_front();
        self.len.store(queue.ready.len() as u64, Ordering::SeqCst);
        run
    }

    pub(super) fn shrink(&self) {
        self.queue.lock().ready.shrink_to_fit();
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst) as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if there is nothing to do here, now or later.
    pub(crate) fn is_done(&self) -> bool {
        self.is_empty() && !self.has_tasks()
    }

    /// Returns `true` if there are async runs that the pool polls.
    pub(crate) fn has_tasks(&self) -> bool {
        self.tasks.load(Ordering::SeqCst) != 0
    }

    pub(crate) fn close(&self) -> VecDeque<ReadyItem> {
        let mut queue = self.queue.lock();
        queue.closed = true;
        self.len.store(0, Ordering::SeqCst);
        std::mem::take(&mut queue.ready)
    }

    /// An async run begins to wait for the leading thread.
    pub(crate) fn add_task(&self) {
        self.tasks.fetch_add(1, Ordering::SeqCst);
    }

    /// An async run is over. The thread that drops the last one finds that nothing is left to do,
    /// and wakes the others when it ends.
    pub(crate) fn remove_task(&self) {
        let before = self.tasks.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "more runs have ended than begun");
    }
}
