//! Batches, scans, dead letters, restarts, several connections.

use crate::Bed;
use crate::jobs::{self, KIND, ack, begin, bury, commit, job, key, put};
use crate::rig::{LEASE, Rig};
use std::collections::BTreeSet;
use std::thread;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Entry, Kinds, Leased, Outcome, Put, State, Store,
};

/// A scan gives each row once, for any page size, also if two scans take turns and the last row of
/// each page is removed.
pub fn scans_go_by_pages(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let names: BTreeSet<String> = (0..23).map(|n| format!("key {n}")).collect();
    let puts: Vec<_> = names.iter().map(|name| put(name, 9)).collect();
    rig.commit(&puts);
    for max in [1, 7, 23, 50] {
        let mut seen = Vec::new();
        loop {
            let page = rig.store.scan(seen.last(), max).expect("a scan succeeds");
            assert!(page.len() <= max);
            if page.is_empty() {
                break;
            }
            seen.extend(page.into_iter().map(|row| row.key));
        }
        assert_eq!(seen.len(), names.len(), "each row once, by pages of {max}");
        assert_eq!(seen.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), names);
    }
    assert_eq!(rig.find("key 99"), None);
    // Each scan has the size of its pages, the last row of its last page, and the rows seen.
    let mut scans = [3, 4].map(|max| (max, None, Vec::new()));
    for turn in 0..names.len() {
        let (max, last, seen) = &mut scans[turn % 2];
        let page = rig.store.scan(last.as_ref(), *max).expect("a scan succeeds");
        seen.extend(page.into_iter().map(|row| row.key));
        *last = seen.last().cloned();
        last.iter().for_each(|key| drop(rig.commit(&[Change::Cancel { key: key.clone() }])));
    }
    for row in rig.store.scan(None, 50).expect("a scan succeeds") {
        for (max, _, seen) in &scans {
            let count = seen.iter().filter(|key| **key == row.key).count();
            assert_eq!(count, 1, "{} by turns, by pages of {max}", row.key);
        }
    }
}

fn dies(rig: &mut Rig<'_>, name: &str) -> Entry {
    rig.put(Put { policy: "p".into(), ..job(name, 0) });
    let leased = rig.lease_one();
    // In one batch, so that the dead letter has an attempt that the batch has begun.
    let changes = [begin(&leased), bury(&leased, &format!("{name}: no such order"))];
    assert_eq!(rig.commit(&changes), [Outcome::Done; 2]);
    leased.job
}

/// Dead letters are listed in the order of their generations, each with the whole job, and do not
/// occupy the key. The [model](crate::each_change_in_each_state) revives and removes them.
pub fn dead_letters_are_kept_in_order(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let (first, other) = (dies(&mut rig, "k"), dies(&mut rig, "l"));
    let now = rig.now();
    rig.advance(5);
    let second = dies(&mut rig, "k");
    assert_eq!((rig.find("k"), rig.claim().len()), (None, 0));
    let dead = rig.dead();
    let died = |job: Entry| {
        let (state, visible_at) = (State::Pending, job.due);
        Entry { attempt: 1, state, visible_at, ..job }
    };
    let jobs: Vec<_> = dead.iter().map(|dead| dead.job.clone()).collect();
    assert_eq!(jobs, [first, other, second].map(died));
    assert_eq!((dead[0].reason.as_str(), dead[0].at), ("k: no such order", now));
    let page = rig.store.dead(Some(jobs[0].generation), 1).expect("a page of the dead");
    assert_eq!(page, dead[1..2]);
    let none = rig.store.dead(Some(u64::MAX), 9).expect("the end of the dead");
    assert_eq!(none, []);
}

/// Rows, leases, tokens and dead letters survive a restart.
pub fn what_was_committed_is_there_after_a_restart(bed: &mut Bed) {
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
        let rows = rows.into_iter().filter(|row: &Entry| row.state == State::Pending);
        rows.filter(|row| row.attempt == 0).collect::<Vec<_>>()
    };
    assert_eq!((rig.rows().len(), pending(rig.rows())), (rows.len(), pending(rows)));
    rig.advance(LEASE);
    let again = rig.claim();
    assert_eq!(again.len(), 2);
    let other = again.iter().find(|its| its.job.key == key("leased")).expect("it comes back");
    assert!(other.token > leased.token && other.job.attempt == 2, "{other:?} after {leased:?}");
    assert_eq!(rig.one(ack(&leased)), Outcome::Superseded, "an ack with an old token is refused");
    rig.put(job("new", 0));
    let new = rig.find("new").expect("it was put").generation;
    assert!(again.iter().all(|leased| leased.job.generation < new), "generations still grow");
}

/// A batch of a thousand jobs, and a payload of a mebibyte.
pub fn large_batches_and_payloads(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let puts: Vec<_> = (0..1_000).map(|n| put(&format!("{n}"), n % 7)).collect();
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
/// The claims begin some of the runs.
pub fn connections_do_not_claim_the_same(bed: &mut Bed) {
    const JOBS: usize = 400;
    let mut rig = Rig::new(bed);
    let puts: Vec<_> = (0..JOBS).map(|n| put(&format!("{n}"), 0)).collect();
    rig.commit(&puts);
    let connections: Vec<_> = (0..4).map(|_| rig.bed.connect()).collect();
    let work = |mut store: Box<dyn Store>| {
        let mut names = Vec::new();
        loop {
            let limit = ClaimLimit { begin: 3, ..ClaimLimit::jobs(7) };
            let claimed = store.claim(&Kinds::new([KIND]), limit, jobs::LEASE);
            let leased = claimed.expect("a claim succeeds").0;
            if leased.is_empty() {
                return names;
            }
            assert!(leased.iter().take(3).all(Leased::has_begun), "{leased:?}");
            let acks: Vec<_> = leased.iter().map(ack).collect();
            let outcomes = commit(&mut *store, &acks);
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
