//! Golden data: every later version must read the data of an older one.
//!
//! A store keeps a file of each format that was ever written. [`write_golden`] made it once, with
//! the first version of that format. A test restores it and calls [`read_golden`].

use crate::rig::{KIND, LEASE, ack, begin, bury, job, millis};
use wheelhouse_durable::store::{Change, ClaimLimit, Entry, Kinds, Leased, Outcome, Store};

/// How much later the pending job is due than the leased one, in milliseconds.
const LATER: u64 = 1_000_000;

const REASON: &str = "it failed";

/// Puts a dead letter, a job whose run has begun, and a pending job into an empty store, whose
/// clock must stand still.
///
/// # Panics
///
/// If the store fails.
pub fn write_golden(store: &mut dyn Store) {
    commit(store, &[Change::Put(job("dead", 0))]);
    let dead = claim(store).remove(0);
    commit(store, &[begin(&dead), bury(&dead, REASON)]);
    commit(store, &[Change::Put(job("leased", 0)), Change::Put(job("pending", LATER))]);
    let leased = claim(store).remove(0);
    assert_eq!(commit(store, &[begin(&leased)]), [Outcome::Done]);
}

/// Reads the data that [`write_golden`] has written, and runs the leased job again. The leases must
/// have run out.
///
/// # Panics
///
/// If the data differ, or the store fails.
pub fn read_golden(store: &mut dyn Store) {
    let mut rows: Vec<Entry> = Vec::new();
    store.scan(None, 9, &mut |row| rows.push(row.clone())).expect("a scan succeeds");
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.key.to_string(), &*row.kind, row.payload.as_slice(), row.attempt))
        .collect();
    let row = |name: &'static str, attempt| (name.to_owned(), KIND, name.as_bytes(), attempt);
    assert_eq!(seen, [row("leased", 1), row("pending", 0)]);
    assert_eq!(rows[1].due.as_millis() - rows[0].due.as_millis(), LATER);
    let mut dead = Vec::new();
    let mut see = |its: &wheelhouse_durable::store::Dead| {
        dead.push((its.job.payload.clone(), its.reason.clone()));
    };
    store.dead(None, 9, &mut see).expect("a list of the dead");
    assert_eq!(dead, [(b"dead".to_vec(), REASON.to_owned())]);

    let again = claim(store);
    let names: Vec<_> = again.iter().map(|its| its.job.key.to_string()).collect();
    assert_eq!(names, ["leased"]);
    let before = rows[0].state.lease().expect("it was leased").token;
    assert!(again[0].was_lost && again[0].token > before, "{:?} after {before}", again[0]);
    assert_eq!(commit(store, &[begin(&again[0])]), [Outcome::Done]);
    let row = store.find(&again[0].job.key).expect("a lookup succeeds").expect("it has begun");
    assert_eq!(row.attempt, 2);
    assert_eq!(commit(store, &[ack(&again[0]), Change::Put(job("new", 0))]), [Outcome::Done; 2]);
}

fn commit(store: &mut dyn Store, changes: &[Change]) -> Vec<Outcome> {
    store.commit(changes).expect("a commit succeeds")
}

fn claim(store: &mut dyn Store) -> Vec<Leased> {
    let mut leased = Vec::new();
    let claimed = store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(9), millis(LEASE), &mut leased);
    claimed.expect("a claim succeeds");
    leased
}
