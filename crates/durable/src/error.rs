//! The errors of calls, of the start, and of handlers.

use crate::store::{InvalidKey, Key, StoreError, write_sources};
use std::error;
use std::fmt;
use std::sync::Arc;

/// Why a call failed.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// A name is invalid, and the text names the remedy. A key is empty, too long or reserved; a
    /// kind is empty, longer than 255 bytes or has control characters; or a
    /// [context](crate::Plan::context) has an invalid name or value, or is too long.
    Invalid(String),
    /// Another job has the key, and the plan does not replace it.
    Duplicate(Key),
    /// No job has the key.
    Absent(Key),
    /// The job is running, so it cannot be moved.
    Running(Key),
    /// The payload is longer than [`MAX_PAYLOAD`](crate::MAX_PAYLOAD), or could not be encoded.
    Payload(String),
    /// The rule of a periodic job is invalid: the period is zero or not a whole number of
    /// milliseconds, the cron line cannot be read or never matches, or the time zone is unknown.
    Rule(String),
    /// The store failed. The change was carried out completely or not at all; which of the two is
    /// unknown. If the plan names its key, the call may be repeated while the job cannot have
    /// run: if it was scheduled after all, the repeat returns [`Duplicate`](Self::Duplicate), or
    /// replaces the job by an equal one. Otherwise the repeat may schedule a second job: one
    /// without a key has a new key each time, and a job that has ended no longer has its key. The
    /// [idempotency key](crate::DurableRun::idempotency_key) of the second job differs, so if the
    /// effect must take place once, use one from your application, such as the number of an order.
    Store(Arc<StoreError>),
    /// The timers have been stopped.
    Stopped,
}

/// Prints the message, with the remedy: a `main` that returns the error prints this.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) | Self::Payload(why) | Self::Rule(why) => f.write_str(why),
            Self::Duplicate(key) => write!(
                f,
                "a job with the key '{key}' is scheduled already: refresh or cancel that one, or \
                 schedule by `replacing`; at each start of a program, by `keeping`"
            ),
            Self::Absent(key) => write!(f, "no job has the key '{key}'"),
            Self::Running(key) => write!(f, "the job '{key}' is running"),
            Self::Store(error) => error.fmt(f),
            Self::Stopped => f.write_str(
                "the timers have been stopped: keep the `Durable` for as long as jobs run",
            ),
        }
    }
}

/// Refuses an invalid kind, in words.
pub(crate) fn check_kind(kind: &str) -> Result<(), String> {
    match kind.len() {
        1..=255 if !kind.contains(char::is_control) => Ok(()),
        _ => Err(format!("the kind {kind:?}: kinds have 1 to 255 bytes and no control characters")),
    }
}

impl Error {
    pub(crate) fn reserved(key: &Key) -> Self {
        Self::Invalid(format!("the key '{key}' is reserved for the timers themselves: use another"))
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<InvalidKey> for Error {
    fn from(error: InvalidKey) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// Why timers could not be started.
#[non_exhaustive]
pub enum StartError {
    /// A setting is invalid, or a kind is: it is empty, longer than 255 bytes, has control
    /// characters, or has two handlers. The text names it.
    Setting(String),
    /// The store cannot be opened, or was started as a different
    /// [shard](crate::Builder::start_shards) than it is: [`StoreError::Refused`].
    Store(StoreError),
    /// A thread could not be started.
    Thread(std::io::Error),
    /// The service that runs the workers could not be built.
    Service(wheelhouse_service::BuildError),
}

/// Prints the message, with the remedy: a `main` that returns the error prints this.
impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(why) => f.write_str(why),
            Self::Store(error) => error.fmt(f),
            Self::Thread(error) => write!(f, "a thread could not be started: {error}"),
            Self::Service(error) => error.fmt(f),
        }
    }
}

impl error::Error for StartError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Thread(error) => Some(error),
            Self::Service(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Any error of a handler: `?` converts every error type. The job is retried with
/// [backoff](crate::Builder::backoff), up to its number of attempts. A [`Stop`] makes it a dead
/// letter at once.
#[derive(Debug)]
pub struct Failure(Box<dyn error::Error + Send + Sync>);

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

/// For every error type. `Failure` itself must not implement `Error`: this would overlap with
/// `From<T> for T`.
impl<E: Into<Box<dyn error::Error + Send + Sync>>> From<E> for Failure {
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

impl error::Error for Stop {}
