//! Golden data: every later version must read the data of an older one.
//!
//! A store keeps a file of each format that was ever written. [`write_golden`] made it once, with
//! the first version of that format. A test restores it and calls [`read_golden`].

use crate::jobs::{KIND, ack, begin, bury, claim, commit, lease, names, put, rows};
use wheelhouse_durable::store::{Outcome, Store};

/// How much later the pending job is due than the leased one, in milliseconds.
const LATER: u64 = 1_000_000;

const REASON: &str = "it failed";

/// Puts a dead letter, a job whose run has begun, and a pending job into an empty store, whose
/// clock must stand still.
pub fn write_golden(store: &mut dyn Store) {
    commit(store, &[put("dead", 0)]);
    let dead = claim(store).remove(0);
    commit(store, &[bury(&dead, REASON)]);
    commit(store, &[put("leased", 0), put("pending", LATER)]);
    claim(store);
}

/// Checks the data that [`write_golden`] has written, and runs the leased job again. The leases
/// must have run out.
pub fn read_golden(store: &mut dyn Store) {
    let mut rows = rows(store);
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.key.to_string(), &*row.kind, row.payload.as_slice(), row.attempt))
        .collect();
    let row = |name: &'static str, attempt| (name.to_owned(), KIND, name.as_bytes(), attempt);
    assert_eq!(seen, [row("leased", 1), row("pending", 0)]);
    assert_eq!(rows[1].due.as_millis() - rows[0].due.as_millis(), LATER);
    let dead = store.dead(None, 9).expect("a list of the dead");
    let dead: Vec<_> = dead.iter().map(|its| (&*its.job.payload, &*its.reason)).collect();
    assert_eq!(dead, [(&b"dead"[..], REASON)]);

    let again = lease(store, 9);
    assert_eq!(names(&again), ["leased"]);
    let before = rows[0].state.lease().expect("it was leased").token;
    assert!(again[0].was_lost && again[0].token > before, "{:?} after {before}", again[0]);
    assert_eq!(commit(store, &[begin(&again[0])]), [Outcome::Done]);
    let row = store.find(&again[0].job.key).expect("a lookup succeeds").expect("it has begun");
    assert_eq!(row.attempt, 2);
    assert_eq!(commit(store, &[ack(&again[0]), put("new", 0)]), [Outcome::Done; 2]);
}
