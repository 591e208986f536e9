//! Timers that survive a crash and a restart. A job has a key, a due time, a payload and a *kind*:
//! the name of its handler. It is kept in a store. Delivery is at least once, with leases and
//! fencing tokens.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_durable::store::MemoryStore;
//! use wheelhouse_durable::{Cancel, Durable, DurableRun, Handlers, Next};
//!
//! let (sender, closed) = std::sync::mpsc::channel();
//! let handlers = Handlers::new().on_bytes("close-order/1", move |run: &DurableRun<'_>, order| {
//!     sender.send((order.to_vec(), run.attempt()))?; // an error: the job is retried
//!     Ok(Next::Done)
//! });
//! let timers = Durable::start(MemoryStore::new(), handlers)?; // or a store that outlives it
//! timers.after(Duration::from_millis(5)).key("order-17").schedule_bytes("close-order/1", "17")?;
//! assert_eq!(closed.recv()?, (b"17".to_vec(), 1));
//!
//! let half_an_hour = Duration::from_secs(1_800);
//! timers.after(half_an_hour).key("order-18").schedule_bytes("close-order/1", "18")?;
//! timers.refresh("order-18", half_an_hour)?;
//! assert_eq!(timers.cancel("order-18")?, Cancel::Cancelled);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! ```text
//!  schedule, cancel, refresh            time of the next claim
//!  ──────────────┐             ┌────────────────────── wheel (of the claimer)
//!                ▼             ▼
//!        ┌───────────────┐ ┌─────────┐   leased
//!        │   committer   │ │ claimer │──────────▶ workers: is it too late? handlers by kind
//!        └───────┬───────┘ └────┬────┘                    │
//!                │   ▲          │  begin, ack, retry ..   │
//!                ▼   └──────────┼─────────────────────────┘
//!             trait Store  ◀────┘
//! ```
//!
//! * A [store] holds a row for each key, ordered by `visible_at`: at first the time at which the
//!   job is due. A claim sets it to the end of a lease and returns a token, which the ack must
//!   contain. If a program dies, its jobs become visible again when their leases end. The store's
//!   clock decides which jobs are due.
//! * The start of a run is a separate change, **begin**, which counts the attempt. Until then the
//!   job can be cancelled, moved and replaced. If workers are free at the time of the claim, the
//!   claim itself begins the first attempts of plain jobs: those that were scheduled with nothing
//!   but a key, a due time, a kind and a payload.
//! * The **committer** is one thread. Changes that arrive while it commits form the next batch, so
//!   one sync serves many callers. A caller that waits for its change commits it itself if no other
//!   change is queued or being committed, and the last batch had one change.
//! * The **claimer** is one thread. It leases due jobs, and renews the leases.
//! * The **workers** are the threads of a [`Service`](wheelhouse_service::Service). They call the
//!   handlers, and poll the futures of [async handlers](Handlers::on_async), unless [your
//!   executor](Builder::spawn_on) does. The number of futures is [limited](Builder::async_runs)
//!   separately.
//! * With [several stores](Builder::start_shards) each store has a committer and a claimer. All
//!   stores share the workers.
//!
//! The child of a `fork` has none of the threads: no job runs in it, and calls block forever. Start
//! the timers after the last `fork`.
//!
//! # Crate features
//!
//! | feature | adds | by default |
//! |---|---|---|
//! | `serde` | payloads of any type that serde knows, as JSON | on |
//! | `cron` | jobs on cron lines with time zones | on |
//! | `tracing` | a `tracing` span for each run, and events | off |
//! | `sim` | [`sim`], a simulator for tests of handlers | off |
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | schedule, cancel, refresh | a share of a commit of the store: all callers that wait at the time share one |
//! | a run | a share of a claim, and a share of the commit that ends the run. If the claim has not begun the run, also a share of the commit that begins it |
//! | nothing due | each second, one claim for closures, one for futures, and one call that looks for pauses. While any kind is paused, also a lookup for each kind |
//! | memory | jobs in flight and changes not yet committed; not the pending jobs |
//! | threads | the workers; a committer and a claimer for each store; one more for a store that listens for commits of other programs, as SQLite, Redis and PostgreSQL do where they can |
//!
//! The README of the crate lists guarantees, what is not guaranteed, and alternatives.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod claim;
mod commit;
mod drive;
mod error;
mod handlers;
mod lease;
mod observe;
mod plan;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "sim")]
mod simulated;
pub mod store;
mod timers;

pub use commit::Commit;
pub use drive::{Builder, Durable};
pub use error::{Error, Failure, StartError, Stop};
pub use handlers::{DurableRun, Handlers, Next};
pub use observe::{Counts, Event, EventKind, JobName, KindSnapshot, Snapshot, Summary};
pub use plan::{Late, Missed, Plan, Scheduled};
pub use store::When;
pub use timers::{Cancel, JobState, Jobs, Timers};
/// An async run for [`Builder::spawn_on`], the delays for [`Builder::backoff`], and the future that
/// [`Durable::stop_async`] returns.
pub use wheelhouse_service::{AsyncRun, Backoff, Stopping};

/// The longest payload, in bytes: one mebibyte. Store a longer payload elsewhere, and schedule a
/// reference to it.
pub const MAX_PAYLOAD: usize = 1 << 20;
