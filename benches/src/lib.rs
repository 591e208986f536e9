//! Times single operations, in blocks, on a structure with n live timers.
//!
//! The criterion benches run this: the number of timers stays at n, since each operation that is
//! timed is followed by its opposite, which is not timed. The figures answer "what does a cancel
//! cost while a million timers are live?", while those of the harness answer "what does it cost to
//! cancel a million timers?".

pub mod foreign;
pub mod printed;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::{Duration, Instant};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// Delays are uniform in `1..=LONGEST`.
const LONGEST: Tick = 1 << 20;

/// The most operations between two reads of the clock: enough to make the cost of the reads
/// negligible.
const BLOCK: u64 = 512;

/// A backend with n live timers.
#[derive(Debug)]
pub struct Population<B: Backend> {
    timer: B::Timer<u64, NoMeter>,
    /// The handle of each timer; a timer's value is its index here.
    ids: Vec<TimerId>,
    /// The deadline of each timer, to check expiries.
    deadlines: Vec<Tick>,
    /// All indices in a random order that is drawn once, and the present position in it.
    order: Vec<u32>,
    at: usize,
    /// The timers that fired in a block; empty between blocks.
    fired: Vec<(Tick, u64)>,
    random: Pcg64Mcg,
}

impl<B: Backend> Population<B> {
    /// Starts n timers.
    ///
    /// # Panics
    ///
    /// If n is zero.
    pub fn new(n: u32) -> Self {
        assert!(n > 0, "a population has at least one timer");
        let mut random = Pcg64Mcg::seed_from_u64(u64::from(n));
        let mut timer = B::build::<u64, NoMeter>();
        let deadlines: Vec<Tick> = (0..n).map(|_| random.random_range(1..=LONGEST)).collect();
        let ids = deadlines
            .iter()
            .zip(0..)
            .map(|(deadline, value)| timer.insert(*deadline, value))
            .collect();
        let mut order: Vec<u32> = (0..n).collect();
        order.shuffle(&mut random);
        Self { timer, ids, deadlines, order, at: 0, fired: Vec::new(), random }
    }

    /// The number of operations in a block: few enough that n hardly changes.
    fn block(&self) -> u64 {
        BLOCK.min(self.ids.len() as u64 / 16).max(1)
    }

    fn deadline(&mut self) -> Tick {
        self.timer.now() + self.random.random_range(1..=LONGEST)
    }

    fn start(&mut self, place: usize, deadline: Tick) {
        self.ids[place] = self.timer.insert(deadline, place as u64);
        self.deadlines[place] = deadline;
    }

    /// Chooses distinct, scattered timers, and draws a new deadline for each.
    fn choose(&mut self, count: u64) -> Vec<(usize, Tick)> {
        let n = self.order.len();
        let first = self.at;
        self.at = (first + count as usize) % n;
        let places: Vec<u32> =
            (0..count as usize).map(|step| self.order[(first + step) % n]).collect();
        places.into_iter().map(|place| (place as usize, self.deadline())).collect()
    }

    /// Runs blocks until `iterations` operations were timed. A block returns the number of
    /// operations that it timed, and their time.
    fn blocks(
        &mut self,
        iterations: u64,
        mut block: impl FnMut(&mut Self, u64) -> (u64, Duration),
    ) -> Duration {
        let (mut done, mut time) = (0, Duration::ZERO);
        while done < iterations {
            let (count, elapsed) = block(self, self.block().min(iterations - done));
            done += count;
            time += elapsed;
        }
        // A block may time a few more operations than requested.
        time.mul_f64(iterations as f64 / done.max(1) as f64)
    }

    /// Times starting timers, in memory that cancelled timers have left.
    pub fn insert(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let chosen = this.choose(count);
            chosen
                .iter()
                .for_each(|(place, _)| assert!(this.timer.cancel(this.ids[*place]).is_some()));
            let start = Instant::now();
            chosen.iter().for_each(|&(place, deadline)| this.start(place, deadline));
            (count, start.elapsed())
        })
    }

    /// Times stopping timers.
    pub fn cancel(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let chosen = this.choose(count);
            let start = Instant::now();
            let stopped = chosen
                .iter()
                .filter(|(place, _)| this.timer.cancel(this.ids[*place]).is_some())
                .count();
            let time = start.elapsed();
            assert_eq!(stopped as u64, count, "all of them were live");
            chosen.iter().for_each(|&(place, deadline)| this.start(place, deadline));
            (count, time)
        })
    }

    /// Times moving timers.
    pub fn reschedule(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let chosen = this.choose(count);
            let start = Instant::now();
            let moved = chosen
                .iter()
                .filter(|(place, to)| this.timer.reschedule(this.ids[*place], *to))
                .count();
            let time = start.elapsed();
            assert_eq!(moved as u64, count, "all of them were live");
            chosen.iter().for_each(|&(place, deadline)| this.deadlines[place] = deadline);
            (count, time)
        })
    }

    /// Times expiries. The clock moves in jumps in which about a block of timers fires.
    pub fn fire(&mut self, iterations: u64) -> Duration {
        let jump = (self.block() * LONGEST / 2 / self.ids.len() as u64).max(1);
        self.blocks(iterations, |this, _| this.advance(1, jump))
    }

    /// Times a movement of the clock by one tick, including the timers that fire in it.
    pub fn tick(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| (count, this.advance(count, 1).1))
    }

    /// Moves the clock `times` times by `ticks`, timed. Then checks the timers that fired and
    /// starts them again, not timed.
    fn advance(&mut self, times: u64, ticks: Tick) -> (u64, Duration) {
        let before = self.timer.now();
        // The buffer is reused, so that its growth is not measured.
        let mut fired = std::mem::take(&mut self.fired);
        let start = Instant::now();
        for step in 1..=times {
            let note = |Expired { deadline, value, .. }| fired.push((deadline, value));
            self.timer.advance(before + step * ticks, note);
        }
        let time = start.elapsed();
        assert!(fired.is_sorted_by_key(|(deadline, _)| *deadline), "in order");
        for &(deadline, value) in &fired {
            assert!(deadline > before && deadline <= self.timer.now(), "neither early nor late");
            assert_eq!(self.deadlines[value as usize], deadline, "with its own deadline");
            let again = self.deadline();
            self.start(value as usize, again);
        }
        let count = fired.len() as u64;
        fired.clear();
        self.fired = fired;
        (count, time)
    }

    /// Times taking the earliest timer and starting it again.
    pub fn hold(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let delays: Vec<Tick> =
                (0..count).map(|_| this.random.random_range(1..=LONGEST)).collect();
            let mut last = 0;
            let start = Instant::now();
            for delay in &delays {
                let expired = loop {
                    let wakeup = this.timer.next_wakeup().unwrap_or_default();
                    if let Some(expired) = this.timer.pop_expired(wakeup) {
                        break expired;
                    }
                };
                assert!(expired.deadline >= last, "in order");
                last = expired.deadline;
                this.start(expired.value as usize, last + delay);
            }
            (count, start.elapsed())
        })
    }
}

/// Compiles the programs of the workspace's README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
