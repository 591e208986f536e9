//! The patterns of the workloads. Each repeats a few steps that write operations.
//!
//! All parameters come from the [catalogue](crate::workloads); this code has only the mechanisms.
//! Every pattern has the same form: a state, the stages of the stream, and a function for a step of
//! each stage.

pub(crate) mod adversarial;
pub(crate) mod burst;
pub(crate) mod connections;
pub(crate) mod hold;
pub(crate) mod messages;
pub(crate) mod periodic;
pub(crate) mod popular;
pub(crate) mod refresh;
pub(crate) mod requests;
pub(crate) mod same_deadline;
pub(crate) mod sparse;
pub(crate) mod start_stop;
pub(crate) mod steady;
pub(crate) mod uniform;

use crate::Phase;

/// A stream, phase by phase.
pub(crate) type Phases = Box<dyn Iterator<Item = Phase>>;
