//! Claims: their limit of bytes, and when to claim next.

use crate::Bed;
use crate::jobs::{KIND, cancel, job, key, put};
use crate::rig::{LEASE, Rig, after};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Change, ClaimLimit, Kind, Kinds, Next, Outcome, Put, Timestamp};

/// How long an earlier job may take to wake a program of another connection.
const PATIENCE: Duration = Duration::from_secs(20);

/// The limit of bytes holds in a large claim and for large payloads, and the next claims lease the
/// other jobs in order.
pub fn a_large_claim_is_bounded_in_bytes(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let kinds = Kinds::new([KIND]);
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
    let mut claim = |rig: &mut Rig<'_>, bytes| {
        let limit = ClaimLimit { jobs: 1_000, bytes };
        let leased = rig.claim_of(&kinds, limit, LEASE).0;
        for leased in &leased {
            assert_eq!(leased.job.key.to_string(), format!("{next:04}"), "in order");
            next += 1;
        }
        leased.len()
    };
    assert_eq!(claim(&mut rig, 550), 550);
    assert_eq!(claim(&mut rig, 50 + (256 << 10)), 54);
    assert_eq!(claim(&mut rig, (64 << 10) - 1), 1);
    assert_eq!(claim(&mut rig, 1 << 20), 15, "all that are left");
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
/// connection.
pub fn an_earlier_job_wakes(bed: &mut Bed) {
    let mut rig = Rig::new(bed);
    let calls = Arc::new(AtomicU32::new(0));
    rig.store.wake_by(Arc::new({
        let calls = Arc::clone(&calls);
        move || {
            calls.fetch_add(1, Ordering::SeqCst);
        }
    }));
    let mut other = rig.bed.connect();
    let mut wakes = |rig: &mut Rig<'_>, change: Change, what: &str, here: bool| {
        rig.claim();
        let before = calls.load(Ordering::SeqCst);
        let store = if here { &mut rig.store } else { &mut other };
        store.commit(&[change]).expect("a commit succeeds");
        // A server's message takes some time.
        let begun = Instant::now();
        while calls.load(Ordering::SeqCst) == before {
            assert!(begun.elapsed() < PATIENCE, "{what} wakes");
            std::thread::yield_now();
        }
    };
    wakes(&mut rig, put("a", 500), "the first job", true);
    wakes(&mut rig, put("b", 300), "an earlier job", true);
    let moved = Change::Move { key: key("a"), when: after(100) };
    wakes(&mut rig, moved, "a moved job", true);
    if rig.bed.wakes_across_connections {
        wakes(&mut rig, put("c", 50), "a job of another connection", false);
    }
}
