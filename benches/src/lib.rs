//! A structure with n live timers, and single operations on it, timed in blocks.
//!
//! This is what the criterion benches run: a population that stays at n while one kind of operation is timed and the other,
//! which restores n, is not. The figures answer "what does a cancel cost while a million timers are live", where the
//! harness's answer "what does it cost to cancel a million timers".

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::{Duration, Instant};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// Delays are uniform in `1..=LONGEST`.
const LONGEST: Tick = 1 << 20;

/// Operations between two reads of the clock: enough that the reads vanish, few enough that n hardly changes.
const BLOCK: u64 = 512;

/// A backend with n live timers.
#[derive(Debug)]
pub struct Population<B: Backend> {
    timer: B::Timer<u64, NoMeter>,
    /// The handle of each timer; a timer's value is its place here.
    ids: Vec<TimerId>,
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
        let ids = (0..u64::from(n)).map(|value| timer.insert(random.random_range(1..=LONGEST), value)).collect();
        Self { timer, ids, random }
    }

    fn deadline(&mut self) -> Tick {
        self.timer.now() + self.random.random_range(1..=LONGEST)
    }

    fn start(&mut self, value: u64) {
        let deadline = self.deadline();
        self.ids[value as usize] = self.timer.insert(deadline, value);
    }

    /// Timers to work on, each once, and a new deadline for each.
    fn choose(&mut self, count: u64) -> Vec<(usize, Tick)> {
        let n = self.ids.len();
        let first = self.random.random_range(0..n);
        // A stride without a common divisor visits scattered places without repetition.
        let stride = (n / 2 + 1..).find(|stride| gcd(*stride, n) == 1).unwrap_or(1);
        let places = (0..count.min(n as u64) as usize).map(|step| (first + step * stride) % n);
        places.collect::<Vec<_>>().into_iter().map(|place| (place, self.deadline())).collect()
    }

    /// Runs blocks until `iterations` operations were timed; a block returns how many it timed and how long they took.
    fn blocks(&mut self, iterations: u64, mut block: impl FnMut(&mut Self, u64) -> (u64, Duration)) -> Duration {
        let (mut done, mut time) = (0, Duration::ZERO);
        while done < iterations {
            let (count, elapsed) = block(self, BLOCK.min(iterations - done));
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
            chosen.iter().for_each(|(place, _)| assert!(this.timer.cancel(this.ids[*place]).is_some()));
            let start = Instant::now();
            for &(place, deadline) in &chosen {
                this.ids[place] = this.timer.insert(deadline, place as u64);
            }
            (chosen.len() as u64, start.elapsed())
        })
    }

    /// Time to stop timers.
    pub fn cancel(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let chosen = this.choose(count);
            let start = Instant::now();
            let stopped = chosen.iter().filter(|(place, _)| this.timer.cancel(this.ids[*place]).is_some()).count();
            let time = start.elapsed();
            assert_eq!(stopped, chosen.len(), "all of them were live");
            chosen.iter().for_each(|(place, _)| this.start(*place as u64));
            (stopped as u64, time)
        })
    }

    /// Time to move timers.
    pub fn reschedule(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let chosen = this.choose(count);
            let start = Instant::now();
            let moved = chosen.iter().filter(|(place, to)| this.timer.reschedule(this.ids[*place], *to)).count();
            let time = start.elapsed();
            assert_eq!(moved, chosen.len(), "all of them were live");
            (moved as u64, time)
        })
    }

    /// Time for timers to fire, the clock moved in jumps of a block's worth of them.
    pub fn fire(&mut self, iterations: u64) -> Duration {
        let jump = (BLOCK * LONGEST / 2 / self.ids.len() as u64).max(1);
        self.blocks(iterations, |this, _| this.advance(jump))
    }

    /// Time to move the clock by a tick, with what fires in it.
    pub fn tick(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let mut time = Duration::ZERO;
            // As many ticks in a row as leave the population nearly whole.
            for _ in 0..count {
                time += this.advance(1).1;
            }
            (count, time)
        })
    }

    /// Moves the clock, timed, and starts what fired again, not timed.
    fn advance(&mut self, ticks: Tick) -> (u64, Duration) {
        let to = self.timer.now() + ticks;
        let mut fired = Vec::new();
        let start = Instant::now();
        self.timer.advance(to, |Expired { value, .. }| fired.push(value));
        let time = start.elapsed();
        fired.iter().for_each(|value| self.start(*value));
        (fired.len() as u64, time)
    }

    /// Time to take the earliest timer and start it again.
    pub fn hold(&mut self, iterations: u64) -> Duration {
        self.blocks(iterations, |this, count| {
            let delays: Vec<Tick> = (0..count).map(|_| this.random.random_range(1..=LONGEST)).collect();
            let start = Instant::now();
            for delay in &delays {
                let expired = loop {
                    let wakeup = this.timer.next_wakeup().unwrap_or_default();
                    if let Some(expired) = this.timer.pop_expired(wakeup) {
                        break expired;
                    }
                };
                this.ids[expired.value as usize] = this.timer.insert(expired.deadline + delay, expired.value);
            }
            (count, start.elapsed())
        })
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Compiles the program of the workspace's README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
