//! Misbehaving handlers, callers and stores: other jobs are not affected.

use crate::common::{
    FaultyStore, KIND, MINUTE, World, always_waiting, done, millis, schedule, secs, wait_acked,
    wait_all, wait_until,
};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;
use wheelhouse_durable::store::{MemoryStore, StoreClock};
use wheelhouse_durable::{Error, Event, EventKind, Handlers, Late, Next, StartError};
use wheelhouse_service::ManualClock;

#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("it has no words")
    }
}

impl std::error::Error for Unspeakable {}

/// An error whose `Display` panics counts as a failure: the job is retried, and becomes a dead
/// letter.
#[test]
fn an_error_that_panics_when_it_is_shown_is_a_failure() {
    let world = World::new();
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Err(Unspeakable.into()));
    let timers = world.builder(handlers).max_attempts(2).start(world.store.clone()).unwrap();
    schedule(&timers, "a");
    wait_until("it has failed", || timers.snapshot().counts.retried == 1);
    assert_eq!(timers.snapshot().counts.started, 1);
    world.clock.advance(secs(1));
    wait_until("it is a dead letter", || timers.snapshot().counts.dead == 1);
    assert!(world.has_event(|kind| matches!(kind, EventKind::Dead(why) if why.contains("words"))));
}

/// The lease of that run ends, and its attempt counts. Other changes share commits as before.
#[test]
fn an_end_that_the_store_refuses_for_good_is_given_up() {
    let world = World::new();
    world.faults.lock().never_acked = Some("bad");
    let timers = world.builder(done()).max_attempts(2).start(FaultyStore::new(&world)).unwrap();
    schedule(&timers, "bad");
    let refused = |times| {
        let is_refused = |event: &&Event| matches!(event.kind, EventKind::EndRefused(_));
        let events = world.events.lock();
        events.iter().filter(is_refused).count() == times && timers.snapshot().in_flight == 0
    };
    wait_until("it is given up", || refused(1));
    // Changes that arrive during a commit are the next batch, and are not committed one by one.
    let far = || timers.after(1_000_000 * MINUTE).submit_bytes(KIND, "");
    let closed = world.faults.gate.lock();
    let before = world.faults.commits().len();
    let first = far();
    wait_until("a commit is in progress", || world.faults.commits().len() > before);
    let commits: Vec<_> = (0..2_000).map(|_| far()).collect();
    drop(closed);
    first.wait().unwrap();
    commits.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
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

/// Otherwise a store might refuse the whole batch with such a kind, or each claim of a program that
/// has a handler for it.
#[test]
fn a_kind_that_no_store_should_have_to_take_is_refused() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    let long = "x".repeat(256);
    for kind in ["", "close\0order/1", "close\norder/1", &long] {
        let error = timers.after(MINUTE).schedule_bytes(kind, "").unwrap_err();
        assert!(matches!(&error, Error::Kind(_)) && error.to_string().contains("kind"), "{error}");
        let handlers = Handlers::new().on_bytes(kind, |_, _| Ok(Next::Done));
        let error = world.builder(handlers).start(world.store.clone()).unwrap_err();
        assert!(matches!(error, StartError::Kind(_)), "{error}");
    }
    timers.after(MINUTE).schedule_bytes("x".repeat(255), "").unwrap();
    assert_eq!(world.store.len(), 1);
}

/// A leased job may wait for a worker for long: it is judged when the worker is free.
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
    let (handlers, with) = always_waiting();
    let timers = with(world.builder(handlers).start(store).unwrap());
    schedule(&timers, "a");
    wait_until("it runs", || timers.snapshot().counts.started == 1);
    let closed = world.faults.gate.lock();
    let submit = || timers.after(60 * MINUTE).submit_bytes(KIND, "");
    let first = submit();
    wait_until("a commit is in progress", || world.faults.commits() == [1, 1]);
    let others: Vec<_> = (0..1_500).map(|_| submit()).collect();
    timers.go();
    wait_until("it has ended", || timers.snapshot().run_time.count == 1);
    // A claim after the renewal was due shows that the renewal is queued.
    for time in [11, 1] {
        let claims = timers.snapshot().counts.claims;
        world.clock.advance(secs(time));
        wait_until("the store is asked", || timers.snapshot().counts.claims > claims);
    }
    drop(closed);
    first.wait().unwrap();
    others.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
    wait_acked(&timers, 1);
    // No other change can delay the renewal, or make it fail.
    assert_eq!(world.faults.commits(), [1, 1, 1, 1_024, 477]);
    assert_eq!(world.faults.lock().renewals, [0, 0, 1, 0, 0]);
    assert_eq!(timers.snapshot().counts.leases_lost, 0);
}

/// The rate applies to late jobs only.
#[test]
fn a_crowd_that_is_in_time_is_not_held_up_by_the_rate() {
    let world = World::new();
    let timers = world.builder(done()).catch_up_rate(10).start(world.store.clone()).unwrap();
    let at = timers.now().unwrap().saturating_add(MINUTE);
    wait_all((0..1_000).map(|_| timers.at(at).submit_bytes(KIND, "")));
    let claims = timers.snapshot().counts.claims;
    world.clock.advance(MINUTE);
    wait_acked(&timers, 1_000);
    let claims = timers.snapshot().counts.claims - claims;
    assert!(claims < 100, "{claims} claims");
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

/// Two claims within a millisecond see the same time. Such a clock counts as running, and no claim
/// is delayed.
#[test]
fn a_clock_that_shows_the_same_twice_puts_nothing_off() {
    let world = World::new();
    let timers = world.start(done());
    for n in 1..=100 {
        // Each job is earlier than all before it, and wakes the claimer.
        for delay in [3, 1] {
            let claims = timers.snapshot().counts.claims;
            timers.after(millis(delay)).schedule_bytes(KIND, "").unwrap();
            wait_until("it is asked", || timers.snapshot().counts.claims > claims);
            world.clock.advance(Duration::from_micros(100));
        }
        world.clock.advance(millis(5));
        wait_until("both have run", || timers.snapshot().counts.acked == 2 * n);
    }
}
