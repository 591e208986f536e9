//! Checks answers against the oracle's.

use crate::capacity;
use crate::contender::{Contender, Played};
use crate::model::Failure;
use crate::source::Source;
use crate::stream::{Solution, Stream};
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
    contender: &dyn Contender,
    stream: &Stream,
    solution: &Solution,
    played: &Played,
) -> Result<(), Failure> {
    let wrong =
        played.checksums.iter().zip(&solution.checksums).position(|(ours, right)| ours != right);
    let Some(at) = wrong else { return Ok(()) };
    let phase = &stream.phases[at];
    let measure = phase.measure.map_or("preparation", |measure| measure.name());
    Err(Failure {
        backend: contender.name().to_owned(),
        workload: stream.name.clone(),
        n: stream.n,
        message: format!(
            "checksum {} instead of {} after phase {} of {} ({measure})",
            played.checksums[at],
            solution.checksums[at],
            at + 1,
            stream.phases.len(),
        ),
    })
}

/// The result of verifying.
#[derive(Debug)]
pub struct Verified {
    /// One row for each stream and backend.
    pub table: Table,
    /// The wrong answers.
    pub failures: Vec<Failure>,
}

/// Plays each source on each contender and compares all answers with the oracle's.
///
/// # Errors
///
/// If a trace cannot be read, or `n` timers do not fit into memory.
pub fn verify(
    sources: &[Source],
    contenders: &[Box<dyn Contender>],
    n: u32,
    seed: u64,
) -> Result<Verified> {
    let columns = ["workload", "n", "backend", "fired", "checksum", "verdict"];
    let columns = columns.map(|name| {
        if matches!(name, "n" | "fired") { Column::right(name) } else { Column::left(name) }
    });
    let mut table = Table::new(
        format!("Answers of the backends and of the oracle, seed {seed}"),
        columns.into(),
    );
    let mut failures = Vec::new();
    capacity::check(sources, &[n])?;
    let part = Duration::from_secs(1);
    let mut progress = Progress::new(part * sources.len() as u32);
    for source in sources {
        progress.say(source.name());
        let stream = source.load(n, seed)?;
        let solution = stream.solve();
        for contender in
            contenders.iter().filter(|contender| contender.can_play(&stream, &solution))
        {
            if interrupt::requested() {
                return Ok(Verified { table, failures });
            }
            let played = contender.play(&stream, &solution);
            let failure = check(contender.as_ref(), &stream, &solution, &played).err();
            let verdict = failure
                .as_ref()
                .map_or_else(|| "ok".to_owned(), |failure| format!("WRONG: {}", failure.message));
            let checksum = played.checksums.last().copied().unwrap_or_default();
            table.rows.push(vec![
                Cell::text(&stream.name),
                Cell::count(stream.n),
                Cell::text(contender.name()),
                Cell::count(solution.fired),
                Cell::text(checksum.to_string()),
                Cell::text(verdict),
            ]);
            failures.extend(failure);
        }
        progress.finish_part(part);
    }
    Ok(Verified { table, failures })
}
