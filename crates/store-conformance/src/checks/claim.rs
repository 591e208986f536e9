//! Claims: their limit of bytes, the runs that they begin, and when to claim next.

use crate::Bed;
use crate::jobs::{KIND, ack, cancel, count_wakes, job, key, names, put, retry, wait_until};
use crate::rig::{LEASE, Rig, after};
use std::sync::atomic::Ordering;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Kind, Kinds, Leased, Next, Outcome, Put, Timestamp,
};

/// Claims jobs, and compares each with its row. Also returns whether their runs have begun.
fn claim(rig: &mut Rig<'_>, limit: ClaimLimit) -> (Vec<Leased>, Vec<bool>) {
    let leased = rig.claim_of(&Kinds::new([KIND]), limit, LEASE).0;
    for leased in &leased {
        let row = rig.find(&leased.job.key.to_string());
        assert_eq!(row.as_ref(), Some(&leased.job), "the row after the claim");
    }
    let begun = leased.iter().map(Leased::has_begun).collect();
    (leased, begun)
}

/// The limits of bytes and of begun runs hold in a large claim, that of bytes also for large
/// payloads, and the next claims lease the other jobs in order.
pub fn a_large_claim_is_bounded_in_bytes(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let puts = |lengths: &[(u32, usize)]| -> Vec<_> {
        let of = |(n, bytes): &(u32, usize)| Put {
            payload: vec![7; *bytes],
            ..job(&format!("{n:04}"), 10 * u64::from(*n))
        };
        lengths.iter().map(of).map(Change::Put).collect()
    };
    let small: Vec<_> = (0..600).map(|n| (n, 1)).collect();
    let large: Vec<_> = (600..620).map(|n| (n, 64 << 10)).collect();
    rig.commit(&puts(&small));
    rig.commit(&puts(&large));
    rig.advance(7_000);
    let mut next = 0;
    let mut claims = |rig: &mut Rig<'_>, bytes, begin| {
        let limit = ClaimLimit { bytes, begin, ..ClaimLimit::jobs(1_000) };
        let (leased, begun) = claim(rig, limit);
        assert_eq!(begun.iter().take_while(|begun| **begun).count(), begin, "the first have begun");
        for leased in &leased {
            assert_eq!(leased.job.key.to_string(), format!("{next:04}"), "in order");
            next += 1;
        }
        leased.len()
    };
    assert_eq!(claims(&mut rig, 550, 520), 550);
    assert_eq!(claims(&mut rig, 50 + (256 << 10), 0), 54);
    assert_eq!(claims(&mut rig, (64 << 10) - 1, 0), 1);
    assert_eq!(claims(&mut rig, 1 << 20, 0), 15, "all that are left");
}

/// Claims of several kinds lease the first jobs of all, whether one kind has them or each has some.
pub fn a_claim_takes_the_first_of_all_kinds(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let kind = |n: u64| format!("kind {}", if n < 100 { 3 } else { n % 8 });
    let put = |n: u64| Put { kind: kind(n).into(), ..job(&n.to_string(), 10 * n) };
    rig.commit(&(0..400).map(|n| Change::Put(put(n))).collect::<Vec<_>>());
    rig.advance(7_000);
    let kinds = Kinds::new((100..108).map(kind));
    let mut next = 0;
    for jobs in [1, 50, 150, 150, 150] {
        for leased in rig.claim_of(&kinds, ClaimLimit::jobs(jobs), LEASE).0 {
            assert_eq!(leased.job.key.to_string(), next.to_string(), "in order");
            next += 1;
        }
    }
    assert_eq!(next, 400);
}

