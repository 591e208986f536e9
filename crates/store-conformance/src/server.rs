//! A bed on a server.

use crate::Bed;
use crate::jobs::{ack, job, names, put};
use crate::rig::{LEASE, Rig};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_durable::store::{Outcome, Store, Timestamp};

/// A clock that a connection uses instead of the server's.
pub type Now = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// A bed on a server: a queue whose connections use a clock that the suite moves.
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
    /// A bed whose connections are made by `connect`. All must be to one queue, without jobs.
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

    fn set_back(&mut self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).expect("a short time");
        self.millis.fetch_sub(millis, Ordering::SeqCst);
    }
}

/// The server's clock is set back by an hour, then ahead of the original time by two. No job runs
/// again, none is early by that clock, a lease stays held, and the due jobs then run in order.
///
/// # Panics
///
/// If the store behaves differently, or fails.
pub fn a_clock_that_jumps_does_no_harm<S: Store, C: FnMut(Now) -> S>(mut bed: OnServer<C>) {
    const HOUR: u64 = 3_600_000;
    let clock = Arc::clone(&bed.millis);
    let noon = clock.load(Ordering::SeqCst);
    let mut rig = Rig::new(&mut bed);
    rig.commit(&[put("ran", 0), put("held", 0)]);
    let before = rig.claim();
    assert_eq!(rig.one(ack(&before[0])), Outcome::Done);
    rig.put(job("soon", LEASE + 1));

    clock.store(noon - HOUR, Ordering::SeqCst);
    assert_eq!(names(&rig.claim()), [""; 0], "an hour before");
    rig.put(job("new", 500));
    clock.store(noon - HOUR + 499, Ordering::SeqCst);
    assert_eq!(names(&rig.claim()), [""; 0], "a millisecond early");
    clock.store(noon - HOUR + 500, Ordering::SeqCst);
    assert_eq!(names(&rig.claim()), ["new"], "due by the current clock");

    clock.store(noon + 2 * HOUR, Ordering::SeqCst);
    let after = rig.claim();
    let found: Vec<_> =
        after.iter().map(|its| (its.job.payload.as_slice(), its.job.attempt)).collect();
    let expected: [(&[u8], u32); 3] = [(b"new", 2), (b"held", 2), (b"soon", 1)];
    assert_eq!(found, expected, "in the order of ends of leases and due times");
    assert_eq!(rig.one(ack(&before[1])), Outcome::Superseded);
    assert_eq!(rig.one(ack(&after[1])), Outcome::Done);
}
