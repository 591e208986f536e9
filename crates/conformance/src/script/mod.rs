//! Sequences of operations, and the one interpreter that plays them on a backend and on the oracle
//! side by side.
//!
//! A step that fits no timer or goes back in time is not skipped: stale handles and times past are
//! part of the contract. So every sequence means something, whether it was drawn, shrunk or made of
//! a fuzzer's bytes.

mod bytes;
mod minimise;
mod pair;

pub use bytes::decode;
pub use minimise::minimise;
pub(crate) use minimise::shortest;
pub use pair::Pair;

use std::fmt;
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;

/// A tick, mostly as seen from the present, so that a step keeps its meaning when others before it
/// are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// So many ticks after now, or the last tick there is.
    In(u64),
    /// So many ticks before now, or tick 0.
    Ago(u64),
    /// This tick.
    At(Tick),
}

impl When {
    fn tick(self, now: Tick) -> Tick {
        match self {
            Self::In(distance) => now.saturating_add(distance),
            Self::Ago(distance) => now.saturating_sub(distance),
            Self::At(tick) => tick,
        }
    }
}

/// One step of a script. Timers go by number in order of insertion, taken modulo the number of
/// handles remembered; a timer may have fired or been cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Start a timer.
    Insert(When),
    /// Stop a timer.
    Cancel(u16),
    /// Move a timer.
    Reschedule(u16, When),
    /// Fire all that is due at a tick.
    Advance(When),
    /// Fire the first that is due at a tick.
    Pop(When),
    /// Go from wake-up to wake-up until something fires, with at most one call in vain per level.
    Wake,
    /// Drop what cancelled timers have left behind.
    Compact,
    /// Fire all that is due at a tick, but panic in the callback at one of them: the first is
    /// number 0.
    Panic(When, u8),
}

/// Where a backend and the oracle part.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The number of the step, from 0.
    pub at: usize,
    /// The step.
    pub step: Step,
    /// What differs.
    pub what: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} ({:?}): {}", self.at, self.step, self.what)
    }
}

impl std::error::Error for Divergence {}

/// [`run`], on some backend.
pub(crate) type Script = fn(&[Step]) -> Result<(), Divergence>;

/// Plays a script from the start and compares after every step; at the end, everything left fires.
///
/// # Errors
///
/// The first step at which the backend does not do what the oracle does.
///
/// ```
/// use wheelhouse_conformance::OracleDefinition;
/// use wheelhouse_conformance::script::{Step, When, run};
///
/// let five = When::In(5);
/// let steps = [Step::Insert(five), Step::Insert(five), Step::Cancel(0), Step::Advance(five)];
/// assert!(run::<OracleDefinition>(&steps).is_ok());
/// ```
pub fn run<B: Backend>(steps: &[Step]) -> Result<(), Divergence> {
    let mut pair = Pair::<B>::new();
    for step in steps {
        pair.play(*step)?;
        pair.compare_wakeup(*step)?;
    }
    pair.finish()
}
