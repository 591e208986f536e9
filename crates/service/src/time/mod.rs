//! Points in time, where they come from, and how they are rounded to the ticks of a backend.

mod clock;
mod due;
mod ticks;

pub use clock::{Clock, ManualClock, MonotonicClock, Waker};
pub use due::When;
pub(crate) use due::{Due, Wall};
pub(crate) use ticks::Ticks;

use std::time::Duration;

/// A point in time: nanoseconds since the origin of a [`Clock`](crate::Clock), up to 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// The origin of the clock.
    pub const ORIGIN: Self = Self(0);
    /// The last moment: 584 years after the origin.
    pub const MAX: Self = Self(u64::MAX);

    /// The moment `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Time since the origin.
    pub const fn since_origin(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Time since `earlier`; zero if that is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The moment `delay` later; `None` if that is after [`MAX`](Self::MAX).
    pub fn checked_add(self, delay: Duration) -> Option<Self> {
        self.0.checked_add(nanos(delay)?).map(Self)
    }

    /// The moment `delay` earlier, or the origin.
    pub(crate) fn saturating_sub(self, delay: Duration) -> Self {
        Self(nanos(delay).map_or(0, |nanos| self.0.saturating_sub(nanos)))
    }

    /// The moment `delay` later, or [`MAX`](Self::MAX).
    pub fn saturating_add(self, delay: Duration) -> Self {
        self.checked_add(delay).unwrap_or(Self::MAX)
    }
}

/// A duration in nanoseconds; `None` if they exceed 64 bits.
pub(crate) fn nanos(duration: Duration) -> Option<u64> {
    u64::try_from(duration.as_nanos()).ok()
}
