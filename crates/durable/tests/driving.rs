//! Bounds, wake-ups, start and stop.

mod common;

use common::{FaultyStore, KIND, MINUTE, World, secs, wait_until};
use crossbeam_channel::{bounded, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wheelhouse_durable::{Builder, Durable, Error, Handlers, Next, StartError};

#[test]
fn settings_that_cannot_be_are_refused() {
    let world = World::new();
    let handler = || Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
    let start = |builder: Builder| builder.start(world.store.clone());
    assert!(matches!(start(world.builder(handler()).workers(0)), Err(StartError::Setting(_))));
    assert!(matches!(
        start(world.builder(handler()).max_in_flight(0)),
        Err(StartError::Setting(_))
    ));
    assert!(matches!(start(world.builder(handler()).max_attempts(0)), Err(StartError::Setting(_))));
    assert!(matches!(
        start(world.builder(handler()).catch_up_rate(0)),
        Err(StartError::Setting(_))
    ));
    assert!(matches!(
        start(world.builder(handler()).visibility_timeout(std::time::Duration::ZERO)),
        Err(StartError::Setting(_))
    ));
    let twice = handler().on_bytes(KIND, |_, _| Ok(Next::Done));
    assert!(matches!(start(world.builder(twice)), Err(StartError::DuplicateKind(_))));
    let nobody = handler().alias("work/0", "work/9");
    assert!(matches!(start(world.builder(nobody)), Err(StartError::UnknownKind(_))));
}

/// However many jobs are due, no more are leased than may be in flight.
#[test]
fn a_backlog_is_taken_in_portions() {
    let (most, claims) = most_leased(300, |builder| builder.workers(2).max_in_flight(7));
    assert!((1..=7).contains(&most), "{most} leased at a time");
    assert!(claims >= 300 / 7, "{claims} claims");
}

/// The default is 64 jobs for each worker. The test clock does not advance, so runs take no time,
/// and their mean duration does not limit how many are leased.
#[test]
fn jobs_in_flight_are_bounded_by_the_number_of_workers() {
    let (most, claims) = most_leased(600, |builder| builder.workers(2));
    assert!((65..=128).contains(&most), "{most} leased at a time");
    assert!(claims >= 600 / 128, "{claims} claims");
}

/// Runs jobs that are due. Returns the most that were leased at a time, and the number of claims.
fn most_leased(jobs: u64, set: impl FnOnce(Builder) -> Builder) -> (usize, u64) {
    let world = World::new();
    let producer = world.start(Handlers::new());
    let commits: Vec<_> =
        (0..jobs).map(|_| producer.after(secs(0)).submit_bytes(KIND, "")).collect();
    commits.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
    producer.stop();
    let most = Arc::new(AtomicUsize::new(0));
    let handlers = Handlers::new().on_bytes(KIND, {
        let (most, store) = (Arc::clone(&most), world.store.clone());
        move |_, _| {
            use wheelhouse_durable::store::{Entry, Store};
            let mut leased = 0;
            let mut count = |row: &Entry| leased += usize::from(row.state.is_held());
            store.clone().scan(None, usize::MAX, &mut count)?;
            most.fetch_max(leased, Ordering::SeqCst);
            Ok(Next::Done)
        }
    });
    let timers = set(world.builder(handlers)).start(world.store.clone()).unwrap();
    wait_until("all are run", || timers.snapshot().counts.acked == jobs);
    (most.load(Ordering::SeqCst), timers.snapshot().counts.claims)
}

/// However many jobs are due at one instant, a claim takes at most 512 of them, and no more are in
/// flight than allowed. That bounds the memory.
#[test]
fn a_crowd_that_is_due_at_one_instant_is_taken_in_portions() {
    takes_in_portions(50_000);
}

#[test]
#[ignore = "by hand, with --release"]
fn a_million_that_are_due_at_one_instant_are_taken_in_portions() {
    takes_in_portions(1_000_000);
}

fn takes_in_portions(jobs: u64) {
    let world = World::new();
    let producer = world.start(Handlers::new());
    let at = producer.now().unwrap().saturating_add(MINUTE);
    let commits: Vec<_> = (0..jobs).map(|_| producer.at(at).submit_bytes(KIND, "")).collect();
    commits.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
    producer.stop();
    world.clock.advance(MINUTE);
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
    let builder = world.builder(handlers).workers(2).max_in_flight(10_000);
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
    let commits: Vec<_> =
        (0..100).map(|_| producer.after(secs(0)).submit_bytes(KIND, "")).collect();
    commits.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
    producer.stop();
    world.clock.advance(MINUTE);
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
    let builder = world.builder(handlers).catch_up_rate(20);
    let timers = builder.start(world.store.clone()).unwrap();
    let begin = timers.now().unwrap();
    wait_until("all are run", || {
        let elapsed = timers.now().unwrap().saturating_since(begin);
        let started = timers.snapshot().counts.started;
        let allowed = elapsed.as_millis() / 50 + 4;
        assert!(u128::from(started) <= allowed, "{started} after {elapsed:?}");
        world.pass(std::time::Duration::from_millis(10));
        timers.snapshot().counts.acked == 100
    });
}

/// A new job that is earlier wakes programs that wait for a later one. The clock does not advance
/// in this test.
#[test]
fn an_earlier_job_is_not_waited_for() {
    let world = World::new();
    let (sender, seen) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(run.key().to_string())?;
        Ok(Next::Done)
    });
    let timers = world.start(handlers);
    timers.after(MINUTE).key("late").schedule_bytes(KIND, "").unwrap();
    let other_machine = world.start(Handlers::new());
    for n in 0..200 {
        let who: &Durable = if n % 2 == 0 { &timers } else { &other_machine };
        who.after(secs(0)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
        assert_eq!(seen.recv_timeout(secs(20)).expect("it is woken"), format!("{n}"));
    }
}

