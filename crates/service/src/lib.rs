//! A timer service on any timer facility of wheelhouse: schedule jobs from every thread; one thread
//! sleeps until the next is due, and hands it to workers or runs it.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_service::{Service, Stop};
//!
//! let service = Service::start()?;
//! let timers = service.handle(); // for every thread
//! let session = timers.after(Duration::from_secs(30)).key("session 1");
//! session.run(|run| println!("{} expired", run.job()))?;
//! timers.refresh("session 1", Duration::from_secs(60))?;
//! timers.every(Duration::from_secs(3600)).run(|run| println!("report {}", run.number()))?;
//! assert_eq!(service.stop(Stop::Wait).jobs.len(), 2); // what has not run comes back
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why this one
//!
//! * **Changes of clock.** A job at 02:30 has one run in the night that has no 02:30 and one in the
//!   night that has two, and lists and ranges of a cron line have theirs. If the wall clock is set,
//!   or the machine was suspended, jobs for a time of day follow within a minute; no other moves.
//! * **Exact answers.** Of a cancellation or a refresh and a run that race, one wins, and the
//!   answer says which: a session that was refreshed in time never expires.
//! * **Jobs come back.** A cancellation, a stop and a refusal give back the job itself: closure,
//!   value and deadline.
//! * **Below a millisecond.** Ticks of 50 microseconds by default, never early, no drift.
//! * **A job harms no other.** A panic is caught and reported, a slow run occupies one worker, and
//!   a job does not overlap with itself unless it is to.
//!
//! # What it does
//!
//! * **When**: [after a delay](Handle::after); [at](Handle::at) an instant, a moment or a time of
//!   the wall clock; once, [so many times](Periodic::times), or without end; at a fixed rate with a
//!   [policy for missed periods](Missed), or with a [fixed delay](Periodic::fixed_delay); whenever
//!   a [rule](Rule) says so, such as a cron line with a time zone (feature `cron`). With
//!   [jitter](Periodic::jitter), if many must not come together.
//! * **What**: a closure, an [async job](OneShot::run_async) on any executor with a [time
//!   limit](OneShot::limit), a value to be sent through a channel, or a [future] that becomes
//!   ready: `sleep`, `timeout`, `interval` and a delay queue. What fails is [tried
//!   again](OneShot::retry) by a [`Backoff`].
//! * **Meanwhile**: [cancel](JobHandle::cancel), [refresh](JobHandle::refresh),
//!   [pause](JobHandle::pause) one or [all](Handle::pause), [run now](JobHandle::run_now), ask for
//!   runs, next time, status and [last error](JobHandle::last_error); by handle, by [unique
//!   key](OneShot::key), or for [all jobs](Handle::jobs).
//! * **Where**: on [workers](Builder::workers), on the [driving thread](Builder::inline), on [an
//!   executor of yours](Executor); at most so many at once of a [group](Group).
//! * **The end**: [stopping](Service::stop) waits, [drains](Stop::Drain) or does neither, blocking
//!   or [async](Service::stop_async), and gives back each job that did not run.
//! * **Seeing it**: [counters, lateness and run time](Snapshot), also as text for Prometheus;
//!   [events](Event); with the feature `tracing` a span for each run.
//!
//! # How it works
//!
//! ```text
//!  threads     Handle ──▶ shard: lock, wheel, jobs ──┐                 ┌──▶ worker
//!              Handle ──▶ shard: lock, wheel, jobs ──┼──▶ driver ──────┼──▶ worker
//!  jobs        Handle ──▶ ...                        │    runs, or     └──▶ ...
//!                              ▲                     │    hands out
//!                              └── a run has ended ──┘
//! ```
//!
//! Jobs lie in *shards*: a lock around a backend (any `Timer`) and the jobs whose timers are in it.
//! A thread schedules in one of them, and what a call asks for is done when it returns: no message
//! is sent, nothing is left for the driver. The driver is woken only if a job became the first of
//! its shard and is due before the driver would wake up by itself.
//!
//! The driver goes to the shard where something is due first, and runs what is due there up to the
//! tick of the next shard. So the order of deadlines holds over all shards. It is the thread of a
//! [`Service`], an event loop, or a test with a [`ManualClock`] that polls a [`Scheduler`]: all
//! three run the same code. A service has a shard for each processor, a scheduler one.
//!
//! What happens to a job is decided under the lock of its shard, so that every question has one
//! answer: a refresh that races with the run either is told that the run [has
//! begun](ChangeError::Running), or has prevented it. A refresh to a later time only writes the
//! deadline; the timer is moved when the former time comes.
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | schedule | the allocation of the closure, the lock of a shard, an insertion into the backend; a hash lookup more with a key |
//! | a value that is sent once | no allocation: it lies with others of its type; with a name, a key or other options one, as a closure |
//! | cancel | the lock of the shard, a cancellation in the backend |
//! | refresh to a later time | the lock of the shard |
//! | a run | an expiry in the backend, one lock, two readings of the clock; on a worker a hand-over and two locks more |
//! | nothing due | nothing: no tick is visited, no thread wakes up; where what was due first was cancelled, once for each shard |
//! | a future that sleeps | no allocation: the job is the waker |
//! | memory of a pending one-shot job | 90 to 120 bytes with a closure of 16 bytes: the array of the wheel doubles when it is full |
//! | of one that sends 8 bytes | 100 to 130 bytes |
//! | of a periodic one | 205 to 275 bytes and the closure |
//! | of one that is async, retried, grouped, paused, with jitter or for a wall-clock time | 170 bytes more |
//! | with a key of 16 bytes | 325 to 390 bytes and the closure |
//!
//! The bytes are those of the service and its default backend together, on a 64-bit machine, among
//! 65,536 jobs and more (`tests/service/memory.rs` holds them to this). The arrays in which jobs,
//! timers and keys lie keep their room for the jobs to come, until the service ends.
//!
//! **Resolution and slack.** A [tick](Builder::tick) is 50 microseconds by default. A finer one
//! wakes the driver more often when much is due: at 100,000 runs a second a tick of 50 us takes
//! twice as much processor time as one of a millisecond. Where lateness does not matter, a
//! [`slack`](Builder::slack), of the service or of a [job](OneShot::slack), puts wake-ups together.
//! A [periodic](Periodic) job has one of a thousandth of its period by default, and of a
//! millisecond at most: 100,000 of them with a period of a second take 0.55 us of processor time a
//! run, and 2.55 us without.
//! Linux adds up to 50 us of its own, unless the [timer slack](Builder::timer_slack) is less.
//!
//! # What is promised
//!
//! 1. **Never early.** A run begins at its time or later. Deadlines are rounded up to the
//!    [tick](Builder::tick), or to the [slack](Builder::slack), which periodic jobs have by
//!    default.
//! 2. **No drift.** At a fixed rate, deadlines are whole periods from the first, whatever was late.
//! 3. **In order.** Runs are handed out in the order of their deadlines' ticks; on one thread they
//!    run in that order, and values that are sent arrive in it, workers or not. Of one tick, those
//!    that one thread has scheduled come in the order of scheduling.
//! 4. **Exactly as often as it should.** A job that is scheduled runs, or is cancelled, or is given
//!    back: one of these, and the caller knows which. How a job ended is kept for its
//!    [handles](JobHandle) where several runs, a name or a key are, or where [it was asked
//!    for](OneShot::tracked).
//! 5. **A job harms no other.** Neither by panicking nor, with a worker to spare, by being slow.
//!    Where jobs run on workers, futures and values that are sent wait for none of them.
//! 6. **Nothing blocks for ever.** A call of a handle waits for others that hold the lock of a
//!    shard: as long as they do the same, or the driver takes out 64 timers at most. The driver
//!    waits for no worker and no receiver. A stop that a job calls waits for no run that has not
//!    begun.
//!
//! # Recipes
//!
//! **With tokio.** No call of a handle waits, so tasks may use it as they like, and futures of the
//! [`future`] module run on its executor as on any. [`spawn_on`](Builder::spawn_on) gives it the
//! async jobs. [`stop`](Service::stop) and dropping a service wait for runs, which would hold up a
//! thread of the runtime: [`stop_async`](Service::stop_async) does not.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_service::{Backoff, Service, Stop};
//!
//! async fn fetch() -> Result<(), std::io::Error> {
//!     Ok(()) // whatever may fail
//! }
//!
//! async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//!     let tokio = tokio::runtime::Handle::current();
//!     let service = Service::builder().spawn_on(move |run| drop(tokio.spawn(run))).start()?;
//!     let timers = service.handle();
//!     timers.sleep(Duration::from_millis(1)).await?;
//!
//!     let minute = timers.every(Duration::from_secs(60)).limit(Duration::from_secs(20));
//!     let backoff = Backoff::new(Duration::from_secs(1)).jitter(0.5).attempts(5);
//!     minute.jitter(Duration::from_secs(5)).retry(backoff).try_run_async(|_| fetch())?;
//!
//!     let stopped = service.stop_async(Stop::WaitFor(Duration::from_secs(10))).await;
//!     assert_eq!(stopped.jobs.len(), 1);
//!     Ok(())
//! }
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(serve())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Idle connections.** Each has one sleep, which all that it reads puts off: that only writes the
//! deadline. Where the peer has a name, a job with that [key](OneShot::key) does the same from
//! everywhere, by [`refresh`](Handle::refresh).
//!
//! ```
//! use std::io;
//! use std::time::Duration;
//! use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
//! use wheelhouse_service::Handle;
//!
//! async fn echo<C>(mut peer: C, timers: Handle, idle: Duration) -> io::Result<()>
//! where
//!     C: AsyncRead + AsyncWrite + Unpin,
//! {
//!     let mut expired = timers.sleep(idle);
//!     let mut buffer = [0; 4096];
//!     loop {
//!         tokio::select! {
//!             _ = &mut expired => return Ok(()), // or the service was stopped: hang up as well
//!             read = peer.read(&mut buffer) => match read? {
//!                 0 => return Ok(()),
//!                 length => peer.write_all(&buffer[..length]).await?,
//!             },
//!         }
//!         expired.reset(idle);
//!     }
//! }
//! # let service = wheelhouse_service::Service::start()?;
//! # let (client, server) = tokio::io::duplex(64);
//! # let (mut receive, mut send) = tokio::io::split(client);
//! # let begun = std::time::Instant::now();
//! # let talk = async {
//! #     send.write_all(b"ping").await?;
//! #     let mut seen = Vec::new();
//! #     receive.read_to_end(&mut seen).await.map(|_| assert_eq!(seen, b"ping"))
//! # };
//! # let idle = Duration::from_millis(20);
//! # let both = async { tokio::try_join!(echo(server, service.handle(), idle), talk) };
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(both)?;
//! # assert!(begun.elapsed() >= idle);
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
//!     // One that says nothing keeps nobody waiting.
//!     client.set_read_timeout(Some(Duration::from_secs(5)))?;
//!     let says_more =
//!         |line: &io::Result<String>| line.as_ref().is_ok_and(|line| !line.is_empty());
//!     BufReader::new(&client).lines().take_while(says_more).for_each(drop);
//!     let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
//!                 Connection: close\r\n";
//!     let text = timers.snapshot().prometheus();
//!     write!(client, "{head}Content-Length: {}\r\n\r\n{text}", text.len())
//! }
//!
//! let service = Service::start()?;
//! for client in TcpListener::bind("127.0.0.1:9100")?.incoming() {
//!     client
//!         .and_then(|client| answer(client, &service.handle()))
//!         .unwrap_or_else(|error| eprintln!("metrics: {error}"));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # When to take something else
//!
//! To drive timeouts inside of one event loop that owns them, a backend alone is smaller and does
//! less: see `wheelhouse-hierarchical-wheel`.

