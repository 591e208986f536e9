//! Leases whose run has not begun, and the begin of runs.

use crate::Bed;
use crate::rig::{
    LEASE, NO_TOKEN, Rig, ack, begin, bury, cancel, extend, job, key, millis, move_to, release,
    replacing, retry,
};
use wheelhouse_durable::store::{Change, Leased, Outcome, State};

/// Any connection can cancel a leased job. It never begins.
pub fn a_leased_job_can_be_cancelled(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.lease_one();
    assert!(matches!(rig.find("k").map(|row| row.state), Some(State::Leased(_))));
    let mut other = rig.bed.connect();
    assert_eq!(other.commit(&[cancel("k")]).expect("a commit"), [Outcome::Cancelled]);
    assert_eq!(rig.find("k"), None);
    assert_eq!(rig.one(begin(&leased)), Outcome::Absent);
    assert_eq!(rig.one(cancel("k")), Outcome::Absent);
    rig.put(job("k", 5));
    assert_eq!(rig.one(begin(&leased)), Outcome::Superseded, "another job");
    assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(5)));
}

/// A leased job is moved and replaced like a pending one, and its lease ends.
pub fn a_leased_job_can_be_moved_and_replaced(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.lease_one();
    assert_eq!(rig.one(move_to("k", 20)), Outcome::Done);
    assert_eq!(rig.find("k").map(|row| (row.state, row.attempt)), Some((State::Pending, 0)));
    assert_eq!(rig.next_in(), Some(20));
    assert_eq!(rig.one(begin(&leased)), Outcome::Superseded);
    assert_eq!(rig.one(extend(&leased, LEASE)), Outcome::Superseded);
    rig.advance(20);
    let leased = rig.lease_one();
    assert_eq!(rig.put(job("k", 0)), Outcome::Duplicate);
    assert_eq!(rig.put(replacing("k", 30)), Outcome::Replaced);
    assert_eq!(rig.find("k").map(|row| row.state), Some(State::Pending), "no run has begun");
    assert_eq!((rig.one(begin(&leased)), rig.next_in()), (Outcome::Superseded, Some(30)));
    rig.advance(30);
    assert!(rig.claim_one().job.generation > leased.job.generation);
}

/// An attempt counts when its run begins, once for each token. A release subtracts it again.
pub fn an_attempt_counts_when_it_begins(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    for _ in 0..3 {
        assert_eq!(rig.lease_one().job.attempt, 0, "no run has begun");
        rig.advance(LEASE);
    }
    let leased = rig.lease_one();
    assert_eq!(rig.one(release(&leased, 0)), Outcome::Done);
    let leased = rig.lease_one();
    assert_eq!(rig.commit(&[begin(&leased), begin(&leased)]), [Outcome::Done; 2]);
    assert_eq!(rig.one(begin(&leased)), Outcome::Done, "repeated after a lost answer");
    let row = rig.find("k").expect("it runs");
    assert!(matches!(row.state, State::Begun(lease) if lease.token == leased.token), "{row:?}");
    assert_eq!((row.attempt, row.visible_at), (1, leased.until));
    rig.one(release(&leased, 0));
    assert_eq!(rig.find("k").map(|row| row.attempt), Some(0), "its handler was not called");
    let leased = rig.claim_one();
    assert_eq!(rig.one(retry(&leased, 0)), Outcome::Done);
    assert_eq!(rig.lease_one().job.attempt, 1);
}

