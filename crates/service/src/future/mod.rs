//! Waiting in async code, on whatever executor: of that, nothing is used but the waker.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_service::future::TimeoutError;
//! use wheelhouse_service::{Missed, Service};
//!
//! # fn block_on<F: Future>(future: F) -> F::Output {
//! #     let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
//! #     runtime.block_on(future)
//! # }
//! # let program = async {
//! let service = Service::start()?;
//! let timers = service.handle();
//!
//! timers.sleep(Duration::from_millis(2)).await?;
//!
//! let answer = timers.timeout(Duration::from_secs(5), async { 42 }).await;
//! assert_eq!(answer, Ok(42));
//! let never = timers.timeout(Duration::from_millis(2), std::future::pending::<()>()).await;
//! assert_eq!(never, Err(TimeoutError::Elapsed));
//!
//! let every = timers.every(Duration::from_millis(2)).missed(Missed::Skip);
//! let mut interval = every.times(3).interval()?;
//! while let Some(beat) = interval.tick().await {
//!     println!("beat {} was due at {:?}", beat?.number, beat?.deadline);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # };
//! # block_on(program)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What waits is a job of the service like any other: it counts for the limit, it can be seen in
//! the snapshot, and dropping the future cancels it. If the service is stopped, what waits for it
//! is told so before the stop returns, and is not among the jobs that are given back; nothing waits
//! for ever.

mod interval;
mod queue;
mod sleep;
mod timeout;

pub use interval::{Beat, Interval};
pub use queue::{DelayQueue, Delayed};
pub use sleep::Sleep;
pub use timeout::TimeoutError;
