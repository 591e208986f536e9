//! Records what a program does with its timers, as a trace that any timer structure can replay.
//!
//! The best structure for a program depends on what the program does: how many timers are live at a
//! time, how far ahead their deadlines are, how many are cancelled, how often one is moved. A
//! seeded workload is a guess, and a recording is a fact. A [`Recorder`] wraps the structure that
//! the program uses, behaves like it, and writes each call into a
//! [trace](wheelhouse_workload::trace):
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
//! | `postpone` of a live timer | a reschedule |
//! | `cancel`, `reschedule`, `postpone` with a stale handle | nothing |
//! | `advance` that moves the clock or fires | an advance; single ticks in a row are counted in one operation |
//! | `pop_expired` that fires, and the next one that does not | a pop |
//! | `pop_expired` that only moves the clock | an advance |
//! | `advance`, `pop_expired` that do nothing | nothing |
//! | all other methods | nothing |
//!
//! An index names one live timer at a time, so it serves as the label, and a recorder stores
//! nothing for each timer. If a callback panics, the timers that it received until then are written
//! as one pop each. So a replay on any structure that keeps the
//! [contract](wheelhouse_core#the-contract) fires the same timers in the same order. Only a timer
//! that was postponed may change places with others of the same deadline.
//!
//! Deadlines are in the program's ticks. Values are not recorded, and neither is the time that
//! passes between two calls.
//!
//! # Cost
//!
//! A call takes less than 30 ns more, and four to six bytes of the file (the README has the
//! figures). The file is at most as long as the [limit](Builder::limit), 100 million bytes by
//! default. At the limit the recording ends, and the trace is completed at once. A recorder holds
//! 64 KiB, however many timers there are. Every 64 KiB, the call that fills the block writes it to
//! the file and waits for that.
//!
//! # Errors
//!
//! Errors do not affect the program. If the file cannot be written, because the disk is full for
//! instance, the recording ends, and the program's timers continue without it. The error is
//! returned by [`finish`](Recorder::finish) and [`ended`](Recorder::ended), and passed to
//! [`Builder::on_end`].
//!
//! Dropping a recorder finishes its trace. A program that is killed leaves a trace without its last
//! block and its end: a reader yields what is there, and then
//! [`Truncated`](wheelhouse_workload::trace::TraceError::Truncated).

mod builder;
mod recorder;
mod trace_output;

pub use builder::{Builder, DEFAULT_LIMIT};
pub use recorder::Recorder;
pub use trace_output::{Error, Summary};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
