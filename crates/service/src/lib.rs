//! A timer service. Any thread schedules jobs, and a pool of threads runs them when they are due.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_service::{Service, Stop};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let service = Service::start()?;
//!     let timers = service.handle(); // cheap to clone, for every thread
//!
//!     let session = timers.after(Duration::from_secs(30)).key("session 1");
//!     session.run(|run| println!("{} expired", run.job()))?;
//!     timers.refresh("session 1", Duration::from_secs(60))?;
//!     timers.every(Duration::from_secs(3600)).run(|run| println!("report {}", run.number()))?;
//!
//!     let stopped = service.stop(Stop::Wait);
//!     assert_eq!(stopped.jobs.len(), 2); // jobs that did not run are returned
//!     Ok(())
//! }
//! ```
//!
//! # Features
//!
//! * **When**: [after a delay](Handle::after), [at](Handle::at) a time, or [at
//!   once](Handle::execute); once, [N times](Periodic::times) or [periodically](Handle::every),
//!   with a [policy for missed periods](Missed); at the times of a [rule](Handle::on), such as a
//!   cron line (feature `cron`).
//! * **What**: a closure; an [async job](OneShot::run_async) with a [time limit](OneShot::limit); a
//!   [value](OneShot::send) for a channel; or a [future] to await. Failed runs are
//!   [retried](OneShot::retry).
//! * **Control**: [cancel](JobHandle::cancel), [refresh](JobHandle::refresh),
//!   [pause](JobHandle::pause), [run now](JobHandle::run_now); by handle or by [unique
//!   key](OneShot::key); [list](Handle::jobs) all jobs; [end](Run::end) a job from inside.
//! * **Where**: on [N threads](Builder::workers), async jobs also on your
//!   [runtime](Builder::spawn_on); at most k runs at once of a [group](Group).
//! * **Stop**: [wait, drain, or return at once](Stop), also [async](Service::stop_async). It
//!   returns each job that did not run.
//! * **Observability**: [counters, lateness and run time](Snapshot); [events](Event); with the
//!   feature `tracing` a span for each run.
//!
//! # Design
//!
//! ```text
//!  threads     Handle ──▶ shard: lock, wheel, jobs ──┐
//!              Handle ──▶ shard: lock, wheel, jobs ──┼──▶ leader: runs what is due
//!              Handle ──▶ ...                        │      │ has been in one job for 200 us
//!                                                    │      ▼
//!                                                    └──▶ standby: takes the lead
//! ```
//!
//! **Shards.** A shard is a lock around a backend (any [`Timer`](wheelhouse_core::Timer)) and the
//! jobs whose timers are in it. Each thread schedules in one shard. A call has taken effect when it
//! returns. It wakes the leader only if the job is due before the leader's next wake-up.
//!
//! **The lead.** One thread of the pool leads. It picks the shard with the earliest deadline and
//! runs the due jobs there, up to the first deadline of any other shard. So jobs run in the order
//! of their deadlines over all shards, and a brief job costs no hand-over to another thread. If the
//! leader has been in one job for 200 microseconds, the *patience*, another thread takes the lead:
//! see [`workers`](Builder::workers). Async jobs are tasks of the pool, unless they are
//! [spawned](Builder::spawn_on) on your runtime.
//!
//! **Without threads.** A [`Scheduler`] is the same code without a pool: an event loop, or a test
//! with a [`ManualClock`], polls it. The *driver* is the thread that runs due jobs: the leader of a
//! service, or the caller that polls a scheduler.
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | schedule | the allocation of the closure or value, the lock of a shard, an insertion into the backend; with a key one more hash lookup |
//! | cancel | the lock of the shard, a cancellation in the backend |
//! | refresh to a later time | the lock of the shard: only the deadline is written, and the timer moves when the old deadline comes |
//! | a run | an expiry in the backend, one lock, two readings of the clock |
//! | idle, without a pending job | nothing: no thread wakes up. Two exceptions, of one wake-up each: at the earliest deadline of a shard, if that job was cancelled; and to release memory, when a shard that had very many jobs has few left |
//! | idle, with pending jobs | a few wake-ups for each job: when its timer moves to a lower level of the wheel, and at the old deadline after a refresh. A job for a wall-clock time has one each minute |
//! | a future that sleeps | no allocation: the job stores the waker |
//! | memory of a pending one-shot job | 90 to 120 bytes with a closure of 16 bytes, depending on when the array of the wheel last doubled |
//! | memory of a pending value of 8 bytes | 100 to 130 bytes |
//! | memory of a periodic job | 205 to 275 bytes and the closure |
//! | memory of a job that is async, retried, grouped, paused, with jitter or for a wall-clock time | 170 bytes more |
//! | memory of a job with a key of 16 bytes | 325 to 390 bytes and the closure |
//!
//! The bytes are those of the service and its default backend together, on a 64-bit machine, with
//! 65,536 jobs or more. With glibc, a closure takes 16 bytes more. The arrays for jobs and timers
//! release memory when a shard that had 65,536 jobs or more has 1,024 or fewer left, see
//! [`Handle::compact`].
//!
//! **Resolution.** A [tick](Builder::tick) is 50 microseconds by default. At 100,000 runs a second,
//! a service with this tick takes about twice the processor time of one with a tick of a
//! millisecond. Jobs with a [`slack`](OneShot::slack) share wake-ups.
//!
//! # Guarantees
//!
//! 1. **Never early.** A run begins at its time or later. Deadlines are rounded up to the
//!    [tick](Builder::tick), or to the [slack](OneShot::slack) of the job, which periodic jobs have
//!    by default.
//! 2. **No drift.** At a fixed rate, deadlines are whole periods after the first, however late a
//!    run was. [`Missed::Delay`] is the exception: a late run shifts the schedule.
//! 3. **In order.** Jobs are dispatched in the order of the ticks of their deadlines. With one
//!    thread they run in that order. Sent values arrive in that order with any number of threads.
//!    Jobs that one thread scheduled for one tick are dispatched in the order of scheduling. There
//!    are two exceptions. A job with [`Missed::Burst`] whose runs take a period or longer can never
//!    catch up: its missed runs begin after all other jobs that are due. After a [pause of the
//!    whole service](Handle::pause), the jobs that came due during the pause begin in the order of
//!    their deadlines within each shard, but not across shards. All jobs that one thread scheduled
//!    are in one shard.
//! 4. **Exactly one outcome.** A scheduled job runs, is cancelled, or is returned by a stop. If a
//!    cancel or refresh races with a run, exactly one wins, and the return value says which. A
//!    cancel, a stop, and a call that refuses a job return the job itself: its closure or value,
//!    and its deadline.
//! 5. **Isolation.** A panic is caught. A slow job delays other jobs, futures and sent values by
//!    the patience of 200 microseconds plus waking a thread, while the pool has a free thread.
//! 6. **No call of a handle waits for a job.** A call waits only for a shard lock. The lock is held
//!    during one such call, during the expiry of at most 64 timers, during one pass over the shard
//!    to release memory, or while a stop takes the jobs out of the shard. The leader never waits
//!    for the receiver of a channel. If a job calls [`stop`](Service::stop), the stop does not wait
//!    for that run. In a service with one thread nothing else can run meanwhile. So a stop that a
//!    job calls there returns the remaining jobs instead of running them, and does not wait for
//!    async jobs.
//! 7. **Clock changes.** A 02:30 job runs exactly once on nights when 02:30 is skipped or repeated.
//!    A cron line whose hours, minutes and seconds are numbers, lists or ranges runs once for each
//!    time that it names, and times that are skipped together share one run. A cron line with a `*`
//!    among these fields runs whenever the clock shows a matching time: not in a skipped hour, and
//!    again in a repeated one. If the wall clock is set, or the machine was suspended, jobs for a
//!    time of day follow within a minute. No other job is affected.
//!
//! # Fork
//!
//! The child of a `fork` has only the thread that called it, and no threads of the service. There,
//! scheduled jobs never run. A call waits for ever if a thread of the parent held the lock of the
//! shard. `stop` and dropping the service panic or wait for ever. So start the service after the
//! last `fork`: in each worker of a server that forks, and after a program has become a daemon.
//! `std::process::Command` is not affected, since its child runs another program.
//!
//! # Recipes
//!
//! The code is in the folder `examples/recipes`. It follows one rule: **a deadline covers the
//! future that it is raced with, and nothing else.** `tokio::select!` polls no branch while the
//! handler of another runs, so an `await` in a handler is outside of the deadline. Each `await`
//! that depends on a peer belongs inside the raced future, inside [`timeout`](Handle::timeout), or
//! in an async job with a [`limit`](OneShot::limit).
//!
//! **Idle connections.** Each connection has one [`Sleep`](future::Sleep). Each read or write that
//! completes postpones it. This is cheap, because it only writes the deadline. If the task cannot
//! watch a deadline itself, schedule a job that aborts the task, under the [key](OneShot::key) of
//! the peer. Any part of the program that hears from the peer postpones that job by
//! [`refresh`](Handle::refresh).
//!
//! ```
#![doc = include_str!("../examples/recipes/idle_connections.rs")]
//! ```
//!
//! **With tokio.** No call of a handle waits for a job, so tasks may call all of them. The futures
//! of the [`future`] module run on tokio's executor as on any other.
//! [`spawn_on`](Builder::spawn_on) spawns async jobs on tokio. [`stop`](Service::stop) and dropping
//! a service wait for runs, and block a thread of the runtime; [`stop_async`](Service::stop_async)
//! does not. [`Stop::Wait`] has no time limit.
//!
//! ```
#![doc = include_str!("../examples/recipes/with_tokio.rs")]
//! ```
//!
//! # Crate features
//!
//! None is on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `cron` | jobs on cron lines with time zones |
//! | `tracing` | a `tracing` span for each run, and an event for each failure |
//!
//! Jobs that must survive a crash need `wheelhouse-durable`. The README says when to stay with
//! tokio's timers.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod calendar;
mod drive;
mod error;
mod event;
pub mod future;
mod guard;
mod handle;
mod job;
mod job_handle;
#[cfg(all(test, wheelhouse_loom))]
mod model_tests;
mod observe;
mod plan;
mod run;
mod shard;
mod shared;
mod sync;
mod time;
mod work;

