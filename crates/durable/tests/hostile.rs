//! Misbehaving handlers, callers and stores: other jobs are not affected.

use crate::common::*;
use std::pin::pin;
use std::task::{Context, Wake, Waker};

/// An end that the store refuses for good is given up: the lease of the run ends, and its attempt
/// counts. Other changes share commits as before.
#[test]
fn an_end_that_the_store_refuses_for_good_is_given_up() {
    let world = World::new();
    world.faults.lock().never_acked = Some("bad");
    let timers =
        world.builder(done()).backoff(attempts_up_to(2)).start(FaultyStore::new(&world)).unwrap();
    schedule(&timers, "bad");
    let refused = |times| {
        let is_refused = |event: &&Event| matches!(event.kind, EventKind::EndRefused(_));
        let events = world.events.lock();
        events.iter().filter(is_refused).count() == times && timers.snapshot().in_flight == 0
    };
    wait_until("it is given up", || refused(1));
    // Changes that arrive during a commit are the next batch, and are not committed one by one.
    let far = |_| timers.after(1_000_000 * MINUTE).submit_bytes(KIND, "");
    let before = world.faults.commits().len();
    let commits = world.during_a_commit(&timers, || (0..2_000).map(far).collect::<Vec<_>>());
    wait_all(commits.into_iter());
    assert!(world.faults.commits().len() - before < 10, "{:?}", world.faults.commits());
    // The lease of the first attempt ends, and later that of the second.
    world.clock.advance(secs(31));
    wait_until("it is given up again", || refused(2));
    world.clock.advance(secs(31));
    wait_until("it is a dead letter", || timers.snapshot().counts.dead == 1);
    assert_eq!(timers.snapshot().counts.started, 2);
}

#[test]
fn a_waker_that_panics_ends_nothing() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker")
        }
    }
    let world = World::new();
    let timers = world.start_faulty(Handlers::new());
    let closed = world.faults.gate.lock();
    let mut commit = pin!(timers.after(MINUTE).key("a").submit_bytes(KIND, ""));
    let waker = Waker::from(Arc::new(Panics));
    assert!(commit.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(closed);
    timers.after(MINUTE).key("b").schedule_bytes(KIND, "").unwrap();
    assert_eq!(world.store.len(), 2);
}

#[test]
fn a_job_is_judged_when_a_worker_is_free_for_it() {
    for skip in [false, true] {
        let world = World::new();
        let timers = world.start_waiting_at_a_pace();
        schedule(&timers, "first");
        assert_eq!(timers.next(), "first");
        let now = timers.now().unwrap();
        let second = timers.at(now).key("second");
        let second = if skip {
            second.late(Late::Skip(secs(10)))
        } else {
            second.expires(now.saturating_add(secs(11)))
        };
        second.schedule_bytes(KIND, "").unwrap();
        wait_until("both are leased", || timers.snapshot().in_flight == 2);
        // Both leases, of 30 s, still last.
        world.clock.advance(secs(11));
        timers.go();
        let counts = || timers.snapshot().counts;
        wait_until("the second has ended", || counts().skipped + counts().dead == 1);
        assert!(timers.begun.is_empty() && counts().skipped == u64::from(skip));
    }
}

/// If the end of a run is queued behind many changes of producers, the run keeps its lease.
#[test]
fn a_lease_is_renewed_until_the_end_of_its_run_is_committed() {
    let world = World::new();
    let store = FaultyStore { has_beside: true, ..FaultyStore::new(&world) };
    let timers = world.start_waiting_on(store, |its| its);
    schedule(&timers, "a");
    wait_until("it runs", || timers.snapshot().counts.started == 1);
    let submit = |_| timers.after(60 * MINUTE).submit_bytes(KIND, "");
    let others = world.during_a_commit(&timers, || {
        let others: Vec<_> = (0..1_500).map(submit).collect();
        timers.go();
        wait_until("it has ended", || timers.snapshot().run_time.count == 1);
        // A claim after the renewal was due shows that the renewal is queued.
        for time in [11, 1] {
            let claims = timers.snapshot().counts.claims;
            world.clock.advance(secs(time));
            wait_until("the store is asked", || timers.snapshot().counts.claims > claims);
        }
        others
    });
    wait_all(others.into_iter());
    wait_acked(&timers, 1);
    // No other change can delay the renewal, or make it fail.
    assert_eq!(world.faults.commits(), [1, 1, 1, 1_024, 477]);
    assert_eq!(world.faults.lock().renewals, [0, 0, 1, 0, 0]);
    assert_eq!(timers.snapshot().counts.leases_lost, 0);
}

/// The clock of an embedded store stands still after the wall clock was set back.
#[test]
fn a_store_whose_clock_stands_still_is_not_asked_all_the_time() {
    let (world, stands) = (World::new(), ManualClock::new());
    let store = MemoryStore::with_clock(StoreClock::new(stands));
    let timers = world.builder(done()).start(store).unwrap();
    timers.after(millis(1)).schedule_bytes(KIND, "").unwrap();
    let claims = timers.snapshot().counts.claims;
    for _ in 0..1_000 {
        world.clock.advance(millis(1));
        thread::yield_now();
    }
    let claims = timers.snapshot().counts.claims - claims;
    assert!(claims <= 50 + 25, "{claims} claims in a second");
}

/// A job that is earlier than all others wakes the claimer, also if another program schedules it.
/// Two claims within a millisecond see the same time. Such a clock counts as running, and no claim
/// is delayed.
#[test]
fn a_clock_that_shows_the_same_twice_puts_nothing_off() {
    let world = World::new();
    let (timers, other) = (world.start(done()), world.start(Handlers::new()));
    for n in 1..=100 {
        for (who, delay) in [(&timers, 3), (&other, 1)] {
            let claims = timers.snapshot().counts.claims;
            who.after(millis(delay)).schedule_bytes(KIND, "").unwrap();
            wait_until("it is asked", || timers.snapshot().counts.claims > claims);
            world.clock.advance(Duration::from_micros(100));
        }
        world.clock.advance(millis(5));
        wait_until("both have run", || timers.snapshot().counts.acked == 2 * n);
    }
}
