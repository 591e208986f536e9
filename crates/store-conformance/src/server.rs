//! A bed on a server.

use crate::Bed;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_durable::store::{Store, Timestamp};

/// A clock that a connection goes by in place of the server's.
pub type Now = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// A queue on a server. Its connections go by a clock that the suite moves.
///
/// ```no_run
/// # use wheelhouse_durable::store::MemoryStore as YourStore;
/// use wheelhouse_store_conformance::{Bed, Now, OnServer};
///
/// # fn connect(_: &str, _: Now) -> YourStore { YourStore::new() }
/// fn bed() -> Option<impl Bed> {
///     let queue = "of this bed alone";
///     Some(OnServer::new(move |now| connect(queue, now)))
/// }
/// ```
pub struct OnServer<C> {
    connect: C,
    millis: Arc<AtomicU64>,
}

impl<S: Store, C: FnMut(Now) -> S> OnServer<C> {
    /// A bed whose connections `connect` makes: all to one queue, which has no jobs yet.
    pub fn new(connect: C) -> Self {
        Self { connect, millis: Arc::new(AtomicU64::new(1_790_000_000_000)) }
    }
}

impl<S: Store, C: FnMut(Now) -> S> Bed for OnServer<C> {
    fn connect(&mut self) -> Box<dyn Store> {
        let millis = self.millis.clone();
        let now = move || Timestamp::from_millis(millis.load(Ordering::SeqCst));
        Box::new((self.connect)(Box::new(now)))
    }

    fn advance(&mut self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).expect("a short time");
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }
}
