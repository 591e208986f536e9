#![doc = include_str!("../README.md")]

mod catalogue;
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
pub use mix::Mix;
pub use op::{Measure, Op, Phase};
pub use player::{Checksum, Player};

use patterns::Pattern;
use random::Random;
use std::fmt;

/// The largest number of timers of a stream. Larger numbers are reduced to it; 0 becomes 1.
pub const MAX_TIMERS: u32 = 1 << 28;

/// A named stream of operations: its source, what it shows, and its parameters.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Workload {
    /// The name in tables, files and on the command line.
    pub name: &'static str,
    /// Its number in the project's inventory of workloads, and earlier measurements with it.
    pub source: &'static str,
    /// Its events, the length of a tick, and what it shows.
    pub story: &'static str,
    pub(crate) pattern: &'static dyn Pattern,
}

impl Workload {
    /// How many labels the stream for `n` timers uses: the argument of
    /// [`Player::new`](crate::Player::new).
    pub fn labels(&self, n: u32) -> usize {
        self.pattern.labels(bounded(n)) as usize
    }

    /// The stream for about `n` live timers, from 1 to [`MAX_TIMERS`]. The name, `n` and `seed`
    /// determine the operations, bit for bit, on every machine.
    ///
    /// The iterator generates a phase when it is called. A phase has at most 2^22 operations or a
    /// few more; a longer one is split into several with the same measure, one after another. So
    /// the figure of a measure is the time of all its phases divided by the sum of their
    /// [`operations`](Phase::operations).
    ///
    /// ```
    /// use wheelhouse_workload::{Op, Phase, find_workload};
    ///
    /// let burst = find_workload("delay-queue-burst").unwrap();
    /// let ops: Vec<Op> = burst.phases(100, 1).flat_map(|Phase { ops, .. }| ops).collect();
    /// assert_eq!(ops[0], Op::Insert { label: 0, deadline: 1_800_000 });
    /// assert_eq!(ops.last(), Some(&Op::Advance { to: 1_800_000 }));
    /// ```
    pub fn phases(&self, n: u32, seed: u64) -> Box<dyn Iterator<Item = Phase>> {
        let n = bounded(n);
        self.pattern.phases(n, Random::new(self.name, n, seed))
    }
}

fn bounded(n: u32) -> u32 {
    n.clamp(1, MAX_TIMERS)
}

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
