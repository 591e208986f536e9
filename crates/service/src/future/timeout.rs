//! A future with a time limit.

use crate::{Handle, Reason};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Why a future was dropped before it was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutError {
    /// The limit was reached.
    Elapsed,
    /// The service has no room for the job, or was stopped.
    Refused(Reason),
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elapsed => f.write_str("the time is over"),
            Self::Refused(reason) => write!(f, "no timeout can be set: {reason}"),
        }
    }
}

impl Error for TimeoutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Elapsed => None,
            Self::Refused(reason) => Some(reason),
        }
    }
}

impl Handle {
    /// Awaits a future, but no longer than `limit` from now; then the future is dropped. If the
    /// future is ready at once, nothing is scheduled. A limit that is out of range, such as
    /// [`Duration::MAX`], never ends it.
    ///
    /// # Errors
    ///
    /// If the limit is reached, or the service is stopped or has no room for the job.
    pub fn timeout<F: Future>(
        &self,
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, TimeoutError>> + use<F> {
        // Outside of the async block: the limit counts from the call, not from the first poll.
        let sleep = self.sleep(limit);
        async move {
            let (mut sleep, mut future) = (pin!(sleep), pin!(future));
            poll_fn(|context| {
                // The future first: if both are ready, it was in time.
                if let Poll::Ready(output) = future.as_mut().poll(context) {
                    return Poll::Ready(Ok(output));
                }
                match sleep.as_mut().poll(context) {
                    Poll::Ready(Ok(())) => Poll::Ready(Err(TimeoutError::Elapsed)),
                    Poll::Pending | Poll::Ready(Err(Reason::Overflow)) => Poll::Pending,
                    Poll::Ready(Err(reason)) => Poll::Ready(Err(TimeoutError::Refused(reason))),
                }
            })
            .await
        }
    }
}