#[cfg(feature = "cron")]
pub use calendar::cron;
pub use calendar::{OnRule, Rule};
pub use drive::{AsyncRun, Builder, Scheduler, Service, Stop, Stopped, Stopping};
pub use error::{BuildError, ChangeError, Reason, Rejected};
pub use event::EventKind;
pub use handle::Handle;
pub use job::{Backoff, Group, Key, Missed, Status};
pub use job_handle::{Job, JobHandle};
pub use observe::{Counts, Exposition, Snapshot, Summary};
pub use plan::{OneShot, Periodic};
pub use shard::JobIndex;
pub use shared::{Event, Run};
pub use time::{Clock, ManualClock, Moment, MonotonicClock, Waker, When};

/// For `wheelhouse-durable`. Not part of the public interface.
#[doc(hidden)]
pub mod internal {
    pub use crate::guard::{discard, guarded};
    pub use crate::observe::Distribution;

    /// Returns `true` on a thread that is in a run of this service.
    pub fn is_in_run(service: &crate::Handle) -> bool {
        service.shards().is_in_run()
    }
}

/// The channels of [`OneShot::send`], [`Periodic::send`] and [`OnRule::send`].
pub use crossbeam_channel;

/// Compiles and runs the programs of the README. One of them needs the feature `cron`, and a README
/// cannot hide a line that requires it.
#[cfg(all(doctest, feature = "cron"))]
#[doc = include_str!("../README.md")]
struct Readme;
