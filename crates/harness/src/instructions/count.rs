//! Counts instructions: solves each stream on the oracle, then plays it on each structure under
//! callgrind.
//!
//! callgrind runs one thread of a program at about a fiftieth of its speed. One process for all
//! streams and structures would take minutes, so each pair of stream and structure has its own. As
//! many processes run at a time as there are processors, which does not change the counts.

use super::InstructionCount;
use super::plan::{self, Plan};
use super::play::{Play, encode_counts};
use crate::contender::PLAY_PHASE;
use crate::idle::PLAYER;
use crate::stream::Stream;
use anyhow::{Context, Result, anyhow, ensure};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wheelhouse_machine::callgrind;
use wheelhouse_present::progress::Progress;
use wheelhouse_workload::{Checksum, Measure};

/// A stream without its operations, with its right answers.
struct StreamSummary {
    /// Its name and n on the command line.
    name_and_n: (String, u32),
    /// Its number of timers.
    n: u64,
    /// The measure of each phase, and how many operations the phase counts.
    phases: Vec<(Option<Measure>, u64)>,
    /// The measures, in order, with the operations of all their phases.
    measures: Vec<(Measure, u64)>,
    /// The checksum over all answers.
    checksum: Checksum,
    /// How many timers fire each time the clock moves.
    fired_per_move: Vec<u32>,
}

/// Counts everything in the plan. The rows are in the order of streams, structures, measures.
///
/// # Errors
///
/// If valgrind fails, or a structure answers wrongly.
pub fn count_instructions(plan: &Plan) -> Result<Vec<InstructionCount>> {
    let summaries = in_parallel(&plan.streams, |stream| summarize(stream, plan.seed))?;
    let each = |summary| plan.backends.iter().map(move |backend| (summary, backend.as_str()));
    let jobs = summaries.iter().flat_map(each);
    let can_hold = |(summary, backend): &(&StreamSummary, &str)| plan::can_hold(backend, summary.n);
    let jobs: Vec<_> = jobs.filter(can_hold).collect();
    let rows = in_parallel(&jobs, |(summary, backend)| rows_of(summary, backend, plan.seed))?;
    Ok(rows.into_iter().flatten().collect())
}

fn summarize(name_and_n: &(String, u32), seed: u64) -> Result<StreamSummary> {
    let stream = plan::stream(&name_and_n.0, name_and_n.1, seed)?;
    let expected = stream.expected_answers();
    let fired_per_move = expected.script.as_ref().map(|script| script.counts.clone());
    let Stream { n, phases, .. } = &stream;
    Ok(StreamSummary {
        name_and_n: name_and_n.clone(),
        n: *n,
        phases: phases.iter().map(|phase| (phase.measure, phase.operations)).collect(),
        measures: stream.measures(),
        checksum: expected.checksum(),
        fired_per_move: fired_per_move
            .with_context(|| format!("{} starts a timer twice", name_and_n.0))?,
    })
}

/// Plays a stream on a structure under callgrind.
fn rows_of(summary: &StreamSummary, backend: &str, seed: u64) -> Result<Vec<InstructionCount>> {
    let (workload, n) = summary.name_and_n.clone();
    let play = Play { backend: backend.to_owned(), workload, n, seed };
    let input = if backend == PLAYER { encode_counts(&summary.fired_per_move) } else { Vec::new() };
    let counted = callgrind::count(PLAY_PHASE, &play.arguments(), &input)?;
    let at = || format!("{backend} on {} at n = {}", summary.name_and_n.0, summary.n);
    ensure!(
        backend == PLAYER || counted.printed == summary.checksum.to_string(),
        "{}: its answers have the checksum {}, the oracle's {}; see `wheelhouse verify`",
        at(),
        counted.printed,
        summary.checksum
    );
    ensure!(
        counted.calls.len() == summary.phases.len(),
        "{}: callgrind saw {} phases instead of {}; is this program an optimised build?",
        at(),
        counted.calls.len(),
        summary.phases.len()
    );
    Ok(rows(summary, backend, &counted.calls))
}

/// Sums the calls of each measure. Preparation belongs to none.
fn rows(summary: &StreamSummary, backend: &str, calls: &[u64]) -> Vec<InstructionCount> {
    let row = |&(measure, operations): &(Measure, u64)| {
        let phases = summary.phases.iter().zip(calls);
        let own = phases.filter(|((of, _), _)| *of == Some(measure));
        InstructionCount {
            backend: backend.to_owned(),
            workload: summary.name_and_n.0.clone(),
            n: summary.n,
            measure: measure.name().to_owned(),
            operations,
            instructions: own.map(|(_, call)| call).sum(),
        }
    };
    summary.measures.iter().map(row).collect()
}

/// Does the work for each item, on all processors. The results are in the order of the items. After
/// an error, no further item is begun.
fn in_parallel<T, R, W>(items: &[T], work: W) -> Result<Vec<R>>
where
    T: Sync,
    R: Send,
    W: Fn(&T) -> Result<R> + Sync,
{
    let part = Duration::from_secs(1);
    let progress = Mutex::new(Progress::new(part * items.len() as u32));
    let (queue, failed) = (Mutex::new(items.iter().enumerate()), AtomicBool::new(false));
    let next = || queue.lock().ok()?.next().filter(|_| !failed.load(Ordering::Relaxed));
    let worker = || {
        let mut done = Vec::new();
        while let Some((at, item)) = next() {
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((at, result));
            progress.lock().into_iter().for_each(|mut progress| progress.finish_part(part));
        }
        done
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results = Vec::new();
    std::thread::scope(|scope| -> Result<()> {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        for thread in threads {
            let done = thread.join().map_err(|_| anyhow!("a thread of this program panicked"))?;
            results.extend(done);
        }
        Ok(())
    })?;
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn results_are_in_the_order_of_the_items() -> Result<()> {
        let items: Vec<u32> = (0..100).collect();
        let doubled = in_parallel(&items, |item| Ok(item * 2))?;
        assert_eq!(doubled, (0..200).step_by(2).collect::<Vec<_>>());
        Ok(())
    }

    #[test]
    fn an_error_stops_the_other_workers() {
        let started = AtomicUsize::new(0);
        let items = [0; 1000];
        let result = in_parallel(&items, |_| {
            started.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(anyhow!("as planned"))
        });
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        assert!(result.is_err_and(|error| error.to_string() == "as planned"));
        assert!(started.into_inner() <= workers, "each worker stops at its first");
    }

    #[test]
    fn the_calls_of_a_measure_are_summed_and_preparation_is_left_out() {
        let summary = StreamSummary {
            name_and_n: ("steady".to_owned(), 10),
            n: 10,
            phases: vec![(None, 10), (Some(Measure::Steady), 30), (Some(Measure::Steady), 10)],
            measures: vec![(Measure::Steady, 40)],
            checksum: Checksum::default(),
            fired_per_move: Vec::new(),
        };
        let rows = rows(&summary, "list-wheel", &[1000, 300, 100]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].key(), ("list-wheel", "steady", 10, "steady"));
        assert_eq!((rows[0].instructions, rows[0].per_operation()), (400, 10.0));
    }
}
