//! Sequences of operations, and the interpreter that plays them on a backend and on the oracle.
//!
//! A step with a stale handle or with a tick in the past is not skipped, because both are part of
//! the contract. So every sequence is valid, whether it was generated at random, shortened, or
//! decoded from a fuzzer's bytes.

mod bytes;
mod minimise;
mod pair;
mod play;

pub use bytes::decode;
pub use minimise::minimise;
pub(crate) use minimise::shortest;
pub(crate) use pair::Pair;

use std::fmt;
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;

/// A tick, usually relative to `now`, so that a step keeps its meaning when earlier steps are
/// removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// This many ticks after `now`, saturating at `u64::MAX`.
    In(u64),
    /// This many ticks before `now`, saturating at 0.
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

/// One step of a script. Timers are numbered in order of insertion. The number is taken modulo the
/// number of timers, or of the last 4,096. The timer may have fired or been cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Start a timer.
    Insert(When),
    /// Stop a timer.
    Cancel(u16),
    /// Move a timer.
    Reschedule(u16, When),
    /// Postpone a timer.
    Postpone(u16, When),
    /// Fire all timers that are due at a tick.
    Advance(When),
    /// Fire the first timer that is due at a tick.
    Pop(When),
    /// Go from wake-up to wake-up until a timer fires, with at most one call in vain per level.
    Wake,
    /// Drop the entries that cancelled timers have left behind.
    Compact,
    /// Fire all timers that are due at a tick, but panic in the callback of the timer with this
    /// number, counted from 0.
    Panic(When, u8),
}

/// The first difference between a backend and the oracle.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The number of the step, from 0.
    pub at: usize,
    /// The step.
    pub step: Step,
    /// The difference.
    pub what: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} ({:?}): {}", self.at, self.step, self.what)
    }
}

impl std::error::Error for Divergence {}

/// [`run`] for a backend.
pub(crate) type Script = fn(&[Step]) -> Result<(), Divergence>;

/// Plays a script and compares the results after every step: with those of the oracle, or with the
/// bound of a structure that is late by design. At the end, all remaining timers fire.
///
/// # Errors
///
/// The first step at which the backend differs from the oracle.
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
    let mut pair = Pair::new::<B>();
    for step in steps {
        pair.play(*step)?;
        pair.compare_wakeup(*step)?;
    }
    pair.finish()
}
