//! Claims: which jobs they hand out, how many, in which order, and when to claim next.

use crate::Bed;
use crate::rig::{KIND, LEASE, Rig, ack, cancel, job, millis, move_to};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wheelhouse_durable::store::{Change, ClaimLimit, Kinds, Outcome, Put, State};

/// Jobs are handed out by time, then in the order of commits, whatever their keys. A moved job
/// keeps its place among jobs of equal time.
pub fn order_is_that_of_time_then_of_commit(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let jobs = [("z", 5), ("b", 4), ("y", 5), ("a", 5), ("c", 4), ("x", 9)];
    rig.commit(&jobs.map(|(name, delay)| Change::Put(job(name, delay))));
    rig.put(job("m", 4));
    assert_eq!(rig.one(move_to("x", 4)), Outcome::Done);
    rig.advance(20);
    assert_eq!(rig.claim_names(), ["b", "c", "x", "m", "z", "y", "a"]);
}

/// A claim never leases more than `max` jobs. The next claim leases the others.
pub fn a_claim_is_bounded_by_max(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let puts: Vec<_> = (0..10).map(|n| Change::Put(job(&format!("{n}"), n))).collect();
    rig.commit(&puts);
    rig.advance(20);
    let kinds = Kinds::new([KIND]);
    let names = |rig: &mut Rig<'_>, max| {
        let (leased, next) = rig.claim_of(&kinds, ClaimLimit::jobs(max), LEASE);
        let names: String = leased.iter().map(|leased| leased.job.key.to_string()).collect();
        (names, next.visible_at.is_some_and(|at| at <= next.now))
    };
    assert_eq!(names(&mut rig, 0), (String::new(), true), "jobs are visible, none is claimed");
    assert_eq!(names(&mut rig, 4), ("0123".to_owned(), true));
    assert_eq!(names(&mut rig, 6), ("456789".to_owned(), false));
    assert_eq!(names(&mut rig, 6), (String::new(), false));
}

/// A claim ends before the first job whose payload would exceed its limit of bytes, and leases one
/// job in any case. The jobs after it are not touched.
pub fn a_claim_is_bounded_in_bytes(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let kinds = Kinds::new([KIND, "other/1"]);
    let of = |name: &str, delay, bytes| Put { payload: vec![7; bytes], ..job(name, delay) };
    let other = Put { kind: "other/1".into(), ..of("b", 1, 20) };
    let puts = [of("a", 0, 10), other, of("c", 2, 5), of("d", 3, 100), of("e", 4, 1)];
    rig.commit(&puts.map(Change::Put));
    rig.advance(9);
    let names = |rig: &mut Rig<'_>, bytes| {
        let (leased, next) = rig.claim_of(&kinds, ClaimLimit { jobs: 9, bytes }, LEASE);
        rig.commit(&leased.iter().map(ack).collect::<Vec<_>>());
        let names: String = leased.iter().map(|leased| leased.job.key.to_string()).collect();
        (names, next.visible_at.is_some_and(|at| at <= next.now))
    };
    assert_eq!(names(&mut rig, 30), ("ab".to_owned(), true), "30 bytes, of both kinds");
    for name in ["c", "d", "e"] {
        let row = rig.find(name).expect("it is there");
        assert_eq!((row.state, row.attempt), (State::Pending, 0), "{name} is not leased");
    }
    assert_eq!(names(&mut rig, 30), ("c".to_owned(), true), "the next one has 100 bytes");
    assert_eq!(names(&mut rig, 30), ("d".to_owned(), true), "one job, however long it is");
    assert_eq!(names(&mut rig, 0), ("e".to_owned(), false), "one job in any case");
    // A cancelled job is not handed out, so it does not count.
    rig.put(of("f", 0, 50));
    rig.claim_one();
    assert_eq!(rig.one(cancel("f")), Outcome::Running);
    rig.advance(LEASE);
    rig.commit(&[of("g", 0, 5), of("h", 1, 5), of("i", 2, 5)].map(Change::Put));
    rig.advance(2);
    assert_eq!(names(&mut rig, 10), ("gh".to_owned(), true));
}

/// The limit of bytes holds in a large claim and for large payloads, and the next claims lease the
/// other jobs in order.
pub fn a_large_claim_is_bounded_in_bytes(bed: &mut dyn Bed) {
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

/// A claim does not lease jobs of other kinds, and its answer ignores them.
pub fn a_claim_is_bounded_by_kinds(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let of = |name: &str, kind: &str, delay| Put { kind: kind.into(), ..job(name, delay) };
    let puts = [of("1", "a/1", 0), of("2", "b/1", 1), of("3", "a/2", 2), of("4", "a/1", 3)];
    rig.commit(&puts.map(Change::Put));
    rig.advance(2);
    let claim = |rig: &mut Rig<'_>, kinds: &[&str]| {
        let kinds = Kinds::new(kinds.iter().copied());
        let (leased, next) = rig.claim_of(&kinds, ClaimLimit::jobs(10), LEASE);
        let names: String = leased.iter().map(|leased| leased.job.key.to_string()).collect();
        (names, next.visible_at.map(|at| at.saturating_since(next.now).as_millis()))
    };
    assert_eq!(claim(&mut rig, &[]), (String::new(), None));
    assert_eq!(claim(&mut rig, &["c/1"]), (String::new(), None));
    assert_eq!(claim(&mut rig, &["a/2", "b/1"]), ("23".to_owned(), Some(1_000)), "in order");
    assert_eq!(claim(&mut rig, &["a/2", "a/1"]), ("1".to_owned(), Some(1)), "by due time");
    assert_eq!(rig.find("4").map(|row| row.attempt), Some(0));
}

