//! Bounds, wake-ups, start and stop.

use crate::common::{
    FaultyStore, KIND, MINUTE, Waiting, World, done, key, millis, receive, schedule, secs, telling,
    wait_acked, wait_all, wait_until,
};
use std::sync::Arc;
use wheelhouse_durable::store::Store;
use wheelhouse_durable::{Builder, Durable, Error, Handlers, Next, StartError};

#[test]
fn settings_that_cannot_be_are_refused() {
    let world = World::new();
    let start = |builder: Builder| builder.start(world.store.clone());
    let wrong: [fn(Builder) -> Builder; 5] = [
        |its| its.workers(0),
        |its| its.max_in_flight(0),
        |its| its.max_attempts(0),
        |its| its.catch_up_rate(0),
        |its| its.visibility_timeout(secs(0)),
    ];
    for set in wrong {
        let refused = start(set(world.builder(done())));
        assert!(matches!(refused, Err(StartError::Setting(_))), "{refused:?}");
    }
    let twice = done().on_bytes(KIND, |_, _| Ok(Next::Done));
    assert!(matches!(start(world.builder(twice)), Err(StartError::DuplicateKind(_))));
}

/// However many jobs are due, no more are leased than may be in flight: by default 64 for each
/// worker. The test clock does not advance, so runs take no time, and their mean duration does not
/// limit how many are leased.
#[test]
fn jobs_in_flight_are_bounded_by_the_number_of_workers() {
    let (most, claims) = most_leased(300, |builder| builder.workers(2).max_in_flight(7));
    assert!((1..=7).contains(&most), "{most} leased at a time");
    assert!(claims >= 300 / 7, "{claims} claims");
    let (most, claims) = most_leased(600, |builder| builder.workers(2));
    assert!((65..=128).contains(&most), "{most} leased at a time");
    assert!(claims >= 600 / 128, "{claims} claims");
}

/// Runs jobs that are due. Returns the most that were leased at a time, and the number of claims.
fn most_leased(jobs: u64, set: impl FnOnce(Builder) -> Builder) -> (usize, u64) {
    let world = World::new();
    let producer = world.start(Handlers::new());
    wait_all((0..jobs).map(|_| producer.after(secs(0)).submit_bytes(KIND, "")));
    producer.stop();
    let store = world.store.clone();
    let (handlers, leased) = telling(move |_| {
        let rows = store.clone().scan(None, usize::MAX).unwrap();
        rows.iter().filter(|row| row.state.is_held()).count()
    });
    let timers = set(world.builder(handlers)).start(world.store.clone()).unwrap();
    wait_acked(&timers, jobs);
    (leased.try_iter().max().unwrap(), timers.snapshot().counts.claims)
}

/// However many jobs are due at one instant, a claim takes at most 512 of them, and no more are in
/// flight than allowed. That bounds the memory.
#[test]
fn a_crowd_that_is_due_at_one_instant_is_taken_in_portions() {
    let jobs = 50_000;
    let world = World::new();
    let producer = world.start(Handlers::new());
    let at = producer.now().unwrap().saturating_add(MINUTE);
    wait_all((0..jobs).map(|_| producer.at(at).submit_bytes(KIND, "")));
    producer.stop();
    world.clock.advance(MINUTE);
    let builder = world.builder(done()).workers(2).max_in_flight(10_000);
    let timers = builder.start(world.store.clone()).unwrap();
    wait_until("all are run", || {
        let snapshot = timers.snapshot();
        assert!(snapshot.in_flight <= 10_000, "{} in flight", snapshot.in_flight);
        snapshot.counts.acked == jobs
    });
    let counts = timers.snapshot().counts;
    assert!(counts.claims >= jobs / 512, "{} claims", counts.claims);
    assert_eq!((counts.started, counts.leases_lost), (jobs, 0));
}

