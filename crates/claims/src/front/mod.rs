//! The front: one sweep, one table and one figure that answer the question of the articles.
//!
//! "Insertion is O(1) in a wheel and O(log n) in a heap, at a million: does it hold?" Ten
//! structures that the articles name are swept over n = 2^10 .. 2^20 (2^14 if an operation visits
//! all timers), each in its default configuration. A meter counts the steps of five operations:
//!
//! | operation | how it is run and what its cost is |
//! |---|---|
//! | insert, random | n timers are started, deadlines uniform in 2^20 ticks; the mean of the second half |
//! | insert, earliest first | the same deadlines, each earlier than all before |
//! | cancel | half of n timers are stopped at random, by handle, and the structure is compacted |
//! | fire | n timers fire, from wake-up to wake-up, until none is left; this includes cascades. For the articles' wheel with rounds: a tick on the way |
//! | empty tick | 2^14 ticks one at a time, with n timers that are due after all of them |
//!
//! ```text
//!  CONTESTANTS × Operation ─▶ sweep ─▶ Curve ─▶ class, slope ─┐
//!                            said_of: class, by whom ──────────┴▶ Standing: holds or not
//! ```
//!
//! The articles' wheel with rounds decrements round counts, which no structure of this workspace
//! does: a model with 512 slots represents it. O is "at most": a cost that grows less than claimed
//! confirms the claim.
//!
//! [`growth`](crate::growth) decides the class, as everywhere in this crate. Times are shown as
//! context and decide nothing: [`Front::time`] reads a clock, and nothing else here does.

mod answer;
mod contestants;
mod figure;
mod grid;
mod rounds;
mod subject;
mod sweep;

pub use answer::{QUESTION, answer, brief_answer};
pub use contestants::{CONTESTANTS, Contestant};
pub use figure::figure;
pub use grid::{brief, grid, narrow};

use crate::Lab;
use crate::growth::{Curve, Growth, Shape};
use crate::thresholds::Thresholds;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An operation of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Start a timer with a random deadline among n of them.
    InsertRandom,
    /// Start a timer that is earlier than all others.
    InsertEarliest,
    /// Stop a timer by its handle.
    Cancel,
    /// Fire a timer, with its share of the bookkeeping.
    Fire,
    /// Advance by a tick in which no timer is due.
    EmptyTick,
}

impl Operation {
    /// In the order of the columns.
    pub const ALL: [Self; 5] =
        [Self::InsertRandom, Self::InsertEarliest, Self::Cancel, Self::Fire, Self::EmptyTick];

    /// The head of its column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InsertRandom => "insert, random",
            Self::InsertEarliest => "insert, earliest first",
            Self::Cancel => "cancel",
            Self::Fire => "fire",
            Self::EmptyTick => "empty tick",
        }
    }
}

/// A claim about an operation: the class, who claims it, and the id of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said(pub Growth, pub &'static str, pub &'static str);

/// The agreement of the counts with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The cost has the claimed class, or a lower one: O is "at most".
    Holds,
    /// The cost grows more than claimed.
    Worse,
    /// The counts do not decide it.
    Undecided,
    /// There is no claim.
    Unclaimed,
}

impl Standing {
    /// Compares the class that was counted with the claimed one.
    fn of(counted: Growth, said: Option<Growth>) -> Self {
        match said {
            _ if counted == Growth::Undecided => Self::Undecided,
            None => Self::Unclaimed,
            // Classes compare by their growth.
            Some(said) if counted <= said => Self::Holds,
            Some(_) => Self::Worse,
        }
    }

    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Worse => "does not hold",
            Self::Undecided => "undecided",
            Self::Unclaimed => "no claim",
        }
    }
}

/// A structure at one operation.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The operation.
    pub operation: Operation,
    /// Steps against n.
    pub curve: Curve,
    /// The class that was counted.
    pub counted: Growth,
    /// How it grows.
    pub shape: Shape,
    /// The claims about it, those of the articles first.
    pub said: &'static [Said],
    /// Nanoseconds of one operation, if they were measured.
    pub ns: Option<f64>,
}

impl Cell {
    fn new(structure: &str, operation: Operation, curve: Curve) -> Self {
        let said = contestants::said_of(structure, operation);
        let shape = curve.shape(&Thresholds::default());
        Self { operation, counted: shape.class, shape, curve, said, ns: None }
    }

    /// Compares the class that the cost does not exceed with the first claim.
    pub fn standing(&self) -> Standing {
        Standing::of(self.shape.at_most, self.said.first().map(|said| said.0))
    }

    /// The largest n, and the mean steps there.
    pub fn last(&self) -> (u64, f64) {
        (self.curve.0.last().map_or(0, |sample| sample.n), self.curve.last())
    }
}

/// A structure and all its operations.
#[derive(Clone, Debug)]
pub struct Row {
    /// The structure.
    pub contestant: Contestant,
    /// In the order of [`Operation::ALL`].
    pub cells: Vec<Cell>,
}

/// The table of all structures.
#[derive(Clone, Debug)]
pub struct Front {
    /// The rows, in the order of the contestants.
    pub rows: Vec<Row>,
}

impl Front {
    /// Counts these structures in a lab, one on each processor at a time. Calls `done` after each.
    pub fn count(contestants: &[Contestant], lab: &Lab, done: impl Fn(&Contestant) + Sync) -> Self {
        let row = |contestant: Contestant| {
            let curves = sweep::curves(&contestant, lab);
            let cell = |(operation, curve)| Cell::new(contestant.name, operation, curve);
            done(&contestant);
            Row { contestant, cells: Operation::ALL.into_iter().zip(curves).map(cell).collect() }
        };
        Self { rows: on_all_processors(contestants, row) }
    }

    /// Measures the time of the same operations, as the median of some rounds, at a million timers,
    /// or at `sweep::TIMED_LINEAR` if an operation visits all of them. Times are context and decide
    /// nothing.
    pub fn time(mut self, mut before: impl FnMut(&Contestant)) -> Self {
        for row in &mut self.rows {
            before(&row.contestant);
            let times = sweep::times(&row.contestant);
            row.cells.iter_mut().zip(times).for_each(|(cell, ns)| cell.ns = Some(ns));
        }
        self
    }

    /// The cell of a structure and an operation.
    pub fn cell(&self, structure: &str, operation: Operation) -> Option<&Cell> {
        let row = self.rows.iter().find(|row| row.contestant.name == structure)?;
        row.cells.iter().find(|cell| cell.operation == operation)
    }
}

/// Calls `act` on each item, on all processors. Returns the results in the order of the items.
pub(crate) fn on_all_processors<T: Copy + Sync, R: Send>(
    items: &[T],
    act: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(at) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < items.len())
        {
            let result = act(items[at]);
            results.lock().expect("no thread panics with the lock").push((at, result));
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    let mut results = results.into_inner().expect("no thread panics with the lock");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
