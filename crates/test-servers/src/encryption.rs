//! Checks of a store on a server that uses TLS. Each check panics with the promise that was broken.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Change, Outcome, Put, Store, StoreError};
use wheelhouse_store_conformance::jobs::{commit, fails, job, key};

/// The default timeout of a store.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A job that is longer than one TLS record can be.
fn put(name: &str) -> Change {
    Change::Put(Put { payload: vec![7; 100_000], ..job(name, 0) })
}

/// Two stores that trust the server work as on any other server, including notifications from one
/// to the other. Returns them, still connected.
pub fn a_store_works_encrypted<S: Store>(connect: impl Fn() -> Result<S, StoreError>) -> [S; 2] {
    let mut store = connect().expect("it connects");
    let (sender, woken) = mpsc::channel();
    store.wake_by(Arc::new(move || sender.send(()).unwrap_or_default()));
    woken.recv_timeout(2 * TIMEOUT).expect("it listens");
    let mut other = connect().expect("it connects");
    assert_eq!(commit(&mut other, &[put("a"), put("b")]), [Outcome::Done; 2]);
    woken.recv_timeout(2 * TIMEOUT).expect("it is woken");
    let row = store.find(&key("a")).expect("a lookup succeeds");
    assert_eq!(row.expect("it was acknowledged").payload, vec![7; 100_000]);
    [store, other]
}

/// A server with an untrusted certificate is refused, without a retry.
pub fn an_unknown_server_is_refused_at_once<S: Store>(connect: impl Fn() -> Result<S, StoreError>) {
    let begun = Instant::now();
    assert!(!fails(connect(), "certificate").is_transient());
    assert!(begun.elapsed() < TIMEOUT / 2, "it waited for {:?}", begun.elapsed());
}
