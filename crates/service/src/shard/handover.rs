//! The types that pass between shards and the driver: runs that come due, begin and end.

use super::runs::WatchKey;
use super::work::ShardWork;
use crate::job::{Dispatch, Id, Info, Turn};
use crate::time::Moment;
use std::sync::Arc;
use std::task::Waker;
use std::time::SystemTime;

/// A job that has come due, and is not plain.
pub(crate) enum DueJob<W: ?Sized> {
    /// A run that has begun on this thread.
    Begun(Begun<W>),
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
    /// No other run follows, unless the run itself schedules one.
    pub(crate) last: bool,
    /// The run is not part of the schedule, which continues unchanged.
    pub(crate) extra: bool,
    /// Only asks the rule for its next time, and calls no closure.
    pub(crate) asks_rule_only: bool,
}

impl RunFacts {
    /// The only run of a job.
    #[inline]
    pub(crate) fn single(id: Id, deadline: Moment) -> Self {
        let (number, missed, attempt) = (1, 0, 1);
        let (last, extra, asks_rule_only) = (true, false, false);
        Self { id, deadline, time: None, number, missed, attempt, last, extra, asks_rule_only }
    }
}

/// A run that has begun.
pub(crate) struct Begun<W: ?Sized> {
    pub(crate) facts: RunFacts,
    /// `None` after it was called.
    pub(crate) work: Option<Box<W>>,
    /// `None` also on the leading thread, if the run does not need it: most runs do not.
    pub(crate) info: Option<Arc<Info>>,
    /// A retry follows a failure.
    pub(crate) is_retried: bool,
    /// The run releases the key of the job when it begins.
    pub(crate) frees_key: bool,
    /// The job waits for its next run already: the end of this run changes nothing about the job.
    pub(crate) overlaps: bool,
    /// Its plan says that it may block.
    pub(crate) blocks: bool,
    pub(crate) watch: Option<WatchKey>,
}

impl<W: ShardWork + ?Sized> Begun<W> {
    /// Returns `true` if the work takes only an instant.
    pub(crate) fn is_instant(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_instant())
    }

    /// The run of a plain job.
    pub(crate) fn plain(id: Id, deadline: Moment, work: Option<Box<W>>) -> Self {
        Self {
            facts: RunFacts::single(id, deadline),
            work,
            info: None,
            is_retried: false,
            frees_key: true,
            overlaps: false,
            blocks: false,
            watch: None,
        }
    }
}

/// A run that has ended.
pub(crate) struct EndedRun<W: ?Sized> {
    pub(crate) id: Id,
    /// Work that runs again, or that is dropped when the job is over.
    pub(crate) work: Option<Box<W>>,
    pub(crate) deadline: Moment,
    pub(crate) started: Moment,
    pub(crate) ended: Moment,
    pub(crate) overlaps: bool,
    pub(crate) failed: bool,
    pub(crate) asks_rule_only: bool,
}

/// The rest of the end of a run, to be done without the lock: dropping the work, and releasing the
/// key. Then the run is handed in. Without a `Cleanup` it has been handed in already.
pub(crate) struct Cleanup<W: ?Sized> {
    pub(crate) work: Option<Box<W>>,
    pub(crate) info: Option<Arc<Info>>,
}
