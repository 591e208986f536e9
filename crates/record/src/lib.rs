//! Records what a program does with its timers, as a trace that any timer facility can replay.
//!
//! Which structure suits a program depends on what the program does: how many timers live at a
//! time, how far away their deadlines are, how many are cancelled, how often one is moved. A seeded
//! workload guesses. A recording knows. A [`Recorder`] wraps the structure that the program uses,
//! behaves like it, and writes each call into a [trace](wheelhouse_workload::trace):
//!
//! ```text
//!   program ──insert, cancel, reschedule, advance──> Recorder ──the same calls──> backend
//!                                                       │
//!                                              a block of 64 KiB ──when full──> file
//! ```
//!
//! ```
//! use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Timer};
//! use wheelhouse_record::Recorder;
//! use wheelhouse_workload::trace::Reader;
//! # let name = format!("wheelhouse-record-{}", std::process::id());
//! # let directory = std::env::temp_dir().join(name);
//! # std::fs::create_dir_all(&directory)?;
//! # let path = directory.join("mine.trace");
//!
//! let mut timeouts = Recorder::create(&path, HierarchicalWheel::new())?;
//! let id = timeouts.insert(30, "connection 1");
//! timeouts.reschedule(id, 45);
//! timeouts.advance(50, |expired| println!("{} timed out", expired.value));
//! let summary = timeouts.finish()?;
//! assert_eq!(summary.totals.operations(), 3);
//!
//! let reader = Reader::new(std::fs::File::open(&path)?)?;
//! assert_eq!(reader.count(), 3);
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is recorded
//!
//! | call | operation |
//! |---|---|
//! | `insert` | an insertion; its label is the [index](wheelhouse_core::TimerId::index) of the handle |
//! | `cancel`, `reschedule` of a live timer | the same, under its label |
//! | `cancel`, `reschedule` with a stale handle | nothing |
//! | `advance` that moves the clock or fires | an advance; single ticks in a row are counted in one operation |
//! | `pop_expired` that fires, or ends a run of those | a pop |
//! | `pop_expired` that only moves the clock | an advance |
//! | `advance`, `pop_expired` that do nothing | nothing |
//! | questions, `compact` | nothing |
//!
//! An index names one live timer at a time, so that it serves as the label as it is, and a recorder
//! keeps nothing for each timer. Where a callback panics, the timers that were handed out until
//! then are written as one pop each. So whoever replays the trace on a structure that keeps the
//! [contract](wheelhouse_core#the-contract) sees the same timers fire in the same order.
//!
//! Deadlines are the program's ticks. Values are not recorded, and neither is the time that passes
//! between two calls.
//!
//! # What it costs
//!
//! An operation takes four to six bytes of the file, and less than 30 ns more (the README has the
//! figures). The file is as long as the [limit](Builder::limit) at most, 100 million bytes by
//! default; then the recording ends and the trace is finished on the spot. A recorder holds 64 KiB,
//! however many timers there are. Every 64 KiB, the call that fills the block writes it to the
//! file, and waits for that.
//!
//! # What can go wrong
//!
//! Nothing that concerns the program. If the file cannot be written, because the disk is full for
//! instance, the recording ends, and the program's timers go on without it. The error comes from
//! [`finish`](Recorder::finish), [`ended`](Recorder::ended) and [`Builder::on_end`].
//!
//! A recorder that is dropped finishes its trace. A program that is killed leaves a trace without
//! its last block and its end: a reader yields what is there, and then
//! [`Truncated`](wheelhouse_workload::trace::TraceError::Truncated).
//!
//! # When to take something else
//!
//! For a program that cannot be changed, `scripts/record-kernel-timers` in the repository records
//! the timers that the Linux kernel keeps for it.

mod builder;
mod outcome;
mod recorder;
mod tape;

pub use builder::{Builder, DEFAULT_LIMIT};
pub use outcome::{Ended, Error, Summary};
pub use recorder::Recorder;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
