//! The second opinion: instructions, counted by valgrind's callgrind, where that is installed.
//!
//! Steps are what the structures say of themselves; instructions are what the processor is given,
//! whatever they say. A structure is filled with n timers, and then a pair of operations that
//! leaves n as it is goes on for a while. What is played stands here. Who counts plays it: the
//! command `wheelhouse`, which runs itself under callgrind. What was counted is on record in this
//! crate, and decides statements; `wheelhouse claims --instructions --record` writes it anew.

use crate::front::on_all_processors;
use crate::growth::mean;
use crate::recorded;
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

/// Few timers, as a heap is said to suit, and as many as callgrind counts in a second.
const SIZES: [u64; 2] = [16, 1 << 13];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// Those whose instructions decide statements.
const BACKENDS: [&str; 7] = [
    "binary-heap",
    "heap-4",
    "list-wheel",
    "hierarchical-wheel",
    "round-wheel",
    "skip-list",
    "red-black-tree",
];

/// What was counted: the record in this crate, from which statements are decided.
pub const PATH: &str = "crates/claims/instructions.json";

/// Counts each pair of operations, several structures at a time: the means of the seeds. `count`
/// gives the instructions of one pair. A minute or two.
///
/// # Errors
///
/// If counting fails.
pub fn count(count: impl Fn(&Play) -> Result<f64> + Sync) -> Result<Vec<recorded::Pair>> {
    let all = BACKENDS.iter().flat_map(|backend| Pair::ALL.map(|pair| (*backend, pair)));
    let all: Vec<_> = all.flat_map(|(backend, pair)| SIZES.map(|n| (backend, pair, n))).collect();
    let mean = |(backend, pair, n): (&'static str, Pair, u64)| {
        let play = |seed| count(&Play { backend: backend.to_owned(), pair, n, seed });
        let counts = SEEDS.map(play).collect::<Result<Vec<_>>>()?;
        let instructions = (100.0 * mean(&counts)).round() / 100.0;
        let (backend, pair) = (backend.to_owned(), pair.name().to_owned());
        Ok(recorded::Pair { backend, pair, n, instructions })
    };
    on_all_processors(&all, mean).into_iter().collect()
}

/// The file of a record.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub fn file(pairs: &[recorded::Pair]) -> Result<String> {
    let line = |pair| serde_json::to_string(pair).map(|line| format!("  {line}"));
    let lines = pairs.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// The pairs as a table: a row for each structure and pair, a column for each n.
pub fn table(pairs: &[recorded::Pair]) -> Table {
    let head = |n| format!("n = {}", units::count(n));
    let sizes = SIZES.map(|n| Column::right(head(n)).keyed(n.to_string()));
    let columns = [Column::left("structure"), Column::left("operations")].into_iter().chain(sizes);
    let title = "Instructions of a pair of operations, by callgrind";
    let mut table = Table::new(title, columns.collect());
    // The sizes of a pair follow each other.
    for of_pair in
        pairs.chunk_by(|one, other| (&one.backend, &one.pair) == (&other.backend, &other.pair))
    {
        let names = [Cell::text(&of_pair[0].backend), Cell::text(&of_pair[0].pair)].into_iter();
        let figures = of_pair.iter().map(|it| it.instructions);
        let figures = figures.map(|it| Cell::figure(it, format!("{it:.0}")));
        table.rows.push(names.chain(figures).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_what_is_on_record() -> Result<()> {
        let counted = count(|play| {
            Ok(recorded::pair(&play.backend, play.pair.name(), play.n) + play.seed as f64 - 2.0)
        })?;
        assert!(counted.iter().all(|pair| pair.instructions > 100.0), "{counted:?}");
        assert_eq!(file(&counted)?, recorded::PAIRS_FILE, "the file is as the command writes it");
        assert_eq!(table(&counted).rows.len(), BACKENDS.len() * Pair::ALL.len());
        Ok(())
    }

    #[test]
    fn a_count_that_fails_is_an_error() {
        assert!(count(|_| anyhow::bail!("no callgrind")).is_err());
    }
}
