//! A timer service on any timer facility of wheelhouse: schedule jobs from every thread, and one thread that sleeps
//! until the next is due.
//!
//! # What it does
//!
//! * **When**: [after a delay](Handle::after), [at a moment](Handle::at), [at a time of the wall clock](Handle::at_time); once,
//!   [so many times](Periodic::times), or without end; at a fixed rate with a [policy for missed periods](Missed), or
//!   with a [fixed delay](Periodic::fixed_delay);
//!   or whenever a [rule](Rule) says so, such as a cron line with a time zone (feature `cron`).
//! * **What**: a closure, a value to be sent through a channel, or a [future] that becomes ready: `sleep`, `timeout`,
//!   `interval` and a delay queue, on any executor.
//! * **Meanwhile**: [cancel](JobHandle::cancel) (the job comes back), [refresh](JobHandle::refresh), ask for
//!   [runs](JobHandle::runs), [remaining time](JobHandle::remaining), [status](JobHandle::status); by handle or by
//!   [unique key](OneShot::key).
//! * **Where**: on the driving thread, on [workers](Builder::workers), or on [an executor of yours](Executor). A job
//!   that panics is caught and [reported](Event), and a periodic one goes on.
//! * **The end**: [stopping](Service::stop) gives back each job that did not run; what is scheduled afterwards is refused, with
//!   the job in the error.
//! * **Seeing it**: [counters, lateness and run time](Snapshot), also as text for Prometheus.
//!
//! # How it works
//!
//! ```text
//!  threads        Handle ──┐                                         ┌──▶ worker
//!                 Handle ──┼──▶ intake (MPSC) ──▶ Scheduler ─────────┼──▶ worker
//!  jobs           Handle ──┘        ▲              jobs in a slab    └──▶ ...
//!                                   │              indices in a backend: any `Timer`
//!                                   └────────── a run has ended ─────────┘
//! ```
//!
//! The [`Scheduler`] owns the timers and is driven by [`poll`](Scheduler::poll) and
//! [`next_wakeup`](Scheduler::next_wakeup): by the thread of a [`Service`], by an event loop, or by a test with a
//! [`ManualClock`]. All three run the same code.
//!
//! A job is one record, shared by those who hold its handle, the scheduler, and the worker that runs it. What happens
//! to it is decided under the lock of that record alone, so that every question has one answer: a refresh that races
//! with the run either is told that the run [has begun](ChangeError::Running), or has prevented it. The intake carries
//! records, not commands: the scheduler looks at the state and does what it asks for. A refresh to a later time sends
//! nothing at all; the timer is moved when the former time comes. A record is in the intake once at most, however often it
//! is changed meanwhile.
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | schedule | an allocation, which holds the closure too, a send, and an insertion into the backend by the driver; a hash lookup more with a key |
//! | cancel | the lock of the job, a send, and a cancellation in the backend by the driver |
//! | refresh to a later time | the lock of the job |
//! | a run | an expiry in the backend, a handful of locks held for an instant each, two reads of the clock |
//! | nothing due | nothing: no tick is visited, no thread wakes up |
//! | memory of a pending job | 165 to 225 bytes in one allocation; 205 to 265 in two if it is periodic; 315 to 380 in three with a key of 16 bytes |
//!
//! The bytes are those of the service and its default backend together, on a 64-bit machine, among 65,536 jobs and more
//! (`tests/memory.rs` holds them to this); what a closure holds comes on top. What it holds is dropped when the job is over; the memory
//! of the job itself is freed when nobody has its handle any more either.
//! The arrays in which jobs, timers and keys lie keep their room for the jobs to come, until the service ends: 60 to 120
//! bytes for each of the most jobs that there were at a time, 145 to 210 if they had keys.
//!
//! # What is promised
//!
//! 1. **Never early.** A run begins at its time or later. Deadlines are rounded up to the [tick](Builder::tick).
//! 2. **No drift.** At a fixed rate, deadlines are whole periods from the first, whatever was late.
//! 3. **In order.** Runs are handed out in the order of their deadlines' ticks; on one thread they run in that order, and values
//!    that are sent arrive in it, workers or not.
//! 4. **Exactly as often as it should.** A job that is scheduled runs, or is cancelled, or is given back: one of these,
//!    and the caller knows which.
//! 5. **A job harms no other.** Neither by panicking nor, with a worker to spare, by being slow. Where jobs run on workers,
//!    futures and values that are sent wait for none of them.
//! 6. **Nothing blocks for ever.** No call of a handle waits for the driver, the driver waits for no worker and no receiver.
//!
//! # Recipes
//!
//! **With tokio.** No call of a handle waits, so tasks may use it as they like, and futures of the [`future`] module run on its
//! executor as on any. [`stop`](Service::stop) does wait for runs, and so does dropping a service: in a task either would hold up a
//! thread of the runtime. Give the service to a thread that may wait.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_service::{Service, Stop};
//!
//! async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//!     let service = Service::builder().workers(1).start()?;
//!     service.handle().sleep(Duration::from_millis(1)).await?;
//!     service.handle().after(Duration::from_secs(3600)).run(|_| println!("an hour has passed"))?;
//!     let stopped = tokio::task::spawn_blocking(move || service.stop(Stop::WaitFor(Duration::from_secs(10)))).await?;
//!     assert_eq!(stopped.jobs.len(), 1);
//!     Ok(())
//! }
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(serve())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Trying again at growing distances.** A periodic job moves its own next run from inside, and ends itself when it is done. By
//! [`fixed_delay`](Periodic::fixed_delay) no run follows at once because others were late.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_service::{ManualClock, Moment, Scheduler};
//!
//! let clock = ManualClock::new();
//! let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
//! let (sender, tries) = crossbeam_channel::unbounded();
//! let connects = |attempt: u64| attempt == 4; // whatever may fail
//!
//! let (mut delay, longest) = (Duration::from_secs(1), Duration::from_secs(60));
//! scheduler.handle().every(delay).fixed_delay().named("connect").run(move |run| {
//!     sender.send(run.started().since_origin().as_secs()).ok();
//!     if connects(run.number()) {
//!         return run.end();
//!     }
//!     delay = longest.min(delay * 2);
//!     run.job().refresh(delay).ok(); // an error says that somebody has cancelled it meanwhile
//! })?;
//! scheduler.play(&clock, Moment::from_nanos(3_600_000_000_000));
//! assert_eq!(tries.try_iter().collect::<Vec<_>>(), [1, 3, 7, 15]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Metrics over HTTP**, for a program that has no server of its own:
//!
//! ```no_run
//! use std::io::{self, BufRead, BufReader, Write};
//! use std::net::{TcpListener, TcpStream};
//! use std::time::Duration;
//! use wheelhouse_service::{Handle, Service};
//!
//! fn answer(mut client: TcpStream, timers: &Handle) -> io::Result<()> {
//!     client.set_read_timeout(Some(Duration::from_secs(5)))?; // one that says nothing keeps nobody waiting
//!     BufReader::new(&client).lines().take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
//!     let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nConnection: close\r\n";
//!     let text = timers.snapshot().prometheus();
//!     write!(client, "{head}Content-Length: {}\r\n\r\n{text}", text.len())
//! }
//!
//! let service = Service::start()?;
//! for client in TcpListener::bind("127.0.0.1:9100")?.incoming() {
//!     client.and_then(|client| answer(client, &service.handle())).unwrap_or_else(|error| eprintln!("metrics: {error}"));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When to take something else
//!
//! To drive timeouts inside of one event loop that owns them, a backend alone is smaller and does less: see
//! `wheelhouse-hierarchical-wheel`.

