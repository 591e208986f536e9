//! Schedule and cancel, as often as the producers can, as in a program with a timeout for each
//! request.
//!
//! No job is to run, so runs would not reveal a cancellation that does nothing. Therefore the
//! remaining jobs are counted: by the facility, and by the ledger, since every cancelled job must
//! have been dropped.

use super::prelude::*;
use super::producer::{Cancels, Producer, produce_all};
use super::schedule::schedule_far_jobs;

pub(super) const NOTES: &[&str] = &[
    "pairs/s: pairs over the time until the facility has processed all of them, backlog included; \
     mean to max: the time of the two calls of a pair, for one pair in sixteen.",
    "backlog: from the last call until the facility has processed all calls; left/pair: bytes \
     still allocated then, for each pair; bytes/job: for each pending job, including the 16 bytes \
     that it holds.",
];

/// Notes if single calls are timed.
pub(super) const NOTES_ON_CALLS: &[&str] = &[
    "pairs/s: pairs over the time until the facility has processed all of them, backlog included; \
     mean to max: the time of one call, to schedule or to cancel, for one pair in sixteen. A \
     thread that is interrupted in a call waits for its next turn on a processor.",
    "backlog: from the last call until the facility has processed all calls; left/pair: bytes \
     still allocated then, for each pair.",
];

/// Plays pairs while this many other jobs are pending.
pub(super) fn play<F: Facility>(
    facility: F,
    load: &Load,
    pending: u32,
    cancels: Cancels,
) -> Result<Played> {
    let mut faults = Faults::default();
    let far_jobs = Ledger::new(Instant::now(), pending as usize);
    let before = allocated();
    faults.refused += schedule_far_jobs(&facility, &far_jobs, load.seed);
    facility.settle(pending as usize)?;
    let bytes = allocated().saturating_sub(before);
    let seeds = (1..).take(load.producers);
    let mut producers: Vec<_> =
        seeds.map(|seed| Producer::new(load.seed + seed, cancels, load)).collect();
    producers.iter_mut().for_each(|producer| producer.fill(&facility));
    let window = producers.first().map_or(0, |producer| producer.window);
    let outstanding = pending as usize + window * load.producers;
    facility.settle(outstanding)?;
    let allocated_before = allocated();
    let begin = Instant::now();
    let mut producers = produce_all(&facility, producers, begin + load.pairs_time);
    let called = begin.elapsed();
    facility.settle(outstanding)?;
    let settled = begin.elapsed();
    let left = allocated().saturating_sub(allocated_before);
    faults.panicked = load.producers - producers.len();
    faults.count(&facility, &pending_jobs(&far_jobs, &producers, window))?;
    producers.iter_mut().for_each(|producer| producer.empty(&facility));
    facility.settle(pending as usize)?;
    faults.count(&facility, &pending_jobs(&far_jobs, &producers, 0))?;
    facility.stop();
    faults.ran = far_jobs.runs();
    let (times, pairs) = sum(&producers, &mut faults);
    Ok(faults.verdict().map(|()| {
        let mut figures = figures((&times, pairs), called, settled, left, cancels);
        figures.extend((pending > 0).then(|| Figure::bytes("bytes/job", bytes, pending as usize)));
        figures
    }))
}

/// The times and pairs of all producers. Adds their faults to `faults`.
fn sum<F: Facility>(producers: &[Producer<F>], faults: &mut Faults) -> (Distribution, u64) {
    let (mut times, mut pairs) = (Distribution::coarse(), 0);
    for producer in producers {
        pairs += producer.pairs;
        times.add(&producer.times);
        faults.refused += producer.refused;
        faults.too_late += producer.too_late;
        faults.ran += producer.ledger.runs();
    }
    (times, pairs)
}

/// Each ledger, and the number of its jobs that should be pending.
fn pending_jobs<'a, F: Facility>(
    far_jobs: &'a Arc<Ledger>,
    producers: &'a [Producer<F>],
    window: usize,
) -> Vec<(&'a Arc<Ledger>, usize)> {
    let of = |producer: &'a Producer<F>| (&producer.ledger, window);
    [(far_jobs, far_jobs.len())].into_iter().chain(producers.iter().map(of)).collect()
}

fn figures(
    (times, pairs): (&Distribution, u64),
    called: Duration,
    settled: Duration,
    left: usize,
    cancels: Cancels,
) -> Vec<Figure> {
    let settled = settled.as_nanos() as f64;
    let mut figures =
        vec![Figure::rate("pairs/s", pairs, settled), Figure::time("mean", times.mean())];
    let is_rare_shown = cancels == Cancels::AtOnceTimingCalls;
    let quantiles = [P50, P99, P99_9, P99_99];
    figures.extend(times.figures(&quantiles[..if is_rare_shown { 4 } else { 3 }]));
    figures.push(Figure::time("backlog", settled - called.as_nanos() as f64));
    figures.push(Figure::bytes("left/pair", left, pairs as usize));
    figures
}
