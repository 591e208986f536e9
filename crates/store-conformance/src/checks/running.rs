//! Runs whose job is cancelled or replaced during the run.

use crate::Bed;
use crate::rig::{
    LEASE, Rig, ack, ack_again, bury, cancel, extend, job, move_to, release, replacing, retry,
};
use wheelhouse_durable::store::{Outcome, State};

/// The ack of a cancelled run counts. If it names a next occurrence, that is ignored.
pub fn a_run_that_is_cancelled_may_end(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    for again in [false, true] {
        rig.put(job("k", 0));
        let leased = rig.claim_one();
        assert_eq!(rig.one(cancel("k")), Outcome::Running);
        assert!(matches!(rig.find("k").map(|row| row.state), Some(State::Closed(_))));
        assert_eq!(rig.one(move_to("k", 5)), Outcome::Running);
        assert_eq!(rig.one(extend(&leased, LEASE)), Outcome::Closed, "it may continue");
        let end = if again { ack_again(&leased, 0, 1) } else { ack(&leased) };
        assert_eq!(rig.commit(&[end.clone(), end]), [Outcome::Done, Outcome::Absent]);
        assert_eq!((rig.find("k"), rig.claim_names().len()), (None, 0));
    }
}

/// A cancelled run is not repeated after an error or a lost lease, and becomes no dead letter.
pub fn a_run_that_is_cancelled_is_not_repeated(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    for ending in [retry, release] {
        rig.put(job("k", 0));
        let leased = rig.claim_one();
        assert_eq!(rig.one(cancel("k")), Outcome::Running);
        assert_eq!(rig.one(ending(&leased, 0)), Outcome::Closed);
        assert_eq!((rig.find("k"), rig.claim_names().len()), (None, 0));
    }
    rig.put(job("k", 0));
    let leased = rig.claim_one();
    assert_eq!(rig.one(cancel("k")), Outcome::Running);
    assert_eq!(rig.one(bury(&leased, "failed")), Outcome::Closed);
    assert_eq!((rig.find("k"), rig.dead().len()), (None, 0));

    rig.put(job("k", 0));
    let leased = rig.claim_one();
    assert_eq!(rig.one(cancel("k")), Outcome::Running);
    rig.advance(LEASE);
    assert_eq!(rig.claim_names(), [""; 0], "the lease has run out, but the job was cancelled");
    assert_eq!((rig.find("k"), rig.next_in()), (None, None), "a claim removes it");
    assert_eq!(rig.one(ack(&leased)), Outcome::Absent);
}

/// The newer generation begins when it is due and the run of the older one has ended.
pub fn a_new_generation_waits_for_the_old(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let old = rig.claim_one();
    assert_eq!(rig.put(replacing("k", 10)), Outcome::Replaced);
    let row = rig.find("k").expect("it was put");
    assert!(matches!(row.state, State::Replaced(lease) if lease.token == old.token), "{row:?}");
    assert!(row.generation > old.job.generation && row.attempt == 0);
    assert_eq!(row.visible_at, old.until, "at the end of the older one's lease");
    rig.advance(10);
    assert_eq!(rig.claim_names(), [""; 0], "due, but the older one runs");
    assert_eq!(rig.one(extend(&old, LEASE)), Outcome::Closed);
    rig.advance(LEASE - 1);
    assert_eq!(rig.claim_names(), [""; 0], "the older one still runs");
    assert_eq!(rig.one(ack_again(&old, 0, 1)), Outcome::Done, "ends only the older one");
    assert_eq!(rig.one(ack(&old)), Outcome::Superseded);
    let new = rig.claim_one();
    assert_eq!((new.job.generation, new.job.attempt), (row.generation, 1));
    assert_eq!((new.job.occurrence, rig.one(ack(&new))), (0, Outcome::Done));
    assert_eq!(rig.find("k"), None);
}

/// If the worker of the older generation is dead, the newer one begins after the lease of the
/// older, but not before its own due time.
pub fn a_new_generation_outlives_a_lost_lease(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    for delay in [10, LEASE + 10] {
        rig.put(job("k", 0));
        let old = rig.claim_one();
        assert_eq!(rig.put(replacing("k", delay)), Outcome::Replaced);
        let wait = delay.max(LEASE);
        rig.advance(wait - 1);
        assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(1)));
        rig.advance(1);
        let new = rig.claim_one();
        assert_eq!((new.job.attempt, rig.one(ack(&old))), (1, Outcome::Superseded));
        assert_eq!(rig.one(ack(&new)), Outcome::Done);
    }
}

/// However the run of the older generation ends, the newer one is unchanged, and visible at its due
/// time.
pub fn a_replaced_run_does_not_harm_its_successor(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    for ending in
        [|old: &_| retry(old, 500), |old: &_| release(old, 500), |old: &_| bury(old, "failed")]
    {
        rig.put(job("k", 0));
        let old = rig.claim_one();
        assert_eq!(rig.put(replacing("k", 20)), Outcome::Replaced);
        assert_eq!(rig.put(job("k", 30)), Outcome::Duplicate);
        assert_eq!(rig.put(replacing("k", 40)), Outcome::Replaced, "again, while the first runs");
        assert_eq!(rig.one(ending(&old)), Outcome::Closed);
        assert_eq!((rig.next_in(), rig.dead().len()), (Some(40), 0));
        rig.advance(40);
        let new = rig.claim_one();
        assert_eq!((new.job.attempt, rig.one(ack(&new))), (1, Outcome::Done));
    }
    // Cancelled, then scheduled again, while it runs.
    rig.put(job("k", 0));
    let old = rig.claim_one();
    assert_eq!(rig.one(cancel("k")), Outcome::Running);
    assert_eq!(rig.put(job("k", 5)), Outcome::Done, "the key is free for a new job");
    assert_eq!(rig.put(job("k", 5)), Outcome::Duplicate);
    assert_eq!(rig.one(cancel("k")), Outcome::Running, "cancels the waiting job too");
    assert_eq!(rig.one(ack(&old)), Outcome::Done);
    assert_eq!(rig.find("k"), None);
}

/// If one generation runs and a newer one waits, a move applies to the waiting one.
pub fn a_move_reaches_the_waiting_generation(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let old = rig.claim_one();
    rig.put(replacing("k", 10));
    assert_eq!(rig.one(move_to("k", 2 * LEASE)), Outcome::Done);
    assert_eq!(rig.next_in(), Some(2 * LEASE));
    assert_eq!(rig.one(move_to("k", 15)), Outcome::Done);
    assert_eq!(rig.next_in(), Some(LEASE), "not before the end of the lease");
    assert_eq!(rig.one(ack(&old)), Outcome::Done);
    assert_eq!(rig.next_in(), Some(15));
}
