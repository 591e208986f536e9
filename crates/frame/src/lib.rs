#![doc = include_str!("../README.md")]

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
