//! Points in time, where they come from, and how they are rounded to the ticks of a backend.
//!
//! A job is due at a moment of the service's clock, or at a wall-clock time. The wall clock can be
//! set, and the clock of the service may stand still while the machine is suspended. So the moment
//! of a wall-clock time is an estimate. The driver repeats it within a minute, and once more when
//! the deadline has come.

mod clock;

pub use clock::{Clock, ManualClock, MonotonicClock, Waker};

use std::num::NonZeroU64;
use std::time::{Duration, Instant, SystemTime};
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

/// The shortest and longest time between two checks of a job that waits for a wall-clock time. With
/// a single value, a million jobs that were scheduled together would be checked together each
/// minute, and delay what is due.
const CHECK_INTERVAL: (Duration, Duration) = (Duration::from_secs(45), Duration::from_secs(60));

/// When a job is to run: a [`Moment`] of the service's clock, an [`Instant`], or a [`SystemTime`].
/// All three convert by [`Into`], as in `timers.at(Instant::now())`.
///
/// An `Instant` is converted by its distance from the present, so it works with any clock of the
/// service.
///
/// A `SystemTime` is a date and a time of day. The job runs when the wall clock shows the time,
/// never earlier: the driver checks once a minute whether that clock was set, or the machine was
/// suspended and the service's clock stood still, as [`MonotonicClock`](crate::MonotonicClock) does
/// on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// By the clock of the service.
    Moment(Moment),
    /// By the monotonic clock of the machine.
    Instant(Instant),
    /// By the wall clock.
    Time(SystemTime),
}

impl When {
    /// The deadline, which is now if the time is past. `None` if it is out of range.
    pub(crate) fn due(self, clock: &dyn Clock) -> Option<Due> {
        match self {
            Self::Moment(moment) => Some(Due::at(moment)),
            Self::Instant(instant) => {
                let left = instant.saturating_duration_since(Instant::now());
                clock.now().checked_add(left).map(Due::at)
            }
            Self::Time(time) => Due::at_time(clock, time),
        }
    }
}

impl From<Moment> for When {
    fn from(moment: Moment) -> Self {
        Self::Moment(moment)
    }
}

impl From<Instant> for When {
    fn from(instant: Instant) -> Self {
        Self::Instant(instant)
    }
}

impl From<SystemTime> for When {
    fn from(time: SystemTime) -> Self {
        Self::Time(time)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Due {
    /// For a wall-clock time, an estimate.
    pub(crate) deadline: Moment,
    /// In a box, since few jobs have one.
    pub(crate) wall: Option<Box<Wall>>,
}

/// A wall-clock time that a job waits for.
#[derive(Clone, Debug)]
pub(crate) struct Wall {
    pub(crate) time: SystemTime,
    /// The job runs this much later than `time`.
    jitter_delay: Duration,
    check_interval: Duration,
}

impl Due {
    pub(crate) fn at(deadline: Moment) -> Self {
        Self { deadline, wall: None }
    }

    /// Due at a wall-clock time, or now if that is past. `None` if it is out of range.
    pub(crate) fn at_time(clock: &dyn Clock, time: SystemTime) -> Option<Self> {
        let left = time.duration_since(clock.wall()).unwrap_or_default();
        let deadline = clock.now().checked_add(left)?;
        let (least, most) = CHECK_INTERVAL;
        let check_interval = least + (most - least).mul_f64(fastrand::f64());
        let wall = Wall { time, jitter_delay: Duration::ZERO, check_interval };
        Some(Self { deadline, wall: Some(Box::new(wall)) })
    }

    /// The same, but `jitter_delay` later. At the last moment it stays there.
    pub(crate) fn delayed_by(mut self, jitter_delay: Duration) -> Self {
        self.deadline = self.deadline.saturating_add(jitter_delay);
        self.wall.iter_mut().for_each(|wall| wall.jitter_delay = jitter_delay);
        self
    }

    /// The latest moment at which the driver must check the job.
    pub(crate) fn check_by(&self, now: impl FnOnce() -> Moment) -> Moment {
        self.wall.as_ref().map_or(self.deadline, |wall| wall.check_by(self.deadline, now()))
    }
}

impl Wall {
    /// The deadline, estimated from the current clocks. A time that has passed gives a past moment,
    /// so that the lateness of the run is known.
    pub(crate) fn estimated(&self, clock: &dyn Clock) -> Moment {
        let time = self.time.checked_add(self.jitter_delay).unwrap_or(self.time);
        match time.duration_since(clock.wall()) {
            Ok(left) => clock.now().saturating_add(left),
            Err(past) => clock.now().saturating_sub(past.duration()),
        }
    }

    /// See [`Due::check_by`].
    pub(crate) fn check_by(&self, deadline: Moment, now: Moment) -> Moment {
        deadline.min(now.saturating_add(self.check_interval))
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

    #[test]
    fn what_was_scheduled_together_is_not_looked_at_together() {
        let due = |_| Due::at_time(&ManualClock::new(), SystemTime::now()).unwrap();
        let interval = |due: Due| due.wall.unwrap().check_interval;
        let mut intervals: Vec<_> = (0..1_000).map(due).map(interval).collect();
        assert!(intervals.iter().all(|its| *its >= CHECK_INTERVAL.0 && *its <= CHECK_INTERVAL.1));
        intervals.dedup();
        assert!(intervals.len() > 900, "{intervals:?}");
    }
}
