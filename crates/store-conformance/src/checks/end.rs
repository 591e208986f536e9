//! Ends of runs: ack, retry, release, extension, dead letter.

use crate::Bed;
use crate::rig::{
    LEASE, NO_TOKEN, Rig, ack, ack_again, after, bury, extend, job, key, release, retry,
};
use wheelhouse_durable::store::{Change, Leased, Outcome, Put, State};

/// A second ack of a run is refused, and has no effect on a later job with the key.
pub fn an_ack_ends_the_job_once(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let no_token = Change::Ack { key: key("k"), token: NO_TOKEN, again: None };
    assert_eq!(rig.one(no_token.clone()), Outcome::Superseded, "it has no lease");
    let leased = rig.claim_one();
    assert_eq!(rig.one(no_token), Outcome::Superseded, "not this token");
    assert_eq!(rig.commit(&[ack(&leased), ack(&leased)]), [Outcome::Done, Outcome::Absent]);
    rig.put(job("k", 0));
    assert_eq!(rig.one(ack(&leased)), Outcome::Superseded, "another job has the key");
    let next = rig.claim_one();
    for late in [
        ack(&leased),
        retry(&leased, 0),
        release(&leased, 0),
        extend(&leased, 9),
        bury(&leased, ""),
    ] {
        assert_eq!(rig.one(late), Outcome::Superseded);
    }
    assert_eq!(rig.one(ack(&next)), Outcome::Done);
}

/// An ack with a next occurrence keeps the generation, and resets the attempts.
pub fn an_ack_may_name_the_next_occurrence(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let first = rig.claim_one();
    assert_eq!(rig.one(ack_again(&first, 20, 4)), Outcome::Done);
    assert_eq!(rig.one(ack_again(&first, 40, 5)), Outcome::Superseded, "once");
    let row = rig.find("k").expect("it continues");
    assert_eq!((row.occurrence, row.attempt, row.state), (4, 0, State::Pending));
    assert_eq!(rig.next_in(), Some(20));
    rig.advance(20);
    let second = rig.claim_one();
    assert_eq!(second.job.generation, first.job.generation);
    assert_eq!((second.job.attempt, second.job.occurrence), (1, 4));
    assert_eq!(second.job.payload, first.job.payload);
    assert!(second.token > first.token);
    assert_eq!(rig.one(ack(&second)), Outcome::Done);
    assert_eq!(rig.find("k"), None);
}

/// A retried job is visible after the delay. Its attempts add up, and its due time stays.
pub fn a_retry_waits(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let mut leased = rig.claim_one();
    let (due, generation) = (leased.job.due, leased.job.generation);
    for attempt in 2..=4 {
        assert_eq!(rig.one(retry(&leased, 10)), Outcome::Done);
        assert_eq!(rig.one(retry(&leased, 90)), Outcome::Superseded, "once");
        rig.advance(9);
        assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(1)));
        rig.advance(1);
        leased = rig.claim_one();
        assert_eq!((leased.job.attempt, leased.job.due), (attempt, due));
        assert_eq!(leased.job.generation, generation);
    }
}

/// A release subtracts the attempt, because the handler was not called.
pub fn a_release_takes_the_attempt_back(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.claim_one();
    assert_eq!(rig.one(release(&leased, 5)), Outcome::Done);
    assert_eq!(rig.claim_names(), [""; 0]);
    rig.advance(5);
    let again = rig.claim_one();
    assert_eq!(again.job.attempt, 1);
    assert!(again.token > leased.token, "tokens grow in any case");
}

/// An extension counts from the present, and may be longer or shorter. It works also after the end
/// of the lease, if the job was not claimed since.
pub fn an_extension_moves_the_end_of_the_lease(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.claim_one();
    rig.advance(LEASE - 1);
    assert_eq!(rig.one(extend(&leased, LEASE)), Outcome::Done);
    rig.advance(LEASE - 1);
    assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(1)));
    rig.advance(5);
    assert_eq!(rig.one(extend(&leased, 7)), Outcome::Done, "late, but before another claim");
    assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(7)));
    rig.advance(7);
    let second = rig.claim_one();
    assert_eq!((second.job.attempt, rig.one(extend(&leased, LEASE))), (2, Outcome::Superseded));
    assert_eq!(rig.one(extend(&second, 3)), Outcome::Done);
    assert_eq!(rig.next_in(), Some(3), "shorter");
}

fn dies(rig: &mut Rig<'_>, name: &str) -> Leased {
    rig.put(Put { policy: "p".into(), ..job(name, 0) });
    let leased = rig.claim_one();
    assert_eq!(rig.one(bury(&leased, &format!("{name}: no such order"))), Outcome::Done);
    leased
}

/// A dead letter keeps the whole job, does not occupy the key, and can be revived once.
pub fn dead_letters_are_kept_and_revived(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let (first, other) = (dies(&mut rig, "k"), dies(&mut rig, "l"));
    let now = rig.now();
    rig.advance(5);
    let second = dies(&mut rig, "k");
    assert_eq!((rig.find("k"), rig.claim_names().len()), (None, 0));
    let dead = rig.dead();
    let generations = [&first, &other, &second].map(|leased| leased.job.generation);
    assert_eq!(dead.iter().map(|dead| dead.job.generation).collect::<Vec<_>>(), generations);
    let (one, job_of) = (&dead[0], &first.job);
    assert_eq!((one.reason.as_str(), one.at), ("k: no such order", now));
    assert_eq!(
        (&one.job.key, &one.job.kind, &one.job.payload),
        (&job_of.key, &job_of.kind, &job_of.payload)
    );
    assert_eq!((&*one.job.policy, one.job.attempt, one.job.due), ("p", 1, job_of.due));
    assert_eq!((one.job.state, one.job.visible_at), (State::Pending, job_of.due));

    let mut page = Vec::new();
    let paged = rig.store.dead(Some(generations[0]), 1, &mut |dead| page.push(dead.job.generation));
    assert_eq!((paged.is_ok(), page), (true, vec![generations[1]]));

    let revive = |generation| Change::Revive { generation, when: after(3) };
    let forget = |generation| Change::Forget { generation };
    let outcomes =
        rig.commit(&[revive(generations[0]), revive(generations[0]), revive(generations[2])]);
    assert_eq!(outcomes, [Outcome::Done, Outcome::Absent, Outcome::Duplicate]);
    let outcomes =
        rig.commit(&[forget(generations[1]), forget(generations[1]), revive(generations[1])]);
    assert_eq!(outcomes, [Outcome::Done, Outcome::Absent, Outcome::Absent]);
    assert_eq!(rig.dead().len(), 1);
    rig.advance(3);
    let again = rig.claim_one();
    assert_eq!((&*again.job.policy, &again.job.payload), ("p", &job_of.payload));
    assert_eq!(again.job.attempt, 1, "attempts begin again");
    assert!(again.job.generation > generations[2], "a new generation");
}
