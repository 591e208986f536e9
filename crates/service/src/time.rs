//! Points in time, and how they are rounded to the ticks of a backend.

use std::num::NonZeroU64;
use std::time::Duration;
use wheelhouse_core::Tick;

/// A point in time: nanoseconds since the origin of a [`Clock`](crate::Clock), which reach 584 years.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_service::Moment;
///
/// let soon = Moment::ORIGIN.checked_add(Duration::from_millis(5));
/// assert_eq!(soon, Some(Moment::from_nanos(5_000_000)));
/// assert_eq!(Moment::MAX.checked_add(Duration::from_nanos(1)), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment(u64);

impl Moment {
    /// Where the clock began.
    pub const ORIGIN: Self = Self(0);
    /// The last moment that can be named.
    pub const MAX: Self = Self(u64::MAX);

    /// The moment so many nanoseconds after the origin.
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

    /// The moment so much later, if it can be named.
    pub fn checked_add(self, delay: Duration) -> Option<Self> {
        self.0.checked_add(nanos(delay)?).map(Self)
    }

    /// The moment so much earlier, or the origin.
    pub(crate) fn saturating_sub(self, delay: Duration) -> Self {
        Self(nanos(delay).map_or(0, |nanos| self.0.saturating_sub(nanos)))
    }

    /// The moment so much later, or the last there is.
    pub fn saturating_add(self, delay: Duration) -> Self {
        self.checked_add(delay).unwrap_or(Self::MAX)
    }
}

/// A duration in nanoseconds, if 64 bits hold them.
pub(crate) fn nanos(duration: Duration) -> Option<u64> {
    u64::try_from(duration.as_nanos()).ok()
}

/// What a tick of the backend lasts. Tick t is the instant t times that long after the origin, not a span: a timer of
/// tick t fires at that instant or later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks(NonZeroU64);

impl Ticks {
    pub(crate) fn new(tick: Duration) -> Option<Self> {
        NonZeroU64::new(nanos(tick)?).map(Self)
    }

    pub(crate) fn length(self) -> Duration {
        Duration::from_nanos(self.0.get())
    }

    /// The first tick that is not before the moment: rounded up, so that nothing fires early.
    pub(crate) fn not_before(self, moment: Moment) -> Tick {
        moment.0.div_ceil(self.0.get())
    }

    /// The last tick that has been reached at the moment.
    pub(crate) fn reached(self, moment: Moment) -> Tick {
        moment.0 / self.0
    }

    /// The instant of a tick.
    pub(crate) fn instant(self, tick: Tick) -> Moment {
        Moment(tick.saturating_mul(self.0.get()))
    }

    /// The latest deadline whose tick has an instant that can be named.
    pub(crate) fn latest(self) -> Moment {
        self.instant(self.reached(Moment::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_rounded_up_and_the_present_down() {
        let ticks = Ticks::new(Duration::from_nanos(10)).unwrap();
        let not_before = [0, 1, 9, 10, 11].map(|nanos| ticks.not_before(Moment(nanos)));
        let reached = [0, 1, 9, 10, 11].map(|nanos| ticks.reached(Moment(nanos)));
        assert_eq!((not_before, reached), ([0, 1, 1, 1, 2], [0, 0, 0, 1, 1]));
    }

    #[test]
    fn the_latest_deadline_is_reached_before_time_ends() {
        for nanos in [1, 2, 10, 1_000_000, u64::MAX / 2 + 1, u64::MAX] {
            let ticks = Ticks::new(Duration::from_nanos(nanos)).unwrap();
            let latest = ticks.latest();
            assert!(ticks.not_before(latest) <= ticks.reached(Moment::MAX), "{nanos}");
            assert_eq!(ticks.instant(ticks.not_before(latest)), latest);
            assert!(
                u128::from(latest.0) + u128::from(nanos) > u128::from(u64::MAX),
                "a later one would not fit"
            );
        }
    }

    #[test]
    fn a_tick_lasts_something_that_can_be_counted() {
        assert!(Ticks::new(Duration::ZERO).is_none());
        assert!(Ticks::new(Duration::MAX).is_none());
        assert_eq!(
            Ticks::new(Duration::from_millis(1)).unwrap().length(),
            Duration::from_millis(1)
        );
    }
}
