//! What a job is: what it is to do is for others to say; here is what it is called, when it runs
//! again, and where it is in its life.
//!
//! ```text
//!            its time has come    begin                end, last run
//!  pending ──────────────▶ due ────────▶ running ─────────────────────▶ over
//!     ▲ ▲                   │ │             │
//!     │ └──── moved ────────┘ │ overlapping │ end, more runs to come
//!     └───────────────────────┴─────────────┘
//! ```
//!
//! *Due* is a run that was handed to an executor, or waits for a place in its group, and has not
//! begun. It can be cancelled and moved until it begins; its *turn* then is over, and the executor,
//! which was given the number of the turn, finds nothing to do. All other runs are never due: they
//! are taken out and begin under one lock.
//!
//! A job whose runs may overlap waits for its next run from when one begins; the last is as that of
//! any other. So of each job at most one run is due, whatever its period, and what can
//! be done to it is the same.

mod backoff;
mod group;
mod life;
mod repeat;

pub use backoff::Backoff;
pub use group::Group;
pub(crate) use group::Seat;
pub(crate) use life::{Ending, Info, Life, More, draw};
pub use repeat::Missed;
pub(crate) use repeat::{Pace, Repeat};

use std::num::NonZeroU64;
use std::sync::Arc;

/// The name under which a job can be found again; at most one job has it at a time.
pub type Key = Arc<str>;

/// Which job: where it lies, and its number, which no other job ever has. So a stale one reaches no
/// other job. It is two words, which pass from hand to hand in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    pub(crate) number: NonZeroU64,
    /// The shard, and in the lower half the index there.
    place: u64,
}

impl Id {
    #[inline]
    pub(crate) fn new(number: NonZeroU64, index: u32, shard: u32) -> Self {
        Self { number, place: u64::from(shard) << 32 | u64::from(index) }
    }

    /// Its two words, for [`from_words`](Self::from_words).
    #[inline]
    pub(crate) fn words(self) -> (u64, u64) {
        (self.number.get(), self.place)
    }

    /// `None` if the number is zero, which no job has.
    pub(crate) fn from_words((number, place): (u64, u64)) -> Option<Self> {
        NonZeroU64::new(number).map(|number| Self { number, place })
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.place as u32
    }

    #[inline]
    pub(crate) fn shard(self) -> u32 {
        (self.place >> 32) as u32
    }
}

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// It waits for its time, or is due.
    Pending,
    /// It is running; a periodic one may have more runs to come. A job whose runs may overlap is
    /// `Pending` while runs go on, until the last has begun, and then ends with that.
    Running,
    /// Its last run has ended: there were to be no more, it [ended itself](crate::Run::end), or its
    /// rule named no other time.
    Finished,
    /// It is [paused](crate::JobHandle::pause): no run begins until it is resumed.
    Paused,
    /// It was cancelled, or replaced by another with its key.
    Cancelled,
    /// The service was stopped before its (next) run.
    Stopped,
    /// One of the three before. Which one is not kept of a one-shot job without name or key, unless
    /// that was [asked for](crate::OneShot::tracked).
    Over,
}
