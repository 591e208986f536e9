//! The faults, and the one that is planted.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// The faults of a timer facility. Most of them have occurred in real programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    EarlyByOne,
    /// Deadlines after one turn are rounded down to the slot of the next wheel.
    EarlyInAFarSlot,
    LateByOne,
    /// A delay of exactly k turns takes k + 1 turns: the off-by-one of rounds.
    LateByATurn,
    /// One call fires at most 1,000 timers, of the late structure ten.
    Capped,
    LostOnCancel,
    LostOnReschedule,
    /// Live values are not dropped with the structure.
    ForgetsValues,
    WrongTieOrder,
    /// A move to the same deadline does nothing.
    MoveKeepsItsPlace,
    /// A postponed timer is dropped at its former deadline.
    PostponedIsLost,
    /// A postponed timer fires at its former deadline.
    PostponedFiresEarly,
    /// A timer that is postponed to an earlier deadline fires at its former deadline.
    PostponedBackIsLate,
    /// Timers that cascade go behind timers that were inserted on the lower level later.
    CascadeLosesOrder,
    /// Overdue timers fire after all timers that are due.
    OverdueLast,
    /// Overdue timers fire at the next tick.
    OverdueWaits,
    AliasingHandle,
    /// The generation has eight bits.
    AliasingAfterManyReuses,
    /// A handle is still valid after its timer has fired.
    FiredHandleAnswers,
    TimeRunsBack,
    WakeupTooLate,
    /// The wake-up is always the next tick.
    WakeupAtEveryTick,
    /// The earliest deadline is still remembered after its timer was cancelled.
    WakeupForTheCancelled,
    WakeupOfNothing,
    LeakingMemory,
    /// A cancelled timer keeps its entry until its deadline.
    LazyCancelWithoutBound,
    /// All due timers are removed before the first callback.
    PanicLosesOthers,
    /// Ticks are compared by the sign of their difference.
    SignedComparison,
    /// The last tick means "never".
    LastTickNeverComes,
    /// A loop over the ticks of a jump.
    LoopsOverDistance,
    /// Every insertion reads all timers.
    QuadraticWork,
    /// Every tick reads all timers.
    ScansOnEveryTick,
    /// A call reads a slot for each tick that it advances, up to 2^20.
    VisitsEverySlot,
    /// The insertion of a third timer panics. Only for the check of all short sequences.
    PanicsWithThree,
    // The others are faults of the structure that is late by design.
    /// Deadlines are rounded down.
    RoundsDown,
    /// Timers go two slots too far.
    BeyondTheBound,
    /// A timer that is moved gets a wide slot, whatever its delay is.
    KeepsWideSlots,
    /// In a run of pops, slots are chosen by the distance from the last timer that fired.
    HandOfTheRun,
    /// Every second timer goes one slot further, which the bound allows.
    TiesOutOfOrder,
    /// The end of the last slot overflows.
    EndWraps,
    /// Reports the end of the slot instead of the deadline.
    ForgetsDeadlines,
    /// The timers that one call fires are in reverse order.
    JumpsReversed,
}

/// Ends the loops of [`Fault::LoopsOverDistance`], which outlive their check.
pub(crate) static STOP_LOOPING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The fault of this thread. It is not a type parameter, because the whole suite would then be
    /// compiled once for each fault.
    pub(crate) static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
}

pub(super) fn has(fault: Fault) -> bool {
    FAULT.get() == fault
}
