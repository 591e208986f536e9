//! When a job is due: at a moment of the service's clock, or at a wall-clock time.
//!
//! The wall clock can be set, and the clock of the service may stand still while the machine is
//! suspended. So the moment of a wall-clock time is an estimate. The driver repeats it within a
//! minute, and once more when the deadline has come.

use super::{Clock, Moment};
use std::time::{Duration, Instant, SystemTime};

/// The shortest and longest time between two checks of a job that waits for a wall-clock time. With
/// a single value, a million jobs that were scheduled together would be checked together each
/// minute, and delay what is due.
const CHECK_INTERVAL: (Duration, Duration) = (Duration::from_secs(45), Duration::from_secs(60));

/// When a job is to run: a [`Moment`] of the service's clock, an [`Instant`], or a [`SystemTime`].
/// All three convert by [`Into`], as in `timers.at(Instant::now())`.
///
/// With a past time the job is due at once. Its periods and its lateness count from that time. A
/// time before the origin of the service's clock counts as the origin.
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
    /// The deadline, which may be past. `None` if it is out of range.
    pub(crate) fn due(self, clock: &dyn Clock) -> Option<Due> {
        match self {
            Self::Moment(moment) => Some(Due::at(moment)),
            Self::Instant(instant) => {
                let present = Instant::now();
                let deadline = match instant.checked_duration_since(present) {
                    Some(left) => clock.now().checked_add(left),
                    None => Some(clock.now().saturating_sub(present - instant)),
                };
                deadline.map(Due::at)
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
    /// Unset after a run for this time was dropped: the next run is for the same time, but waits
    /// for a moment.
    pub(crate) is_awaited: bool,
}

impl Due {
    pub(crate) fn at(deadline: Moment) -> Self {
        Self { deadline, wall: None }
    }

    /// Due at a wall-clock time, which may be past. `None` if it is out of range.
    pub(crate) fn at_time(clock: &dyn Clock, time: SystemTime) -> Option<Self> {
        let deadline = match time.duration_since(clock.wall()) {
            Ok(left) => clock.now().checked_add(left)?,
            Err(past) => clock.now().saturating_sub(past.duration()),
        };
        let (least, most) = CHECK_INTERVAL;
        let check_interval = least + (most - least).mul_f64(fastrand::f64());
        let jitter_delay = Duration::ZERO;
        let wall = Wall { time, jitter_delay, check_interval, is_awaited: true };
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
    use crate::ManualClock;

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
