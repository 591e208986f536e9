//! The types that pass between shards and the driver: the work of jobs, runs that come due, begin
//! and end, and the queue of runs that wait only for the leading thread.

use crate::job::{Dispatch, Id, Info, Turn};
use crate::sync::{AtomicU64, Mutex};
use crate::time::Moment;
use async_task::Runnable;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::SystemTime;

/// The properties of work that a shard needs.
pub(crate) trait ShardWork: Send {
    /// Returns `true` if it takes only an instant, and calls no closure of the user.
    fn is_instant(&self) -> bool;
}

/// A job that has come due, and is not plain.
pub(crate) enum DueJob<W: ?Sized> {
    /// A run that has begun on this thread.
    Begun(ActiveRun<W>),
    HandedOut(HandedOut),
    /// The waker of a task whose time has come.
    Wake(Waker),
}

/// A run that is handed out: to its group, to the pool, or to the spawner of async runs. It begins
/// unless its turn is over.
pub(crate) struct HandedOut {
    pub(crate) id: Id,
    pub(crate) turn: Turn,
    pub(crate) info: Arc<Info>,
    pub(crate) dispatch: Dispatch,
}

/// A run of a plain job, which has begun on the leading thread. Most runs are of this kind. It is
/// passed on several times within a microsecond, so it is small.
pub(crate) struct PlainRun<W: ?Sized> {
    pub(crate) id: Id,
    pub(crate) deadline: Moment,
    pub(crate) work: Box<W>,
}

/// The properties of a run, for its closure.
#[derive(Clone, Copy)]
pub(crate) struct RunFacts {
    pub(crate) id: Id,
    pub(crate) deadline: Moment,
    /// The wall-clock time of the run, if the job waited for one.
    pub(crate) time: Option<SystemTime>,
    pub(crate) number: u64,
    pub(crate) missed: u64,
    pub(crate) attempt: u32,
    pub(crate) is_retried: bool,
    /// No other run follows, unless the run itself schedules one.
    pub(crate) last: bool,
    /// The run is not part of the schedule, which continues unchanged.
    pub(crate) extra: bool,
    /// Only asks the rule for its next time, and calls no closure.
    pub(crate) asks_rule_only: bool,
    pub(crate) blocks: bool,
}

impl RunFacts {
    /// The only run of a job.
    #[inline]
    pub(crate) fn single(id: Id, deadline: Moment) -> Self {
        Self {
            id,
            deadline,
            time: None,
            number: 1,
            missed: 0,
            attempt: 1,
            is_retried: false,
            last: true,
            extra: false,
            asks_rule_only: false,
            blocks: false,
        }
    }

    /// Returns `true` if the run releases the key of the job when it begins.
    pub(crate) fn frees_key(&self) -> bool {
        self.last && !self.is_retried
    }
}

/// A run, from its start until it is handed in.
pub(crate) struct ActiveRun<W: ?Sized> {
    pub(crate) facts: RunFacts,
    /// Its work. After the call: work that runs again, or that is dropped without the lock.
    pub(crate) work: Option<Box<W>>,
    /// `None` also on the leading thread, if the run does not need it: most runs do not. At the
    /// end, set if the job is over, to release its key.
    pub(crate) info: Option<Arc<Info>>,
    /// `started` is set when it starts, the other two when it ends.
    pub(crate) started: Moment,
    pub(crate) ended: Moment,
    pub(crate) failed: bool,
}

impl<W: ShardWork + ?Sized> ActiveRun<W> {
    pub(crate) fn new(facts: RunFacts, work: Option<Box<W>>, info: Option<Arc<Info>>) -> Self {
        let (started, ended) = (Moment::ORIGIN, Moment::ORIGIN);
        Self { facts, work, info, started, ended, failed: false }
    }

    pub(crate) fn is_instant(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_instant())
    }
}

pub(crate) enum TakenWork<W: ?Sized> {
    Work(Box<W>),
    Wake(Waker),
}

/// A job that was taken out, and will not run again.
pub(crate) struct TakenJob<W: ?Sized> {
    pub(crate) id: Id,
    pub(crate) deadline: Moment,
    pub(crate) info: Option<Arc<Info>>,
    /// `None` if a run has it, which only happens at the end of that run.
    pub(crate) work: Option<TakenWork<W>>,
}

/// A run that was handed out and waits only for the leading thread.
pub(crate) type ReadyTask = Runnable<TaskKind>;

/// The kind of a run: read by the leading thread before each poll.
#[derive(Clone, Copy)]
pub(crate) enum TaskKind {
    /// A closure, which has its place in a group.
    Closure {
        blocks: bool,
    },
    Future,
}

#[derive(Default)]
pub(crate) struct ReadyQueue {
    queue: Mutex<Queue>,
    /// The length of the queue, to be read without the lock.
    len: AtomicU64,
    /// The number of futures among these runs, whether ready or not.
    tasks: AtomicU64,
}

#[derive(Default)]
struct Queue {
    ready: VecDeque<ReadyTask>,
    /// Nothing is taken out from here on.
    closed: bool,
}

impl ReadyQueue {
    /// Adds a run. Returns it if the queue is closed.
    pub(crate) fn push(&self, run: ReadyTask) -> Result<(), ReadyTask> {
        let mut queue = self.queue.lock();
        debug_assert_eq!(self.len(), queue.ready.len(), "the published length");
        if queue.closed {
            return Err(run);
        }
        queue.ready.push_back(run);
        self.len.store(queue.ready.len() as u64, Ordering::SeqCst);
        Ok(())
    }

    /// Takes out the next run. With `only_closures`, it takes out no future, which may wake itself
    /// indefinitely.
    pub(crate) fn pop(&self, only_closures: bool) -> Option<ReadyTask> {
        if self.is_empty() {
            return None;
        }
        let mut queue = self.queue.lock();
        debug_assert_eq!(self.len(), queue.ready.len(), "the published length");
        let is_future = |run: &ReadyTask| matches!(run.metadata(), TaskKind::Future);
        if only_closures && queue.ready.front().is_some_and(is_future) {
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

    pub(crate) fn has_tasks(&self) -> bool {
        self.tasks.load(Ordering::SeqCst) != 0
    }

    pub(crate) fn close(&self) -> VecDeque<ReadyTask> {
        let mut queue = self.queue.lock();
        queue.closed = true;
        self.len.store(0, Ordering::SeqCst);
        std::mem::take(&mut queue.ready)
    }

    /// A future is to be polled by the leading thread.
    pub(crate) fn add_task(&self) {
        self.tasks.fetch_add(1, Ordering::SeqCst);
    }

    /// Such a future is over. The thread that drops the last one finds that nothing is left to do,
    /// and wakes the others when it ends.
    pub(crate) fn remove_task(&self) {
        let before = self.tasks.fetch_sub(1, Ordering::SeqCst);
        debug_assert!(before > 0, "more runs have ended than begun");
    }
}
