//! What passes between the shards and who drives them: runs that come, begin and end.

use super::core::Task;
use super::runs::WatchKey;
use super::slab::Lying;
use crate::job::{Id, Info, Turn, Way};
use crate::time::Moment;
use std::sync::Arc;
use std::task::Waker;
use std::time::SystemTime;

/// What has come due.
pub(crate) enum Came<W: Task + ?Sized> {
    /// A run of work that lies in a slab, which has begun on this thread, and when it was
    /// due.
    InSlab(Id, Moment, Lying<W>),
    /// A run that has begun, for this thread.
    Here(Begun<W>),
    /// A run that was handed out, for the pool or an executor.
    There(Id, Turn, Option<Arc<Info>>, Way),
    /// A task that waits for nothing more.
    Wake(Waker),
}

/// A run of a job that is nothing but work in a box, which has begun on the thread that
/// leads, as most do. It goes from hand to hand several times within a microsecond, so it is small.
pub(crate) struct Plain<W: ?Sized> {
    pub(crate) id: Id,
    pub(crate) deadline: Moment,
    pub(crate) work: Box<W>,
}

/// A run that has begun.
pub(crate) struct Begun<W: ?Sized> {
    pub(crate) id: Id,
    /// `None` when it was called.
    pub(crate) work: Option<Box<W>>,
    /// `None` too on the thread that leads, while the job keeps it: most runs can do without.
    pub(crate) info: Option<Arc<Info>>,
    pub(crate) deadline: Moment,
    /// What the wall clock was to show then, if the job waited for that.
    pub(crate) time: Option<SystemTime>,
    /// The number of the run, counted from 1.
    pub(crate) number: u64,
    /// Periods that were left out before it.
    pub(crate) missed: u64,
    /// No other run follows, unless it is the run itself that schedules one.
    pub(crate) last: bool,
    /// It is none of the schedule, which goes on as it is.
    pub(crate) extra: bool,
    /// It is none: a rule is to name its next time.
    pub(crate) stale: bool,
    /// Which try of it this is, counted from 1, and whether another follows if it fails.
    pub(crate) tries: (u32, bool),
    /// The key of the job is free from here on.
    pub(crate) frees_key: bool,
    /// The job waits for its next run already: this one has no end that matters to it.
    pub(crate) beside: bool,
    /// Its plan says that it may block.
    pub(crate) blocks: bool,
    pub(crate) watch: Option<WatchKey>,
}

impl<W: Task + ?Sized> Begun<W> {
    /// Returns `true` if it is done in an instant.
    pub(crate) fn is_brief(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.is_brief())
    }

    /// The run of a job that has nothing but a deadline.
    pub(crate) fn plain(id: Id, deadline: Moment, work: Option<Box<W>>) -> Self {
        Self {
            id,
            work,
            info: None,
            deadline,
            time: None,
            number: 1,
            missed: 0,
            last: true,
            extra: false,
            stale: false,
            tries: (1, false),
            frees_key: true,
            beside: false,
            blocks: false,
            watch: None,
        }
    }
}

/// A run that has ended.
pub(crate) struct Done<W: ?Sized> {
    pub(crate) id: Id,
    /// What is to be run again, or to be dropped when the job is over.
    pub(crate) work: Option<Box<W>>,
    pub(crate) deadline: Moment,
    pub(crate) started: Moment,
    pub(crate) ended: Moment,
    pub(crate) beside: bool,
    pub(crate) failed: bool,
    pub(crate) stale: bool,
}

/// What is left to be done when a run has ended, without the lock; then the run is to be handed in.
/// `None` in place of it: it is.
pub(crate) struct Leftover<W: ?Sized> {
    pub(crate) work: Option<Box<W>>,
    pub(crate) info: Option<Arc<Info>>,
}
