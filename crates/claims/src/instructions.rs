//! Instructions, counted by valgrind's callgrind if it is installed. They decide the order of
//! structures.
//!
//! Steps are what structures report about themselves; instructions are what the processor executes,
//! and a count has no noise. There are two records:
//!
//! * `wheelhouse instructions --out results/instructions` writes the instructions of the workloads
//!   of the comparison and of two traces of real programs.
//! * `wheelhouse claims --instructions --record` writes those of pairs of operations, on more
//!   structures and with fewer timers, into `instructions.json`. A structure is filled with n
//!   timers, then a pair of operations that keeps n runs many times. Without `--record` the command
//!   compares new counts with the record.
//!
//! Work that a structure does not count is visible in its instructions only: [`growing_pairs`]
//! compares n with 2n timers.

use crate::growth::mean;
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use wheelhouse_machine::processor;

words! {
    /// A pair of operations that keeps the number of timers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ValueEnum)]
    #[serde(rename_all = "kebab-case")]
    pub enum Pair {
        /// Stop a random timer and start another.
        StopStart = "stop-start",
        /// Pop the earliest timer and start another.
        Hold = "hold",
        /// Move a random timer to another deadline.
        Move = "move",
    }
}

/// One run to count, and the arguments of the command that plays it under callgrind.
#[derive(Clone, Debug, Args)]
pub struct Play {
    /// The structure.
    #[arg(long)]
    pub backend: String,
    /// The operations, of which each pair runs many times before the next one.
    #[arg(long, value_delimiter = ',', required = true)]
    pub pairs: Vec<Pair>,
    /// The number of timers.
    #[arg(long)]
    pub n: u64,
    /// The seed of the random numbers.
    #[arg(long)]
    pub seed: u64,
}

/// Few timers, for which heaps are recommended, and as many as callgrind counts in a second.
const SIZES: [u64; 2] = [16, 1 << 13];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// The pairs that decide statements.
const RECORDED: [Pair; 2] = [Pair::StopStart, Pair::Hold];

/// The structures whose instructions decide statements.
const BACKENDS: [&str; 4] = ["binary-heap", "list-wheel", "skip-list", "red-black-tree"];

/// The record in this crate, from which statements are decided.
pub const PATH: &str = "crates/claims/instructions.json";

/// Instructions of a pair of operations.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RecordedPair {
    /// The structure.
    pub backend: String,
    /// The pair.
    pub pair: Pair,
    /// Live timers.
    pub n: u64,
    /// Instructions of both operations together, a mean over the seeds.
    pub instructions: f64,
}

/// Instructions of one operation, or of a mix, on one workload or trace.
#[derive(Deserialize)]
struct InstructionCount {
    backend: String,
    workload: String,
    n: u64,
    measure: String,
    operations: u64,
    instructions: u64,
}

impl InstructionCount {
    fn mean(&self) -> f64 {
        self.instructions as f64 / self.operations as f64
    }
}

const PAIRS_FILE: &str = include_str!("../instructions.json");
static PAIRS: LazyLock<Vec<RecordedPair>> =
    LazyLock::new(|| serde_json::from_str(PAIRS_FILE).unwrap_or_default());

static ROWS: LazyLock<Vec<InstructionCount>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Record {
        rows: Vec<InstructionCount>,
    }
    let record = serde_json::from_str(include_str!("../record/counts.json"));
    record.map_or(Vec::new(), |record: Record| record.rows)
});

/// The instructions of a pair of operations; NaN if it is not on record, so it decides nothing.
pub(crate) fn of_pair(backend: &str, pair: Pair, n: u64) -> f64 {
    let is = |row: &&RecordedPair| (&*row.backend, row.pair, row.n) == (backend, pair, n);
    PAIRS.iter().find(is).map_or(f64::NAN, |row| row.instructions)
}

/// The instructions of two structures for a measure, on each workload and trace of the first one,
/// at its largest n. The second is NaN if it is not on record.
pub(crate) fn compared(one: &str, other: &str, measure: &str) -> Vec<(f64, f64)> {
    let is_of = |row: &&InstructionCount| row.measure == measure && row.backend == one;
    let own = || ROWS.iter().filter(is_of);
    let is_largest =
        |row: &&InstructionCount| own().all(|it| it.workload != row.workload || it.n <= row.n);
    let with = |row: &InstructionCount| {
        let same = ROWS.iter().find(|it| {
            (&*it.backend, &*it.measure, &it.workload, it.n)
                == (other, measure, &row.workload, row.n)
        });
        (row.mean(), same.map_or(f64::NAN, InstructionCount::mean))
    };
    own().filter(is_largest).map(with).collect()
}

/// Counts each pair of operations, several structures at a time, and returns the means over the
/// seeds. `count` returns the instructions of each pair that is played. Takes a minute or two.
pub fn count(count: impl Fn(&Play) -> Result<Vec<f64>> + Sync) -> Result<Vec<RecordedPair>> {
    let all = BACKENDS.iter().flat_map(|backend| RECORDED.map(|pair| (*backend, pair)));
    let all: Vec<_> = all.flat_map(|(backend, pair)| SIZES.map(|n| (backend, pair, n))).collect();
    let mean = |(backend, pair, n): (&'static str, Pair, u64)| {
        let play = |seed| count(&Play { backend: backend.to_owned(), pairs: vec![pair], n, seed });
        let counts = SEEDS.map(play).collect::<Result<Vec<_>>>()?.concat();
        let instructions = (100.0 * mean(&counts)).round() / 100.0;
        Ok(RecordedPair { backend: backend.to_owned(), pair, n, instructions })
    };
    processor::on_all(&all, mean).into_iter().collect()
}

