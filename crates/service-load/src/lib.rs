//! Load on running timer services: ours, and others beside it.
//!
//! The other benches drive data structures by a virtual clock, on one thread. Here services run as
//! programs have them: with their threads, in real time, given jobs by other threads. These
//! questions are asked of each [`facility`]:
//!
//! | experiment | question |
//! |---|---|
//! | `pairs` | how many jobs a second can be scheduled and cancelled: at once, after a while, by another thread |
//! | `producers` | how long does a call take if 64 threads make calls |
//! | `schedule` | how many jobs a second can be scheduled, and what they take |
//! | `refresh` | how many sessions a second can be moved to a later time |
//! | `fires` | how late are jobs that fire at 100,000 or 300,000 a second |
//! | `slow-jobs` | how late are brief jobs if one in 500 blocks its thread |
//! | `millisecond-jobs` | how late are jobs that need 80 % of the processors |
//! | `periodic` | what does a run cost of 100,000 periodic jobs |
//! | `sessions` | how late do 500,000 sessions expire that are refreshed all the while |
//! | `server` | how many processors do the timeouts of a server take |
//! | `audit` | how long does a million jobs take that are due at one instant |
//! | `idle` | how often does a thread wake up while nothing is due |
//!
//! The way of a figure: an [experiment](experiments) gives a facility jobs that write into a
//! [`ledger`] when they run; then it is [checked](fate) that each has run as often as it should and
//! none early; only then are there figures. The frame plays all in turn, shows the medians, and
//! holds them to what is asked of our service; [`options`] is the command line.
//!
//! ```
//! use wheelhouse_frame::{run, select_contenders};
//! use wheelhouse_service_load::experiments::Experiment;
//! use wheelhouse_service_load::{facilities, load::Load};
//!
//! let plan = run::Plan {
//!     contenders: select_contenders(facilities::all(), &["wheelhouse".to_owned()])?,
//!     experiments: vec![Experiment::Audit],
//!     on_all: true,
//!     load: Load::tiny(),
//!     rounds: 1,
//!     seed: 1,
//! };
//! let run = run::play_all(&plan)?;
//! assert_eq!(run.wrong().count(), 0);
//! # Ok::<(), anyhow::Error>(())
//! ```

pub mod body;
pub mod contender;
mod cpu;
pub mod distribution;
pub mod experiments;
pub mod facilities;
pub mod facility;
pub mod fate;
mod glance;
pub mod ledger;
pub mod load;
pub mod options;
mod pace;
mod targets;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
