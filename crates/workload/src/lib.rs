#![doc = include_str!("../README.md")]

mod catalogue;
mod definition;
mod delay;
pub mod kernel;
mod mix;
mod op;
mod patterns;
mod player;
mod queue;
mod random;
mod script;
pub mod trace;

pub use catalogue::UNIFORM_DENSE;
pub use definition::{MAX_TIMERS, Workload};
pub use mix::Mix;
pub use op::{Measure, Op, Phase};
pub use player::{Checksum, Player};

use std::fmt;

/// All workloads, in the order of the tables.
pub fn workloads() -> &'static [Workload] {
    catalogue::WORKLOADS
}

/// Returns the workload with a name.
///
/// # Errors
///
/// If there is none; the error lists all names.
pub fn find_workload(name: &str) -> Result<&'static Workload, UnknownWorkload> {
    workloads()
        .iter()
        .find(|workload| workload.name == name)
        .ok_or_else(|| UnknownWorkload { name: name.to_owned() })
}

/// No workload has this name. The message lists all names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWorkload {
    name: String,
}

impl fmt::Display for UnknownWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = workloads().iter().map(|workload| workload.name).collect();
        write!(f, "no workload is called '{}'; the workloads are {}", self.name, known.join(", "))
    }
}

impl std::error::Error for UnknownWorkload {}
