//! Checks of a store on a server that uses TLS. Each check panics with the promise that was broken.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Change, Key, Outcome, Put, Store, StoreError, When};

const LONG: Duration = Duration::from_secs(10);

fn put(name: &str) -> Change {
    Change::Put(Put {
        key: Key::new(name).expect("a short key"),
        kind: "work/1".into(),
        // More than one TLS record can contain.
        payload: vec![7; 100_000],
        policy: String::new(),
        when: When::After(Duration::ZERO),
        replace: false,
    })
}

/// Two stores that trust the server work as on any other server, including notifications from one
/// to the other. Returns them, still connected.
pub fn a_store_works_encrypted<S: Store>(connect: impl Fn() -> Result<S, StoreError>) -> [S; 2] {
    let mut store = connect().expect("it connects");
    let (sender, woken) = mpsc::channel();
    store.wake_by(Arc::new(move || sender.send(()).unwrap_or_default()));
    woken.recv_timeout(LONG).expect("it listens");
    let mut other = connect().expect("it connects");
    let outcomes = other.commit(&[put("a"), put("b")]).expect("a commit succeeds");
    assert_eq!(outcomes, [Outcome::Done; 2]);
    woken.recv_timeout(LONG).expect("it is woken");
    let row = store.find(&Key::new("a").expect("a short key")).expect("a lookup succeeds");
    assert_eq!(row.expect("it was acknowledged").payload, vec![7; 100_000]);
    [store, other]
}

/// A server with an untrusted certificate is refused, without a retry.
pub fn an_unknown_server_is_refused_at_once<S: Store>(connect: impl Fn() -> Result<S, StoreError>) {
    let begun = Instant::now();
    let error = connect().err().expect("its certificate is not trusted");
    assert!(!error.is_transient() && error.to_string().contains("certificate"), "{error}");
    assert!(begun.elapsed() < LONG / 2, "it waited for {:?}", begun.elapsed());
}
