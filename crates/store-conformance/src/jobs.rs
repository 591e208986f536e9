//! Jobs, changes and calls for the tests of a store. A call that fails panics.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::Durable;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Entry, Key, Kinds, Leased, Outcome, Put, Store, StoreError, When,
};

/// The kind of all jobs that this module makes.
pub const KIND: &str = "work/1";

/// The duration of the leases that [`lease`] and [`claim`] take.
pub const LEASE: Duration = Duration::from_secs(30);

/// A key.
pub fn key(name: impl AsRef<[u8]>) -> Key {
    Key::new(name).expect("a short key")
}

/// A job that is due after `delay` milliseconds. Its payload is its name.
pub fn job(name: &str, delay: u64) -> Put {
    Put {
        key: key(name),
        kind: KIND.into(),
        payload: name.as_bytes().to_vec(),
        policy: String::new(),
        when: When::After(Duration::from_millis(delay)),
        replace: false,
    }
}

/// Puts a [`job`].
pub fn put(name: &str, delay: u64) -> Change {
    Change::Put(job(name, delay))
}

/// Cancels a job.
pub fn cancel(name: &str) -> Change {
    Change::Cancel { key: key(name) }
}

/// Begins the run of a leased job.
pub fn begin(leased: &Leased) -> Change {
    Change::Begin { key: leased.job.key.clone(), token: leased.token }
}

/// Extends a lease, until this time after the present.
pub fn extend(leased: &Leased, visibility: Duration) -> Change {
    Change::Extend { key: leased.job.key.clone(), token: leased.token, visibility }
}

/// Acknowledges a run that has no next occurrence.
pub fn ack(leased: &Leased) -> Change {
    Change::Ack { key: leased.job.key.clone(), token: leased.token, again: None }
}

/// Ends a run, which is retried after `delay` milliseconds.
pub fn retry(leased: &Leased, delay: u64) -> Change {
    let when = When::After(Duration::from_millis(delay));
    Change::Retry { key: leased.job.key.clone(), token: leased.token, when }
}

/// Ends a run and its job.
pub fn bury(leased: &Leased, reason: &str) -> Change {
    let reason = reason.to_owned();
    Change::Bury { key: leased.job.key.clone(), token: leased.token, reason }
}

/// Commits changes. Returns their outcomes.
pub fn commit(store: &mut dyn Store, changes: &[Change]) -> Vec<Outcome> {
    let outcomes = store.commit(changes).expect("a commit succeeds");
    assert_eq!(outcomes.len(), changes.len(), "an outcome for each change");
    outcomes
}

/// Commits a change. Returns its outcome.
pub fn one(store: &mut dyn Store, change: Change) -> Outcome {
    commit(store, &[change])[0]
}

/// Leases at most `max` visible jobs.
pub fn lease(store: &mut dyn Store, max: usize) -> Vec<Leased> {
    let claimed = store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(max), LEASE);
    claimed.expect("a claim succeeds").0
}

/// Leases all visible jobs, and begins their runs.
pub fn claim(store: &mut dyn Store) -> Vec<Leased> {
    let leased = lease(store, 10_000);
    begin_all(store, leased)
}

/// Begins the runs of leased jobs.
pub(crate) fn begin_all(store: &mut dyn Store, mut leased: Vec<Leased>) -> Vec<Leased> {
    for outcome in commit(store, &leased.iter().map(begin).collect::<Vec<_>>()) {
        assert_eq!(outcome, Outcome::Done, "it begins");
    }
    leased.iter_mut().for_each(|leased| leased.job.attempt += 1);
    leased
}

/// The keys of leased jobs.
pub fn names(leased: &[Leased]) -> Vec<String> {
    leased.iter().map(|leased| leased.job.key.to_string()).collect()
}

/// All rows.
pub fn rows(store: &mut dyn Store) -> Vec<Entry> {
    store.scan(None, usize::MAX).expect("a scan succeeds")
}

/// Checks that a call has failed, with this text in its message. Returns the error.
#[track_caller]
pub fn fails<T>(answer: Result<T, StoreError>, text: &str) -> StoreError {
    let Err(error) = answer else { panic!("no error with the text: {text}") };
    assert!(error.to_string().contains(text), "{error}");
    error
}

/// Schedules a job each millisecond. Fails unless its handler sends three occurrences to `ran`, one
/// after the other.
pub fn continues(timers: &Durable, ran: &mpsc::Receiver<u64>) {
    timers.every(Duration::from_millis(1)).unwrap().key("tick").schedule_bytes(KIND, "").unwrap();
    let next = || ran.recv_timeout(Duration::from_secs(60)).expect("a next occurrence");
    let occurrences = [next(), next(), next()];
    assert!(occurrences.is_sorted_by(|a, b| a < b), "{occurrences:?}");
}

/// Counts the calls of the store's waker.
pub fn count_wakes(store: &mut dyn Store) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&count);
    store.wake_by(Arc::new(move || _ = counts.fetch_add(1, Ordering::SeqCst)));
    count
}

/// Waits until a condition holds. Panics if it does not hold within 60 seconds.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited for 60 s: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}
