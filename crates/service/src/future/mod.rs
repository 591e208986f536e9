//! Waiting in async code, on any executor: only its waker is used.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_service::{Missed, Service};
//!
//! // With tokio's features `macros` and `rt`; any other executor will do.
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let service = Service::start()?;
//!     let timers = service.handle();
//!
//!     timers.sleep(Duration::from_millis(2)).await?;
//!
//!     let answer = timers.timeout(Duration::from_secs(5), async { 42 }).await;
//!     assert_eq!(answer, Ok(42));
//!
//!     let every = timers.every(Duration::from_millis(2)).missed(Missed::Skip);
//!     let mut interval = every.times(3).interval()?;
//!     while let Some(beat) = interval.tick().await {
//!         println!("beat {} was due at {:?}", beat?.number, beat?.deadline);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! A future that waits is a job of the service: it counts for the limit of jobs and in the
//! snapshot, and dropping the future cancels it. If the service is stopped, all these futures are
//! ready with an error before the stop returns, and are not among the jobs that it returns. A
//! deadline covers only the future that is raced against it: see the [recipes](crate#recipes).
//!
//! The thread that leads wakes a task between two runs, so nothing else comes due until its waker
//! returns. A waker must not block, nor stop the service. Those of executors do neither.

mod interval;
mod queue;
mod sleep;

pub use interval::{Beat, Interval};
pub use queue::{DelayQueue, Delayed};
pub use sleep::{Sleep, TimeoutError};
