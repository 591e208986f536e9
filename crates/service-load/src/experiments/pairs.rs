//! Schedule and cancel, as often as the producers can, as in a program with a timeout for each
//! request.
//!
//! No job is to run, so runs would not reveal a cancellation that does nothing. Therefore the
//! remaining jobs are counted: by the facility, and by the ledger, since every cancelled job must
//! have been dropped.

use super::prelude::*;
use super::schedule::{on_threads, schedule_far_jobs};
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};

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
    producers.iter_mut().for_each(|producer| producer.empty_to(&facility, 0));
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

/// Delays that no pair outlives: timeouts of half a minute to a minute.
const DELAY_MS: std::ops::Range<u64> = 30_000..60_000;

/// One pair in this many is timed.
const TIMED_EACH: usize = 16;

/// The number of delays drawn beforehand, for each producer.
const DELAYS: usize = 1024;

/// The handles of jobs that one thread has scheduled and another cancels.
type Batch<F> = Vec<<F as Facility>::Handle>;

/// The ends of the channels to the next producer and from the one before.
type Ring<F> = (Sender<Batch<F>>, Receiver<Batch<F>>);

/// The jobs that a producer cancels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cancels {
    /// Each job, after it has scheduled it.
    AtOnce,
    /// The same, and each of the two calls is timed separately.
    AtOnceTimingCalls,
    /// The oldest of a window of jobs that it keeps outstanding.
    Oldest,
    /// Jobs of another thread. The producer schedules a batch, sends their handles to the next
    /// thread, and cancels the jobs whose handles it receives.
    Others,
}

/// A thread that schedules and cancels.
struct Producer<F: Facility> {
    delays: Vec<Duration>,
    /// The ledger of its jobs. All have the same number, since none runs.
    ledger: Arc<Ledger>,
    /// The jobs that are outstanding, the oldest first.
    outstanding: VecDeque<F::Handle>,
    /// The number of outstanding jobs between two pairs.
    window: usize,
    /// The number of jobs in a batch.
    batch: usize,
    cancels: Cancels,
    times: Distribution,
    pairs: u64,
    refused: u64,
    too_late: u64,
}