/// Each kind is listed once, with the time of its first row.
pub fn kinds_are_listed_with_their_first(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let of = |name: &str, kind: &str, delay| Put { kind: kind.into(), ..job(name, delay) };
    let list = |rig: &mut Rig<'_>| {
        let (now, mut list) = (rig.now(), Vec::new());
        let listed = rig.store.kinds(&mut |kind, first| {
            list.push((kind.to_string(), first.saturating_since(now).as_millis()));
        });
        listed.expect("a list of kinds");
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

/// A claim returns the next due time or end of a lease; `None` if there is no job.
pub fn the_answer_to_a_claim_says_when_to_ask(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    assert_eq!(rig.next_in(), None);
    rig.commit(&[Change::Put(job("a", 30)), Change::Put(job("b", 10))]);
    assert_eq!(rig.next_in(), Some(10));
    rig.one(cancel("b"));
    assert_eq!(rig.next_in(), Some(30));
    rig.advance(30);
    assert_eq!(rig.next_in(), Some(0), "visible, and not leased");
    let leased = rig.claim_one();
    assert_eq!(rig.next_in(), Some(LEASE), "when the lease ends");
    assert_eq!(rig.one(ack(&leased)), Outcome::Done);
    assert_eq!(rig.next_in(), None);
    // A program that claims at the returned times comes to an end, also if a row was cancelled.
    rig.put(job("c", 0));
    rig.claim_one();
    assert_eq!(rig.one(cancel("c")), Outcome::Running);
    for _ in 0..3 {
        let Some(wait) = rig.next_in() else { return };
        rig.advance(wait);
        assert_eq!(rig.claim_names(), [""; 0], "it was cancelled");
    }
    panic!("no job is left, but a claim returns a time for the next");
}

/// A program that waits for a later job, or for none, is woken by an earlier job, also from another
/// connection.
pub fn an_earlier_job_wakes(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    let calls = Arc::new(AtomicU32::new(0));
    rig.store.wake_by(Arc::new({
        let calls = Arc::clone(&calls);
        move || {
            calls.fetch_add(1, Ordering::SeqCst);
        }
    }));
    let mut other = rig.bed.connect();
    let mut wakes = |rig: &mut Rig<'_>, change: Change, here: bool| {
        rig.claim();
        let before = calls.load(Ordering::SeqCst);
        let store = if here { &mut rig.store } else { &mut other };
        store.commit(&[change]).expect("a commit succeeds");
        // A server's message takes some time.
        let patience = std::time::Instant::now();
        while calls.load(Ordering::SeqCst) == before {
            if patience.elapsed() > millis(5_000) {
                return false;
            }
            std::thread::yield_now();
        }
        true
    };
    assert!(wakes(&mut rig, Change::Put(job("a", 500)), true), "the first job");
    assert!(wakes(&mut rig, Change::Put(job("b", 300)), true), "an earlier job");
    assert!(wakes(&mut rig, move_to("a", 100), true), "a moved job");
    if rig.bed.wakes_across_connections() {
        assert!(wakes(&mut rig, Change::Put(job("c", 50)), false), "a job of another connection");
    }
}

/// If a worker does not end its lease in time, the next claim gets the job, with a newer token, and
/// the ack of the first worker is refused.
pub fn a_lease_hides_and_comes_back(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let first = rig.claim_one();
    let due = first.job.due;
    rig.advance(LEASE - 1);
    assert_eq!(rig.claim_names(), [""; 0], "the lease still lasts");
    rig.advance(1);
    let second = rig.claim_one();
    assert!(second.token > first.token, "{:?} after {:?}", second.token, first.token);
    assert_eq!((second.job.attempt, second.job.due), (2, due));
    assert_eq!(second.job.generation, first.job.generation, "the same scheduling");
    assert_eq!(rig.one(ack(&first)), Outcome::Superseded, "not the newest token");
    assert_eq!(rig.claim_names(), [""; 0]);
    assert_eq!(rig.one(ack(&second)), Outcome::Done);
    assert_eq!(rig.find("k"), None);
}

/// After the end of its lease, an ack counts until the job is claimed again.
pub fn a_late_ack_counts_until_the_next_claim(bed: &mut dyn Bed) {
    let mut rig = Rig::new(bed);
    rig.put(job("k", 0));
    let leased = rig.claim_one();
    rig.advance(10 * LEASE);
    assert_eq!(rig.one(ack(&leased)), Outcome::Done);
    assert_eq!((rig.find("k"), rig.claim_names().len()), (None, 0));
}
