//! Schedule and cancel, as often as the producers can: what a program does that has a timeout for
//! each request.
//!
//! In two forms. Where each job is cancelled at once, the facility hardly has a timer in its hands:
//! a driver that looks at its queue a moment later finds a job that is over. Where each producer
//! keeps a window of outstanding jobs and cancels the oldest, jobs live for as long as the window
//! lasts, and the facility has so many timers at least.
//!
//! No job is to run, so that a cancellation which does nothing would not be noticed by runs.
//! Therefore it is counted what is left: by the facility's own account, and by ours, since every
//! job that was cancelled must have been dropped.

use crate::facility::{Answer, Facility};
use crate::figures::{Distribution, Figure, Played};
use crate::ledger::Ledger;
use crate::load::Load;
use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_machine::allocator::allocated;

pub(super) const NOTES: &[&str] = &[
    "pairs/s: pairs over the time until the facility has dealt with all of them (the backlog is \
     included); mean to max: of the two calls of one pair.",
    "backlog: from the last call until the facility has dealt with everything; left/pair: bytes \
     still allocated then, for each pair; bytes/job: for each pending job.",
];

/// No pair is due while it is measured: a timeout of half a minute to a minute.
const DELAY_MS: std::ops::Range<u64> = 30_000..60_000;

/// What is pending beside is due in an hour or two.
const FAR_MS: std::ops::Range<u64> = 3_600_000..7_200_000;

/// How many delays are drawn beforehand, for each producer.
const DELAYS: usize = 1024;

/// A thread that schedules and cancels.
struct Producer<F: Facility> {
    delays: Vec<Duration>,
    /// Of its jobs, which are all the same one: none runs.
    ledger: Arc<Ledger>,
    /// The jobs that are outstanding, the oldest first.
    outstanding: VecDeque<F::Handle>,
    /// How many there are between two pairs.
    window: usize,
    times: Distribution,
    refused: u64,
    too_late: u64,
}

impl<F: Facility> Producer<F> {
    fn new(seed: u64, window: usize) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        Self {
            delays: (0..DELAYS)
                .map(|_| Duration::from_millis(random.random_range(DELAY_MS)))
                .collect(),
            ledger: Ledger::new(Instant::now(), 1),
            outstanding: VecDeque::with_capacity(window + 1),
            window,
            times: Distribution::coarse(),
            refused: 0,
            too_late: 0,
        }
    }

    fn schedule(&mut self, facility: &F, due: Instant) {
        match facility.schedule(due, self.ledger.job(0)) {
            None => self.refused += 1,
            Some(handle) => self.outstanding.push_back(handle),
        }
    }

    /// Cancels the oldest, if more are outstanding than this.
    fn cancel_beyond(&mut self, facility: &F, window: usize) {
        if self.outstanding.len() > window
            && let Some(handle) = self.outstanding.pop_front()
        {
            self.too_late += u64::from(facility.cancel(handle) == Answer::TooLate);
        }
    }

    fn fill(&mut self, facility: &F) {
        for number in 0..self.window {
            self.schedule(facility, Instant::now() + self.delays[number % DELAYS]);
        }
    }

    fn produce(mut self, facility: &F, until: Instant) -> Self {
        let mut pair = 0;
        loop {
            let start = Instant::now();
            if start >= until {
                return self;
            }
            self.schedule(facility, start + self.delays[pair % DELAYS]);
            self.cancel_beyond(facility, self.window);
            self.times.record(start.elapsed().as_nanos() as u64);
            pair += 1;
        }
    }

    fn empty(&mut self, facility: &F) {
        while !self.outstanding.is_empty() {
            self.cancel_beyond(facility, 0);
        }
    }
}

/// What is wrong, counted.
#[derive(Default)]
struct Faults {
    panicked: usize,
    refused: u64,
    too_late: u64,
    ran: u64,
    /// How far the facility's own count of its jobs was from what it should be.
    miscounted: usize,
    /// Cancelled jobs that it had not let go.
    kept: usize,
    /// Jobs that it had let go though they were pending.
    lost: usize,
}

