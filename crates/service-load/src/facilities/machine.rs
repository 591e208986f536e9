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
pub(crate) struct Machine {
    pub(crate) name: &'static str,
    about: &'static str,
    wait: fn(Duration),
}

impl Machine {
    /// It reads the clock all the time, which shows stalls of a running thread. No facility can be
    /// better.
    pub(crate) const READS: Self = Self {
        name: "the-machine",
        about: "no facility: a thread that only reads the clock sees when each job is due",
        wait: |_| spin_loop(),
    };

    /// It sleeps until each moment, as a facility does. This also shows how late the system wakes a
    /// thread, with the default timer slack of Linux.
    pub(crate) const SLEEPS: Self = Self {
        name: "a-sleeper",
        about: "no facility: a thread that only sleeps until each job is due",
        wait: thread::sleep,
    };
}

impl Contender<Experiment> for Machine {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn plays(&self) -> &'static [Experiment] {
        &[Experiment::Fires, Experiment::Fires300k]
    }

    fn play(&self, experiment: Experiment, load: &Load) -> Result<Played> {
        match experiment {
            Experiment::Fires => play_machine(load, Stream::usual(load), self.wait),
            Experiment::Fires300k => play_machine(load, Stream::fast(load), self.wait),
            _ => Ok(Ok(Vec::new())),
        }
    }
}
