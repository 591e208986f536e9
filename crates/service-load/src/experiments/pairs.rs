//! Schedule and cancel, as often as the producers can: what a program does that has a timeout for
//! each request.
//!
//! In three forms. Where each job is cancelled at once, it never grows old. Where each producer
//! keeps a window of outstanding jobs and cancels the oldest, jobs live for as long as the window
//! lasts, and the facility has so many timers at least. And where jobs are cancelled by another
//! thread than the one that scheduled them, what a thread keeps for itself is of no use to it.
//!
//! No job is to run, so that a cancellation which does nothing would not be noticed by runs.
//! Therefore it is counted what is left: by the facility's own account, and by ours, since every
//! job that was cancelled must have been dropped.

use super::faults::Faults;
use super::producer::{Form, Producer};
use super::schedule::stand;
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
    "pairs/s: pairs over the time until the facility has dealt with all of them (the backlog is \
     included); mean to max: of the two calls of one pair, one of sixteen.",
    "backlog: from the last call until the facility has dealt with everything; left/pair: bytes \
     still allocated then, for each pair; bytes/job: for each pending job, with what it holds, 16 \
     bytes.",
];

/// Notes where calls are timed.
pub(super) const NOTES_ON_CALLS: &[&str] = &[
    "pairs/s: pairs over the time until the facility has dealt with all of them (the backlog is \
     included); mean to max: of one call, to schedule or to cancel, of one pair in sixteen. A \
     thread that is interrupted in a call waits for its next turn on a processor.",
    "backlog: from the last call until the facility has dealt with everything; left/pair: bytes \
     still allocated then, for each pair.",
];

/// What each producer cancels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancels {
    AtOnce,
    /// The same, and each of the two calls is timed by itself.
    AtOnceTimingCalls,
    Oldest,
    Others,
}

/// How each producer of a ring works.
fn forms<F: Facility>(cancels: Cancels, load: &Load) -> Vec<Form<F>> {
    let (mut senders, receivers): (Vec<_>, Vec<_>) =
        (0..load.producers).map(|_| mpsc::channel()).unzip();
    // Each sends to the next, and the last to the first.
    senders.rotate_left(1);
    let form = |(to, from)| match cancels {
        Cancels::AtOnce => Form::AtOnce,
        Cancels::AtOnceTimingCalls => Form::AtOnceTimingCalls,
        Cancels::Oldest => Form::Oldest(load.window),
        Cancels::Others => Form::Across(load.window, to, from),
    };
    senders.into_iter().zip(receivers).map(form).collect()
}

/// Beside so many jobs that are pending.
pub(super) fn play<F: Facility>(
    facility: F,
    load: &Load,
    pending: u32,
    cancels: Cancels,
) -> Result<Played> {
    let mut faults = Faults::default();
    let standing = Ledger::new(Instant::now(), pending as usize);
    let before = allocated();
    faults.refused += stand(&facility, &standing, load.seed);
    facility.settle(pending as usize)?;
    let bytes = allocated().saturating_sub(before);
    let producer = |(seed, form)| (Producer::new(load.seed + seed, &form), form);
    let mut producers: Vec<_> = (1..).zip(forms(cancels, load)).map(producer).collect();
    producers.iter_mut().for_each(|(producer, _)| producer.fill(&facility));
    let window = producers.first().map_or(0, |(producer, _)| producer.window);
    let outstanding = pending as usize + window * load.producers;
    facility.settle(outstanding)?;
    let beside = allocated();
    let begin = Instant::now();
    let mut producers = produce_all(&facility, producers, begin + load.pairs_time);
    let called = begin.elapsed();
    facility.settle(outstanding)?;
    let settled = begin.elapsed();
    let left = allocated().saturating_sub(beside);
    faults.panicked = load.producers - producers.len();
    faults.count(&facility, &books(&standing, &producers, window))?;
    producers.iter_mut().for_each(|producer| producer.empty(&facility));
    facility.settle(pending as usize)?;
    faults.count(&facility, &books(&standing, &producers, 0))?;
    facility.stop();
    faults.ran = standing.runs();
    let (times, pairs) = sum(&producers, &mut faults);
    if let Some(wrong) = faults.sentence() {
        return Ok(Err(wrong));
    }
    let mut figures = figures((&times, pairs), called, settled, left, cancels);
    figures.extend((pending > 0).then(|| Figure::bytes("bytes/job", bytes, pending as usize)));
    Ok(Ok(figures))
}

/// The times and pairs of all producers. Adds to the faults.
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

/// Those that did not panic come back.
fn produce_all<F: Facility>(
    facility: &F,
    producers: Vec<(Producer<F>, Form<F>)>,
    until: Instant,
) -> Vec<Producer<F>> {
    thread::scope(|scope| {
        let spawn = |(producer, form): (Producer<F>, Form<F>)| {
            scope.spawn(move || producer.produce(facility, until, form))
        };
        let threads: Vec<_> = producers.into_iter().map(spawn).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Each ledger, and how many of its jobs should be pending.
fn books<'a, F: Facility>(
    standing: &'a Arc<Ledger>,
    producers: &'a [Producer<F>],
    window: usize,
) -> Vec<(&'a Arc<Ledger>, usize)> {
    let of = |producer: &'a Producer<F>| (&producer.ledger, window);
    [(standing, standing.len())].into_iter().chain(producers.iter().map(of)).collect()
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
