//! What only some jobs have: a name, a key, a time of the wall clock, runs to come, and somebody
//! who asks how it ended.
//!
//! A plain one-shot job is two words of work, a deadline and a number. All else lies here, so that
//! it costs those who want it.

use super::{Key, Repeat, Status};
use crate::time::{Moment, Ticks, Wall};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::SystemTime;

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Finished = 1,
    Cancelled,
    Stopped,
}

/// What its handles know of a job, also when it is over. Written under the lock of its shard.
#[derive(Debug, Default)]
pub(crate) struct Info {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) key: Option<Key>,
    runs: AtomicU64,
    /// Zero, or an [`Ending`].
    ending: AtomicU8,
}

impl Info {
    pub(crate) fn new(name: Option<Arc<str>>, key: Option<Key>) -> Self {
        Self { name, key, ..Self::default() }
    }

    /// How many runs have begun.
    pub(crate) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// The job is over.
    pub(crate) fn end(&self, how: Ending) {
        self.ending.store(how as u8, Ordering::Release);
    }

    /// How it ended; `None` if it has not.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let endings = [Ending::Finished, Ending::Cancelled, Ending::Stopped];
        endings.into_iter().find(|ending| *ending as u8 == self.ending.load(Ordering::Acquire))
    }
}

impl From<Ending> for Status {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Finished => Self::Finished,
            Ending::Cancelled => Self::Cancelled,
            Ending::Stopped => Self::Stopped,
        }
    }
}

/// What few of these have.
#[derive(Default)]
pub(crate) struct More {
    /// Its runs are futures.
    pub(crate) is_async: bool,
}

/// Of a job that has more than a deadline.
pub(crate) struct Life<W: ?Sized> {
    /// `None` while a run has it.
    pub(crate) work: Option<Box<W>>,
    pub(crate) info: Arc<Info>,
    pub(crate) wall: Option<Box<Wall>>,
    pub(crate) repeat: Option<Repeat>,
    /// How its deadlines are rounded.
    pub(crate) ticks: Ticks,
    pub(crate) more: Option<Box<More>>,
    /// While a run goes on: the deadline is where the next run was moved to.
    pub(crate) moved: bool,
    /// While a run goes on: no other follows, and so the job ends.
    pub(crate) ending: Option<Ending>,
}

impl<W: ?Sized> Life<W> {
    /// A run begins: its number, and how many periods were left out before it.
    pub(crate) fn count_run(&mut self) -> (u64, u64) {
        let number = self.info.runs.fetch_add(1, Ordering::Relaxed) + 1;
        let missed = self.repeat.as_mut().map_or(0, |repeat| std::mem::take(&mut repeat.missed));
        (number, missed)
    }

    /// Whether another run follows the one that goes on.
    pub(crate) fn another_follows(&self) -> bool {
        let runs = self.info.runs();
        self.ending.is_none() && self.repeat.as_ref().is_some_and(|repeat| !repeat.is_last(runs))
    }

    /// Whether the runs of the job go on beside each other, and this is not the last.
    pub(crate) fn overlaps(&self) -> bool {
        self.repeat.as_ref().is_some_and(|repeat| repeat.overlapping) && self.another_follows()
    }

    /// The time of the wall clock that the next run waits for.
    pub(crate) fn time(&self) -> Option<SystemTime> {
        self.wall.as_ref().map(|wall| wall.time)
    }

    /// The deadline that follows a run; `None` if there is no such moment, or no other run.
    pub(crate) fn wait_for_next(
        &mut self,
        deadline: Moment,
        started: Moment,
        ended: Moment,
    ) -> Option<Moment> {
        let repeat = self.repeat.as_mut()?;
        let (next, missed) = repeat.next(deadline, started, ended)?;
        repeat.missed = missed;
        self.wall = None;
        Some(next)
    }
}
