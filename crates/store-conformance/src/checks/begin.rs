//! The begin of runs after a step of the clock.

use crate::Bed;
use crate::jobs::{ack, begin, bury, job};
use crate::rig::{LEASE, Rig, after, millis};
use wheelhouse_durable::store::{Change, Leased, Outcome, State};

fn extend(leased: &Leased) -> Change {
    let visibility = millis(LEASE);
    Change::Extend { key: leased.job.key.clone(), token: leased.token, visibility }
}

fn retry(leased: &Leased) -> Change {
    Change::Retry { key: leased.job.key.clone(), token: leased.token, when: after(0) }
}

/// A lease is identified by its token. If the clock steps back after the claim, the leased job is
/// not due by the current clock, and its run still begins.
pub fn a_run_begins_after_the_clock_steps_back(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.advance(LEASE);
    let ends: [fn(&Leased) -> Change; 3] = [ack, retry, |leased| bury(leased, "late")];
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
        assert_eq!(rig.commit(&[extend(&leased), end(&leased)]), [Outcome::Done; 2]);
        rig.advance(LEASE);
        for again in rig.lease() {
            assert_eq!(rig.one(ack(&again)), Outcome::Done);
        }
    }
}
