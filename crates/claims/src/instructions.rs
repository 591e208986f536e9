//! The second opinion: instructions, counted by valgrind's callgrind, where that is installed.
//!
//! Steps are what the structures say of themselves; instructions are what the processor is given,
//! whatever they say. A structure is filled with n timers, and then a pair of operations that
//! leaves n as it is goes on for a while. What is played and how it grows stands here. Who counts
//! plays it: the command `wheelhouse`, which runs itself under callgrind.

use crate::growth::Curve;
use anyhow::Result;
use wheelhouse_present::table::{Cell, Column, Table};
use wheelhouse_present::units;

/// A pair of operations that leaves the number of timers as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Stop a timer at random, start another.
    StopStart,
    /// Take the earliest, start another.
    Hold,
}

impl Pair {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 2] = [Self::StopStart, Self::Hold];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StopStart => "stop-start",
            Self::Hold => "hold",
        }
    }
}

/// What is played and counted.
#[derive(Clone, Debug)]
pub struct Play {
    /// The structure.
    pub backend: String,
    /// What is counted.
    pub pair: Pair,
    /// Timers.
    pub n: u64,
    /// For the random numbers.
    pub seed: u64,
}

/// Each twice the one before, as the classifier needs it; small, since callgrind takes fifty times
/// as long.
const SIZES: [u64; 5] = [1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// Those whose instructions are counted: one of each kind.
const BACKENDS: [&str; 8] = [
    "hierarchical-wheel",
    "round-wheel",
    "kafka-wheel",
    "binary-heap",
    "heap-4",
    "skip-list",
    "red-black-tree",
    "sorted-list",
];

/// The instructions of each pair of operations, and how they grow. `count` gives those of one pair.
/// A few minutes.
///
/// # Errors
///
/// If counting fails.
pub fn table(mut count: impl FnMut(&Play) -> Result<f64>) -> Result<Table> {
    let head = |n| format!("n = {}", units::count(n));
    let sizes = SIZES.map(|n| Column::right(head(n)).keyed(n.to_string()));
    let columns = [Column::left("structure"), Column::left("operations")].into_iter().chain(sizes);
    let mut table = Table::new(
        "Instructions of a pair of operations, by callgrind",
        columns.chain([Column::left("growth")]).collect(),
    );
    for pair in Pair::ALL {
        for backend in BACKENDS {
            let mut failed = None;
            let curve = Curve::sweep(&SIZES, SEEDS, |n, seed| {
                let play = Play { backend: backend.to_owned(), pair, n, seed };
                count(&play).unwrap_or_else(|error| {
                    failed.get_or_insert(error);
                    f64::NAN
                })
            });
            if let Some(error) = failed {
                return Err(error);
            }
            let points = curve.points().into_iter();
            let figures = points.map(|(_, cost)| Cell::figure(cost, format!("{cost:.0}")));
            let names = [Cell::text(backend), Cell::text(pair.name())].into_iter();
            let growth = Cell::text(curve.growth().name());
            table.rows.push(names.chain(figures).chain([growth]).collect());
        }
    }
    let classifier = "The classifier is that of the steps: constant here means less than a \
                      twentieth of an instruction from n to 2n, which few structures can meet.";
    table.notes.push(classifier.to_owned());
    Ok(table)
}