/// A claim begins no job that has a policy, had an attempt, or has lost its lease, and none after
/// it. A cancelled row does not count.
pub fn a_claim_begins_first_attempts_without_a_policy(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let begun =
        |rig: &mut Rig<'_>, jobs, begin| claim(rig, ClaimLimit { begin, ..ClaimLimit::jobs(jobs) });
    let with_policy = Put { policy: "p".into(), ..job("b", 0) };
    rig.commit(&[put("a", 0), Change::Put(with_policy), put("c", 0)]);
    let (leased, which) = begun(&mut rig, 9, 9);
    assert_eq!(which, [true, false, false], "the second has a policy");
    let changes = [retry(&leased[0], 0), ack(&leased[1]), retry(&leased[2], 0)];
    assert_eq!(rig.commit(&changes), [Outcome::Done; 3]);
    let (leased, which) = begun(&mut rig, 9, 9);
    assert_eq!(which, [false, false], "the first had an attempt");
    assert_eq!(rig.commit(&[ack(&leased[0]), put("d", 0)]), [Outcome::Done; 2]);
    assert_eq!(begun(&mut rig, 9, 9).1, [true], "it is the only one");

    let later = ["e", "f", "g"].map(|name| put(name, LEASE + 1));
    assert_eq!(rig.one(cancel("d")), Outcome::Running);
    rig.commit(&later);
    rig.advance(LEASE + 1);
    // First `c`, whose lease was lost, and the row of `d`, which is removed.
    let (leased, which) = begun(&mut rig, 1, 9);
    assert_eq!((names(&leased), which), (vec!["c".to_owned()], vec![false]), "it lost its lease");
    assert_eq!(begun(&mut rig, 3, 2).1, [true, true, false]);
    assert_eq!(rig.find("d"), None);
}

/// Each kind is listed once, with the time of its first row.
pub fn kinds_are_listed_with_their_first(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let of = |name: &str, kind: &str, delay| Put { kind: kind.into(), ..job(name, delay) };
    let list = |rig: &mut Rig<'_>| {
        let (now, kinds) = (rig.now(), rig.store.kinds().expect("a list of kinds"));
        let since = |(kind, first): (Kind, Timestamp)| {
            (kind.to_string(), first.saturating_since(now).as_millis())
        };
        let mut list: Vec<_> = kinds.into_iter().map(since).collect();
        list.sort();
        list
    };
    assert_eq!(list(&mut rig), []);
    let puts = [of("1", "b/1", 7), of("2", "a/1", 5), of("3", "a/1", 3)];
    rig.commit(&puts.map(Change::Put));
    assert_eq!(list(&mut rig), [("a/1".to_owned(), 3), ("b/1".to_owned(), 7)]);
    rig.commit(&[cancel("3"), cancel("1")]);
    assert_eq!(list(&mut rig), [("a/1".to_owned(), 5)]);
}

/// A program that claims at the returned times comes to an end, also if a row was cancelled.
pub fn the_answer_to_a_claim_says_when_to_ask(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("a", 30));
    for _ in 0..4 {
        let Next { now, visible_at } =
            rig.claim_of(&Kinds::new([KIND]), ClaimLimit::jobs(0), LEASE).1;
        let Some(next) = visible_at else { return };
        rig.advance(next.as_millis() - now.as_millis());
        if let [_, ..] = rig.claim()[..] {
            assert_eq!(rig.one(cancel("a")), Outcome::Running, "it is not claimed again");
        }
    }
    panic!("no job is left, but a claim returns a time for the next");
}

/// A program that waits for a later job, or for none, is woken by an earlier job, also from another
/// connection, and by a job that waits for the end of an older run.
pub fn an_earlier_job_wakes(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    // First, because a store may wake those that wait when another connection is made. These
    // wake-ups would hide that a commit wakes none.
    let mut other = rig.bed.connect();
    let calls = count_wakes(&mut *rig.store);
    let mut wakes = |rig: &mut Rig<'_>, change: Change, what: &str, here: bool| {
        rig.claim();
        let before = calls.load(Ordering::SeqCst);
        let store = if here { &mut rig.store } else { &mut other };
        store.commit(&[change]).expect("a commit succeeds");
        // A server's message takes some time.
        wait_until(what, || calls.load(Ordering::SeqCst) > before);
    };
    rig.put(job("runs", 0));
    rig.claim_one();
    let replaces = |delay| Change::Put(Put { replace: true, ..job("runs", delay) });
    rig.one(replaces(9 * LEASE));
    wakes(&mut rig, replaces(8 * LEASE), "an earlier job after a run wakes", true);
    let moved = Change::Move { key: key("runs"), when: after(0) };
    wakes(&mut rig, moved, "a moved job after a run wakes", true);
    wakes(&mut rig, put("a", 500), "an earlier job wakes", true);
    wakes(&mut rig, put("b", 300), "an earlier job wakes", true);
    let moved = Change::Move { key: key("a"), when: after(100) };
    wakes(&mut rig, moved, "a moved job wakes", true);
    if rig.bed.wakes_across_connections {
        wakes(&mut rig, put("c", 50), "a job of another connection wakes", false);
        let moved = Change::Move { key: key("c"), when: after(20) };
        wakes(&mut rig, moved, "a job that another connection moves wakes", false);
    }
}