mod brief;
mod calendar;
mod drive;
mod error;
mod event;
pub mod future;
mod future_work;
mod guard;
mod handle;
mod job;
mod job_handle;
mod list;
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
pub use drive::{AsyncRun, Builder, DueRun, Executor, Scheduler, Service, Stop, Stopped, Stopping};
pub use error::{BuildError, ChangeError, Reason, Rejected};
pub use event::{Event, EventKind};
pub use handle::{Handle, Run};
pub use job::{Backoff, Group, Key, Missed, Status};
pub use job_handle::{Job, JobHandle};
pub use list::Jobs;
pub use observe::{Counts, Exposition, Snapshot, Summary};
pub use plan::{OneShot, Periodic};
pub use shard::JobIndex;
pub use time::{Clock, ManualClock, Moment, MonotonicClock, Waker, When};

/// What [`OneShot::send`] and [`Periodic::send`] send to, from the crate of the same name.
pub use crossbeam_channel;

/// Compiles and runs the program of the page for those who come from elsewhere.
#[cfg(doctest)]
#[doc = include_str!("../MIGRATION.md")]
struct Migration;

/// Compiles and runs the programs of the README. Only with the feature `cron`, which one of them
/// needs: a page for readers has no hidden line that could make that one depend on it.
#[cfg(all(doctest, feature = "cron"))]
#[doc = include_str!("../README.md")]
struct Readme;
