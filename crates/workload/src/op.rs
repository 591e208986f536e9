//! One operation of a stream, what a stretch of them measures, and the stretch.
//!
//! A stream names its timers by label and its instants by tick, and nothing by how a structure
//! works: the same operations go to a wheel, a heap and an ordered map.

use wheelhouse_core::Tick;

/// An operation on a timer facility. Timers go by *label*, a small number that the stream chooses;
/// whoever plays the stream keeps the handle of the timer last inserted under each label, as a
/// server keeps it in its connection.
///
/// Sixteen bytes, so that reading the stream costs little beside what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Start a timer and keep its handle under `label`.
    Insert {
        /// Where to keep the handle.
        label: u32,
        /// When it is due.
        deadline: Tick,
    },
    /// Stop the timer last inserted under `label`. It may have fired or been stopped before: then
    /// nothing happens.
    Cancel {
        /// Which timer.
        label: u32,
    },
    /// Move the timer last inserted under `label`. It may have fired or been stopped before: then
    /// nothing happens.
    Reschedule {
        /// Which timer.
        label: u32,
        /// When it is due from now on.
        deadline: Tick,
    },
    /// Move the clock in one jump, and fire what is due.
    Advance {
        /// The tick to move to.
        to: Tick,
    },
    /// Move the clock `count` ticks, one tick at a time, so that it ends at `to`.
    Ticks {
        /// How many single ticks.
        count: u32,
        /// The tick that the last one moves to.
        to: Tick,
    },
    /// Go from wake-up to wake-up until at least one timer has fired, or none is live.
    Wake,
    /// Move the clock in one jump, and fire the earliest timer that is due, if there is one. What
    /// is due after it stays due, so that other operations can come in between.
    Pop {
        /// The tick to move to.
        to: Tick,
    },
}

/// What a phase measures: the columns of the comparison.
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
    /// Expiries, the clock moved tick by tick.
    FireTicks,
    /// A steady mix of cancel, insert and advance at a constant number of live timers.
    Steady,
    /// Take the earliest, insert it again later.
    Hold,
    /// A mix of operations as the workload or trace has it.
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

/// A stretch of a stream. Its operations are all in memory before it is played, so that making them
/// is not timed.
///
/// A long stretch comes as several phases in a row. The figure of a measure is therefore the time
/// of all its phases by the sum of their operations, and never the figure of one of them: the last
/// may fire what the others inserted, and count no operation of its own.
///
/// ```
/// use std::time::{Duration, Instant};
/// use wheelhouse_core::Timer;
/// use wheelhouse_workload::{Measure, Player, Workload};
///
/// /// Nanoseconds an operation of one measure takes.
/// fn cost<B: Timer<u64>>(structure: B, workload: &Workload, measure: Measure) -> f64 {
///     let mut player = Player::new(structure, workload.labels(1000));
///     let (mut time, mut operations) = (Duration::ZERO, 0);
///     for phase in workload.phases(1000, 1) {
///         let start = Instant::now();
///         player.play(&phase.ops);
///         if phase.measure == Some(measure) {
///             time += start.elapsed();
///             operations += phase.operations;
///         }
///     }
///     time.as_nanos() as f64 / operations as f64
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What it measures; `None` for preparation, which is played but not timed.
    pub measure: Option<Measure>,
    /// What the time is divided by: the timers inserted, cancelled, moved or fired; of
    /// [`Measure::Steady`] and [`Measure::Hold`] the steps; of [`Measure::Mix`] and of preparation
    /// the insertions, cancellations and reschedules, each expiry being paid for with its
    /// insertion.
    pub operations: u64,
    /// The operations.
    pub ops: Vec<Op>,
}
