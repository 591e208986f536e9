//! Measures the cost of recording: compares the hierarchical wheel bare and recorded.
//!
//! ```sh
//! cargo run --release -p wheelhouse-record --example overhead
//! ```
//!
//! Both play the same operations in turns, a hundred thousand of a kind at a time, so that whatever
//! slows the machine slows both. The figure is the median, over all rounds, of the difference
//! within a pair. The trace goes to a temporary file, whose limit is never reached.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use wheelhouse_core::{Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::{Error, Recorder};

/// The kinds of operations in a round.
const KINDS: [&str; 5] = ["insert", "reschedule", "cancel", "fire, by advance", "fire, by pop"];

const TIMERS: u64 = if cfg!(debug_assertions) { 1_000 } else { 100_000 };
const ROUNDS: usize = if cfg!(debug_assertions) { 3 } else { 25 };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = format!("wheelhouse-overhead-{}.trace", std::process::id());
    let path = std::env::temp_dir().join(name);
    let (costs, bytes) = measure(&path)?;
    std::fs::remove_file(&path)?;

    println!("{TIMERS} timers, {ROUNDS} rounds; ns per operation, median");
    println!("{:<18}{:>8}{:>10}{:>8}", "", "bare", "recorded", "more");
    let all = (0..ROUNDS).map(|round| mean(&costs, round)).collect();
    for (kind, pairs) in KINDS.iter().zip(&costs).chain([(&"all", &all)]) {
        let [bare, recorded, more] = medians(pairs);
        println!("{kind:<18}{bare:>8.1}{recorded:>10.1}{more:>8.1}");
    }
    println!("{bytes:.1} bytes of trace per operation");
    Ok(())
}

/// The cost of each kind in each round, bare and recorded, and the bytes of trace per operation.
type Measured = (Vec<Vec<(f64, f64)>>, f64);

fn measure(path: &Path) -> Result<Measured, Error> {
    let mut bare = Program::new(HierarchicalWheel::new());
    let recorder = Recorder::builder().limit(u64::MAX).create(path, HierarchicalWheel::new())?;
    let mut recorded = Program::new(recorder);
    let mut costs = vec![Vec::new(); KINDS.len()];
    for round in 0..=ROUNDS {
        for (kind, costs) in costs.iter_mut().enumerate() {
            // Alternate which is first: the second finds caches that the first has filled.
            let pair = if round % 2 == 0 {
                let first = bare.time(kind);
                (first, recorded.time(kind))
            } else {
                let first = recorded.time(kind);
                (bare.time(kind), first)
            };
            if round > 0 {
                costs.push(pair); // the first round warms up
            }
        }
    }
    assert_eq!(bare.fired, recorded.fired, "both did the same");
    let summary = recorded.timer.finish()?;
    Ok((costs, summary.bytes as f64 / summary.totals.operations() as f64))
}

/// A program with timers. Each one with the same seed plays the same operations.
struct Program<B> {
    timer: B,
    ids: Vec<TimerId>,
    state: u64,
    /// A checksum over all timers that fired.
    fired: u64,
}

impl<B: Timer<u64>> Program<B> {
    fn new(timer: B) -> Self {
        Self { timer, ids: Vec::new(), state: 1, fired: 0 }
    }

    /// Nanoseconds per operation of a kind. Inserts begin without timers, all other kinds with all
    /// of them.
    fn time(&mut self, kind: usize) -> f64 {
        self.cancel_all();
        if kind > 0 {
            self.insert_all();
        }
        let start = Instant::now();
        match kind {
            0 => self.insert_all(),
            1 => {
                for at in 0..self.ids.len() {
                    let deadline = self.later();
                    black_box(self.timer.reschedule(self.ids[at], deadline));
                }
            }
            2 => self.cancel_all(),
            // From wake-up to wake-up. Several timers fire at each.
            3 => {
                while let Some(wakeup) = self.timer.next_wakeup() {
                    let fired = &mut self.fired;
                    self.timer.advance(wakeup, |it| *fired = fired.wrapping_mul(31) ^ it.value);
                }
            }
            _ => {
                while let Some(wakeup) = self.timer.next_wakeup() {
                    while let Some(it) = self.timer.pop_expired(wakeup) {
                        self.fired = self.fired.wrapping_mul(31) ^ it.value;
                    }
                }
            }
        }
        start.elapsed().as_nanos() as f64 / TIMERS as f64
    }

    fn insert_all(&mut self) {
        for value in 0..TIMERS {
            let deadline = self.later();
            self.ids.push(self.timer.insert(deadline, value));
        }
    }

    fn cancel_all(&mut self) {
        for id in self.ids.drain(..) {
            black_box(self.timer.cancel(id));
        }
    }

    /// A tick up to a minute from now, uniformly distributed.
    fn later(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.timer.now() + 1 + (self.state >> 33) % 60_000
    }
}

/// The mean over all kinds of a round, bare and recorded.
fn mean(costs: &[Vec<(f64, f64)>], round: usize) -> (f64, f64) {
    let sum = costs.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of[round].0, sum.1 + of[round].1));
    (sum.0 / costs.len() as f64, sum.1 / costs.len() as f64)
}

/// The medians of the first values, of the second values, and of their differences.
fn medians(pairs: &[(f64, f64)]) -> [f64; 3] {
    let median = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    [median(|pair| pair.0), median(|pair| pair.1), median(|pair| pair.1 - pair.0)]
}
