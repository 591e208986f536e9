//! Handlers, one for each kind of job. A closure cannot be stored, so a job names its handler.

use crate::Timers;
use crate::error::{Failure, StartError, check_kind};
use crate::lease::{JobLease, Lane, Mark};
use crate::observe::JobName;
use crate::store::{Again, Change, Key, Kind, Timestamp, Token};
use std::borrow::Cow;
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
    wrong: Option<String>,
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
    /// [`spawn_on`](crate::Builder::spawn_on), or the [`workers`](crate::Builder::workers), poll
    /// it. A future that waits occupies no thread, and [`async_runs`](crate::Builder::async_runs)
    /// limits how many are in flight.
    ///
    /// Results, attempts, backoff and events are those of other handlers, and a panic is a failure.
    /// Unlike a closure, a future can be cancelled: it is **dropped** at its next `.await` when it
    /// has reached its [limit](crate::Builder::limit), which counts as a failure; when its lease is
    /// lost; and at the end of [`stop_within`](crate::Durable::stop_within).
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
        if let Err(why) = check_kind(&kind) {
            self.wrong.get_or_insert(why);
        } else if self.handlers.insert(kind.clone(), handler).is_some() {
            self.wrong.get_or_insert(format!("two handlers for jobs of the kind '{kind}'"));
        }
    }

    pub(crate) fn checked(self) -> Result<BTreeMap<Kind, Handler>, StartError> {
        self.wrong.map_or(Ok(self.handlers), |why| Err(StartError::Setting(why)))
    }
}

/// Reads a payload. If it cannot be read, the job is not retried: each attempt would fail alike.
#[cfg(feature = "serde")]
fn read<T: serde::de::DeserializeOwned>(payload: &[u8]) -> Result<T, crate::Stop> {
    let read = serde_json::from_slice(payload);
    read.map_err(|error| crate::Stop::new(format!("the payload cannot be read: {error}")))
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handlers").field(&self.handlers.keys()).finish()
    }
}

/// The occurrence of a job that a run executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// The next occurrence, for the ack.
    pub(crate) again: Option<Again>,
    /// The number of missed occurrences between this one and `again`.
    pub(crate) missed: u64,
    pub(crate) is_periodic: bool,
    /// When the run was handed out, by the store's clock.
    pub(crate) now: Timestamp,
}

/// The run that a handler is called for: its job, its attempt, and the state of its lease. An
/// [async handler](Handlers::on_async) gets it by value, as `DurableRun<'static>`, so that
/// its future can keep it.
pub struct DurableRun<'a> {
    pub(crate) timers: Cow<'a, Timers>,
    pub(crate) lease: Cow<'a, Arc<JobLease>>,
    pub(crate) due: Timestamp,
    pub(crate) occurrence: Occurrence,
}

impl DurableRun<'_> {
    /// Converts it to a value that a future can keep after the call.
    pub(crate) fn into_owned(self) -> DurableRun<'static> {
        let Self { timers, lease, due, occurrence } = self;
        let (timers, lease) = (Cow::Owned(timers.into_owned()), Cow::Owned(lease.into_owned()));
        DurableRun { timers, lease, due, occurrence }
    }

    /// The key of the job.
    pub fn key(&self) -> &Key {
        &self.lease.name.key
    }

    /// The kind of the job, by which this handler was chosen.
    pub fn kind(&self) -> &Kind {
        &self.lease.name.kind
    }

    /// The number of this occurrence of a periodic job, from 0.
    pub fn occurrence(&self) -> u64 {
        self.lease.name.occurrence
    }

    /// The number of the attempt at this occurrence, from 1. An attempt is counted just before the
    /// handler is called, so an attempt whose process was killed counts too. The handler was called
    /// for fewer attempts if a process was killed in between, or the store's answer was lost.
    pub fn attempt(&self) -> u32 {
        self.lease.name.attempt
    }

    /// The fencing token. If a resource refuses tokens lower than the highest it has seen, only the
    /// newest run can change it. Tokens of one store can be compared with each other; [several
    /// stores](crate::Builder::start_shards) number their tokens separately.
    pub fn token(&self) -> Token {
        self.lease.token
    }

    /// The queue, key, generation and occurrence: the same in all attempts at this occurrence, and
    /// different in any other, since each scheduling in a store has a new generation. An effect
    /// that is applied once for each of these strings is applied once for each occurrence.
    ///
    /// With [several stores](crate::Builder::start_shards), `/hex` follows if the key of the job is
    /// shown in hexadecimal: two stores can number two jobs alike, and the key of the other can be
    /// this text.
    pub fn idempotency_key(&self) -> String {
        let queue = &self.timers.shared().queue;
        let JobName { key, generation, occurrence, .. } = &self.lease.name;
        let text = key.to_string();
        // A binary key is shown in hexadecimal, which can equal a text key of another store. The
        // string of a text key ends with a number, so the suffix keeps them apart.
        let is_text = text.as_bytes() == key.as_bytes();
        let hex = if is_text || !self.timers.has_several_stores() { "" } else { "/hex" };
        format!("{queue}/{text}/{generation}/{occurrence}{hex}")
    }

    /// When this occurrence was due, by the store's clock.
    pub fn due(&self) -> Timestamp {
        self.due
    }

    /// The number of occurrences that were skipped because this run is late: it stands for them
    /// too. 0 with [`Missed::Burst`](crate::Missed::Burst).
    pub fn missed(&self) -> u64 {
        self.occurrence.missed
    }

    /// Returns `true` if another worker has the job now, or may have it: the lease has run out,
    /// because it could not be renewed, or because the run took longer than its
    /// [limit](crate::Builder::limit). If the lease has ended because the store's clock was set
    /// ahead, or the machine was suspended, this program learns of that within a third of the
    /// [visibility timeout](crate::Builder::visibility_timeout). Effects from here on may take
    /// place twice. The ack of this run is refused if another worker has claimed the job. The
    /// future of an async handler is dropped at its next `.await` in this state. O(1).
    pub fn is_superseded(&self) -> bool {
        self.lease.is_lost(self.timers.shared().clock.now())
    }

    /// Returns `true` if the job was cancelled or replaced since this run began. This program
    /// learns of that within a third of the
    /// [visibility timeout](crate::Builder::visibility_timeout). The run is not repeated, whether
    /// it succeeds or fails.
    pub fn is_cancelled(&self) -> bool {
        self.lease.has(Mark::Closed)
    }

    /// An entry of the [context](crate::Plan::context) that the job was scheduled with; `None` if
    /// it has none of this name. The same in all attempts and occurrences. O(log n).
    pub fn context(&self, name: &str) -> Option<&str> {
        self.lease.context.get(name).map(String::as_str)
    }

    /// The timers, to schedule other jobs.
    pub fn timers(&self) -> &Timers {
        &self.timers
    }

    /// The change that ends this run as a success. If the effects of a handler are in the store's
    /// own database, the handler commits this change in one transaction with them, and returns
    /// [`Next::Acked`]. Then the effects take place once. If the outcome of the
    /// change is not `Done`, another worker has the job, and the handler must roll the transaction
    /// back. After the commit the lease is not renewed, so the handler must return before the lease
    /// ends.
    pub fn ack(&self) -> Change {
        self.lease.mark(Mark::Acked);
        let (key, token) = (self.key().clone(), self.token());
        Change::Ack { key, token, again: self.occurrence.again }
    }
}

impl fmt::Debug for DurableRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (job, token) = (&self.lease.name, &self.lease.token);
        f.debug_struct("DurableRun").field("job", job).field("token", token).finish_non_exhaustive()
    }
}
