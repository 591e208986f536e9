//! Jobs as they were put, and their times.

use crate::Bed;
use crate::jobs::{KIND, cancel, job, key, lease, names, put};
use crate::rig::{Rig, after, millis};
use std::time::Duration;
use wheelhouse_durable::store::{Key, Outcome, Put, State, Timestamp, When};

/// Key, kind, payload and policy come back byte for byte, and every number is correct.
pub fn a_job_comes_back_as_it_was_put(bed: &mut Bed) {
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

/// A past date is due at once. A far date is kept exactly. A job without a delay is due at the
/// present rounded down: a claim within the same millisecond gets it.
pub fn dates_and_delays_name_times(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    rig.advance(50);
    rig.bed.advance(Duration::from_micros(500));
    rig.commit(&[put("at once", 0), put("soon", 1)]);
    assert_eq!(names(&lease(&mut *rig.store, 9)), ["at once"]);
    // A visible time is compared with the present rounded down. Servers have whole milliseconds.
    rig.bed.advance(Duration::from_millis(1));
    if rig.now() < rig.find("soon").expect("it is pending").visible_at {
        // With a second job, since a store may first look whether any job is visible.
        rig.put(job("other", 0));
        assert_eq!(names(&lease(&mut *rig.store, 9)), ["other"], "never early: \"soon\" is not");
    }
    assert_eq!(rig.one(cancel("soon")), Outcome::Cancelled);
    rig.bed.advance(Duration::from_micros(500));
    let now = rig.now();
    let century = Timestamp::from_millis(now.as_millis() + 100 * 366 * 86_400_000);
    let past = Timestamp::from_millis(now.as_millis() - 20);
    for (name, time) in
        [("past", past), ("now", now), ("century", century), ("end", Timestamp::MAX)]
    {
        assert_eq!(rig.put(Put { when: When::At(time), ..job(name, 0) }), Outcome::Done);
        assert_eq!(rig.find(name).map(|row| row.due), Some(time));
    }
    assert_eq!(names(&rig.claim()), ["past", "now"]);
    rig.put(job("ages", u64::MAX / 2));
    assert_eq!(rig.find("ages").map(|row| row.due), Some(Timestamp::MAX), "no overflow");
}
