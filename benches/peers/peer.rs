//! The interface of a competitor.

use wheelhouse_core::Tick;
use wheelhouse_workload::{Measure, Op, Phase};

/// A timer structure with values of eight bytes. Each has its own kind of handles, so that none
/// pays for a table that translates them.
pub(crate) trait Peer {
    /// The name in tables.
    const NAME: &'static str;

    /// Its package, by default its name: `"std"` for the standard library, `None` for our
    /// structures.
    const PACKAGE: Option<&'static str> = Some(Self::NAME);

    /// The abilities that it lacks, and why. Their methods are not called, and need not be
    /// implemented.
    const LACKS: &'static [(Ability, &'static str)] = &[];

    /// The latest tick that it can play, as a deadline and on the clock. A stream that goes beyond
    /// it is left out.
    const LATEST: Tick = Tick::MAX;

    /// The handle by which a timer is stopped or moved.
    type Handle;

    /// An empty structure with its clock at 0. `timers` is the most that will be live at a time,
    /// for structures that need it.
    fn new(timers: usize) -> Self;

    fn insert(&mut self, deadline: Tick, value: u64) -> Self::Handle;

    /// Stops the timer of the handle that the program keeps; returns `None` if it has fired. Takes
    /// the handle if it must not be used again. Otherwise it leaves the handle, so that the program
    /// need not write to its memory.
    fn cancel(&mut self, _kept: &mut Option<Self::Handle>) -> Option<u64> {
        None
    }

    /// Moves the timer of the handle that the program keeps; returns `true` if it was live. Takes
    /// or replaces the handle if necessary.
    fn reschedule(&mut self, _kept: &mut Option<Self::Handle>, _deadline: Tick) -> bool {
        false
    }

    /// Moves the clock, and calls `fire` with the value of each timer that fires.
    fn advance(&mut self, now: Tick, fire: impl FnMut(u64));

    /// The next tick to advance to.
    fn next_wakeup(&mut self) -> Option<Tick> {
        None
    }

    /// Drops a handle that is no longer needed, whether its timer is live or not.
    fn forget(&mut self, _: Self::Handle) {}

    /// Does deferred work. Called at the end of each measure, and timed with it.
    fn clean_up(&mut self) {}
}

/// Abilities that some competitors lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    /// Stop a timer, or move it.
    Cancel,
    /// Return the next wake-up.
    Wake,
    /// Fire in the tick of the deadline.
    Exact,
}

impl Ability {
    fn is_needed(self, op: &Op) -> bool {
        match op {
            Op::Insert { .. } => false,
            Op::Cancel { .. } | Op::Reschedule { .. } => self == Self::Cancel,
            Op::Advance { .. } | Op::Ticks { .. } | Op::Pop { .. } => self == Self::Exact,
            Op::Wake => self != Self::Cancel,
        }
    }
}

/// Returns `true` if a phase needs no ability that the peer lacks. Insertions into used memory need
/// timers that were cancelled.
pub(crate) fn can_play<P: Peer>(phase: &Phase) -> bool {
    let is_warm = phase.measure == Some(Measure::InsertWarm);
    let needs = |lack: Ability| {
        phase.ops.iter().any(|op| lack.is_needed(op)) || is_warm && lack == Ability::Cancel
    };
    // The interface has no call that takes a single timer.
    let pops = phase.ops.iter().any(|op| matches!(op, Op::Pop { .. }));
    !pops && P::LACKS.iter().all(|(lack, _)| !needs(*lack))
}