/// A backlog is worked off at a rate, by the test clock.
#[test]
fn catching_up_has_a_rate() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    wait_all((0..100).map(|_| producer.after(secs(0)).submit_bytes(KIND, "")));
    producer.stop();
    world.clock.advance(MINUTE);
    let builder = world.builder(done()).catch_up_rate(20);
    let timers = builder.start(world.store.clone()).unwrap();
    let begin = timers.now().unwrap();
    wait_until("all are run", || {
        let elapsed = timers.now().unwrap().saturating_since(begin);
        let started = timers.snapshot().counts.started;
        let allowed = elapsed.as_millis() / 50 + 4;
        assert!(u128::from(started) <= allowed, "{started} after {elapsed:?}");
        world.pass(millis(10));
        timers.snapshot().counts.acked == 100
    });
}

/// A new job that is earlier wakes programs that wait for a later one. The clock does not advance
/// in this test.
#[test]
fn an_earlier_job_is_not_waited_for() {
    let world = World::new();
    let (handlers, seen) = telling(key);
    let timers = world.start(handlers);
    timers.after(MINUTE).key("late").schedule_bytes(KIND, "").unwrap();
    let other_machine = world.start(Handlers::new());
    for n in 0..200 {
        let who: &Durable = if n % 2 == 0 { &timers } else { &other_machine };
        schedule(who, &n.to_string());
        assert_eq!(receive(&seen), n.to_string(), "it is woken");
    }
}

/// A stop waits for runs that have begun and commits their ends. It gives back the other leases.
#[test]
fn a_stop_gives_back_what_has_not_begun() {
    let world = World::new();
    let Waiting { timers, begun, go } = world.start_waiting_at_a_pace();
    for n in 0..5 {
        schedule(&timers, &format!("{n}"));
    }
    receive(&begun);
    wait_until("all are leased", || world.leased() == 5);
    let handle = timers.timers();
    let stop = std::thread::spawn(move || timers.stop());
    wait_until("the stop has begun", || handle.is_stopped());
    go.send(()).unwrap();
    stop.join().unwrap();
    assert_eq!((world.leased(), world.store.len()), (0, 4));
    let counts = handle.snapshot().counts;
    assert_eq!((counts.acked, counts.released, counts.started), (2, 4, 2));
    assert!((1..5).all(|n| world.find(&format!("{n}")).is_some_and(|row| row.attempt == 0)));
    let error = handle.after(MINUTE).schedule_bytes(KIND, "").unwrap_err();
    assert!(matches!(error, Error::Stopped), "{error}");
}

/// `stop_within` leaves a run that does not end in time to its lease.
#[test]
fn a_stop_need_not_wait_for_ever() {
    let world = World::new();
    let Waiting { timers, begun, go } = world.start_waiting(|its| its);
    schedule(&timers, "k");
    receive(&begun);
    assert_eq!(timers.stop_within(millis(10)), 1);
    assert_eq!(world.leased(), 1);
    go.send(()).unwrap();
    world.clock.advance(secs(30));
    assert_eq!(world.claim_and_die(secs(1))[0].job.attempt, 2, "the run is repeated");
}

/// A stop ends although the store is unreachable.
#[test]
fn a_stop_ends_though_the_store_is_away() {
    let world = World::new();
    let faults = world.faults.clone();
    let timers = world.start_faulty(Handlers::new().on_bytes(KIND, move |_, _| {
        faults.down(true);
        Ok(Next::Done)
    }));
    schedule(&timers, "k");
    wait_until("it runs", || timers.snapshot().counts.started == 1);
    timers.stop();
    assert_eq!(world.leased(), 1, "the ack was not committed, and the lease will run out");
}

/// A store may have a second connection for claims. Without handlers it is not opened. A stop
/// closes it, even if a handle is kept.
#[test]
fn the_connection_that_claims_is_closed_by_a_stop() {
    let world = World::new();
    let start = |handlers| {
        let store = FaultyStore { has_beside: true, ..FaultyStore::new(&world) };
        let open = Arc::downgrade(&store.open);
        (world.builder(handlers).start(store).unwrap(), open)
    };
    let (timers, open) = start(Handlers::new());
    assert_eq!(open.strong_count(), 1);
    timers.stop();
    assert_eq!(open.strong_count(), 0);

    let (timers, open) = start(done());
    assert_eq!(open.strong_count(), 2);
    let kept = timers.timers();
    timers.stop();
    assert_eq!(open.strong_count(), 1);
    drop(kept);
    assert_eq!(open.strong_count(), 0);
}
