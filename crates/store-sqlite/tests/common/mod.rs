//! Helpers of the tests.
#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod child;

use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Entry, Key, Kinds, Leased, Outcome, Put, Store, StoreClock, Token, When,
};
use wheelhouse_service::ManualClock;

pub(crate) const KIND: &str = "work/1";
pub(crate) const LEASE: Duration = Duration::from_secs(30);

pub(crate) fn key(name: &str) -> Key {
    Key::new(name).expect("a short key")
}

/// A job that is due after `delay` milliseconds.
pub(crate) fn put(name: &str, delay: u64) -> Change {
    Change::Put(Put {
        key: key(name),
        kind: KIND.into(),
        payload: name.as_bytes().to_vec(),
        policy: String::new(),
        when: When::After(Duration::from_millis(delay)),
        replace: false,
    })
}

pub(crate) fn cancel(name: &str) -> Change {
    Change::Cancel { key: key(name) }
}

pub(crate) fn ack(leased: &Leased) -> Change {
    ack_by(&leased.job.key, leased.token)
}

pub(crate) fn ack_by(key: &Key, token: Token) -> Change {
    Change::Ack { key: key.clone(), token, again: None }
}

pub(crate) fn one(store: &mut impl Store, change: Change) -> Outcome {
    store.commit(&[change]).expect("a commit succeeds")[0]
}

/// Claims all visible jobs, and begins their runs.
pub(crate) fn claim(store: &mut impl Store) -> Vec<Leased> {
    let mut leased = Vec::new();
    store
        .claim(&Kinds::new([KIND]), ClaimLimit::jobs(1_000), LEASE, &mut leased)
        .expect("a claim succeeds");
    for leased in &mut leased {
        let (key, token) = (leased.job.key.clone(), leased.token);
        assert_eq!(one(store, Change::Begin { key, token }), Outcome::Done);
        leased.job.attempt += 1;
    }
    leased
}

pub(crate) fn names(leased: &[Leased]) -> Vec<String> {
    leased.iter().map(|leased| leased.job.key.to_string()).collect()
}

pub(crate) fn rows(store: &mut impl Store) -> Vec<Entry> {
    let mut rows = Vec::new();
    store.scan(None, usize::MAX, &mut |row| rows.push(row.clone())).expect("a scan succeeds");
    rows
}

/// A clock that advances only by hand, and a store's clock that shows it.
pub(crate) fn manual() -> (ManualClock, StoreClock) {
    let clock = ManualClock::new();
    (clock.clone(), StoreClock::new(clock))
}
