//! The work that a job does after it has noted when it began.

use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_machine::clock::WorkTime;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobWork {
    Empty,
    /// One job in `each` blocks its thread for this time. The others do nothing.
    SleepsOneIn {
        /// One of this many jobs, in the middle of them, blocks its thread.
        each: u32,
        /// For how long.
        time: Duration,
    },
    /// Each job uses a processor for this time.
    Spins(Duration),
}

impl JobWork {
    /// Returns `true` if the job with this number blocks its thread.
    pub(crate) fn sleeps(self, number: u32) -> bool {
        matches!(self, Self::SleepsOneIn { each, .. } if number % each == each / 2)
    }

    pub(crate) fn run(self, number: u32) {
        match self {
            Self::SleepsOneIn { time, .. } if self.sleeps(number) => thread::sleep(time),
            Self::Empty | Self::SleepsOneIn { .. } => {}
            Self::Spins(time) => spin(time),
        }
    }
}

/// Uses the processor for this time. Time in which other threads have the processor does not count:
/// otherwise a facility that runs too many jobs at once would do less work for each.
fn spin(time: Duration) {
    let mut left = time;
    while !left.is_zero() {
        let (taken, ()) = WorkTime::measure(|| {
            let until = Instant::now() + left;
            while Instant::now() < until {
                spin_loop();
            }
        });
        left = left.saturating_sub(taken.running);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_job_in_each_n_blocks_its_thread() {
        let work = JobWork::SleepsOneIn { each: 3, time: Duration::from_millis(5) };
        let slow: Vec<_> = (0..7).filter(|number| work.sleeps(*number)).collect();
        assert_eq!(slow, [1, 4]);
        assert!(!JobWork::Empty.sleeps(1) && !JobWork::Spins(Duration::ZERO).sleeps(1));
    }
}
