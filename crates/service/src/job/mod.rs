//! A job: its name, its schedule and its state. Its work is opaque to this module.
//!
//! ```text
//!            its time has come    begin         end, last run
//!  pending ──────────────▶ due ────────▶ running ────────────▶ over
//!   │ ▲ ▲ ▲                 │              │
//!   │ │ │ └───── moved ─────┘              │
//!   │ │ └──── end, more runs to come ──────┘
//!   ▼ │ resume
//!  paused
//! ```
//!
//! | state | timer (`TimerState`) | work (`Phase` of a [`JobState`]) |
//! |---|---|---|
//! | pending | in the wheel | idle |
//! | deferred: all jobs are paused, or a poll is in progress | none | idle |
//! | paused | none | idle |
//! | due | none, but a turn | idle |
//! | running | none | with the run, and what follows it (`After`) |
//! | over | the job is removed; its handles keep an `Ending` | gone |
//!
//! A *plain* job is only work and a deadline. It has no `JobState`: its slot has the work until a
//! run takes it. Every transition is made under the lock of the shard.
//!
//! *Due* is the run of an async job, or of a job in a group, that was handed out and has not begun.
//! It can be cancelled and moved until it begins. That ends its *turn*: the run has the number of
//! the turn, and then finds that there is nothing to do. Other runs are never in the state *due*:
//! they are taken out of the wheel and begin under one lock. Each job has one run at a time.

mod backoff;
mod group;
mod repeat;
mod state;

pub use backoff::Backoff;
pub use group::Group;
pub(crate) use group::{Dispatch, GroupPermit, Waiting};
pub use repeat::Missed;
pub(crate) use repeat::{Pace, Repeat};
pub(crate) use state::{After, JobState, RareState, draw_jitter};

use parking_lot::Mutex;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a run that was handed out.
pub(crate) type Turn = NonZeroU32;

/// A unique name by which a job can be found: at most one job has it at a time.
pub type Key = Arc<str>;

/// The identity of a job: its shard and index there, and a number that no other job ever has. So a
/// stale `Id` reaches no other job. It is two words, so it is passed in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    pub(crate) number: NonZeroU64,
    /// The shard in the upper half, the index there in the lower half.
    location: u64,
}

impl Id {
    #[inline]
    pub(crate) fn new(number: NonZeroU64, index: u32, shard: u32) -> Self {
        Self { number, location: u64::from(shard) << 32 | u64::from(index) }
    }

    /// Its two words, for [`from_words`](Self::from_words).
    #[inline]
    pub(crate) fn words(self) -> (u64, u64) {
        (self.number.get(), self.location)
    }

    /// `None` if the number is zero, which no job has.
    pub(crate) fn from_words((number, location): (u64, u64)) -> Option<Self> {
        NonZeroU64::new(number).map(|number| Self { number, location })
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.location as u32
    }

    #[inline]
    pub(crate) fn shard(self) -> u32 {
        (self.location >> 32) as u32
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It waits for its time, or its run is due.
    Pending,
    /// A run is in progress. A periodic job may have more runs.
    Running,
    /// Its last run has ended: it had no more runs, it [ended itself](crate::Run::end), or its rule
    /// has no further time.
    Finished,
    /// It is [paused](crate::JobHandle::pause): no run begins until it is resumed.
    Paused,
    /// It was cancelled, or replaced by another job with its key.
    Cancelled,
    /// The service was stopped before its (next) run.
    Stopped,
    /// It has finished, or was cancelled or stopped. A one-shot job without a name, a key or
    /// another option does not keep which.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Finished = 1,
    Cancelled,
    Stopped,
}

/// The name, key and outcome of a job. Written under the lock of its shard.
#[derive(Debug, Default)]
pub(crate) struct Info {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) key: Option<Key>,
    /// Zero until the job is over. Then four times the number of runs, plus an [`Ending`]. Until
    /// then the number of runs is in its [`JobState`].
    end: AtomicU64,
    #[expect(clippy::box_collection, reason = "few jobs have one, so it is to be one word")]
    error: Mutex<Option<Box<String>>>,
}

impl Info {
    pub(crate) fn new(name: Option<Arc<str>>, key: Option<Key>) -> Self {
        Self { name, key, ..Self::default() }
    }

    /// How many runs had begun when the job was over.
    pub(crate) fn runs(&self) -> u64 {
        self.end.load(Ordering::Acquire) / 4
    }

    pub(crate) fn fail(&self, error: String) {
        *self.error.lock() = Some(Box::new(error));
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        self.error.lock().as_deref().cloned()
    }

    pub(crate) fn end(&self, how: Ending, runs: u64) {
        debug_assert_eq!(self.end.load(Ordering::Relaxed), 0, "a job ends once");
        self.end.store(runs * 4 + how as u64, Ordering::Release);
    }

    /// How the job ended. `None` if it is not over.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let endings = [Ending::Finished, Ending::Cancelled, Ending::Stopped];
        let end = self.end.load(Ordering::Acquire) % 4;
        endings.into_iter().find(|ending| *ending as u64 == end)
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
