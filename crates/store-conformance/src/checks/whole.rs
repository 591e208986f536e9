//! Batches, scans, restarts, several connections.

use crate::Bed;
use crate::rig::{
    KIND, LEASE, Rig, ack, begin, bury, cancel, job, key, millis, move_to, replacing,
};
use std::collections::BTreeSet;
use std::thread;
use wheelhouse_durable::store::{Change, ClaimLimit, Kinds, Outcome, Put, State};

/// A scan gives each row once, for any page size.
pub fn scans_go_by_pages(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let names: BTreeSet<String> = (0..23).map(|n| format!("key {n}")).collect();
    let puts: Vec<_> = names.iter().map(|name| Change::Put(job(name, 9))).collect();
    rig.commit(&puts);
    for max in [1, 7, 23, 50] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let before = seen.len();
            let page = &mut |row: &wheelhouse_durable::store::Entry| seen.push(row.key.clone());
            rig.store.scan(after.as_ref(), max, page).expect("a scan succeeds");
            assert!(seen.len() - before <= max);
            if seen.len() == before {
                break;
            }
            after = seen.last().cloned();
        }
        assert_eq!(seen.len(), names.len(), "each row once, by pages of {max}");
        assert_eq!(seen.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), names);
    }
    assert_eq!(rig.find("key 99"), None);
}

/// Each change of a batch sees the effects of those before it.
pub fn a_batch_is_carried_out_in_order(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let put = |name, delay| Change::Put(job(name, delay));
    let changes = [
        put("a", 5),
        put("a", 6),
        cancel("a"),
        put("a", 7),
        move_to("a", 8),
        Change::Put(replacing("b", 1)),
        Change::Put(replacing("b", 9)),
        cancel("c"),
        put("c", 0),
    ];
    let outcomes = rig.commit(&changes);
    let (done, dup, gone) = (Outcome::Done, Outcome::Duplicate, Outcome::Cancelled);
    let replaced = Outcome::Replaced;
    assert_eq!(outcomes, [done, dup, gone, done, done, done, replaced, Outcome::Absent, done]);
    let leased = rig.claim_one();
    let (put, done) = (put("c", 3), Outcome::Done);
    assert_eq!(rig.commit(&[ack(&leased), put, cancel("c")]), [done, done, Outcome::Cancelled]);
    assert_eq!(rig.commit(&[]), []);
    let mut rows: Vec<_> =
        rig.rows().iter().map(|row| (row.key.to_string(), row.due.as_millis())).collect();
    rows.sort();
    let now = rig.now().as_millis();
    assert_eq!(rows, [("a".to_owned(), now + 8), ("b".to_owned(), now + 9)]);
    rig.put(job("d", 0));
    let leased = rig.lease_one();
    assert_eq!(rig.commit(&[begin(&leased), bury(&leased, "failed")]), [done; 2]);
    let dead: Vec<_> = rig.dead().into_iter().map(|dead| dead.job.attempt).collect();
    assert_eq!(dead, [1], "the attempts of a job that began and ended in one batch");
}

/// Rows, leases, tokens and dead letters survive a restart.
pub fn what_was_committed_is_there_after_a_restart(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("dead", 0));
    let dead = rig.claim_one();
    rig.one(bury(&dead, "failed"));
    rig.put(job("leased", 0));
    let leased = rig.claim_one();
    rig.put(job("waits", 10));
    let (rows, letters) = (rig.rows(), rig.dead());
    let Rig { store, bed } = rig;
    drop(store);

    let mut rig = Rig::new(bed);
    assert_eq!(rig.dead(), letters);
    // A store that knows that all holders are dead may end their leases at once.
    let pending = |rows: Vec<_>| {
        let rows = rows
            .into_iter()
            .filter(|row: &wheelhouse_durable::store::Entry| row.state == State::Pending);
        rows.filter(|row| row.attempt == 0).collect::<Vec<_>>()
    };
    assert_eq!((rig.rows().len(), pending(rig.rows())), (rows.len(), pending(rows)));
    rig.advance(LEASE);
    let again = rig.claim();
    assert_eq!(again.len(), 2);
    let other = again.iter().find(|its| its.job.key == key("leased")).expect("it comes back");
    assert!(other.token > leased.token && other.job.attempt == 2, "{other:?} after {leased:?}");
    assert_eq!(rig.one(ack(&leased)), Outcome::Superseded);
    rig.put(job("new", 0));
    let new = rig.find("new").expect("it was put").generation;
    assert!(again.iter().all(|leased| leased.job.generation < new), "generations still grow");
}

/// A batch of a thousand jobs, and a payload of a mebibyte.
pub fn large_batches_and_payloads(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let puts: Vec<_> = (0..1_000).map(|n| Change::Put(job(&format!("{n}"), n % 7))).collect();
    assert_eq!(rig.commit(&puts), vec![Outcome::Done; 1_000]);
    rig.advance(7);
    let leased = rig.claim();
    assert_eq!(leased.len(), 1_000);
    let tokens: BTreeSet<_> = leased.iter().map(|leased| leased.token).collect();
    assert_eq!(tokens.len(), 1_000, "each job has its own token");
    let acks: Vec<_> = leased.iter().map(ack).collect();
    assert_eq!(rig.commit(&acks), vec![Outcome::Done; 1_000]);
    assert!(rig.rows().is_empty());
    let payload: Vec<u8> = (0..1 << 20).map(|n: u32| n.to_le_bytes()[1]).collect();
    rig.put(Put { payload: payload.clone(), ..job("large", 0) });
    assert!(rig.claim_one().job.payload == payload, "the payload differs");
}

/// While leases last, each job is handed out to one connection only, and its ack is accepted once.
pub fn connections_do_not_claim_the_same(bed: &mut dyn Bed) {
    const JOBS: usize = 400;
    let mut rig = Rig::new(bed);
    let puts: Vec<_> = (0..JOBS).map(|n| Change::Put(job(&format!("{n}"), 0))).collect();
    rig.commit(&puts);
    let connections: Vec<_> = (0..4).map(|_| rig.bed.connect()).collect();
    let work = |mut store: Box<dyn wheelhouse_durable::store::Store>| {
        let (mut names, kinds) = (Vec::new(), Kinds::new([KIND]));
        loop {
            let mut leased = Vec::new();
            store
                .claim(&kinds, ClaimLimit::jobs(7), millis(LEASE), &mut leased)
                .expect("a claim succeeds");
            if leased.is_empty() {
                return names;
            }
            let acks: Vec<_> = leased.iter().map(ack).collect();
            let outcomes = store.commit(&acks).expect("a commit succeeds");
            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done), "{outcomes:?}");
            names.extend(leased.into_iter().map(|leased| leased.job.key));
        }
    };
    let names: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> =
            connections.into_iter().map(|store| scope.spawn(move || work(store))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(names.len(), JOBS, "each job once");
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>().len(), JOBS);
    assert!(rig.rows().is_empty());
}
