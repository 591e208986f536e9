//! Timers that survive a crash and a restart: a job has a key, a due time and the name of its
//! handler, and lies in a store. At least once, with leases and fencing tokens.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_durable::store::MemoryStore;
//! use wheelhouse_durable::{Durable, DurableRun, Handlers, Next};
//!
//! let (sender, closed) = std::sync::mpsc::channel();
//! let handlers = Handlers::new().on_bytes("close-order/1", move |run: &DurableRun<'_>, order| {
//!     sender.send((order.to_vec(), run.attempt()))?; // an error is tried again
//!     Ok(Next::Done)
//! });
//! let timers = Durable::start(MemoryStore::new(), handlers)?; // or one that outlives the program
//! timers.after(Duration::from_millis(5)).key("order-17").schedule_bytes("close-order/1", "17")?;
//! assert_eq!(closed.recv()?, (b"17".to_vec(), 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! ```text
//!  schedule, cancel, refresh            when to ask
//!  ──────────────┐             ┌────────────────────── wheel (of the claimer)
//!                ▼             ▼
//!        ┌───────────────┐ ┌─────────┐   leased
//!        │   committer   │ │ claimer │──────────▶ workers: is it too late? handlers by kind
//!        └───────┬───────┘ └────┬────┘               │
//!                │   ▲          │ begin, ack, retry.. │
//!                ▼   └──────────┼────────────────────┘
//!             trait Store  ◀────┘
//! ```
//!
//! * A [store] holds a row for each key, in the order of when it is visible. A claim moves
//!   that to the end of a lease and gives a token; an ack compares the token. So a job whose
//!   program died comes back by itself.
//! * A run **begins** by a separate change, when a worker is free for it: that counts the attempt.
//!   Until then its job can be cancelled, moved and replaced.
//! * The **committer** is one thread. While it commits, what arrives is the next batch; so one sync
//!   serves many. A [`Commit`] is waited for by a thread or awaited.
//! * The **claimer** is one thread. It leases what is due, no more than may be in flight, and
//!   learns when to ask next. That moment is in the wheel of its
//!   [`Scheduler`](wheelhouse_service::Scheduler), with the renewal of leases; the jobs are not.
//! * The **workers** are the threads of a [`Service`](wheelhouse_service::Service), which gets each
//!   run [directly](wheelhouse_service::Handle::execute).
//! * [Async handlers](Handlers::on_async) are polled by the workers, or by your executor. They
//!   have another bound, as a future that waits occupies no thread.
//! * With [several stores](Builder::start_shards) each has a committer and a claimer; the workers
//!   are those of all.
//! * The **store's clock** decides what is due. Programs send delays.
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | schedule, cancel, refresh | a place in a batch, and the store's commit, shared with all who wait |
//! | a run | its part of a claim and of two commits, as it begins and ends; an allocation for each |
//! | nothing due | a question to the store each second |
//! | memory | what is in flight and not committed; not what is pending |
//! | threads | workers; a committer and a claimer for each store |
//!
//! What is promised and what not, and what to take instead, is in the README of the crate.

mod claim;
mod commit;
mod drive;
mod error;
mod handlers;
mod observe;
mod plan;
pub mod store;

pub use commit::Commit;
pub use drive::{Builder, Cancel, Durable, JobState, Jobs, Timers};
pub use error::{Error, StartError};
pub use handlers::{DurableRun, Failure, Handlers, Next, Stop};
pub use observe::{Counts, Event, EventKind, JobName, KindSnapshot, Snapshot, Summary};
pub use plan::{Late, Missed, Plan, Scheduled};
/// What [`Builder::spawn_on`] hands over, and what [`Durable::stop_async`] returns.
pub use wheelhouse_service::{AsyncRun, Stopping};

/// The longest payload, in bytes: a mebibyte. What is longer is stored elsewhere, and its place is
/// scheduled.
pub const MAX_PAYLOAD: usize = 1 << 20;

/// Compiles and runs the program of the README.
#[cfg(all(doctest, feature = "serde", feature = "cron"))]
#[doc = include_str!("../README.md")]
struct Readme;
