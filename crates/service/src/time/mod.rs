//! Points in time, where they come from, and how they are rounded to the ticks of a backend.

mod clock;
mod due;

pub use clock::{Clock, ManualClock, MonotonicClock, Waker};
pub use due::When;
pub(crate) use due::{Due, Wall};

use std::num::NonZeroU64;
use std::time::Duration;
use wheelhouse_core::Tick;

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

/// The length of a tick, and the slack: deadlines are rounded up to a multiple of that many ticks.
/// Tick t is an instant, t tick lengths after the origin, not a span: a timer of tick t fires at
/// that instant or later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    length: NonZeroU64,
    /// In ticks. One means no slack.
    slack: NonZeroU64,
}

impl Ticks {
    pub(crate) fn new(tick: Duration) -> Option<Self> {
        Some(Self { length: NonZeroU64::new(nanos(tick)?)?, slack: NonZeroU64::MIN })
    }

    /// The same with another slack, rounded down to whole ticks, so that nothing is later than
    /// allowed.
    pub(crate) fn with_slack(self, slack: Duration) -> Self {
        let ticks = nanos(slack).unwrap_or(u64::MAX) / self.length;
        Self { slack: NonZeroU64::new(ticks).unwrap_or(NonZeroU64::MIN), ..self }
    }

    pub(crate) fn length(self) -> Duration {
        Duration::from_nanos(self.length.get())
    }

    /// The tick of a deadline: rounded up, so that nothing fires early. With a slack it is rounded
    /// up to a multiple of that, so that deadlines close together get the same tick.
    #[inline]
    pub(crate) fn not_before(self, moment: Moment) -> Tick {
        let tick = moment.0.div_ceil(self.length.get());
        if self.slack == NonZeroU64::MIN {
            return tick;
        }
        // Near the end of time there may be no such multiple.
        let rounded = tick.checked_next_multiple_of(self.slack.get());
        rounded.filter(|tick| *tick <= self.last()).unwrap_or(tick)
    }

    /// The last tick that has been reached at the moment.
    #[inline]
    pub(crate) fn reached(self, moment: Moment) -> Tick {
        moment.0 / self.length
    }

    /// The last tick of a deadline. `Tick::MAX` stands for none.
    fn last(self) -> Tick {
        self.reached(Moment::MAX).min(Tick::MAX - 1)
    }

    #[inline]
    pub(crate) fn instant(self, tick: Tick) -> Moment {
        Moment(tick.saturating_mul(self.length.get()))
    }

    /// Returns `true` if the tick of the deadline has an instant, which is then not after
    /// [`Moment::MAX`].
    #[inline]
    pub(crate) fn reaches(self, deadline: Moment) -> bool {
        // Avoids the division unless the deadline is in the last tick.
        deadline.0 <= u64::MAX - self.length.get() || deadline <= self.latest()
    }

    /// The latest deadline whose tick has an instant.
    pub(crate) fn latest(self) -> Moment {
        self.instant(self.last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With any slack, which rounds up only as far as there are instants.
    #[test]
    fn the_latest_deadline_is_reached_before_time_ends() {
        for nanos in [1, 2, 10, 1_000_000, u64::MAX / 2 + 1, u64::MAX] {
            let slacks = [0, 45, u64::MAX].map(Duration::from_nanos);
            for slack in slacks.into_iter().chain([Duration::MAX]) {
                let ticks = Ticks::new(Duration::from_nanos(nanos)).unwrap().with_slack(slack);
                let latest = ticks.latest();
                assert!(ticks.not_before(latest) < Tick::MAX, "{nanos}");
                assert_eq!(ticks.instant(ticks.not_before(latest)), latest);
                let next = u128::from(latest.0) + u128::from(nanos.max(2));
                assert!(next > u128::from(u64::MAX), "a later one would not fit");
            }
        }
    }
}