mod calendar;
mod drive;
mod error;
mod event;
pub mod future;
mod handle;
mod job;
mod job_handle;
#[cfg(all(test, wheelhouse_loom))]
mod model_tests;
mod observe;
mod plan;
mod run;
mod shard;
mod sync;
mod time;
mod work;

#[cfg(feature = "cron")]
pub use calendar::cron;
pub use calendar::{OnRule, Rule};
pub use drive::{Builder, DueRun, Executor, Scheduler, Service, Stop, Stopped};
pub use error::{BuildError, ChangeError, Reason, Rejected};
pub use event::{Event, EventKind};
pub use handle::{Handle, Run};
pub use job::{Key, Missed, Status};
pub use job_handle::{Job, JobHandle};
pub use observe::{Counts, Snapshot, Summary};
pub use plan::{OneShot, Periodic};
pub use shard::JobIndex;
pub use time::{Clock, ManualClock, Moment, MonotonicClock, Waker};

/// What [`OneShot::send`] and [`Periodic::send`] send to, from the crate of the same name.
pub use crossbeam_channel;

/// Compiles and runs the program of the page for those who come from elsewhere.
#[cfg(doctest)]
#[doc = include_str!("../MIGRATION.md")]
struct Migration;

/// Compiles and runs the programs of the README. Only with the feature `cron`, which one of them needs: a page for readers has no hidden
/// line that could make that one depend on it.
#[cfg(all(doctest, feature = "cron"))]
#[doc = include_str!("../README.md")]
struct Readme;
