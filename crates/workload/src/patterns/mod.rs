//! The patterns of the workloads. Each repeats a few steps that write operations.
//!
//! All parameters come from the [catalogue](crate::workloads); this code has only the mechanisms.
//! Every pattern has the same form: its parameters, a state, the stages of the stream, and a
//! function for a step of each stage. If a pattern has `laps`, it takes that many steps for each
//! timer.

pub(crate) mod adversarial;
pub(crate) mod burst;
pub(crate) mod connections;
pub(crate) mod messages;
pub(crate) mod requests;
pub(crate) mod restarted;
pub(crate) mod sessions;
pub(crate) mod sparse;
pub(crate) mod steady;
pub(crate) mod uniform;

use crate::Phase;
use crate::random::Random;
use std::fmt::Debug;

/// The mechanism that generates the operations of a workload, with all its parameters.
pub(crate) trait Pattern: Debug + Sync {
    /// How many labels the stream for `n` timers uses.
    fn labels(&self, n: u32) -> u64 {
        n.into()
    }

    /// The stream for `n` timers.
    fn phases(&self, n: u32, random: Random) -> Phases;
}

/// A stream, phase by phase.
pub(crate) type Phases = Box<dyn Iterator<Item = Phase>>;