impl<F: Facility> Producer<F> {
    fn new(seed: u64, cancels: Cancels, load: &Load) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut delay = || Duration::from_millis(random.random_range(DELAY_MS));
        let window = if cancels == Cancels::Oldest { load.window } else { 0 };
        Self {
            delays: (0..DELAYS).map(|_| delay()).collect(),
            ledger: Ledger::new(Instant::now(), 1),
            outstanding: VecDeque::with_capacity(window + 1),
            window,
            batch: load.window,
            cancels,
            times: Distribution::coarse(),
            pairs: 0,
            refused: 0,
            too_late: 0,
        }
    }

    fn fill(&mut self, facility: &F) {
        for number in 0..self.window {
            let handle = self.schedule(facility, Instant::now() + self.delays[number % DELAYS]);
            self.outstanding.extend(handle);
        }
    }

    fn schedule(&mut self, facility: &F, due: Instant) -> Option<F::Handle> {
        let handle = facility.schedule(due, self.ledger.job(0));
        self.refused += u64::from(handle.is_none());
        handle
    }

    fn cancel(&mut self, facility: &F, handle: F::Handle) {
        self.too_late += u64::from(facility.cancel(handle) == Answer::TooLate);
    }

    /// Cancels the oldest jobs until at most `window` are outstanding.
    fn empty_to(&mut self, facility: &F, window: usize) {
        while self.outstanding.len() > window
            && let Some(handle) = self.outstanding.pop_front()
        {
            self.cancel(facility, handle);
        }
    }

    /// Makes pairs until this moment.
    fn produce(self, facility: &F, until: Instant, ring: Ring<F>) -> Self {
        match self.cancels {
            Cancels::Others => self.produce_across(facility, until, ring),
            _ => self.produce_here(facility, until),
        }
    }

    fn produce_here(mut self, facility: &F, until: Instant) -> Self {
        let mut number = 0;
        loop {
            let start = Instant::now();
            if start >= until {
                return self;
            }
            self.timed_pair(facility, start, number);
            // The other pairs are not timed: two clock reads take as long as half a pair.
            for untimed in 1..TIMED_EACH {
                self.pair(facility, start, number + untimed);
            }
            number += TIMED_EACH;
            self.pairs += TIMED_EACH as u64;
        }
    }

    fn timed_pair(&mut self, facility: &F, start: Instant, number: usize) {
        if self.cancels != Cancels::AtOnceTimingCalls {
            self.pair(facility, start, number);
            return self.times.record(start.elapsed().as_nanos() as u64);
        }
        let handle = self.schedule(facility, start + self.delays[number % DELAYS]);
        let between = Instant::now();
        if let Some(handle) = handle {
            self.cancel(facility, handle);
        }
        let cancelled = between.elapsed();
        self.times.record((between - start).as_nanos() as u64);
        self.times.record(cancelled.as_nanos() as u64);
    }

    fn pair(&mut self, facility: &F, now: Instant, number: usize) {
        let Some(handle) = self.schedule(facility, now + self.delays[number % DELAYS]) else {
            return;
        };
        if self.window == 0 {
            return self.cancel(facility, handle);
        }
        self.outstanding.push_back(handle);
        self.empty_to(facility, self.window);
    }

    /// When its time is up, a producer closes its channel, so that the next one finds the end of
    /// its batches.
    fn produce_across(mut self, facility: &F, until: Instant, (to, from): Ring<F>) -> Self {
        let mut scheduled = Vec::new();
        while Instant::now() < until {
            let now = Instant::now();
            scheduled.clear();
            for number in 0..self.batch {
                let start = (number % TIMED_EACH == 0).then(Instant::now);
                let handle = self.schedule(facility, now + self.delays[number % DELAYS]);
                self.outstanding.extend(handle);
                scheduled.extend(start.map(|start| start.elapsed()));
            }
            // If the receiver has ended, the batch comes back, and `empty_to` cancels it.
            let sent = to.send(self.outstanding.drain(..).collect());
            self.outstanding.extend(sent.err().into_iter().flat_map(|unsent| unsent.0));
            let Ok(batch) = from.recv() else { break };
            self.cancel_all(facility, batch, &scheduled);
        }
        drop(to);
        from.iter().for_each(|batch| self.cancel_all(facility, batch, &scheduled));
        self.empty_to(facility, 0);
        self
    }

    /// Cancels a batch. One job in sixteen is timed: its cancel together with a call that
    /// scheduled one.
    fn cancel_all(&mut self, facility: &F, batch: Batch<F>, scheduled: &[Duration]) {
        self.pairs += batch.len() as u64;
        for (number, handle) in batch.into_iter().enumerate() {
            let start = (number % TIMED_EACH == 0).then(Instant::now);
            self.cancel(facility, handle);
            if let (Some(start), Some(time)) = (start, scheduled.get(number / TIMED_EACH)) {
                self.times.record((start.elapsed() + *time).as_nanos() as u64);
            }
        }
    }
}

/// Runs all producers, each on a thread. They form a ring: each sends to the next and receives from
/// the one before. Returns those that did not panic.
fn produce_all<F: Facility>(
    facility: &F,
    producers: Vec<Producer<F>>,
    until: Instant,
) -> Vec<Producer<F>> {
    let (mut senders, receivers): (Vec<_>, Vec<_>) =
        producers.iter().map(|_| mpsc::channel()).unzip();
    senders.rotate_left(1);
    let rings = senders.into_iter().zip(receivers);
    on_threads(producers.into_iter().zip(rings), |(producer, ring)| {
        producer.produce(facility, until, ring)
    })
}
