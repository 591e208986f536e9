//! Operations, measures and phases of a stream.
//!
//! A stream names timers by label and times by tick. Nothing in it depends on a structure: a wheel,
//! a heap and an ordered map get the same operations.

use wheelhouse_core::Tick;

/// An operation on a timer structure. Timers are named by *label*, a small number that the stream
/// chooses. The player keeps the handle of the timer last inserted under each label, as a server
/// keeps it in its connection.
///
/// Sixteen bytes, so that reading the stream costs little compared with the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Start a timer and keep its handle under `label`.
    Insert {
        /// The label under which the player keeps the handle.
        label: u32,
        /// When the timer is due.
        deadline: Tick,
    },
    /// Stop the timer last inserted under `label`. If it has fired or was stopped before, nothing
    /// happens.
    Cancel {
        /// The label of the timer.
        label: u32,
    },
    /// Move the timer last inserted under `label`. If it has fired or was stopped before, nothing
    /// happens.
    Reschedule {
        /// The label of the timer.
        label: u32,
        /// The new deadline.
        deadline: Tick,
    },
    /// Move the clock in one jump, and fire the timers that are due.
    Advance {
        /// The tick to move to.
        to: Tick,
    },
    /// Move the clock `count` ticks, one tick at a time, so that it ends at `to`.
    Ticks {
        /// The number of single ticks.
        count: u32,
        /// The tick at the end.
        to: Tick,
    },
    /// Move the clock from wake-up to wake-up until at least one timer has fired, or none is live.
    Wake,
    /// Move the clock in one jump, and fire only the earliest timer that is due, if any. Other due
    /// timers stay due, so that other operations can come before they fire.
    Pop {
        /// The tick to move to.
        to: Tick,
    },
}

/// The measures of phases, which are the columns of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// Insertions into memory that the structure has not used before.
    InsertCold,
    /// Insertions into memory that the structure has used before, in scattered places.
    InsertWarm,
    /// Cancellations.
    Cancel,
    /// Reschedules.
    Reschedule,
    /// Expiries, all in one jump of the clock.
    FireJump,
    /// Expiries while the clock moves tick by tick.
    FireTicks,
    /// A steady mix of cancel, insert and advance at a constant number of live timers.
    Steady,
    /// Take the earliest timer, insert it again later.
    Hold,
    /// A mix of operations, as in the workload or trace.
    Mix,
}

impl Measure {
    /// All, in the order of the tables.
    pub const ALL: [Self; 9] = [
        Self::InsertCold,
        Self::InsertWarm,
        Self::Cancel,
        Self::Reschedule,
        Self::FireJump,
        Self::FireTicks,
        Self::Steady,
        Self::Hold,
        Self::Mix,
    ];

    /// The name in tables, files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InsertCold => "insert-cold",
            Self::InsertWarm => "insert-warm",
            Self::Cancel => "cancel",
            Self::Reschedule => "reschedule",
            Self::FireJump => "fire-jump",
            Self::FireTicks => "fire-ticks",
            Self::Steady => "steady",
            Self::Hold => "hold",
            Self::Mix => "mix",
        }
    }
}

/// A part of a stream. All its operations are in memory before it is played, so that generating
/// them is not timed.
///
/// A long part is split into several phases in a row. So the figure of a measure is the time of all
/// its phases divided by the sum of their operations. A single phase has no figure: the last one
/// may only fire timers that the others inserted, and count no operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The measure; `None` for preparation, which is played but not timed.
    pub measure: Option<Measure>,
    /// The number by which the time is divided: the timers inserted, cancelled, moved or fired. For
    /// [`Measure::Steady`] and [`Measure::Hold`] it is the number of steps. For [`Measure::Mix`]
    /// and preparation it is the number of insertions, cancellations and reschedules; an expiry is
    /// part of the cost of its insertion.
    pub operations: u64,
    /// The operations.
    pub ops: Vec<Op>,
}
