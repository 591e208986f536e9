//! Steps of the clock.

use crate::Bed;
use crate::jobs::{ack, begin, bury, extend, job, names, put, retry};
use crate::rig::{LEASE, Rig, millis};
use wheelhouse_durable::store::{Change, Leased, Outcome, State};

/// A lease is identified by its token. If the clock steps back after the claim, the leased job is
/// not due by the current clock, and its run still begins.
pub fn a_run_begins_after_the_clock_steps_back(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    rig.advance(LEASE);
    let ends: [fn(&Leased) -> Change; 3] =
        [ack, |leased| retry(leased, 0), |leased| bury(leased, "late")];
    for (end, begins) in ends.into_iter().flat_map(|end| [(end, true), (end, false)]) {
        rig.put(job("k", 0));
        let leased = rig.lease_one();
        rig.bed.set_back(millis(LEASE / 2));
        if begins {
            assert_eq!(rig.one(begin(&leased)), Outcome::Done, "the lease is unchanged");
            let row = rig.find("k").expect("it runs");
            let is_begun = matches!(row.state, State::Begun(lease) if lease.token == leased.token);
            assert!(is_begun && row.attempt == 1, "{row:?}");
        }
        let changes = [extend(&leased, millis(LEASE)), end(&leased)];
        assert_eq!(rig.commit(&changes), [Outcome::Done; 2]);
        rig.advance(LEASE);
        for again in rig.lease() {
            assert_eq!(rig.one(ack(&again)), Outcome::Done);
        }
    }
}

/// The server's clock is set back by an hour, then ahead of the original time by two. No job runs
/// again, none is early by that clock, a lease stays held, and the due jobs then run in order. Not
/// for a store within the program, whose time does not go back.
pub fn a_clock_that_jumps_does_no_harm(bed: &mut Bed) {
    const HOUR: u64 = 3_600_000;
    let mut rig = Rig::new(bed);
    rig.commit(&[put("ran", 0), put("held", 0)]);
    let before = rig.claim();
    assert_eq!(rig.one(ack(&before[0])), Outcome::Done);
    rig.put(job("soon", LEASE + 1));

    rig.bed.set_back(millis(HOUR));
    assert_eq!(names(&rig.claim()), [""; 0], "an hour before");
    rig.put(job("new", 500));
    rig.advance(499);
    assert_eq!(names(&rig.claim()), [""; 0], "a millisecond early");
    rig.advance(1);
    assert_eq!(names(&rig.claim()), ["new"], "due by the current clock");

    rig.advance(3 * HOUR - 500);
    let after = rig.claim();
    let found: Vec<_> =
        after.iter().map(|its| (its.job.payload.as_slice(), its.job.attempt)).collect();
    let expected: [(&[u8], u32); 3] = [(b"new", 2), (b"held", 2), (b"soon", 1)];
    assert_eq!(found, expected, "in the order of ends of leases and due times");
    assert_eq!(rig.one(ack(&before[1])), Outcome::Superseded);
    assert_eq!(rig.one(ack(&after[1])), Outcome::Done);
}
