//! Handlers, one for each kind of job. A closure cannot be stored, so a job names its handler.

mod failure;
mod run;

pub use failure::{Failure, Stop};
pub use run::DurableRun;
pub(crate) use run::Occurrence;

use crate::StartError;
use crate::lease::Lane;
use crate::store::{Kind, is_kind};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The next step of a job whose handler has succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The job ends; a periodic job waits for its next occurrence.
    Done,
    /// The same job runs again after this delay, as its next occurrence; its attempts are counted
    /// from 1 again.
    After(Duration),
    /// The handler has committed [`DurableRun::ack`] itself, in one transaction with its effects.
    Acked,
}

pub(crate) type RunFuture = Pin<Box<dyn Future<Output = Result<Next, Failure>> + Send>>;

type SyncHandler = dyn Fn(&DurableRun<'_>, &[u8]) -> Result<Next, Failure> + Send + Sync;
type AsyncHandler = dyn Fn(DurableRun<'static>, Vec<u8>) -> RunFuture + Send + Sync;

/// A handler that takes the payload as bytes.
#[derive(Clone)]
pub(crate) enum Handler {
    Sync(Arc<SyncHandler>),
    Async(Arc<AsyncHandler>),
}

impl Handler {
    pub(crate) fn lane(&self) -> Lane {
        match self {
            Self::Sync(_) => Lane::Threads,
            Self::Async(_) => Lane::Futures,
        }
    }
}

/// The handlers of a program, by kind.
///
/// A kind is a name with a version, such as `close-order/2`. If the format of the payload changes,
/// change the version too, and keep a handler for the jobs of the older version.
///
/// ```
/// use wheelhouse_durable::{DurableRun, Handlers, Next, Stop};
///
/// let handlers = Handlers::new().on_bytes("close-order/1", |run: &DurableRun<'_>, order: &[u8]| {
///     let order = str::from_utf8(order)?; // any error: retried with backoff
///     if order.is_empty() {
///         return Err(Stop::new("no order is named").into()); // not retried
///     }
///     println!("close {order}, once for {}", run.idempotency_key());
///     Ok(Next::Done)
/// });
/// ```
#[derive(Default)]
#[must_use = "handlers do nothing until timers are started with them"]
pub struct Handlers {
    handlers: BTreeMap<Kind, Handler>,
    /// The first error of a call here. Timers that are started with these handlers return it.
    wrong: Option<StartError>,
}

impl Handlers {
    /// No handlers. Timers without handlers schedule jobs for other programs and run none.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a handler for a kind, which takes the payload as bytes. If a kind has two handlers, the
    /// timers do not start.
    pub fn on_bytes<F>(mut self, kind: impl Into<Kind>, handler: F) -> Self
    where
        F: Fn(&DurableRun<'_>, &[u8]) -> Result<Next, Failure> + Send + Sync + 'static,
    {
        self.insert(kind.into(), Handler::Sync(Arc::new(handler)));
        self
    }

    /// Adds an async handler for a kind, which takes the payload as bytes. See
    /// [`on_async`](Self::on_async).
    pub fn on_async_bytes<F, Fut>(mut self, kind: impl Into<Kind>, handler: F) -> Self
    where
        F: Fn(DurableRun<'static>, Vec<u8>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Next, Failure>> + Send + 'static,
    {
        let handler = move |run: DurableRun<'static>, payload| -> RunFuture {
            Box::pin(handler(run, payload))
        };
        self.insert(kind.into(), Handler::Async(Arc::new(handler)));
        self
    }

    /// Adds a handler for a kind, which takes the payload as a value that is read from JSON
    /// (feature `serde`). If the payload cannot be read, the job becomes a dead letter.
    #[cfg(feature = "serde")]
    pub fn on<T, F>(self, kind: impl Into<Kind>, handler: F) -> Self
    where
        T: serde::de::DeserializeOwned,
        F: Fn(&DurableRun<'_>, T) -> Result<Next, Failure> + Send + Sync + 'static,
    {
        self.on_bytes(kind, move |run, payload| handler(run, read(payload)?))
    }

    /// Adds an async handler for a kind, which takes the payload as a value that is read from JSON
    /// (feature `serde`). If the payload cannot be read, the job becomes a dead letter.
    ///
    /// The function is called when a run begins, and its future is the run. The executor of
    /// [`Builder::spawn_on`], or the [`workers`](crate::Builder::workers), poll it. A future that
    /// waits occupies no thread, and [`Builder::async_runs`] limits how many are in flight.
    ///
    /// Results, attempts, backoff and events are those of other handlers, and a panic is a failure.
    /// Unlike a closure, a future can be cancelled: it is **dropped** at its next `.await`
    ///
    /// * when it has reached its [limit](crate::Builder::limit), which counts as a failure;
    /// * when its lease is lost, since another program has the job or may have it;
    /// * at the end of [`stop_within`](crate::Durable::stop_within).
    ///
    /// [`Builder::spawn_on`]: crate::Builder::spawn_on
    /// [`Builder::async_runs`]: crate::Builder::async_runs
    ///
    /// ```
    /// # use wheelhouse_durable::store::MemoryStore;
    /// # use wheelhouse_durable::{Durable, Handlers, Next};
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let handlers = Handlers::new().on_async("close-order/1", |run, order: u64| async move {
    ///     // For example a call of a service, once for each `idempotency_key`.
    ///     tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    ///     println!("closed order {order}, once for {}", run.idempotency_key());
    ///     Ok(Next::Done)
    /// });
    /// let tokio = tokio::runtime::Handle::current();
    /// let builder = Durable::builder(handlers).spawn_on(move |run| drop(tokio.spawn(run)));
    /// let timers = builder.start(MemoryStore::new())?;
    /// # timers.after(std::time::Duration::ZERO).submit("close-order/1", &17).await?;
    /// timers.stop_async().await; // waits for the runs that have begun
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "serde")]
    pub fn on_async<T, F, Fut>(self, kind: impl Into<Kind>, handler: F) -> Self
    where
        T: serde::de::DeserializeOwned,
        F: Fn(DurableRun<'static>, T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Next, Failure>> + Send + 'static,
    {
        self.on_async_bytes(kind, move |run, payload| {
            let called = read(&payload).map(|payload| handler(run, payload));
            async move { called?.await }
        })
    }

    fn insert(&mut self, kind: Kind, handler: Handler) {
        if !is_kind(&kind) {
            self.wrong.get_or_insert(StartError::Kind(kind));
        } else if self.handlers.insert(kind.clone(), handler).is_some() {
            self.wrong.get_or_insert(StartError::DuplicateKind(kind));
        }
    }

    pub(crate) fn checked(self) -> Result<BTreeMap<Kind, Handler>, StartError> {
        self.wrong.map_or(Ok(self.handlers), Err)
    }
}

/// Reads a payload. If it cannot be read, the job is not retried: each attempt would fail alike.
#[cfg(feature = "serde")]
fn read<T: serde::de::DeserializeOwned>(payload: &[u8]) -> Result<T, Stop> {
    let read = serde_json::from_slice(payload);
    read.map_err(|error| Stop::new(format!("the payload cannot be read: {error}")))
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handlers").field(&self.handlers.keys()).finish()
    }
}
