//! A structure with n live timers, and single operations on it, timed in blocks.
//!
//! This is what the criterion benches run: a population that stays at n while one kind of operation
//! is timed and the other, which restores n, is not. The figures answer "what does a cancel cost
//! while a million timers are live", where the harness's answer "what does it cost to cancel a
//! million timers".

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

/// Most operations between two reads of the clock: enough that the reads vanish.
const BLOCK: u64 = 512;

/// A backend with n live timers.
#[derive(Debug)]
pub struct Population<B: Backend> {
    timer: B::Timer<u64, NoMeter>,
    /// The handle of each timer; a timer's value is its place here.
    ids: Vec<TimerId>,
    /// The deadline of each timer, to check what fires.
    deadlines: Vec<Tick>,
    /// All places in an order drawn once, and how far it was gone through.
    order: Vec<u32>,
    at: usize,
    /// What fired in a block: empty between blocks.
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

    /// Operations in a block of this population: few enough that n hardly changes.
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

    /// Timers to work on, scattered, each once, and a new deadline for each.
    fn choose(&mut self, count: u64) -> Vec<(usize, Tick)> {
        let n = self.order.len();
        let first = self.at;
        self.at = (first + count as usize) % n;
        let places: Vec<u32> =
            (0..count as usize).map(|step| self.order[(first + step) % n]).collect();
        places.into_iter().map(|place| (place as usize, self.deadline())).collect()
    }

    /// Runs blocks until `iterations` operations were timed; a block returns how many it timed and
    /// how long they took.
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
        // A block may time a few more than it was asked for.
        time.mul_f64(iterations as f64 / done.max(1) as f64)
    }

    /// Time to start timers, into places that others have left.
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

    /// Time to stop timers.
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

    /// Time to move timers.
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

    /// Time for timers to fire, the clock moved in jumps of a block's worth of them.
    pub fn fire(&mut self, iterations: u64) -> Duration {
        let jump = (self.block() * LONGEST / 2 / self.ids.len() as u64).max(1);
        self.blocks(iterations, |this, _| this.advance(1, jump))
    }

    /// Time to move the clock by a tick, with what fires in it.
    pub fn tick(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| (count, this.advance(count, 1).1))
    }

    /// Moves the clock so many times by so many ticks, timed. Checks what fired and starts it
    /// again, not timed.
    fn advance(&mut self, times: u64, ticks: Tick) -> (u64, Duration) {
        let before = self.timer.now();
        // Used again, so that room for them is not what is measured.
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

    /// Time to take the earliest timer and start it again.
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
