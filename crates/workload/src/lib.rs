//! Workloads for timer structures, as streams of operations: seeded streams, described by data, and
//! recorded streams.
//!
//! A comparison of timer structures needs the same operations for each of them. This crate provides
//! these operations; it does not depend on a clock or a structure. A stream is a sequence of
//! [`Op`]s, divided into [`Phase`]s by what they measure. A [`Player`] plays them on anything that
//! implements [`Timer`](wheelhouse_core::Timer), and adds every answer to a
//! [`Checksum`]: two structures that give the same answers have the same checksum.
//!
//! ```text
//!   catalogue ─> Workload ─ phases(n, seed) ─┐
//!                                            ├─> Phase { measure, operations, ops }
//!   *.trace  ──> trace::Reader ─ phases() ───┘                      │
//!       ▲                                                           ▼
//!       │                                               Player ─> Timer, Checksum
//!       ├── kernel::convert <── scripts/record-kernel-timers <── Linux
//!       └── trace::LiveWriter <── wheelhouse-record <── your program
//! ```
//!
//! ```
//! use wheelhouse_workload::{Measure, find_workload};
//!
//! # fn main() -> Result<(), wheelhouse_workload::UnknownWorkload> {
//! let uniform = find_workload("uniform")?;
//! for phase in uniform.phases(1000, 42) {
//!     match phase.measure {
//!         Some(Measure::FireTicks) => assert_eq!(phase.operations, 1000), // to be timed
//!         Some(_) => {}                                                   // to be timed, too
//!         None => {}                                                      // preparation
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Workloads
//!
//! [`workloads`] lists them. Each has a name, a source, a description, and its parameters. This
//! entry defines the workload completely: the patterns take every number from it.
//!
//! | names | what they are |
//! |---|---|
//! | `uniform` | each operation separately, on all timers, in random order |
//! | `steady`, `steady-6`, `steady-50`, `steady-90` | cancel and insert with a constant number of timers, of which 25, 6, 50 or 90 % fire |
//! | `hold-exponential`, `-uniform`, `-constant`, `-bimodal`, `-pareto` | take the earliest, insert it again |
//! | `kafka-low`, `kafka-high` | requests with a timeout; few or half of the timeouts fire |
//! | `start-stop` | one timer started and stopped at once, repeatedly |
//! | `message-pairs`, `tcp`, `keepalive`, `session-ttl` | the timers of connections and sessions |
//! | `often-moved`, `popular-sessions`, `mostly-answered`, `few-delays` | timeouts that rarely fire |
//! | `delay-queue-burst`, `same-deadline`, `periodic`, `sparse` | all due at once; periodic timers; very few timers |
//! | `same-slot`, `descending`, `cascade-storm`, `cancel-storm` | worst cases of particular structures |
//!
//! [`Mix`] generates a stream with your shares of starts, stops, moves and expiries.
//!
//! # Reproducible bit for bit
//!
//! The name, the number of timers and the seed determine the operations. The platform, the versions
//! of dependencies and the rest of the build do not change them; a test compares every workload
//! with a recorded checksum. Operations are generated phase by phase, so the generation is not
//! timed, and only one phase is in memory.
//!
//! # Traces
//!
//! [`trace`] reads and writes recorded streams. The crate includes [two](trace::shipped): the
//! timers of a Linux kernel under a web server and under a key-value server, converted by
//! [`kernel`]. A seeded stream shows how a structure behaves in a given situation. A trace shows
//! whether that situation occurs.

mod catalogue;
mod definition;
mod delay;
pub mod kernel;
mod mix;
mod op;
mod patterns;
mod player;
mod queue;
mod random;
mod script;
pub mod trace;

pub use catalogue::{UnknownWorkload, find_workload, workloads};
pub use definition::{MAX_TIMERS, Pattern, Workload};
pub use delay::Delay;
pub use mix::Mix;
pub use op::{Measure, Op, Phase};
pub use patterns::connections::Tcp;
pub use patterns::messages::Messages;
pub use patterns::periodic::Period;
pub use player::{Checksum, Player};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
