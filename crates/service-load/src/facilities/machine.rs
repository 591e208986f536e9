//! Two rows without a facility: how long the machine itself keeps a thread from running.

use crate::experiments::{Experiment, Stream, play_machine};
use crate::load::Load;
use anyhow::Result;
use std::hint::spin_loop;
use std::thread;
use std::time::Duration;
use wheelhouse_frame::{Contender, Played};

/// A thread that does no more than to see when each job would be due, beside a producer that makes
/// no calls. What is late in its row is late because the machine did something else.
#[derive(Clone, Copy, Debug)]
pub enum Machine {
    /// It reads the clock all the time: stalls of a thread that runs. No facility can be better.
    Reads,
    /// It sleeps until each moment, as a facility does: how late the system wakes a thread, too,
    /// with the timer slack that Linux gives to each.
    Sleeps,
}

impl Machine {
    /// The name in the tables of what reads the clock.
    pub const NAME: &'static str = "the-machine";
    /// And of what sleeps.
    pub const SLEEPER: &'static str = "a-sleeper";
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
