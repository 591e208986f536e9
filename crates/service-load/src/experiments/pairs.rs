//! Schedule and cancel, as often as the producers can: what a program does that has a timeout for each request.

use super::Played;
use crate::facility::{Answer, Facility};
use crate::figures::{Distribution, Figure};
use crate::ledger::Ledger;
use crate::load::Load;
use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_harness::memory::allocated;

pub(super) const NOTES: &[&str] = &[
    "pairs/s: pairs over the time until the facility has dealt with all of them (the backlog is included); mean to max: of the two calls of one pair.",
    "backlog: from the last call until the facility has dealt with everything; left/pair: bytes still allocated then, for each pair; bytes/job: for each pending job.",
];

/// No pair is due while it is measured: a timeout of half a minute to a minute.
const DELAY_MS: std::ops::Range<u64> = 30_000..60_000;

/// What is pending beside is due in an hour or two.
const FAR_MS: std::ops::Range<u64> = 3_600_000..7_200_000;

/// How many delays are drawn beforehand, for each producer.
const DELAYS: usize = 1024;

/// What a producer brings back.
struct Produced {
    times: Distribution,
    ledger: Arc<Ledger>,
    refused: u64,
    too_late: u64,
}

pub(super) fn play<F: Facility>(facility: F, load: &Load, pending: u32) -> Result<Played> {
    let standing = Ledger::new(Instant::now(), 1);
    let mut random = Pcg64Mcg::seed_from_u64(load.seed);
    let before = allocated();
    let mut refused = 0;
    for _ in 0..pending {
        let due = Instant::now() + Duration::from_millis(random.random_range(FAR_MS));
        refused += u64::from(facility.schedule(due, standing.job(0)).is_none());
    }
    facility.settle(pending as usize)?;
    let bytes = allocated().saturating_sub(before);
    let beside = allocated();
    let begin = Instant::now();
    let until = begin + load.pairs_time;
    let produced: Vec<_> = thread::scope(|scope| {
        let producer = |seed| {
            let facility = &facility;
            scope.spawn(move || produce(facility, until, seed))
        };
        let threads: Vec<_> = (1..=load.producers as u64).map(|number| producer(load.seed + number)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let called = begin.elapsed();
    facility.settle(pending as usize)?;
    let settled = begin.elapsed();
    let left = allocated().saturating_sub(beside);
    facility.stop();
    if let Some(wrong) = wrong(&produced, load.producers, refused, standing.runs()) {
        return Ok(Err(wrong));
    }
    let mut times = Distribution::coarse();
    produced.iter().for_each(|producer| times.add(&producer.times));
    let settled = settled.as_nanos() as f64;
    let mut figures = vec![
        Figure::rate("pairs/s", times.len(), settled),
        Figure::time("mean", times.mean()),
        Figure::time("p50", times.quantile(0.5)),
        Figure::time("p99", times.quantile(0.99)),
        Figure::time("p99.9", times.quantile(0.999)),
        Figure::time("max", times.longest()),
        Figure::time("backlog", settled - called.as_nanos() as f64),
        Figure::bytes("left/pair", left, times.len() as usize),
    ];
    figures.extend((pending > 0).then(|| Figure::bytes("bytes/job", bytes, pending as usize)));
    Ok(Ok(figures))
}

fn produce<F: Facility>(facility: &F, until: Instant, seed: u64) -> Produced {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let delays: Vec<_> = (0..DELAYS).map(|_| Duration::from_millis(random.random_range(DELAY_MS))).collect();
    let ledger = Ledger::new(Instant::now(), 1);
    let mut produced = Produced { times: Distribution::coarse(), ledger: Arc::clone(&ledger), refused: 0, too_late: 0 };
    for delay in delays.iter().cycle() {
        let start = Instant::now();
        if start >= until {
            break;
        }
        match facility.schedule(start + *delay, ledger.job(0)) {
            None => produced.refused += 1,
            Some(handle) => produced.too_late += u64::from(facility.cancel(handle) == Answer::TooLate),
        }
        produced.times.record(start.elapsed().as_nanos() as u64);
    }
    produced
}

/// What is wrong, if anything: every pair was scheduled and cancelled, half a minute before its time, and nothing ran.
fn wrong(produced: &[Produced], producers: usize, refused: u64, standing: u64) -> Option<String> {
    let sum = |of: fn(&Produced) -> u64| produced.iter().map(of).sum::<u64>();
    let faults = [
        (producers as u64 - produced.len() as u64, "producers panicked"),
        (refused + sum(|it| it.refused), "jobs were refused"),
        (sum(|it| it.too_late), "cancellations were said to be too late"),
        (standing, "jobs ran long before their time"),
        (sum(|it| it.ledger.runs()), "cancelled jobs ran"),
    ];
    let found: Vec<_> = faults.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    (!found.is_empty()).then(|| found.join(", "))
}