/// A stop waits for runs that have begun and commits their ends. It gives back the other leases.
#[test]
fn a_stop_gives_back_what_has_not_begun() {
    let world = World::new();
    let (go, wait) = bounded::<()>(0);
    let (sender, begun) = unbounded();
    let handlers = world.with_a_pace(Handlers::new()).on_bytes(KIND, move |_, _| {
        sender.send(())?;
        wait.recv()?;
        Ok(Next::Done)
    });
    let builder = world.builder(handlers).workers(1);
    let timers = builder.start(world.store.clone()).unwrap();
    let go = go; // Dropped before the timers, so that a failing test does not hang.
    world.set_the_pace(&timers);
    for n in 0..5 {
        timers.after(secs(0)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
    }
    begun.recv_timeout(secs(20)).unwrap();
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
    let (go, wait) = bounded::<()>(0);
    let (sender, begun) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |_, _| {
        sender.send(())?;
        wait.recv()?;
        Ok(Next::Done)
    });
    let timers = world.start(handlers);
    let go = go; // Dropped before the timers, so that a failing test does not hang.
    timers.after(secs(0)).key("k").schedule_bytes(KIND, "").unwrap();
    begun.recv_timeout(secs(20)).unwrap();
    assert_eq!(timers.stop_within(std::time::Duration::from_millis(10)), 1);
    assert_eq!(world.leased(), 1);
    go.send(()).unwrap();
    world.clock.advance(secs(30));
    assert_eq!(world.claim_and_die(secs(1))[0].job.attempt, 2, "the run is repeated");
}

/// A stop ends although the store is unreachable.
#[test]
fn a_stop_ends_though_the_store_is_away() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let faults = store.faults.clone();
    let handlers = Handlers::new().on_bytes(KIND, {
        let faults = faults.clone();
        move |_, _| {
            faults.down(true);
            Ok(Next::Done)
        }
    });
    let timers = world.builder(handlers).start(store).unwrap();
    timers.after(secs(0)).key("k").schedule_bytes(KIND, "").unwrap();
    wait_until("it runs", || timers.snapshot().counts.started == 1);
    timers.stop();
    assert_eq!(world.leased(), 1, "the ack was not committed, and the lease will run out");
}

/// A handler schedules another job, and waits until that is durable.
#[test]
fn handlers_schedule_jobs() {
    let world = World::new();
    let handlers = Handlers::new().on_bytes(KIND, |run, payload| {
        let left = payload[0];
        if left > 0 {
            run.timers().after(secs(0)).schedule_bytes(KIND, [left - 1])?;
        }
        Ok(Next::Done)
    });
    let timers = world.start(handlers);
    timers.after(secs(0)).schedule_bytes(KIND, [20]).unwrap();
    wait_until("all are run", || timers.snapshot().counts.acked == 21);
}
