//! Checks answers against the oracle's.

use crate::capacity;
use crate::model::Failure;
use crate::source::StreamSource;
use crate::stream::{ExpectedAnswers, Stream};
use crate::structure::{StreamPlay, Structure};
use anyhow::Result;
use std::time::Duration;
use wheelhouse_machine::interrupt;
use wheelhouse_present::progress::Progress;
use wheelhouse_present::table::{Cell, Column, Table};

/// Compares a play with the right answers.
///
/// # Errors
///
/// A failure that names the first phase in which the answers differ.
pub fn check(
    structure: &dyn Structure,
    stream: &Stream,
    expected: &ExpectedAnswers,
    played: &StreamPlay,
) -> Result<(), Failure> {
    let wrong =
        played.checksums.iter().zip(&expected.checksums).position(|(ours, right)| ours != right);
    let Some(at) = wrong else { return Ok(()) };
    let phase = &stream.phases[at];
    let measure = phase.measure.map_or("preparation", |measure| measure.name());
    let (found, right) = (played.checksums[at], expected.checksums[at]);
    let phase = format!("phase {} of {} ({measure})", at + 1, stream.phases.len());
    let message = format!("checksum {found} instead of {right} after {phase}");
    Err(Failure::new(structure.name(), &stream.name, stream.n, message))
}

/// The result of verifying.
#[derive(Debug)]
pub struct Verification {
    /// One row for each stream and backend.
    pub table: Table,
    /// The wrong answers.
    pub failures: Vec<Failure>,
}

impl Verification {
    /// Plays a stream on a structure and adds the row.
    fn add(&mut self, structure: &dyn Structure, stream: &Stream, expected: &ExpectedAnswers) {
        let played = structure.play(stream, expected);
        let failure = check(structure, stream, expected, &played).err();
        let wrong = failure.as_ref().map(|failure| format!("WRONG: {}", failure.message));
        let checksum = played.checksums.last().copied().unwrap_or_default();
        self.table.rows.push(vec![
            Cell::text(&stream.name),
            Cell::count(stream.n),
            Cell::text(structure.name()),
            Cell::count(expected.fired),
            Cell::text(checksum.to_string()),
            Cell::text(wrong.unwrap_or_else(|| "ok".to_owned())),
        ]);
        self.failures.extend(failure);
    }
}

/// Plays each source on each structure and compares all answers with the oracle's.
///
/// # Errors
///
/// If a trace cannot be read, or `n` timers do not fit into memory.
pub fn verify(
    sources: &[StreamSource],
    structures: &[Box<dyn Structure>],
    n: u32,
    seed: u64,
) -> Result<Verification> {
    let columns = ["workload", "n", "backend", "fired", "checksum", "verdict"];
    let columns = columns.map(|name| Column::new(name, ["n", "fired"].contains(&name))).into();
    let title = format!("Answers of the backends and of the oracle, seed {seed}");
    let mut verified = Verification { table: Table::new(title, columns), failures: Vec::new() };
    capacity::check(sources, &[n], 0)?;
    let part = Duration::from_secs(1);
    let mut progress = Progress::new(part * sources.len() as u32);
    for source in sources {
        progress.say(source.name());
        let stream = source.load(n, seed)?;
        let expected = stream.expected_answers();
        for structure in structures.iter().filter(|it| it.can_play(&stream, &expected)) {
            if interrupt::requested() {
                return Ok(verified);
            }
            verified.add(structure.as_ref(), &stream, &expected);
        }
        progress.finish_part(part);
    }
    Ok(verified)
}