/// Structures whose operations grow by at most a few instructions from n to 2n timers, and n. The
/// hierarchical wheel is the list wheel up to 32,768 timers, and has hints with more than 131,072.
/// Those that take longest come first.
const CHECKED: [(&str, u64); 5] = [
    ("hierarchical-wheel", 140_000),
    ("hierarchical-wheel", 40_000),
    ("hierarchical-wheel", 1 << 10),
    ("list-wheel", 1 << 10),
    ("binary-heap", 1 << 10),
];
/// An insertion into this structure walks half of all timers. A check that does not notice it finds
/// nothing.
const CONTROL: (&str, u64, Pair) = ("sorted-list", 1 << 10, Pair::StopStart);
/// The share by which they may grow: one more heap level stays below it, a walk of all timers does
/// not.
const GROWTH: f64 = 0.2;
/// The share by which a count may differ from the record, since compilers differ.
const DRIFT: f64 = 0.05;

/// The operations whose instructions grow too much from n to 2n: they visit all timers, counted or
/// not. `count` returns the instructions of each pair that is played. All pairs are played on one
/// structure, because most of the time is spent to fill it.
///
/// # Errors
///
/// If counting fails, or the instructions of a structure that visits all timers do not grow.
pub fn growing_pairs(count: impl Fn(&Play) -> Result<Vec<f64>> + Sync) -> Result<Vec<String>> {
    let all = [&CHECKED[..], &[(CONTROL.0, CONTROL.1)]].concat();
    let growing = |(backend, n): (&'static str, u64)| {
        let pairs = Pair::ALL;
        let play =
            |n| count(&Play { backend: backend.to_owned(), pairs: pairs.into(), n, seed: 1 });
        let twice = 2 * n;
        let counts = play(n)?.into_iter().zip(play(twice)?);
        let grow = pairs.iter().zip(counts).filter(|(_, (few, many))| *many > (1.0 + GROWTH) * few);
        let describe = |(pair, (few, many)): (&Pair, (f64, f64))| {
            let what = format!("{backend}, {}", pair.name());
            (*pair, format!("{what}: {few:.0} instructions at {n}, {many:.0} at {twice}"))
        };
        Ok(grow.map(describe).collect::<Vec<_>>())
    };
    let mut found = processor::on_all(&all, growing).into_iter().collect::<Result<Vec<_>>>()?;
    let is_noticed = found.pop().is_some_and(|its| its.iter().any(|(pair, _)| *pair == CONTROL.2));
    ensure!(is_noticed, "the walk of {} is not noticed", CONTROL.0);
    Ok(found.into_iter().flatten().map(|(_, described)| described).collect())
}

/// The counts that differ from those on record.
pub fn drifted(counted: &[RecordedPair]) -> Vec<String> {
    let describe = |it: &RecordedPair| {
        let recorded = of_pair(&it.backend, it.pair, it.n);
        let differs = (it.instructions / recorded - 1.0).abs() > DRIFT || recorded.is_nan();
        let (counted, pair, n) = (it.instructions, it.pair.name(), it.n);
        differs.then(|| format!("{}, {pair} at {n}: {counted}, not {recorded}", it.backend))
    };
    counted.iter().filter_map(describe).collect()
}

/// The text of the record's file.
pub fn file_text(pairs: &[RecordedPair]) -> Result<String> {
    let line = |pair| serde_json::to_string(pair).map(|line| format!("  {line}"));
    let lines = pairs.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_counts_have_not_drifted() -> Result<()> {
        let of_play = |play: &Play| {
            play.pairs.iter().map(|pair| of_pair(&play.backend, *pair, play.n)).collect()
        };
        let counted = count(|play| Ok(of_play(play)))?;
        assert!(counted.iter().all(|pair| pair.instructions > 100.0), "{counted:?}");
        assert_eq!(file_text(&counted)?, PAIRS_FILE, "the file is as the command writes it");
        assert_eq!(drifted(&counted), [] as [&str; 0]);
        let more = 1.06 * counted[0].instructions;
        assert_eq!(drifted(&[RecordedPair { instructions: more, ..counted[0].clone() }]).len(), 1);
        let mixes = compared("binary-heap", "list-wheel", "mix");
        assert!(mixes.len() > 3 && mixes.iter().all(|(heap, wheel)| (heap * wheel).is_finite()));
        Ok(())
    }

    #[test]
    fn uncounted_work_that_grows_with_n_is_found() -> Result<()> {
        // The structures and pairs that visit all timers.
        type Walks = fn(&str, Pair) -> bool;
        let found_with = |walks: Walks| {
            growing_pairs(|play| {
                let walked = |pair| if walks(&play.backend, pair) { play.n as f64 } else { 0.0 };
                Ok(play.pairs.iter().map(|pair| 140.0 + walked(*pair)).collect())
            })
        };
        assert_eq!(found_with(|backend, _| backend == CONTROL.0)?, [] as [&str; 0]);
        let found = found_with(|backend, pair| {
            backend == CONTROL.0 || backend == "list-wheel" && pair == Pair::Move
        })?;
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("list-wheel, move: 1164 instructions at 1024"), "{found:?}");
        let blind = found_with(|_, _| false);
        assert!(blind.is_err_and(|error| error.to_string().contains("sorted-list is not noticed")));
        Ok(())
    }
}
