//! Putting, replacing, moving and cancelling pending jobs.

use crate::Bed;
use crate::rig::{KIND, NO_TOKEN, Rig, ack, after, cancel, job, key, millis, move_to, replacing};
use wheelhouse_durable::store::{Change, Key, Outcome, Put, State, Timestamp, When};

/// Key, kind, payload and policy come back byte for byte, and every number is correct.
pub fn a_job_comes_back_as_it_was_put(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let keys =
        [key("order-17"), key([0, 255, 10, 0]), key([b'x'; Key::LONGEST]), key("ключ \t 鍵")];
    let payloads = [Vec::new(), (0..=255).collect(), b"{\"id\":17}".to_vec(), vec![0; 5_000]];
    let now = rig.now();
    for (key, payload) in keys.iter().zip(&payloads) {
        let put = Put {
            key: key.clone(),
            kind: KIND.into(),
            payload: payload.clone(),
            policy: "cron=0 9 * * MON; zone='Europe/Berlin' ü".into(),
            when: after(5),
            replace: false,
        };
        assert_eq!(rig.put(put.clone()), Outcome::Done);
        let row = rig.store.find(key).expect("a lookup succeeds").expect("it was put");
        assert_eq!((&row.key, &row.kind, &row.payload), (key, &put.kind, payload));
        assert_eq!((&row.policy, row.state), (&put.policy, State::Pending));
        let due = now.saturating_add(millis(5));
        assert_eq!((row.due, row.visible_at), (due, due));
        assert_eq!((row.attempt, row.occurrence), (0, 0));
    }
    rig.advance(5);
    let leased = rig.claim();
    assert_eq!(leased.len(), keys.len());
    for (leased, (key, payload)) in leased.iter().zip(keys.iter().zip(&payloads)) {
        assert_eq!((&leased.job.key, &leased.job.payload), (key, payload), "the leased job");
        assert_eq!(leased.job.attempt, 1, "the begin counts the attempt");
    }
}

/// With a claim at each millisecond, a job is handed out at its due time and not before.
pub fn nothing_is_handed_out_before_its_time(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let start = rig.now();
    rig.commit(&[3, 1, 2, 0].map(|delay| Change::Put(job(&format!("in {delay}"), delay))));
    for elapsed in 0..=3 {
        assert_eq!(rig.now(), start.saturating_add(millis(elapsed)), "the store's clock");
        assert_eq!(rig.claim_names(), [format!("in {elapsed}")]);
        rig.advance(1);
    }
}

/// A past date is due at once. A far date is kept exactly.
pub fn dates_and_delays_name_times(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.advance(50);
    let now = rig.now();
    let century = Timestamp::from_millis(now.as_millis() + 100 * 366 * 86_400_000);
    let past = Timestamp::from_millis(now.as_millis() - 20);
    for (name, time) in
        [("past", past), ("now", now), ("century", century), ("end", Timestamp::MAX)]
    {
        assert_eq!(rig.put(Put { when: When::At(time), ..job(name, 0) }), Outcome::Done);
        assert_eq!(rig.find(name).map(|row| row.due), Some(time));
    }
    assert_eq!(rig.claim_names(), ["past", "now"]);
    rig.put(job("ages", u64::MAX / 2));
    assert_eq!(rig.find("ages").map(|row| row.due), Some(Timestamp::MAX), "no overflow");
}

/// A second job under a key is refused, and the first stays as it is.
pub fn a_key_has_one_job(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    assert_eq!(rig.put(job("k", 10)), Outcome::Done);
    let first = rig.find("k");
    assert_eq!(rig.put(Put { payload: b"other".to_vec(), ..job("k", 0) }), Outcome::Duplicate);
    assert_eq!(rig.find("k"), first);
    rig.advance(10);
    let leased = rig.claim_one();
    assert_eq!(rig.put(job("k", 0)), Outcome::Duplicate, "also while it runs");
    assert_eq!(rig.one(ack(&leased)), Outcome::Done);
    assert_eq!(rig.put(job("k", 0)), Outcome::Done, "the key is free");
}

/// A replacing job has its own kind, payload and time. The replaced job never runs.
pub fn a_replaced_job_is_gone(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    assert_eq!(rig.put(replacing("k", 5)), Outcome::Done, "there was none");
    let old = rig.find("k").expect("it was put");
    let new = Put { kind: "other/2".into(), payload: b"new".to_vec(), ..replacing("k", 20) };
    assert_eq!(rig.put(new), Outcome::Replaced);
    let row = rig.find("k").expect("it was put");
    assert_eq!((&*row.kind, &*row.payload, row.attempt), ("other/2", &b"new"[..], 0));
    assert!(row.generation > old.generation, "a newer generation: {row:?}");
    rig.advance(10);
    assert_eq!(rig.claim_names(), [""; 0], "the old time has come");
    rig.advance(10);
    assert_eq!(rig.claim_names(), [""; 0], "it has another kind");
    assert_eq!(rig.put(replacing("k", 0)), Outcome::Replaced);
    assert_eq!(rig.claim_one().job.payload, b"k");
}

/// Each scheduling under a key has a new generation, however the one before ended.
pub fn generations_never_repeat(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let mut last = 0;
    for round in 0..6 {
        rig.put(job("k", 0));
        let generation = rig.find("k").expect("it was put").generation;
        assert!(generation > last, "round {round}: {generation} after {last}");
        last = generation;
        if round % 2 == 0 {
            assert_eq!(rig.one(cancel("k")), Outcome::Cancelled);
        } else {
            let leased = rig.claim_one();
            assert_eq!((leased.job.generation, rig.one(ack(&leased))), (last, Outcome::Done));
        }
    }
}

/// `Cancelled`: the job will not begin. `Running`: it has begun. `Absent`: there is no job.
pub fn cancel_has_three_answers(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    assert_eq!(rig.one(cancel("k")), Outcome::Absent);
    rig.put(job("k", 0));
    assert_eq!(rig.one(cancel("k")), Outcome::Cancelled);
    assert_eq!((rig.find("k"), rig.claim_names().len()), (None, 0));
    assert_eq!(rig.one(cancel("k")), Outcome::Absent);
    rig.put(job("k", 0));
    let leased = rig.claim_one();
    assert_eq!(rig.one(cancel("k")), Outcome::Running);
    assert_eq!(rig.one(cancel("k")), Outcome::Running, "the same answer again");
    assert_eq!(rig.one(ack(&leased)), Outcome::Done);
    assert_eq!(rig.one(cancel("k")), Outcome::Absent);
}

/// A move to an earlier or later time works while no run has begun.
pub fn a_move_changes_the_time(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    assert_eq!(rig.one(move_to("k", 5)), Outcome::Absent);
    rig.put(job("k", 10));
    let generation = rig.find("k").expect("it was put").generation;
    rig.advance(9);
    assert_eq!(rig.one(move_to("k", 10)), Outcome::Done);
    rig.advance(9);
    assert_eq!((rig.claim_names().len(), rig.next_in()), (0, Some(1)));
    let now = rig.now();
    assert_eq!(rig.one(move_to("k", 0)), Outcome::Done);
    let leased = rig.claim_one();
    assert_eq!((leased.job.due, leased.job.generation), (now, generation));
    assert_eq!(rig.one(move_to("k", 5)), Outcome::Running);
    let Some(State::Begun(lease)) = rig.find("k").map(|row| row.state) else {
        panic!("a move of a running job changes nothing")
    };
    assert_eq!((lease.token, lease.until), (leased.token, leased.until));
    assert_ne!(lease.token, NO_TOKEN);
}
