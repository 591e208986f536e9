//! Two rows without a facility: how long the machine itself keeps a thread from running.

use crate::experiments::{Experiment, Stream, play_machine};
use crate::load::Load;
use anyhow::Result;
use std::hint::spin_loop;
use std::thread;
use std::time::Duration;
use wheelhouse_frame::{Contender, Played};

/// A thread that only notes when each job would be due, while a producer makes no calls. Any
/// lateness in its row is caused by the machine.
pub(crate) enum Machine {
    /// It reads the clock all the time, which shows stalls of a running thread. No facility can be
    /// better.
    Reads,
    /// It sleeps until each moment, as a facility does. This also shows how late the system wakes a
    /// thread, with the default timer slack of Linux.
    Sleeps,
}

impl Machine {
    /// The name of the row that reads the clock.
    pub(crate) const NAME: &'static str = "the-machine";
    /// The name of the row that sleeps.
    pub(crate) const SLEEPER: &'static str = "a-sleeper";
}

impl Contender<Experiment> for Machine {
    fn name(&self) -> &'static str {
        match self {
            Self::Reads => Self::NAME,
            Self::Sleeps => Self::SLEEPER,
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Self::Reads => {
                "no facility: a thread that only reads the clock sees when each job is due"
            }
            Self::Sleeps => "no facility: a thread that only sleeps until each job is due",
        }
    }

    fn plays(&self) -> &'static [Experiment] {
        &[Experiment::Fires, Experiment::Fires300k]
    }

    fn play(&self, experiment: Experiment, load: &Load) -> Result<Played> {
        let wait: fn(Duration) = match self {
            Self::Reads => |_| spin_loop(),
            Self::Sleeps => thread::sleep,
        };
        match experiment {
            Experiment::Fires => play_machine(load, Stream::usual(load), wait),
            Experiment::Fires300k => play_machine(load, Stream::fast(load), wait),
            _ => Ok(Ok(Vec::new())),
        }
    }
}
