//! Instructions, counted by valgrind's callgrind if it is installed.
//!
//! Steps are what structures report about themselves; instructions are what the processor executes.
//! A structure is filled with n timers, then a pair of operations that keeps n runs many times. The
//! command `wheelhouse` runs itself under callgrind to count them. There are two uses:
//!
//! * Pairs decide statements on few timers and on trees. The record is `instructions.json`.
//!   `wheelhouse claims --instructions` compares it with new counts, and with `--record` replaces
//!   it.
//! * Work that a structure does not count is visible in its instructions only: [`growing_pairs`]
//!   compares n with 2n timers.

use crate::growth::mean;
use crate::instruction_record;
use anyhow::Result;
use wheelhouse_machine::processor;

/// A pair of operations that keeps the number of timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Stop a random timer and start another.
    StopStart,
    /// Pop the earliest timer and start another.
    Hold,
    /// Move a random timer to another deadline.
    Move,
}

impl Pair {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 3] = [Self::StopStart, Self::Hold, Self::Move];

    /// The name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StopStart => "stop-start",
            Self::Hold => "hold",
            Self::Move => "move",
        }
    }
}

/// One run to count.
#[derive(Clone, Debug)]
pub struct Play {
    /// The structure.
    pub backend: String,
    /// The operations.
    pub pair: Pair,
    /// The number of timers.
    pub n: u64,
    /// The seed of the random numbers.
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

/// Counts each pair of operations, several structures at a time, and returns the means over the
/// seeds. `count` returns the instructions of one pair. Takes a minute or two.
///
/// # Errors
///
/// If counting fails.
pub fn count(
    count: impl Fn(&Play) -> Result<f64> + Sync,
) -> Result<Vec<instruction_record::RecordedPair>> {
    let all = BACKENDS.iter().flat_map(|backend| RECORDED.map(|pair| (*backend, pair)));
    let all: Vec<_> = all.flat_map(|(backend, pair)| SIZES.map(|n| (backend, pair, n))).collect();
    let mean = |(backend, pair, n): (&'static str, Pair, u64)| {
        let play = |seed| count(&Play { backend: backend.to_owned(), pair, n, seed });
        let counts = SEEDS.map(play).collect::<Result<Vec<_>>>()?;
        let instructions = (100.0 * mean(&counts)).round() / 100.0;
        let (backend, pair) = (backend.to_owned(), pair.name().to_owned());
        Ok(instruction_record::RecordedPair { backend, pair, n, instructions })
    };
    processor::on_all(&all, mean).into_iter().collect()
}

/// Structures whose operations grow by at most a few instructions from n to 2n timers.
const CHECKED: [&str; 3] = ["list-wheel", "hierarchical-wheel", "binary-heap"];
const CHECKED_N: u64 = 1 << 10;
/// The share by which they may grow: one more heap level stays below it, a walk of all timers does
/// not.
const GROWTH: f64 = 0.2;
/// The share by which a count may differ from the record, since compilers differ.
const DRIFT: f64 = 0.05;

/// The operations whose instructions grow too much from n to 2n: they visit all timers, counted or
/// not. `count` returns the instructions of one pair.
///
/// # Errors
///
/// If counting fails.
pub fn growing_pairs(count: impl Fn(&Play) -> Result<f64> + Sync) -> Result<Vec<String>> {
    let all = CHECKED.iter().flat_map(|backend| Pair::ALL.map(|pair| (*backend, pair)));
    let slope = |(backend, pair): (&'static str, Pair)| {
        let play = |n| count(&Play { backend: backend.to_owned(), pair, n, seed: 1 });
        let (few, many) = (play(CHECKED_N)?, play(2 * CHECKED_N)?);
        let (n, pair) = (CHECKED_N, pair.name());
        let description =
            format!("{backend}, {pair}: {few:.0} instructions at {n}, {many:.0} at {}", 2 * n);
        Ok((many > (1.0 + GROWTH) * few).then_some(description))
    };
    let slopes = processor::on_all(&all.collect::<Vec<_>>(), slope);
    Ok(slopes.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The counts that differ from those on record.
pub fn drifted(counted: &[instruction_record::RecordedPair]) -> Vec<String> {
    let describe = |it: &instruction_record::RecordedPair| {
        let recorded = instruction_record::pair_instructions(&it.backend, &it.pair, it.n);
        let differs = (it.instructions / recorded - 1.0).abs() > DRIFT || recorded.is_nan();
        let (counted, n) = (it.instructions, it.n);
        differs.then(|| format!("{}, {} at {n}: {counted}, not {recorded}", it.backend, it.pair))
    };
    counted.iter().filter_map(describe).collect()
}

/// The text of the record's file.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub fn file_text(pairs: &[instruction_record::RecordedPair]) -> Result<String> {
    let line = |pair| serde_json::to_string(pair).map(|line| format!("  {line}"));
    let lines = pairs.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_counts_have_not_drifted() -> Result<()> {
        let counted = count(|play| {
            Ok(instruction_record::pair_instructions(&play.backend, play.pair.name(), play.n)
                + play.seed as f64
                - 2.0)
        })?;
        assert!(counted.iter().all(|pair| pair.instructions > 100.0), "{counted:?}");
        assert_eq!(
            file_text(&counted)?,
            instruction_record::PAIRS_FILE,
            "the file is as the command writes it"
        );
        assert_eq!(drifted(&counted), [] as [&str; 0]);
        let more = instruction_record::RecordedPair {
            instructions: 1.06 * counted[0].instructions,
            ..counted[0].clone()
        };
        assert_eq!(drifted(&[more]).len(), 1);
        Ok(())
    }

    #[test]
    fn uncounted_work_that_grows_with_n_is_found() -> Result<()> {
        let constant = |_: &Play| Ok(140.0);
        assert_eq!(growing_pairs(constant)?, [] as [&str; 0]);
        let walks = |play: &Play| {
            let walked = play.backend == "list-wheel" && play.pair == Pair::Move;
            Ok(140.0 + if walked { play.n as f64 } else { 0.0 })
        };
        let found = growing_pairs(walks)?;
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("list-wheel, move: 1164 instructions at 1024"), "{found:?}");
        Ok(())
    }
}
