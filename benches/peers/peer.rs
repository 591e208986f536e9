//! What a competitor is asked to do.

use wheelhouse_core::Tick;
use wheelhouse_workload::{Measure, Op, Phase};

/// A timer facility with values of eight bytes. Each keeps its own kind of handles, so that no
/// table between them and ours costs it anything.
pub(crate) trait Peer {
    /// The name in tables.
    const NAME: &'static str;

    /// The package that it is in; "std" if that is the standard library, nothing if it is ours.
    const PACKAGE: Option<&'static str>;

    /// What it cannot do, and why.
    const LACKS: &'static [(Ability, &'static str)] = &[];

    /// What stops or moves a timer.
    type Handle;

    /// An empty one, its clock at 0. `timers` is the most that will be live at a time, for those
    /// that must know.
    fn new(timers: usize) -> Self;

    /// Starts a timer.
    fn insert(&mut self, deadline: Tick, value: u64) -> Self::Handle;

    /// Stops the timer of the handle that the program keeps; `None` if it has fired. Takes the
    /// handle away where it must not be used again; where it may, a program that keeps it need not
    /// write to its memory.
    fn cancel(&mut self, kept: &mut Option<Self::Handle>) -> Option<u64>;

    /// Moves the timer of the handle that the program keeps; whether it was live. Takes the handle
    /// away, or changes it, where it must.
    fn reschedule(&mut self, kept: &mut Option<Self::Handle>, deadline: Tick) -> bool;

    /// Moves the clock and gives the values of all that fires.
    fn advance(&mut self, now: Tick, fire: impl FnMut(u64));

    /// A tick to advance to.
    fn next_wakeup(&mut self) -> Option<Tick>;

    /// A handle that is not needed any more, its timer live or not.
    fn forget(&mut self, _: Self::Handle) {}

    /// Does what was put off: called at the end of each measure, within its time.
    fn clean_up(&mut self) {}
}

/// What not everybody can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    /// Stop a timer, or move it.
    Cancel,
    /// Say when to advance to.
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

/// Whether a phase asks for nothing that a peer lacks. Insertions into places that were used before
/// need timers that were cancelled.
pub(crate) fn can_play<P: Peer>(phase: &Phase) -> bool {
    let is_warm = phase.measure == Some(Measure::InsertWarm);
    let needs = |lack: Ability| {
        phase.ops.iter().any(|op| lack.is_needed(op)) || is_warm && lack == Ability::Cancel
    };
    // None of the peers is asked for one timer at a time.
    let pops = phase.ops.iter().any(|op| matches!(op, Op::Pop { .. }));
    !pops && P::LACKS.iter().all(|(lack, _)| !needs(*lack))
}
