//! How a run ends: ack, retry, release, extension, dead letter.

use crate::Bed;
use crate::rig::{
    LEASE, NO_TOKEN, Rig, ack, ack_again, after, bury, extend, job, key, release, retry,
};
use wheelhouse_durable::store::{Change, Leased, Outcome, Put, State};

/// A second ack of a run is none, and harms nobody who has the key since.
pub fn an_ack_ends_the_job_once(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let nobody = Change::Ack { key: key("k"), token: NO_TOKEN, again: None };
    assert_eq!(rig.one(nobody.clone()), Outcome::Superseded, "it has no lease");
    let leased = rig.claim_one();
    assert_eq!(rig.one(nobody), Outcome::Superseded, "not this token");
    assert_eq!(rig.commit(&[ack(&leased), ack(&leased)]), [Outcome::Done, Outcome::Absent]);
    rig.put(job("k", 0));
    assert_eq!(rig.one(ack(&leased)), Outcome::Superseded, "the job of somebody else");
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

/// A periodic job: the same generation, the next occurrence, no attempt.
pub fn an_ack_may_name_the_next_occurrence(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let first = rig.claim_one();
    assert_eq!(rig.one(ack_again(&first, 20, 4)), Outcome::Done);
    assert_eq!(rig.one(ack_again(&first, 40, 5)), Outcome::Superseded, "once");
    let row = rig.find("k").expect("it goes on");
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

/// Visible after the delay, with the attempts counted on; its due time stays.
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

/// What was leased and not begun has made no attempt.
pub fn a_release_takes_the_attempt_back(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.claim_one();
    assert_eq!(rig.one(release(&leased, 5)), Outcome::Done);
    assert_eq!(rig.claim_names(), [""; 0]);
    rig.advance(5);
    let again = rig.claim_one();
    assert_eq!(again.job.attempt, 1);
    assert!(again.token > leased.token, "the attempt is taken back, the token is not");
}

/// From the present on, longer or shorter, also if it has run out and nobody came.
pub fn an_extension_moves_the_end_of_the_lease(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.claim_one();
    rig.advance(LEASE - 1);
    assert_eq!(rig.one(extend(&leased, LEASE)), Outcome::Done);
    rig.advance(LEASE - 1);
    assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(1)));
    rig.advance(5);
    assert_eq!(rig.one(extend(&leased, 7)), Outcome::Done, "late, and before anybody else");
    assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(7)));
    rig.advance(7);
    let second = rig.claim_one();
    assert_eq!((second.job.attempt, rig.one(extend(&leased, LEASE))), (2, Outcome::Superseded));
    assert_eq!(rig.one(extend(&second, 3)), Outcome::Done);
    assert_eq!(rig.next_in(), Some(3), "shorter, too");
}

fn dies(rig: &mut Rig<'_>, name: &str) -> Leased {
    rig.put(Put { policy: "p".into(), ..job(name, 0) });
    let leased = rig.claim_one();
    assert_eq!(rig.one(bury(&leased, &format!("{name}: no such order"))), Outcome::Done);
    leased
}

/// A dead letter keeps all of the job, leaves the key free, and comes back once.
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
    assert_eq!(again.job.attempt, 1, "from the beginning");
    assert!(again.job.generation > generations[2], "a new generation");
}
