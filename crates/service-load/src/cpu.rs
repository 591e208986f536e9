//! The processor time of the whole program.
//!
//! On a machine that also does other work, elapsed time says little, but processor time still says
//! what a job costs.

use std::process;
use std::time::Duration;
use wheelhouse_frame::Figure;
use wheelhouse_machine::clock::process_cpu_time;

/// The processor time that all threads of this program had used at a moment. `None` if the system
/// does not report it.
#[derive(Clone, Copy)]
pub(crate) struct Cpu(Option<Duration>);

impl Cpu {
    pub(crate) fn now() -> Self {
        Self(process_cpu_time(process::id()))
    }

    pub(crate) fn since(self, begin: Self) -> Option<Duration> {
        self.0?.checked_sub(begin.0?)
    }
}

/// Processor time divided by a number of jobs.
pub(crate) fn figure(name: &'static str, used: Option<Duration>, each: u64) -> Option<Figure> {
    Some(Figure::time(name, used?.as_nanos() as f64 / each.max(1) as f64))
}
