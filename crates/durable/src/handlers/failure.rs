//! How a handler says that it failed.

use std::error::Error;
use std::fmt;

/// Any error of a handler: `?` makes one of whatever is an error. The job is tried again, later and
/// later, [so many times](crate::Builder::max_attempts); an error that is a [`Stop`] makes it a
/// dead letter at once.
pub struct Failure {
    error: Box<dyn Error + Send + Sync>,
}

impl Failure {
    /// Whether another attempt is not worth while.
    pub(crate) fn is_final(&self) -> bool {
        self.error.is::<Stop>()
    }
}

impl fmt::Display for Failure {
    /// The error and what it was caused by.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)?;
        let mut source = self.error.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Failure").field(&self.error).finish()
    }
}

/// Not for `Failure` itself, which is no [`Error`], so that this can be for all that are.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into() }
    }
}

/// An error after which a job is not tried again: it becomes a dead letter with this reason.
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
pub struct Stop {
    reason: String,
}

impl Stop {
    /// With a reason, which the dead letter keeps.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl Error for Stop {}
