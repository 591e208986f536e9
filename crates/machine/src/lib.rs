//! The machine under a measurement. Nothing here depends on what is measured.
//!
//! | module | content |
//! |---|---|
//! | [`provenance`] | machine, compiler, commit and command: where a figure comes from |
//! | [`clock`] | the time of a piece of work, and the cost of reading the clock |
//! | [`allocator`] | the bytes that the program has allocated |
//! | [`callgrind`] | the instructions of a function, counted by valgrind |
//! | [`interrupt`] | Ctrl-C ends a run between two measurements |
//! | [`processor`] | the processor that other programs use least, and work on all of them |
//!
//! The harness and the load on services both need these, and neither needs the other. They are not
//! in `wheelhouse-present`, since a program that shows figures needs no allocator that counts.

pub mod allocator;
pub mod callgrind;
pub mod clock;
pub mod interrupt;
pub mod processor;
pub mod provenance;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
