//! Instructions on record, which decide the order of structures.
//!
//! `wheelhouse instructions --out results/instructions` writes the record. Callgrind counts it, so
//! it has no noise, and CI compares the code with it. It has the workloads of the comparison and
//! two traces of real programs, at 10^4 and 10^5 timers.
//! `wheelhouse claims --instructions --record` writes the record of pairs of operations, on more
//! structures and with fewer timers.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

const FILE: &str = include_str!("../record/counts.json");
pub(crate) const PAIRS_FILE: &str = include_str!("../instructions.json");

#[derive(Deserialize)]
struct InstructionRecord {
    rows: Vec<InstructionCount>,
}

/// Instructions of one operation, or of a mix, on one workload.
#[derive(Deserialize)]
struct InstructionCount {
    backend: String,
    /// Its deadlines, or the trace.
    workload: String,
    n: u64,
    measure: String,
    operations: u64,
    instructions: u64,
}

impl InstructionCount {
    /// The mean instructions of one operation.
    fn mean(&self) -> f64 {
        self.instructions as f64 / self.operations as f64
    }
}

static ROWS: LazyLock<Vec<InstructionCount>> = LazyLock::new(|| {
    serde_json::from_str::<InstructionRecord>(FILE).map_or(Vec::new(), |record| record.rows)
});

static PAIRS: LazyLock<Vec<RecordedPair>> =
    LazyLock::new(|| serde_json::from_str(PAIRS_FILE).unwrap_or_default());

/// Instructions of a pair of operations, by `wheelhouse claims --instructions`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RecordedPair {
    /// The structure.
    pub backend: String,
    /// `stop-start` or `hold`.
    pub pair: String,
    /// Live timers.
    pub n: u64,
    /// Instructions of both operations together, a mean over the seeds.
    pub instructions: f64,
}

/// The mean instructions of an operation; NaN if they are not on record, so that they decide
/// nothing.
pub fn mean_instructions(backend: &str, workload: &str, n: u64, measure: &str) -> f64 {
    let is = |row: &&InstructionCount| {
        (row.backend.as_str(), row.workload.as_str(), row.n, row.measure.as_str())
            == (backend, workload, n, measure)
    };
    ROWS.iter().find(is).map_or(f64::NAN, InstructionCount::mean)
}

/// The instructions of a pair of operations, `stop-start` or `hold`; NaN if it is not on record.
pub fn pair_instructions(backend: &str, pair: &str, n: u64) -> f64 {
    let is = |row: &&RecordedPair| {
        (row.backend.as_str(), row.pair.as_str(), row.n) == (backend, pair, n)
    };
    PAIRS.iter().find(is).map_or(f64::NAN, |row| row.instructions)
}

/// The instructions of two structures for a measure, on each workload and trace of the first one,
/// at its largest n. The second is NaN if it is not on record.
pub fn compared(one: &str, other: &str, measure: &str) -> Vec<(f64, f64)> {
    let of_one = ROWS.iter().filter(|row| row.backend == one && row.measure == measure);
    let largest = |row: &&InstructionCount| {
        ROWS.iter().all(|it| {
            (it.backend.as_str(), &it.workload, &it.measure) != (one, &row.workload, &row.measure)
                || it.n <= row.n
        })
    };
    let with = |row: &InstructionCount| {
        (row.mean(), mean_instructions(other, &row.workload, row.n, measure))
    };
    of_one.filter(largest).map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_has_the_counts_that_decide_orders() {
        for name in ["binary-heap", "list-wheel", "hierarchical-wheel", "round-wheel"] {
            assert!(mean_instructions(name, "uniform", 100_000, "insert-warm") > 10.0, "{name}");
        }
        assert!(mean_instructions("binary-heap", "uniform", 7, "cancel").is_nan());
        let mixes = compared("binary-heap", "list-wheel", "mix");
        assert!(mixes.len() > 3 && mixes.iter().all(|(heap, wheel)| (heap * wheel).is_finite()));
    }
}
