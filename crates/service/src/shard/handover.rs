//! The types that pass between shards and the driver: the work of jobs, and runs that come due,
//! begin and end.

use super::runs::WatchKey;
use crate::job::{Dispatch, Id, Info, Turn};
use crate::time::Moment;
use std::sync::Arc;
use std::task::Waker;
use std::time::SystemTime;

/// The properties of work that a shard needs.
pub(crate) trait ShardWork: Send {
    /// A second copy, for a run that overlaps with another. `None` if the runs of this work cannot
    /// overlap.
    fn fork(&self) -> Option<Box<Self>>;

    /// Returns `true` if it takes only an instant, so that it needs no executor.
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

/// A run that is handed out to the pool or an executor. It begins unless its turn is over.
pub(crate) struct HandedOut {
    pub(crate) id: Id,
    pub(crate) turn: Turn,
    pub(crate) info: Option<Arc<Info>>,
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
    /// The number of the run, counted from 1.
    pub(crate) number: u64,
    /// Periods that were skipped before it.
    pub(crate) missed: u64,
    /// The number of the attempt, counted from 1.
    pub(crate) attempt: u32,
    /// A retry follows a failure.
    pub(crate) is_retried: bool,
    /// No other run follows, unless the run itself schedules one.
    pub(crate) last: bool,
    /// The run is not part of the schedule, which continues unchanged.
    pub(crate) extra: bool,
    /// Only asks the rule for its next time, and calls no closure.
    pub(crate) asks_rule_only: bool,
    /// Its plan says that it may block.
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
    /// The job waits for its next run already: the end of this run changes nothing about the job.
    pub(crate) overlaps: bool,
    pub(crate) watch: Option<WatchKey>,
    /// `started` is set when it starts, the other two when it ends.
    pub(crate) started: Moment,
    pub(crate) ended: Moment,
    pub(crate) failed: bool,
}

impl<W: ShardWork + ?Sized> ActiveRun<W> {
    pub(super) fn new(facts: RunFacts, work: Option<Box<W>>, info: Option<Arc<Info>>) -> Self {
        let (started, ended) = (Moment::ORIGIN, Moment::ORIGIN);
        Self { facts, work, info, overlaps: false, watch: None, started, ended, failed: false }
    }

    pub(crate) fn plain(id: Id, deadline: Moment, work: Option<Box<W>>) -> Self {
        Self::new(RunFacts::single(id, deadline), work, None)
    }

    pub(crate) fn is_instant(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_instant())
    }
}

pub(crate) enum TakenWork<W: ?Sized> {
    Work(Box<W>),
    Wake(Waker),
}

/// A job that was taken out and will not run.
pub(crate) struct TakenJob<W: ?Sized> {
    pub(crate) id: Id,
    pub(crate) deadline: Moment,
    pub(crate) info: Option<Arc<Info>>,
    pub(crate) work: TakenWork<W>,
}
