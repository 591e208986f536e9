//! The cache lines of each operation at a million timers.
//!
//! `wheelhouse claims --instructions --record` plays the operations under callgrind, which
//! simulates the caches of [`GEOMETRY`], the same on every machine. It writes the counts into
//! `cache.json`; the table shows them.

use super::{CONTESTANTS, Operation, runs};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The record in this crate.
pub const PATH: &str = "crates/claims/cache.json";
const FILE: &str = include_str!("../../cache.json");

/// The structures on record.
pub const STRUCTURES: [&str; 4] = ["list-wheel", "hierarchical-wheel", "binary-heap", "skip-list"];

/// The caches: size in bytes, ways, bytes of a line.
pub const GEOMETRY: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];

/// The function that separates the counts of two operations.
pub const MARKER: &str = "runs::read_counters";

/// The lines of each operation of a structure, in the order of [`Operation::ALL`].
type Record = BTreeMap<String, [[f64; 2]; 5]>;

static RECORD: LazyLock<Record> = LazyLock::new(|| serde_json::from_str(FILE).unwrap_or_default());

pub(super) fn on_record(structure: &str, operation: Operation) -> Option<[f64; 2]> {
    Some(RECORD.get(structure)?[operation as usize])
}

fn player(structure: &str) -> Result<runs::Play> {
    let found = CONTESTANTS.into_iter().find(|it| it.name == structure);
    found.and_then(|it| it.play).with_context(|| format!("{structure} is not in the table"))
}

/// Plays all operations of a structure, which must be in the table. This runs under callgrind.
pub fn play(structure: &str) -> Result<()> {
    player(structure).map(runs::play_with_counters)
}

/// The text of the record. `count` plays the operations of a structure under callgrind, and returns
/// the lines between two calls of [`MARKER`].
pub fn file_text(count: impl Fn(&str) -> Result<Vec<[u64; 2]>> + Sync) -> Result<String> {
    let line = |structure: &'static str| {
        let (counts, play) = (count(structure)?, player(structure)?);
        let [near, far] = [0, 1].map(|at| {
            let level: Vec<u64> = counts.iter().map(|lines| lines[at]).collect();
            runs::per_operation(play, &level)
        });
        let hundredths = |lines: f64| (100.0 * lines).round() / 100.0;
        let lines = near.into_iter().zip(far).map(|(near, far)| [near, far].map(hundredths));
        let lines = serde_json::to_string(&lines.collect::<Vec<_>>())?;
        Ok(format!("  \"{structure}\": {lines}"))
    };
    let lines = wheelhouse_machine::processor::on_all(&STRUCTURES, line);
    Ok(format!("{{\n{}\n}}\n", lines.into_iter().collect::<Result<Vec<_>>>()?.join(",\n")))
}
