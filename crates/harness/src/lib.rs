//! Verifies, measures and compares timer structures. The `wheelhouse` command and `cargo bench` are
//! built on this crate.
//!
//! How a figure is made:
//!
//! 1. A [`source`] makes a [`stream`] of operations.
//! 2. The oracle plays the stream and records the right answers.
//! 3. Every [`structure`] plays the stream, and its answers are [checked](verify).
//! 4. [`mod@bench`] plays the stream again, timed, in interleaved rounds.
//! 5. [`store`] saves the [`model::Run`].
//! 6. [`summary`], [`compare`], [`plot`] and [`report`] turn the run into tables, plots and pages,
//!    which `wheelhouse-present` renders.
//!
//! [`instructions`] plays the same streams and counts instructions instead of time.

pub mod bench;
pub mod capacity;
pub mod cold;
pub mod compare;
pub mod floor;
pub mod instructions;
pub mod latency;
pub mod list;
pub mod memory;
pub mod model;
pub mod options;
pub mod plot;
pub mod report;
pub mod source;
pub mod store;
pub mod stream;
pub mod structure;
pub mod summary;
pub mod verify;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
