//! When a job is to run, as it was said.

use super::{Clock, Due, Moment};
use std::time::{Instant, SystemTime};

/// When a job is to run: a [`Moment`] of the service's clock, an [`Instant`], or a [`SystemTime`].
/// All three become one by [`Into`], as in `timers.at(Instant::now())`.
///
/// An `Instant` is as far from the present of the service as from that of the machine.
///
/// A `SystemTime` is a date and a time of day, by the wall clock. The job waits for that clock to
/// show the time, never less, and follows it if it is set: forward within a minute, back however
/// far. So it does if the machine is suspended meanwhile and the service's clock stands still for
/// so long, as [`MonotonicClock`](crate::MonotonicClock) does on Linux. For that each such job is
/// looked at once a minute.
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
    /// The deadline, at once if that is past; `None` if it is too far away to be named.
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
