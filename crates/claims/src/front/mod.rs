//! The front: one sweep, one table and one figure that answer the question of the articles.
//!
//! "Insertion is O(1) in a wheel and O(log n) in a heap, at a million: does it hold?" Ten
//! structures that the articles name are swept over n = 2^10 .. 2^20 (2^14 where an operation
//! passes all timers), each in its default configuration, and the steps of five operations are
//! counted by its meter:
//!
//! | operation | what is done, and what its cost is |
//! |---|---|
//! | insert, random | n timers are started, deadlines uniform in 2^20 ticks; the mean of the second half |
//! | insert, earliest first | the same deadlines, each earlier than all before |
//! | cancel | half of n timers are stopped at random, by handle, and the structure tidied up |
//! | fire | n timers fire, from wake-up to wake-up, until none is left; cascades are paid here. In the articles' wheel with rounds: a tick on the way |
//! | empty tick | 2^14 ticks one at a time, n timers that wait for none of them |
//!
//! ```text
//!  CONTESTANTS × Operation ─▶ sweep ─▶ Curve ─▶ class, slope ─┐
//!                            said_of: class, by whom ──────────┴▶ Standing: holds or not
//! ```
//!
//! The articles' wheel with rounds counts rounds down, which no structure of this workspace does: a
//! model of 512 slots takes its row. O is "at most": a cost that grows less than claimed holds.
//!
//! The class is decided by [`growth`](crate::growth), as everywhere in this crate. Times stand
//! beside it as context and decide nothing: [`Front::time`] reads a clock, and is the only place
//! here that does.

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

/// What is asked of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Start a timer among n, all at random.
    InsertRandom,
    /// Start a timer that is earlier than all others.
    InsertEarliest,
    /// Stop a timer by its handle.
    Cancel,
    /// Fire a timer, with its share of the bookkeeping.
    Fire,
    /// Let a tick pass in which nothing is due.
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

/// What is said of an operation: the class, by whom, and the claim that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said(pub Growth, pub &'static str, pub &'static str);

/// How what was counted stands to what is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The class is the claimed one, or a lower one: O is "at most".
    Holds,
    /// It grows more.
    Worse,
    /// What was counted does not tell.
    Undecided,
    /// Nobody says anything.
    Unclaimed,
}

impl Standing {
    /// Of a class that was counted, beside what is said.
    fn of(counted: Growth, said: Option<Growth>) -> Self {
        match said {
            _ if counted == Growth::Undecided => Self::Undecided,
            None => Self::Unclaimed,
            // The classes are in order of growth.
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
    /// What is said, the articles first.
    pub said: &'static [Said],
    /// Nanoseconds of one operation, where a clock was asked.
    pub ns: Option<f64>,
}

impl Cell {
    fn new(structure: &str, operation: Operation, curve: Curve) -> Self {
        let said = contestants::said_of(structure, operation);
        let shape = curve.shape(&Thresholds::default());
        Self { operation, counted: shape.class, shape, curve, said, ns: None }
    }

    /// The class that was counted, compared with the first one that an article names.
    pub fn standing(&self) -> Standing {
        Standing::of(self.shape.at_most, self.said.first().map(|said| said.0))
    }

    /// The largest n, and the mean steps there.
    pub fn last(&self) -> (u64, f64) {
        (self.curve.0.last().map_or(0, |sample| sample.n), self.curve.last())
    }
}

/// A structure at all operations.
#[derive(Clone, Debug)]
pub struct Row {
    /// The structure.
    pub contestant: Contestant,
    /// In the order of [`Operation::ALL`].
    pub cells: Vec<Cell>,
}

/// The whole table.
#[derive(Clone, Debug)]
pub struct Front {
    /// In the order of the contestants.
    pub rows: Vec<Row>,
}

impl Front {
    /// Counts these in a lab, a structure on each processor at a time. `done` is told of each that
    /// is counted.
    pub fn count(contestants: &[Contestant], lab: &Lab, done: impl Fn(&Contestant) + Sync) -> Self {
        let row = |contestant: Contestant| {
            let curves = sweep::curves(&contestant, lab);
            let cell = |(operation, curve)| Cell::new(contestant.name, operation, curve);
            done(&contestant);
            Row { contestant, cells: Operation::ALL.into_iter().zip(curves).map(cell).collect() }
        };
        Self { rows: on_all_processors(contestants, row) }
    }

    /// Times the same operations at a million timers, `sweep::TIMED_LINEAR` where one passes all
    /// of them, each the median of some rounds: context, and not what decides.
    pub fn time(mut self, mut before: impl FnMut(&Contestant)) -> Self {
        for row in &mut self.rows {
            before(&row.contestant);
            let times = sweep::times(&row.contestant);
            row.cells.iter_mut().zip(times).for_each(|(cell, ns)| cell.ns = Some(ns));
        }
        self
    }

    /// A structure at an operation.
    pub fn cell(&self, structure: &str, operation: Operation) -> Option<&Cell> {
        let row = self.rows.iter().find(|row| row.contestant.name == structure)?;
        row.cells.iter().find(|cell| cell.operation == operation)
    }
}

/// Does something to each, several at a time; the results in the order of the items.
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
