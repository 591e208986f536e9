//! What timers are used for, as streams of operations: seeded ones, described in data, and recorded
//! ones.
//!
//! Whoever compares timer facilities needs operations to compare them on, the same for each. This
//! crate has them and nothing else: it knows no clock and no structure. A stream is a sequence of
//! [`Op`]s, cut into [`Phase`]s by what they measure; a [`Player`] plays them on anything that
//! implements [`Timer`](wheelhouse_core::Timer), and sums up every answer in a [`Checksum`], so
//! that two structures that agree on a stream have the same sum.
//!
//! ```text
//!   catalogue ─> Workload ─ phases(n, seed) ─┐
//!                                            ├─> Phase { measure, operations, ops }
//!   *.trace  ──> trace::Reader ─ phases() ───┘                      │
//!       ▲                                                           ▼
//!       │                                               Player ─> Timer, Checksum
//!       ├── kernel::convert <── scripts/record-kernel-timers <── Linux
//!       └── trace::LiveWriter <── wheelhouse-record <── a program of yours
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
//! [`workloads`] lists them; each has a name, where it comes from, a story of what it shows, and
//! its parameters. There is nothing to a workload beside that entry: the patterns take every number
//! from it.
//!
//! | names | what they are |
//! |---|---|
//! | `uniform` | each operation by itself, on all timers, in random order |
//! | `steady`, `steady-6`, `steady-50`, `steady-90` | cancel and insert at a constant number of timers, of which 25, 6, 50 or 90 % fire |
//! | `hold-exponential`, `-uniform`, `-constant`, `-bimodal`, `-pareto` | take the earliest, insert it again |
//! | `kafka-low`, `kafka-high` | requests with a timeout, few or half of which fire |
//! | `start-stop` | one timer started and stopped at once, over and over |
//! | `message-pairs`, `tcp`, `keepalive`, `session-ttl` | the timers of connections and sessions |
//! | `often-moved`, `popular-sessions`, `mostly-answered`, `few-delays` | timeouts that hardly ever fire |
//! | `delay-queue-burst`, `same-deadline`, `periodic`, `sparse` | all at once; again and again; next to none |
//! | `same-slot`, `descending`, `cascade-storm`, `cancel-storm` | made to hurt one structure or another |
//!
//! [`Mix`] makes a stream of the reader's own: starts, stops, moves and expiries in given shares.
//!
//! # The same, bit for bit
//!
//! The operations follow from the name, the number of timers and the seed, and from nothing else:
//! not from the platform, the version of a dependency, or what else is in the build. A test holds
//! every workload to a checksum. They are made phase by phase, so that making them is not timed and
//! only one phase is in memory.
//!
//! # Traces
//!
//! [`trace`] reads and writes recorded streams; [two](trace::shipped) come with the crate, the
//! timers of a Linux kernel under a web server and under a key-value server. [`kernel`] is how they
//! were made. A seeded stream says what a structure does in a situation with a name; a trace says
//! whether that situation arises.

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