/// A run begins by the newest token. If the job was cancelled or replaced since the run began, a
/// repeated begin is answered `Closed`.
pub fn a_run_begins_by_its_token(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let no_token = Change::Begin { key: key("k"), token: NO_TOKEN };
    assert_eq!(rig.one(no_token.clone()), Outcome::Absent);
    rig.put(job("k", 0));
    assert_eq!(rig.one(no_token.clone()), Outcome::Superseded, "it has no lease");
    let old = rig.lease_one();
    assert_eq!(rig.one(no_token), Outcome::Superseded, "not this token");
    rig.advance(LEASE);
    let new = rig.lease_one();
    assert_eq!(rig.commit(&[begin(&old), begin(&new)]), [Outcome::Superseded, Outcome::Done]);
    assert_eq!(rig.commit(&[cancel("k"), begin(&new)]), [Outcome::Running, Outcome::Closed]);
    rig.put(job("k", 0));
    assert_eq!(rig.one(begin(&new)), Outcome::Closed, "replaced");
    assert_eq!(rig.one(ack(&new)), Outcome::Done);
    assert_eq!(rig.one(begin(&new)), Outcome::Superseded);
    // The lease has run out, but the job was not claimed since.
    let late = rig.lease_one();
    rig.advance(3 * LEASE);
    assert_eq!(rig.one(begin(&late)), Outcome::Done);
}

/// A lease is identified by its token. If the clock steps back after the claim, the leased job is
/// not due by the current clock, and its run still begins.
pub fn a_run_begins_after_the_clock_steps_back(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.advance(LEASE);
    let ends: [fn(&Leased) -> Change; 3] =
        [ack, |leased| retry(leased, 0), |leased| bury(leased, "late")];
    for end in ends {
        rig.put(job("k", 0));
        let leased = rig.lease_one();
        rig.bed.set_back(millis(LEASE / 2));
        assert_eq!(rig.one(begin(&leased)), Outcome::Done, "the lease is unchanged");
        let row = rig.find("k").expect("it runs");
        assert!(matches!(row.state, State::Begun(lease) if lease.token == leased.token), "{row:?}");
        assert_eq!(row.attempt, 1);
        assert_eq!(rig.commit(&[extend(&leased, LEASE), end(&leased)]), [Outcome::Done; 2]);
        rig.advance(LEASE);
        for again in rig.lease() {
            assert_eq!(rig.one(ack(&again)), Outcome::Done);
        }
        // The same without a begin.
        rig.put(job("k", 0));
        let leased = rig.lease_one();
        rig.bed.set_back(millis(LEASE / 2));
        assert_eq!(rig.commit(&[extend(&leased, LEASE), end(&leased)]), [Outcome::Done; 2]);
        rig.advance(LEASE);
        for again in rig.lease() {
            assert_eq!(rig.one(ack(&again)), Outcome::Done);
        }
    }
}

/// `was_lost` is `true` if the holder did not end its lease. It is `false` if the job failed, was
/// released, or is new.
pub fn a_lost_lease_is_reported(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    assert!(!rig.lease_one().was_lost, "the first");
    rig.advance(LEASE);
    let leased = rig.lease_one();
    assert!(leased.was_lost, "it had not begun");
    rig.one(begin(&leased));
    rig.advance(LEASE);
    let leased = rig.lease_one();
    assert!(leased.was_lost, "it had begun");
    rig.commit(&[begin(&leased), retry(&leased, 0)]);
    let leased = rig.lease_one();
    assert!(!leased.was_lost, "it failed");
    rig.one(release(&leased, 0));
    let leased = rig.lease_one();
    assert!(!leased.was_lost, "it was released");
    rig.one(begin(&leased));
    rig.put(replacing("k", 0));
    rig.advance(LEASE);
    assert!(!rig.lease_one().was_lost, "the newer one had no lease");
}

/// A late job may be skipped or buried before its run begins.
pub fn a_leased_job_may_end_before_it_begins(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.lease_one();
    assert_eq!(rig.one(extend(&leased, 2 * LEASE)), Outcome::Done);
    let row = rig.find("k").expect("it is leased");
    assert!(matches!(row.state, State::Leased(_)) && row.attempt == 0, "{row:?}");
    rig.advance(LEASE);
    assert_eq!(rig.lease(), [], "extended");
    assert_eq!(rig.one(ack(&leased)), Outcome::Done);
    assert_eq!(rig.find("k"), None);
    rig.put(job("k", 0));
    let leased = rig.lease_one();
    assert_eq!(rig.one(bury(&leased, "late")), Outcome::Done);
    assert_eq!(rig.dead().iter().map(|dead| dead.job.attempt).collect::<Vec<_>>(), [0]);
}
