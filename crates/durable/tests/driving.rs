//! Bounds, wake-ups, start and stop.

use crate::common::*;

const LONGEST: Duration = Duration::from_secs(365 * 86_400);

type Set = fn(Builder) -> Builder;

#[test]
fn settings_that_cannot_be_are_refused() {
    let world = World::new();
    let start = |builder: Builder| builder.start(world.store.clone());
    let wrong: [(Set, &str); 11] = [
        (|its| its.workers(0), "handlers need one at least"),
        (|its| its.max_in_flight(0), "`max_in_flight` of zero"),
        (|its| its.async_runs(0), "`async_runs` of zero"),
        (|its| its.catch_up_rate(0), "leave it out"),
        (|its| its.poll(secs(0)), "`poll` below"),
        (|its| its.poll(LONGEST + millis(1)), "a year at most"),
        (|its| its.slow_after(secs(0)), "`slow_after` of zero"),
        (|its| its.limit(secs(0)), "leave it out"),
        (|its| its.visibility_timeout(millis(2)), "cannot be renewed"),
        (|its| its.visibility_timeout(LONGEST + millis(1)), "use less"),
        (|its| its.visibility_timeout(Duration::MAX), "use less"),
    ];
    for (set, says) in wrong {
        let refused = start(set(world.builder(done()))).unwrap_err();
        assert!(matches!(refused, StartError::Setting(_)), "{refused}");
        assert!(format!("{refused:?}").contains(says), "{refused}");
    }
    let twice = done().on_bytes(KIND, |_, _| Ok(Next::Done));
    let refused = start(world.builder(twice)).unwrap_err();
    assert!(refused.to_string().contains("two handlers"), "{refused}");
}

#[test]
fn large_settings_do_not_panic() {
    let world = World::new();
    let handlers = Handlers::new().on_async_bytes(KIND, |run, _| async move {
        if run.attempt() == 1 { Err("no".into()) } else { Ok(Next::Done) }
    });
    let builder = world.builder(handlers).async_runs(usize::MAX);
    let builder =
        builder.backoff(Backoff::new(Duration::MAX).cap(Duration::MAX)).max_in_flight(usize::MAX);
    let builder = builder.poll(LONGEST).visibility_timeout(LONGEST);
    let timers = builder.start(world.store.clone()).unwrap();
    schedule(&timers, "k");
    wait_until("it has failed", || timers.snapshot().counts.retried == 1);
}

/// However many jobs are due, no more are leased than may be in flight, by default 64 for each
/// worker, and a claim leases at most 512. That bounds the memory. The test clock does not advance,
/// so runs take no time, and their mean duration does not limit how many are leased.
#[test]
fn jobs_in_flight_are_bounded() {
    for (jobs, most_allowed, claims_needed) in [(300, 7, 300 / 7), (2_000, 10_000, 4)] {
        let (most, claims) = most_leased(jobs, |its| its.workers(2).max_in_flight(most_allowed));
        assert!((1..=most_allowed).contains(&most), "{most} leased at a time");
        assert!(claims >= claims_needed, "{claims} claims");
    }
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

/// A stop waits for runs that have begun and commits their ends. It gives back the other leases. A
/// job that was cancelled while it waited has not lost its lease.
#[test]
fn a_stop_gives_back_what_has_not_begun() {
    let world = World::new();
    let Waiting { timers, begun, go } = world.start_waiting_at_a_pace();
    for n in 0..5 {
        schedule(&timers, &format!("{n}"));
    }
    receive(&begun);
    wait_until("all are leased", || world.leased() == 5);
    assert_eq!(timers.cancel("4").unwrap(), Cancel::Cancelled);
    let handle = timers.timers();
    let stop = std::thread::spawn(move || timers.stop());
    wait_until("the stop has begun", || handle.is_stopped());
    go.send(()).unwrap();
    stop.join().unwrap();
    assert_eq!((world.leased(), world.store.len()), (0, 3));
    let counts = handle.snapshot().counts;
    assert_eq!((counts.acked, counts.released, counts.started), (2, 3, 2));
    assert_eq!(counts.leases_lost, 0);
    assert!((1..4).all(|n| world.find(&format!("{n}")).is_some_and(|row| row.attempt == 0)));
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
