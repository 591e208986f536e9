//! Faults that tests inject into structures, to see whether the claims notice them.

use wheelhouse_core::meter::Work;

/// A fault of the structure with a given name.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The structure.
    pub name: &'static str,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// A kind of fault.
#[derive(Clone, Copy, Debug)]
pub enum FaultKind {
    /// This structure is used under its name.
    Replaced(&'static str),
    /// An operation takes more steps, by the number of timers, and counts them.
    Costlier(AffectedOperation, fn(n: u64) -> u64),
    /// Work of one kind is counted this many times.
    Miscounted(Work, u64),
    /// Timers fire a tick late.
    Late,
}

/// An operation that a fault can affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffectedOperation {
    /// Starting a timer.
    Insert,
    /// Stopping a timer.
    Cancel,
    /// Advancing, or popping a timer that is due.
    Fire,
}
