//! A thread that schedules and cancels as often as it can.

use super::prelude::*;
use super::schedule::on_threads;
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};

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
pub(super) struct Producer<F: Facility> {
    delays: Vec<Duration>,
    /// The ledger of its jobs. All have the same number, since none runs.
    pub(super) ledger: Arc<Ledger>,
    /// The jobs that are outstanding, the oldest first.
    outstanding: VecDeque<F::Handle>,
    /// The number of outstanding jobs between two pairs.
    pub(super) window: usize,
    /// The number of jobs in a batch.
    batch: usize,
    cancels: Cancels,
    pub(super) times: Distribution,
    pub(super) pairs: u64,
    pub(super) refused: u64,
    pub(super) too_late: u64,
}

impl<F: Facility> Producer<F> {
    pub(super) fn new(seed: u64, cancels: Cancels, load: &Load) -> Self {
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

    pub(super) fn fill(&mut self, facility: &F) {
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

    /// Cancels the oldest job if more than `window` are outstanding.
    fn cancel_beyond(&mut self, facility: &F, window: usize) {
        if self.outstanding.len() > window
            && let Some(handle) = self.outstanding.pop_front()
        {
            self.cancel(facility, handle);
        }
    }

    pub(super) fn empty(&mut self, facility: &F) {
        while !self.outstanding.is_empty() {
            self.cancel_beyond(facility, 0);
        }
    }

    /// Makes pairs until this moment.
    pub(super) fn produce(self, facility: &F, until: Instant, ring: Ring<F>) -> Self {
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
        self.cancel_beyond(facility, self.window);
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
            // If the receiver has ended, the batch comes back, and `empty` cancels it.
            let sent = to.send(self.outstanding.drain(..).collect());
            self.outstanding.extend(sent.err().into_iter().flat_map(|unsent| unsent.0));
            let Ok(batch) = from.recv() else { break };
            self.cancel_all(facility, batch, &scheduled);
        }
        drop(to);
        from.iter().for_each(|batch| self.cancel_all(facility, batch, &scheduled));
        self.empty(facility);
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
pub(super) fn produce_all<F: Facility>(
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
