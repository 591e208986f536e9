//! The ways to name a point in time.

use super::{Clock, Due, Moment};
use std::time::{Instant, SystemTime};

/// When a job is to run: a [`Moment`] of the service's clock, an [`Instant`], or a [`SystemTime`].
/// All three convert by [`Into`], as in `timers.at(Instant::now())`.
///
/// An `Instant` is converted by its distance from the present, so it works with any clock of the
/// service.
///
/// A `SystemTime` is a date and a time of day, by the wall clock. The job runs when that clock
/// shows the time, never earlier. If the clock is set forward, the job follows within a minute; if
/// it is set back, the job waits longer. The same holds if the machine is suspended and the
/// service's clock stands still for that duration, as [`MonotonicClock`](crate::MonotonicClock)
/// does on Linux. The driver checks each such job once a minute.
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
