//! Verifies, measures and compares timer facilities: what is behind the command `wheelhouse` and
//! `cargo bench`.
//!
//! The way of a figure: a [`source`] makes a [`stream`] of operations; the oracle solves it; every
//! [`contender`] plays it and is [checked](verify); then [`mod@bench`] plays it again, timed, in
//! interleaved rounds, and [`store`] keeps the [`model::Run`]. What a person reads of it,
//! [`summary`], [`compare`], [`plot`] and [`report`] make, with the tables and pages of
//! `wheelhouse-present`. The same streams are counted instead of timed by [`instructions`].

pub mod bench;
pub mod capacity;
pub mod cold;
pub mod compare;
pub mod contender;
pub mod floor;
pub mod idle;
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
pub mod summary;
pub mod verify;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
