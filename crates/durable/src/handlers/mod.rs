//! Handlers, one for each kind of job. A closure cannot be stored, so a job names its handler.

mod failure;
mod run;

pub use failure::{Failure, Stop};
pub use run::DurableRun;
pub(crate) use run::Held;

use crate::StartError;
use crate::store::{Kind, Kinds, is_kind};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
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

/// A handler that takes the payload as bytes.
pub(crate) type Handler = dyn Fn(&DurableRun<'_>, &[u8]) -> Result<Next, Failure> + Send + Sync;

/// The handlers of a program, by kind.
///
/// A kind is a name with a version, such as `close-order/2`. If the format of the payload changes,
/// change the version too. One handler may run [several kinds](Self::alias).
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
/// assert_eq!(handlers.kinds().len(), 1);
/// ```
#[derive(Default)]
#[must_use = "handlers do nothing until timers are started with them"]
pub struct Handlers {
    handlers: BTreeMap<Kind, Arc<Handler>>,
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
        self.insert(kind.into(), Arc::new(handler));
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
        self.on_bytes(kind, move |run, payload| match serde_json::from_slice(payload) {
            Ok(payload) => handler(run, payload),
            Err(error) => Err(Stop::new(format!("the payload cannot be read: {error}")).into()),
        })
    }

    /// Runs jobs of the kind `other` by the handler of `kind`, which must have been added before:
    /// for jobs that an older version of the program has scheduled. [`DurableRun::kind`] returns
    /// the kind of the job.
    pub fn alias(mut self, other: impl Into<Kind>, kind: &str) -> Self {
        match self.handlers.get(kind).cloned() {
            Some(handler) => self.insert(other.into(), handler),
            None => self.wrong = self.wrong.or_else(|| Some(StartError::UnknownKind(kind.into()))),
        }
        self
    }

    fn insert(&mut self, kind: Kind, handler: Arc<Handler>) {
        if !is_kind(&kind) {
            self.wrong.get_or_insert(StartError::Kind(kind));
            return;
        }
        match self.handlers.entry(kind) {
            Entry::Vacant(place) => {
                place.insert(handler);
            }
            Entry::Occupied(place) if self.wrong.is_none() => {
                self.wrong = Some(StartError::DuplicateKind(place.key().clone()));
            }
            Entry::Occupied(_) => {}
        }
    }

    /// The kinds that have a handler.
    pub fn kinds(&self) -> Kinds {
        Kinds::new(self.handlers.keys().cloned())
    }

    pub(crate) fn checked(self) -> Result<BTreeMap<Kind, Arc<Handler>>, StartError> {
        self.wrong.map_or(Ok(self.handlers), Err)
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handlers").field(&self.handlers.keys()).finish()
    }
}
