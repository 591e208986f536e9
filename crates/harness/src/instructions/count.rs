//! Counts instructions: solves each stream on the oracle, then plays it on each structure under
//! callgrind.
//!
//! callgrind runs one thread of a program at about a fiftieth of its speed. One process for all
//! streams and structures would take minutes, so each pair of stream and structure has its own. As
//! many processes run at a time as there are processors, which does not change the counts.

use super::InstructionCount;
use super::plan::{self, Plan};
use crate::stream::{ExpectedAnswers, Stream};
use crate::structure::{self, PLAY_PHASE};
use anyhow::{Context, Result, ensure};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wheelhouse_core::backend::Info;
use wheelhouse_machine::{callgrind, processor};
use wheelhouse_present::progress::Progress;
use wheelhouse_workload::{Checksum, Measure};

/// A stream without its operations, and its right answers.
type SolvedStream = (Stream, ExpectedAnswers);

/// Counts everything in the plan. The rows are in the order of streams, structures, measures.
///
/// # Errors
///
/// If valgrind fails, or a structure answers wrongly.
pub fn count_instructions(plan: &Plan) -> Result<Vec<InstructionCount>> {
    let solved = in_parallel(&plan.streams, |(name, n)| solve(name, *n, plan.seed))?;
    let each = |solved| plan.backends.iter().map(move |backend| (solved, backend));
    let can_hold =
        |(solved, backend): &(&SolvedStream, &Info)| solved.0.n <= backend.max_timers.into();
    let jobs: Vec<_> = solved.iter().flat_map(each).filter(can_hold).collect();
    let rows = in_parallel(&jobs, |(solved, backend)| rows_of(solved, backend.name, plan.seed))?;
    Ok(rows.into_iter().flatten().collect())
}

fn solve(name: &str, n: u32, seed: u64) -> Result<SolvedStream> {
    let mut stream = plan::stream(name, n, seed)?;
    let expected = stream.expected_answers();
    // Each process makes the operations again. Here they would only take memory.
    stream.phases.iter_mut().for_each(|phase| phase.ops = Vec::new());
    Ok((stream, expected))
}

/// Plays a stream on a structure under callgrind.
fn rows_of(
    (stream, expected): &SolvedStream,
    backend: &str,
    seed: u64,
) -> Result<Vec<InstructionCount>> {
    let (name, n) = (&stream.name, u32::try_from(stream.n)?);
    let play = Play { backend: backend.to_owned(), workload: name.clone(), n, seed };
    let counted = callgrind::count(PLAY_PHASE, &play.arguments())?;
    let at = format!("{backend} on {name} at n = {n}");
    let (found, right) = (counted.printed, expected.checksum().to_string());
    ensure!(
        found == right,
        "{at}: its answers have the checksum {found}, the oracle's {right}; see `wheelhouse verify`"
    );
    let (found, right) = (counted.calls.len(), stream.phases.len());
    ensure!(
        found == right,
        "{at}: callgrind saw {found} phases instead of {right}; is this program an optimised build?"
    );
    Ok(rows(stream, backend, &counted.calls))
}

/// Sums the calls of each measure. Preparation belongs to none.
fn rows(stream: &Stream, backend: &str, calls: &[u64]) -> Vec<InstructionCount> {
    let row = |(measure, operations): (Measure, u64)| {
        let phases = stream.phases.iter().zip(calls);
        let own = phases.filter(|(phase, _)| phase.measure == Some(measure));
        let (n, instructions) = (stream.n, own.map(|(_, call)| call).sum());
        InstructionCount {
            backend: backend.to_owned(),
            workload: stream.name.clone(),
            n,
            measure: measure.name().to_owned(),
            operations,
            instructions,
        }
    };
    stream.measures().into_iter().map(row).collect()
}

/// Does the work for each item, on all processors. The results are in the order of the items. After
/// an error, no further item is begun.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let part = Duration::from_secs(1);
    let progress = Mutex::new(Progress::new(part * items.len() as u32));
    let has_failed = AtomicBool::new(false);
    let results = processor::on_all(&items.iter().collect::<Vec<_>>(), |item| {
        // Items are begun in order, so the error that is returned is an earlier one.
        ensure!(!has_failed.load(Ordering::Relaxed), "not begun, after an error");
        let result = work(item).inspect_err(|_| has_failed.store(true, Ordering::Relaxed));
        progress.lock().into_iter().for_each(|mut progress| progress.finish_part(part));
        result
    });
    results.into_iter().collect()
}

/// One stream on one structure, for the program that runs under callgrind. It makes the stream
/// again from its name, n and seed. Only [`PLAY_PHASE`] is counted.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct Play {
    /// Name of the backend.
    #[arg(long)]
    pub backend: String,
    /// Name of the workload or trace.
    #[arg(long)]
    pub workload: String,
    /// Number of timers.
    #[arg(long)]
    pub n: u32,
    /// Seed of the workload.
    #[arg(long)]
    pub seed: u64,
}

impl Play {
    /// The arguments for the command `wheelhouse` that call [`play`](Self::play).
    pub fn arguments(&self) -> Vec<String> {
        let (n, seed) = (self.n.to_string(), self.seed.to_string());
        let what = ["play-stream", "--backend", &self.backend, "--workload", &self.workload];
        let which = ["--n", &n, "--seed", &seed];
        what.into_iter().chain(which).map(str::to_owned).collect()
    }

    /// Plays the stream and returns the checksum over all answers.
    ///
    /// # Errors
    ///
    /// If there is no such backend, workload or trace.
    pub fn play(&self) -> Result<Checksum> {
        let stream = plan::stream(&self.workload, self.n, self.seed)?;
        let structures = structure::select(std::slice::from_ref(&self.backend))?;
        let structure = structures.first().context("no backend is named")?;
        // The parent process checks the answers: under callgrind the oracle would take a minute.
        let played = structure.play(&stream, &ExpectedAnswers::default());
        Ok(played.checksums.last().copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::sync::atomic::AtomicUsize;
    use wheelhouse_workload::Phase;

    #[test]
    fn results_are_in_the_order_of_the_items_and_an_error_stops_all_workers() {
        let items: Vec<u32> = (0..1_000).collect();
        let doubled = in_parallel(&items, |item| Ok(item * 2)).unwrap();
        assert_eq!(doubled, (0..2_000).step_by(2).collect::<Vec<_>>());
        let started = AtomicUsize::new(0);
        let result = in_parallel(&items, |_| -> Result<()> {
            started.fetch_add(1, Ordering::Relaxed);
            bail!("as planned")
        });
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        assert!(result.is_err_and(|error| error.to_string() == "as planned"));
        assert!(started.into_inner() <= workers, "each worker stops at its first");
    }

    #[test]
    fn the_calls_of_a_measure_are_summed_and_preparation_is_left_out() {
        let phases = [(None, 10), (Some(Measure::Steady), 30), (Some(Measure::Steady), 10)];
        let phase = |(measure, operations)| Phase { measure, operations, ops: Vec::new() };
        let (name, phases) = ("steady".to_owned(), phases.map(phase).to_vec());
        let stream = Stream { name, n: 10, labels: 10, phases };
        let rows = rows(&stream, "list-wheel", &[1000, 300, 100]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].key(), ("list-wheel", "steady", 10, "steady"));
        assert_eq!((rows[0].instructions, rows[0].per_operation()), (400, 10.0));
    }
}