impl Faults {
    /// Compares what a facility that has settled has in its hands with what it should have.
    fn count<F: Facility>(
        &mut self,
        facility: &F,
        ledgers: &[(&Arc<Ledger>, usize)],
    ) -> Result<()> {
        let pending = ledgers.iter().map(|(_, pending)| pending).sum::<usize>();
        self.miscounted += facility.count()?.abs_diff(pending);
        for (ledger, pending) in ledgers {
            self.kept += ledger.held().saturating_sub(*pending);
            self.lost += pending.saturating_sub(ledger.held());
        }
        Ok(())
    }

    fn sentence(&self) -> Option<String> {
        let faults = [
            (self.panicked as u64, "producers panicked"),
            (self.refused, "jobs were refused"),
            (self.too_late, "cancellations were said to be too late"),
            (self.ran, "jobs ran long before their time"),
            (self.kept as u64, "cancelled jobs were still there"),
            (self.lost as u64, "jobs were gone though pending"),
            (self.miscounted as u64, "jobs too many or too few by the facility's own count"),
        ];
        let found: Vec<_> =
            faults.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }
}

/// Beside so many jobs that are pending, and with so many outstanding for each producer.
pub(super) fn play<F: Facility>(
    facility: F,
    load: &Load,
    pending: u32,
    window: usize,
) -> Result<Played> {
    let mut faults = Faults::default();
    let standing = Ledger::new(Instant::now(), pending as usize);
    let before = allocated();
    faults.refused += stand(&facility, &standing, load.seed);
    facility.settle(pending as usize)?;
    let bytes = allocated().saturating_sub(before);
    let mut producers: Vec<_> =
        (1..=load.producers as u64).map(|n| Producer::new(load.seed + n, window)).collect();
    producers.iter_mut().for_each(|producer| producer.fill(&facility));
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
    let mut times = Distribution::coarse();
    for producer in &producers {
        times.add(&producer.times);
        faults.refused += producer.refused;
        faults.too_late += producer.too_late;
        faults.ran += producer.ledger.runs();
    }
    if let Some(wrong) = faults.sentence() {
        return Ok(Err(wrong));
    }
    let mut figures = figures(&times, called, settled, left);
    figures.extend((pending > 0).then(|| Figure::bytes("bytes/job", bytes, pending as usize)));
    Ok(Ok(figures))
}

/// Schedules what is to be pending beside. How many were refused.
fn stand<F: Facility>(facility: &F, standing: &Arc<Ledger>, seed: u64) -> u64 {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut refused = 0;
    for number in 0..standing.len() as u32 {
        let due = Instant::now() + Duration::from_millis(random.random_range(FAR_MS));
        refused += u64::from(facility.schedule(due, standing.job(number)).is_none());
    }
    refused
}

/// Those that did not panic come back.
fn produce_all<F: Facility>(
    facility: &F,
    producers: Vec<Producer<F>>,
    until: Instant,
) -> Vec<Producer<F>> {
    thread::scope(|scope| {
        let spawn = |producer: Producer<F>| scope.spawn(move || producer.produce(facility, until));
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

fn figures(times: &Distribution, called: Duration, settled: Duration, left: usize) -> Vec<Figure> {
    let settled = settled.as_nanos() as f64;
    vec![
        Figure::rate("pairs/s", times.len(), settled),
        Figure::time("mean", times.mean()),
        Figure::time("p50", times.quantile(0.5)),
        Figure::time("p99", times.quantile(0.99)),
        Figure::time("p99.9", times.quantile(0.999)),
        Figure::time("max", times.longest()).worst(),
        Figure::time("backlog", settled - called.as_nanos() as f64),
        Figure::bytes("left/pair", left, times.len() as usize),
    ]
}
