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
use std::time::Instant;
use wheelhouse_core::{Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::Recorder;

/// The kinds of operations in a round.
const KINDS: [&str; 5] = ["insert", "reschedule", "cancel", "fire, by advance", "fire, by pop"];

const TIMERS: u64 = if cfg!(debug_assertions) { 1_000 } else { 100_000 };
const ROUNDS: usize = if cfg!(debug_assertions) { 3 } else { 25 };

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = format!("wheelhouse-overhead-{}.trace", std::process::id());
    let path = std::env::temp_dir().join(name);
    let recorder = Recorder::builder().limit(u64::MAX).create(&path, HierarchicalWheel::new())?;
    let (mut bare, mut recorded) = (Program::new(HierarchicalWheel::new()), Program::new(recorder));
    // The costs of each kind in each round, bare and recorded, and their means.
    let (mut costs, mut means) = (vec![Vec::new(); KINDS.len()], Vec::new());
    for round in 0..=ROUNDS {
        let mut mean = [0.0; 2];
        for (kind, costs) in costs.iter_mut().enumerate() {
            // Alternate which is first: the second finds caches that the first has filled.
            let first = if round % 2 == 0 { bare.time(kind) } else { recorded.time(kind) };
            let pair = match round % 2 {
                0 => [first, recorded.time(kind)],
                _ => [bare.time(kind), first],
            };
            (0..2).for_each(|at| mean[at] += pair[at] / KINDS.len() as f64);
            costs.push(pair);
        }
        means.push(mean);
    }
    assert_eq!(bare.fired, recorded.fired, "both did the same");
    let summary = recorded.timer.finish()?;
    std::fs::remove_file(&path)?;

    println!("{TIMERS} timers, {ROUNDS} rounds; ns per operation, median");
    println!("{:<18}{:>8}{:>10}{:>8}", "", "bare", "recorded", "more");
    for (kind, pairs) in KINDS.iter().zip(&costs).chain([(&"all", &means)]) {
        let median = |of: fn(&[f64; 2]) -> f64| {
            // The first round warms up.
            let mut values: Vec<f64> = pairs[1..].iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let (bare, recorded) = (median(|pair| pair[0]), median(|pair| pair[1]));
        let more = median(|pair| pair[1] - pair[0]);
        println!("{kind:<18}{bare:>8.1}{recorded:>10.1}{more:>8.1}");
    }
    let bytes = summary.bytes as f64 / summary.totals.operations() as f64;
    println!("{bytes:.1} bytes of trace per operation");
    Ok(())
}

/// A program with timers. Each plays the same operations.
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
        self.play(2);
        if kind > 0 {
            self.play(0);
        }
        let start = Instant::now();
        self.play(kind);
        start.elapsed().as_nanos() as f64 / TIMERS as f64
    }

    fn play(&mut self, kind: usize) {
        match kind {
            0 => {
                for value in 0..TIMERS {
                    let deadline = self.later();
                    self.ids.push(self.timer.insert(deadline, value));
                }
            }
            1 => {
                for at in 0..self.ids.len() {
                    let deadline = self.later();
                    black_box(self.timer.reschedule(self.ids[at], deadline));
                }
            }
            2 => self.ids.drain(..).for_each(|id| _ = black_box(self.timer.cancel(id))),
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
    }

    /// A tick up to a minute from now, uniformly distributed.
    fn later(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.timer.now() + 1 + (self.state >> 33) % 60_000
    }
}
