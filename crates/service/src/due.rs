//! When a job is due: at a moment of the service's clock, or at a time of the wall clock.
//!
//! The wall clock can be set, and the clock of the service may stand still while the machine is suspended. So where a time lies is a
//! reckoning, which the driver repeats: within a minute, and once more when the deadline has come.

use crate::{Clock, Moment};
use std::time::{Duration, SystemTime};

/// How long a job that waits for a time of the wall clock is left alone.
const LOOK_WITHIN: Duration = Duration::from_secs(60);

/// When a job is due.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    /// For a time of the wall clock: where it lies, as far as is known.
    pub(crate) deadline: Moment,
    /// That time. In a box, as few jobs have one.
    wall: Option<Box<SystemTime>>,
}

impl Due {
    /// At a moment.
    pub(crate) fn at(deadline: Moment) -> Self {
        Self { deadline, wall: None }
    }

    /// At a time of the wall clock, at once if that is past; `None` if it is too far away to be named.
    pub(crate) fn at_time(clock: &dyn Clock, time: SystemTime) -> Option<Self> {
        let left = time.duration_since(clock.wall()).unwrap_or_default();
        Some(Self { deadline: clock.now().checked_add(left)?, wall: Some(Box::new(time)) })
    }

    /// The time of the wall clock, if it is that.
    pub(crate) fn time(&self) -> Option<SystemTime> {
        self.wall.as_deref().copied()
    }

    /// The deadline as things are now: for a time that has passed, where it was, so that it is seen how late a run is.
    pub(crate) fn reckoned(&self, clock: &dyn Clock) -> Moment {
        let Some(time) = self.time() else { return self.deadline };
        match time.duration_since(clock.wall()) {
            Ok(left) => clock.now().saturating_add(left),
            Err(past) => clock.now().saturating_sub(past.duration()),
        }
    }

    /// When the driver is to look at the job at the latest.
    pub(crate) fn look_by(&self, now: impl FnOnce() -> Moment) -> Moment {
        match self.wall {
            None => self.deadline,
            Some(_) => self.deadline.min(now().saturating_add(LOOK_WITHIN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    #[test]
    fn a_time_lies_where_the_wall_clock_says_and_is_looked_at_within_a_minute() {
        let clock = ManualClock::new();
        clock.advance(Duration::from_secs(1000));
        let seconds = |n| Moment::ORIGIN.saturating_add(Duration::from_secs(n));
        let due = Due::at_time(&clock, clock.wall() + Duration::from_secs(100)).unwrap();
        assert_eq!(
            (due.deadline, due.look_by(|| seconds(1030)), due.look_by(|| seconds(1050))),
            (seconds(1100), seconds(1090), seconds(1100))
        );
        for (wall, reckoned) in [(900, 1200), (1000, 1100), (1100, 1000), (1300, 800), (9000, 0)] {
            clock.set_wall(SystemTime::UNIX_EPOCH + Duration::from_secs(wall));
            assert_eq!(due.reckoned(&clock), seconds(reckoned), "{wall}");
        }
        let past = Due::at_time(&clock, SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!((past.deadline, Due::at(seconds(7)).reckoned(&clock)), (seconds(1000), seconds(7)));
        assert!(Due::at_time(&clock, clock.wall() + Duration::from_nanos(u64::MAX)).is_none());
    }
}
