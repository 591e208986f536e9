//! A future with a limit.

use crate::{Handle, Reason};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Why a future was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutError {
    /// Its time was over.
    Elapsed,
    /// The service refuses to wait, or was stopped.
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
    /// Awaits a future, but no longer than `limit` from now; then the future is dropped. If it is
    /// ready at once, nothing is scheduled. A limit too far away to be named, such as
    /// [`Duration::MAX`], is none.
    ///
    /// # Errors
    ///
    /// If the time is over, or the service refuses to wait or is stopped.
    pub fn timeout<F: Future>(
        &self,
        limit: Duration,
        future: F,
    ) -> impl Future<Output = Result<F::Output, TimeoutError>> + use<F> {
        // Here, so that the time runs from the call, not from the first poll.
        let sleep = self.sleep(limit);
        async move {
            let (mut sleep, mut future) = (pin!(sleep), pin!(future));
            poll_fn(|context| {
                // The future first: what is ready in time is not given up because its timer is,
                // too.
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
