//! The errors of a handler.

use crate::store::write_sources;
use std::error::Error;
use std::fmt;

/// Any error of a handler: `?` converts every error type. The job is retried with
/// [backoff](crate::Builder::backoff), up to its number of attempts. A [`Stop`] makes it a dead
/// letter at once.
pub struct Failure(Box<dyn Error + Send + Sync>);

impl Failure {
    pub(crate) fn is_final(&self) -> bool {
        self.0.is::<Stop>()
    }
}

impl fmt::Display for Failure {
    /// The error and its chain of sources.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        write_sources(f, &*self.0)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Failure").field(&self.0).finish()
    }
}

/// For every error type. `Failure` itself must not implement [`Error`]: this would overlap with
/// `From<T> for T`.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// An error after which a job is not retried: it becomes a dead letter with this reason.
///
/// ```
/// use wheelhouse_durable::{Failure, Next, Stop};
///
/// fn close(order: Option<u64>) -> Result<Next, Failure> {
///     let order = order.ok_or_else(|| Stop::new("no such order"))?;
///     println!("close {order}");
///     Ok(Next::Done)
/// }
/// assert_eq!(close(None).unwrap_err().to_string(), "no such order");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop(String);

impl Stop {
    /// Creates the error. The dead letter keeps `reason`.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Stop {}
