//! The front: one sweep, one table and one figure that answer the question of the articles.
//!
//! Ten structures that the articles name are swept over n = 2^10 .. 2^20 (2^14 if an operation
//! visits all timers), each in its default configuration. A meter counts the steps of each:
//!
//! | operation | how it is run and what its cost is |
//! |---|---|
//! | insert, random | n timers are started, deadlines uniform in 2^20 ticks; the mean of the second half |
//! | insert, earliest first | the same deadlines, each earlier than all before |
//! | cancel | half of n timers are stopped at random, by handle, and the structure is compacted |
//! | fire | n timers fire, from wake-up to wake-up, until none is left; this includes cascades. For the articles' wheel with rounds: the mean of these ticks |
//! | empty tick | 2^14 ticks one at a time, with n timers that are due after all of them |
//!
//! ```text
//!  CONTESTANTS × Operation ─▶ sweep ─▶ Curve ─▶ class, slope ─┐
//!                       claims_about: class, by whom ──────────┴▶ Outcome: holds or not
//! ```
//!
//! The articles' wheel with rounds decrements round counts, which no structure of this workspace
//! does: a model with 512 slots represents it. O is "at most": a cost that grows less than claimed
//! confirms the claim.
//!
//! [`growth`](crate::growth) decides the class, as everywhere in this crate. Times are shown as
//! context and decide nothing: [`Front::time`] reads a clock, and nothing else here does.

pub mod cache;
mod contestants;
mod figure;
mod grid;
mod runs;

pub use contestants::{CONTESTANTS, Contestant};
pub use figure::figure;
pub use grid::{QUESTION, answer, brief, grid, narrow};
pub use runs::ROUNDS;

use crate::growth::{Curve, Growth, Shape};
use crate::thresholds::Thresholds;
use crate::{Outcome, Setup};
use wheelhouse_machine::processor;
use wheelhouse_present::stats::median;

words! {
    /// An operation of a structure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Operation {
        /// Start a timer with a random deadline among n of them.
        InsertRandom = "insert, random",
        /// Start a timer that is earlier than all others.
        InsertEarliest = "insert, earliest first",
        /// Stop a timer by its handle.
        Cancel = "cancel",
        /// Fire a timer, with its share of the bookkeeping.
        Fire = "fire",
        /// Advance by a tick in which no timer is due.
        EmptyTick = "empty tick",
    }
}

/// A claim about an operation: the class, who claims it, and the id of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedCost(pub Growth, pub &'static str, pub &'static str);

/// A structure at one operation.
#[derive(Clone, Debug)]
pub struct FrontCell {
    /// The operation.
    pub operation: Operation,
    /// Steps against n.
    pub curve: Curve,
    /// How it grows, as counted.
    pub shape: Shape,
    /// The claims about it, those of the articles first.
    pub claims: &'static [ClaimedCost],
    /// Nanoseconds of one operation, if they were measured.
    pub ns: Option<f64>,
    /// Cache lines of one operation: from beyond the first level, and from memory.
    pub lines: Option<[f64; 2]>,
}

impl FrontCell {
    fn new(structure: &str, operation: Operation, curve: Curve) -> Self {
        let claims = contestants::claims_about(structure, operation);
        let shape = curve.shape(&Thresholds::default());
        let is_cached = curve.0.last().is_some_and(|sample| sample.n == runs::CACHED);
        let lines = is_cached.then(|| cache::on_record(structure, operation)).flatten();
        Self { operation, shape, curve, claims, ns: None, lines }
    }

    /// Compares the class that the cost does not exceed with that of the first claim: O is "at
    /// most". `None` for a cost that has a class and no claim.
    pub fn outcome(&self) -> Option<Outcome> {
        match (self.shape.at_most, self.claims.first()) {
            (Growth::Undecided, _) => Some(Outcome::Undecided),
            // Classes compare by their growth.
            (counted, claim) => claim.map(|claim| Some(counted <= claim.0).into()),
        }
    }

    /// The largest n, and the mean steps there.
    pub fn last(&self) -> (u64, f64) {
        (self.curve.0.last().map_or(0, |sample| sample.n), self.curve.last())
    }
}

/// A structure and all its operations.
#[derive(Clone, Debug)]
pub struct FrontRow {
    /// The structure.
    pub contestant: Contestant,
    /// In the order of [`Operation::ALL`].
    pub cells: Vec<FrontCell>,
}

/// The table of all structures.
#[derive(Clone, Debug)]
pub struct Front {
    /// The rows, in the order of the contestants.
    pub rows: Vec<FrontRow>,
}

impl Front {
    /// Counts these structures, one on each processor at a time. Calls `done` after each.
    pub fn count(
        contestants: &[Contestant],
        setup: &Setup,
        done: impl Fn(&Contestant) + Sync,
    ) -> Self {
        let row = |contestant: Contestant| {
            let curves = runs::curves(&contestant, setup);
            let cell = |(operation, curve)| FrontCell::new(contestant.name, operation, curve);
            done(&contestant);
            FrontRow {
                contestant,
                cells: Operation::ALL.into_iter().zip(curves).map(cell).collect(),
            }
        };
        Self { rows: processor::on_all(contestants, row) }
    }

    /// Measures the time of the same operations at a million timers, or at `runs::TIMED_LINEAR` if
    /// an operation visits all of them: the median of [`ROUNDS`] interleaved rounds. Calls `before`
    /// before each structure of each round. Times are context and decide nothing.
    pub fn time(mut self, mut before: impl FnMut(&Contestant)) -> Self {
        let play = |round| {
            let of_row = |row: &FrontRow| {
                before(&row.contestant);
                runs::times(&row.contestant, round)
            };
            self.rows.iter().map(of_row).collect::<Vec<_>>()
        };
        let rounds: Vec<_> = (1..=ROUNDS).map(play).collect();
        for (at, row) in self.rows.iter_mut().enumerate() {
            let plays: Vec<_> = rounds.iter().filter_map(|round| round[at]).collect();
            for (operation, cell) in row.cells.iter_mut().enumerate() {
                cell.ns = median(&plays.iter().map(|times| times[operation]).collect::<Vec<_>>());
            }
        }
        self
    }

    /// The cell of a structure and an operation.
    pub fn cell(&self, structure: &str, operation: Operation) -> Option<&FrontCell> {
        let row = self.rows.iter().find(|row| row.contestant.name == structure)?;
        row.cells.iter().find(|cell| cell.operation == operation)
    }
}
