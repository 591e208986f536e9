//! The code that all benches share.
//!
//! A bench defines its [experiments](Experiment) and its [contenders](Contender). The frame reads
//! the [options] that all benches share, plays each experiment on each contender in [interleaved
//! rounds](run), shows the medians in [tables and a report](report), compares them with
//! [bounds](bound), and saves them in a [folder]. A contender can count how often its [threads] go
//! to sleep.
//!
//! ```
//! use std::hint::black_box;
//! use std::time::Instant;
//! use wheelhouse_frame::{Contender, Experiment, Figure, run};
//!
//! /// Sums the numbers up to the load.
//! #[derive(Clone, Copy, PartialEq)]
//! struct Sum;
//!
//! impl Experiment for Sum {
//!     type Load = u64;
//!     const ALL: &'static [Self] = &[Self];
//!     const TITLE: &'static str = "Sums";
//!
//!     fn name(self) -> &'static str {
//!         "sum"
//!     }
//!     fn title(self, load: &u64) -> String {
//!         format!("the sum of the numbers up to {load}")
//!     }
//! }
//!
//! let addition = Contender::new("loop", "adds one after the other", |_: Sum, load: &u64| {
//!     let begin = Instant::now();
//!     let sum: u64 = (1..=*load).map(black_box).sum();
//!     if sum != load * (load + 1) / 2 {
//!         return Ok(Err(format!("the sum is not {sum}")));
//!     }
//!     Ok(Ok(vec![Figure::time("time", begin.elapsed().as_nanos() as f64)]))
//! });
//!
//! let plan = run::Plan {
//!     contenders: vec![addition],
//!     experiments: vec![Sum],
//!     on_all: false,
//!     load: 1_000,
//!     rounds: 3,
//!     seed: 1,
//! };
//! let run = run::play_all(&plan)?;
//! assert_eq!((run.rows.len(), run.exit_code()), (3, 0));
//! # Ok::<(), anyhow::Error>(())
//! ```

pub mod bound;
mod experiment;
mod figure;
pub mod folder;
pub mod options;
pub mod report;
pub mod run;
#[cfg(test)]
mod testing;
pub mod threads;

pub use bound::{Bound, Target};
pub use experiment::{Contender, Experiment, select_contenders};
pub use figure::{Figure, Played, Sample, Unit};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
