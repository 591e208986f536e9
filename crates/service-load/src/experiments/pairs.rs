//! Schedule and cancel, as often as the producers can, as in a program with a timeout for each
//! request.
//!
//! There are three forms. If each job is cancelled at once, it lives for a moment only. If each
//! producer keeps a window of outstanding jobs and cancels the oldest, a job lives as long as the
//! window lasts, and the facility always has at least that many timers. If another thread cancels
//! the jobs, a facility gains nothing from state that it keeps for each thread.
//!
//! No job is to run, so runs would not reveal a cancellation that does nothing. Therefore the
//! remaining jobs are counted: by the facility, and by the ledger, since every cancelled job must
//! have been dropped.

use super::faults::Faults;
use super::producer::{Producer, ToCancel};
use super::schedule::schedule_far_jobs;
use crate::distribution::Distribution;
use crate::facility::Facility;
use crate::ledger::Ledger;
use crate::load::Load;
use anyhow::Result;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::{Figure, Played};
use wheelhouse_machine::allocator::allocated;

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

/// The jobs that a producer cancels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancels {
    AtOnce,
    /// The same, and each of the two calls is timed separately.
    AtOnceTimingCalls,
    Oldest,
    Others,
}

/// The jobs that each producer cancels. Producers are a ring.
fn jobs_to_cancel<F: Facility>(cancels: Cancels, load: &Load) -> Vec<ToCancel<F>> {
    let (mut senders, receivers): (Vec<_>, Vec<_>) =
        (0..load.producers).map(|_| mpsc::channel()).unzip();
    // Each producer sends to the next, and the last to the first.
    senders.rotate_left(1);
    let to_cancel = |(to, from)| match cancels {
        Cancels::AtOnce => ToCancel::AtOnce,
        Cancels::AtOnceTimingCalls => ToCancel::AtOnceTimingCalls,
        Cancels::Oldest => ToCancel::Oldest(load.window),
        Cancels::Others => ToCancel::Across(load.window, to, from),
    };
    senders.into_iter().zip(receivers).map(to_cancel).collect()
}

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
    let producer = |(seed, to_cancel)| (Producer::new(load.seed + seed, &to_cancel), to_cancel);
    let mut producers: Vec<_> = (1..).zip(jobs_to_cancel(cancels, load)).map(producer).collect();
    producers.iter_mut().for_each(|(producer, _)| producer.fill(&facility));
    let window = producers.first().map_or(0, |(producer, _)| producer.window);
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
    if let Some(wrong) = faults.sentence() {
        return Ok(Err(wrong));
    }
    let mut figures = figures((&times, pairs), called, settled, left, cancels);
    figures.extend((pending > 0).then(|| Figure::bytes("bytes/job", bytes, pending as usize)));
    Ok(Ok(figures))
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

/// Runs all producers. Returns those that did not panic.
fn produce_all<F: Facility>(
    facility: &F,
    producers: Vec<(Producer<F>, ToCancel<F>)>,
    until: Instant,
) -> Vec<Producer<F>> {
    thread::scope(|scope| {
        let spawn = |(producer, to_cancel): (Producer<F>, ToCancel<F>)| {
            scope.spawn(move || producer.produce(facility, until, to_cancel))
        };
        let threads: Vec<_> = producers.into_iter().map(spawn).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
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
    let rare = Figure::time("p99.99", times.quantile(0.9999));
    let mut figures = vec![
        Figure::rate("pairs/s", pairs, settled),
        Figure::time("mean", times.mean()),
        Figure::time("p50", times.quantile(0.5)),
        Figure::time("p99", times.quantile(0.99)),
        Figure::time("p99.9", times.quantile(0.999)),
    ];
    figures.extend((cancels == Cancels::AtOnceTimingCalls).then_some(rare));
    figures.extend([
        Figure::time("max", times.longest()).worst(),
        Figure::time("backlog", settled - called.as_nanos() as f64),
        Figure::bytes("left/pair", left, pairs as usize),
    ]);
    figures
}
