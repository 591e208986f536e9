//! The begin of a run: a job that waits for a worker is not running, its attempt is not counted,
//! and other programs take it if handlers take long.

mod common;

use common::{FaultyStore, KIND, MINUTE, PACE, World, millis, secs, wait_until};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wheelhouse_durable::store::{Change, Entry, Outcome, State, Store, When};
use wheelhouse_durable::{Cancel, Handlers, MAX_PAYLOAD, Next};

/// Adds a handler that sends its key and waits.
fn waits(handlers: Handlers) -> (Handlers, Receiver<String>, Sender<()>) {
    let ((sender, begun), (go, wait)) = (unbounded(), unbounded::<()>());
    let handlers = handlers.on_bytes(KIND, move |run, _| {
        sender.send(run.key().to_string())?;
        wait.recv()?;
        Ok(Next::Done)
    });
    (handlers, begun, go)
}

fn receive<T>(receiver: &Receiver<T>) -> T {
    receiver.recv_timeout(secs(20)).expect("a handler is called within 20 s")
}

/// A leased job that waits for a worker is cancelled, moved and replaced like a pending job, by
/// this program and by another. The leased run never begins.
#[test]
fn what_waits_for_a_worker_can_be_cancelled_and_moved() {
    let world = World::new();
    let (handlers, begun, go) = waits(world.with_a_pace(Handlers::new()));
    let timers = world.builder(handlers).workers(1).start(world.store.clone()).unwrap();
    let go = go; // Dropped before the timers, so that a failing test does not hang.
    world.set_the_pace(&timers);
    for key in ["runs", "cancelled", "by another", "moved", "replaced", "waits"] {
        timers.after(secs(0)).key(key).schedule_bytes(KIND, "").unwrap();
    }
    assert_eq!(receive(&begun), "runs");
    wait_until("all are leased", || world.leased() == 6);
    let is_waiting = |key: &str| matches!(world.find(key).unwrap().state, State::Leased(_));
    assert!(!is_waiting("runs") && is_waiting("cancelled") && is_waiting("waits"));

    let other = world.start(Handlers::new());
    assert_eq!(timers.cancel("cancelled").unwrap(), Cancel::Cancelled);
    assert_eq!(other.cancel("by another").unwrap(), Cancel::Cancelled);
    other.refresh("moved", MINUTE).unwrap();
    other.after(2 * MINUTE).replacing("replaced").schedule_bytes(KIND, "").unwrap();
    assert_eq!(other.cancel("runs").unwrap(), Cancel::Running);
    for _ in 0..2 {
        go.send(()).unwrap();
    }
    assert_eq!(receive(&begun), "waits", "no other job has begun");
    wait_until("both are acked", || timers.snapshot().counts.acked == 3);
    world.clock.advance(MINUTE);
    assert_eq!(receive(&begun), "moved");
    go.send(()).unwrap();
    wait_until("it is acked", || timers.snapshot().counts.acked == 4);
    world.clock.advance(MINUTE);
    assert_eq!(receive(&begun), "replaced");
    go.send(()).unwrap();
    wait_until("all are acked", || timers.snapshot().counts.acked == 5);
    assert!(world.store.is_empty() && world.events.lock().is_empty());
    assert_eq!(timers.snapshot().counts.leases_lost, 0);
}

/// If a program dies, the attempts of its begun runs count, and those of its leased jobs do not.
#[test]
fn an_attempt_is_counted_of_what_has_begun() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    producer.after(secs(0)).key("k").schedule_bytes(KIND, "").unwrap();
    for _ in 0..30 {
        assert_eq!(world.lease_and_die(secs(30)).len(), 1);
        world.clock.advance(secs(30));
    }
    assert_eq!(world.claim_and_die(secs(30)).len(), 1);
    let (sender, attempts) = unbounded();
    let timers = world.start(Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(run.attempt())?;
        Ok(Next::Done)
    }));
    world.clock.advance(secs(30));
    assert_eq!(receive(&attempts), 2);
    wait_until("it is acked", || timers.snapshot().counts.acked == 1);
    assert_eq!(timers.dead(None, 9).unwrap(), []);
}

/// Jobs that lost half of their attempts with their leases run one at a time. Other jobs run at the
/// same time, also jobs that failed as often.
#[test]
fn suspects_run_one_at_a_time() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    let put = |key: &str| {
        let plan = producer.after(secs(0)).key(key).max_attempts(5);
        plan.schedule_bytes(KIND, "").unwrap();
    };
    put("failed");
    for wait in [0, 0, 90] {
        let [failed] = &world.claim_and_die(secs(30))[..] else { panic!("one is due") };
        let (key, token) = (failed.job.key.clone(), failed.token);
        let retry = Change::Retry { key, token, when: When::After(secs(wait)) };
        assert_eq!(world.store.clone().commit(&[retry]).unwrap(), [Outcome::Done]);
    }
    ["suspect 1", "suspect 2", "suspect 3"].into_iter().for_each(put);
    for _ in 0..3 {
        assert_eq!(world.claim_and_die(secs(30)).len(), 3);
        world.clock.advance(secs(30));
    }
    put("new");
    let ((sender, begun), (go, wait)) = (unbounded(), unbounded::<()>());
    let timers = world.start(Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(run.key().to_string())?;
        if run.key().as_bytes().starts_with(b"suspect") {
            wait.recv()?;
        }
        Ok(Next::Done)
    }));
    let go = go; // Dropped before the timers, so that a failing test does not hang.
    // The test clock decides when workers begin the next jobs.
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        wait_until(what, || {
            world.clock.advance(millis(1));
            std::thread::sleep(millis(1));
            is_so()
        });
    };
    wait_for("three have begun", &|| begun.len() == 3);
    let mut first = [receive(&begun), receive(&begun), receive(&begun)];
    first.sort();
    assert_eq!(first, ["failed", "new", "suspect 1"]);
    assert!(begun.recv_timeout(millis(50)).is_err(), "the other suspects wait");
    go.send(()).unwrap();
    for suspect in ["suspect 2", "suspect 3"] {
        wait_for("the next has begun", &|| !begun.is_empty());
        assert_eq!(receive(&begun), suspect);
        go.send(()).unwrap();
    }
    wait_for("all are acked", &|| timers.snapshot().counts.acked == 5);
}

/// If handlers take long, a program leases no more jobs than it has workers: the workers of other
/// programs may be free.
#[test]
fn what_takes_long_is_left_to_others() {
    let world = World::new();
    let (handlers, begun, go) = waits(Handlers::new());
    let timers = world.builder(handlers).workers(2);
    let timers = timers.start(world.store.clone()).unwrap();
    let go = go;
    for n in 0..9 {
        timers.after(secs(0)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
    }
    for round in 0..3 {
        let mut two = [receive(&begun), receive(&begun)];
        two.sort();
        assert_eq!(two, [format!("{}", 2 * round), format!("{}", 2 * round + 1)]);
        wait_until("ends are committed", || timers.snapshot().counts.acked == 2 * round);
        assert_eq!(world.leased(), 2, "the duration of a run is unknown, or long");
        world.clock.advance(secs(5));
        go.send(()).unwrap();
        go.send(()).unwrap();
    }
    drop(go);
}

/// At most 16 payloads of a mebibyte are in memory, however many jobs may be in flight.
#[test]
fn payloads_in_flight_are_bounded() {
    let world = World::new();
    let most = Arc::new(AtomicUsize::new(0));
    let (store, seen) = (world.store.clone(), Arc::clone(&most));
    let handlers = world.with_a_pace(Handlers::new()).on_bytes(KIND, move |_, _| {
        let mut bytes = 0;
        let mut add = |row: &Entry| bytes += usize::from(row.state.is_held()) * row.payload.len();
        store.clone().scan(None, usize::MAX, &mut add)?;
        seen.fetch_max(bytes, Ordering::SeqCst);
        Ok(Next::Done)
    });
    let timers = world.builder(handlers).workers(1).start(world.store.clone()).unwrap();
    world.set_the_pace(&timers);
    let payload = vec![0; MAX_PAYLOAD];
    let at = timers.now().unwrap().saturating_add(secs(1));
    for _ in 0..60 {
        timers.at(at).schedule_bytes(KIND, payload.clone()).unwrap();
    }
    world.clock.advance(secs(1));
    wait_until("all are acked", || timers.snapshot().counts.acked == 61);
    let most = most.load(Ordering::SeqCst);
    assert!((2..=16).contains(&(most / MAX_PAYLOAD)), "{most} bytes");
}

/// After many small payloads a claim finds large ones: it leases no more than the bound.
#[test]
fn large_payloads_after_small_ones_stay_in_the_store() {
    let world = World::new();
    let (handlers, begun, go) = waits(world.with_a_pace(Handlers::new()));
    let timers = world.builder(handlers).workers(4).start(world.store.clone()).unwrap();
    let go = go;
    for n in 1..=30 {
        timers.after(secs(0)).schedule_bytes(PACE, "").unwrap();
        wait_until("it has run", || timers.snapshot().counts.acked == n);
    }
    let at = timers.now().unwrap().saturating_add(secs(1));
    let payload = vec![0; MAX_PAYLOAD];
    for n in 0..30 {
        let plan = timers.at(at).key(format!("{n:02}"));
        plan.schedule_bytes(KIND, payload.clone()).unwrap();
    }
    world.clock.advance(secs(1));
    (0..4).for_each(|_| drop(receive(&begun)));
    assert_eq!(timers.snapshot().counts.leased, 30 + 16, "16 MiB are leased");
    let last = world.find("29").unwrap();
    assert_eq!((last.state, last.attempt), (State::Pending, 0));
    (0..30).for_each(|_| go.send(()).unwrap());
    wait_until("all are acked", || timers.snapshot().counts.acked == 60);
}

/// If the commit that begins a run takes longer than the lease, the handler is not called, and the
/// attempt is not counted.
#[test]
fn a_run_does_not_begin_when_its_lease_has_run_out() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let (faults, gate) = (store.faults.clone(), Arc::clone(&store.gate));
    let (sender, begun) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send((run.attempt(), run.is_superseded()))?;
        Ok(Next::Done)
    });
    let timers = world.builder(handlers).start(store).unwrap();
    timers.after(secs(1)).key("k").schedule_bytes(KIND, "").unwrap();
    let commits = faults.commits().len();
    let closed = gate.lock();
    world.clock.advance(secs(1));
    wait_until("it is to begin", || faults.commits().len() > commits);
    world.clock.advance(secs(31));
    drop(closed);
    // If the claimer is faster than the release, the job is claimed again, and the attempt counts.
    let (attempt, is_superseded) = receive(&begun);
    assert!(attempt <= 2 && !is_superseded);
    wait_until("it is acked", || timers.snapshot().counts.acked == 1);
    assert_eq!(timers.snapshot().counts.started, 1);
    assert!(world.store.is_empty());
}

/// Runs that could not begin during an outage do not all begin when the store is back.
#[test]
fn no_more_begin_after_an_outage_than_there_are_workers() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let faults = store.faults.clone();
    let ((sender, begun), (go, wait)) = (unbounded(), unbounded::<()>());
    let clock = world.clock.clone();
    let handlers = world.with_a_pace(Handlers::new()).on_bytes(KIND, move |run, _| {
        sender.send(run.key().to_string())?;
        wait.recv()?;
        clock.advance(millis(10));
        Ok(Next::Done)
    });
    let timers = world.builder(handlers).workers(1).start(store).unwrap();
    let go = go;
    world.set_the_pace(&timers);
    // Fewer than half of the jobs that may be leased, so the claimer leases all of them.
    for n in 0..6 {
        timers.after(secs(0)).key(format!("{n:02}")).schedule_bytes(KIND, "").unwrap();
    }
    assert_eq!(receive(&begun), "00");
    wait_until("all are leased", || world.leased() == 6);
    faults.down(true);
    go.send(()).unwrap();
    wait_until("each was to begin", || faults.commits().iter().any(|changes| *changes >= 6));
    faults.down(false);
    let count_begun = || {
        let mut count = 0;
        let mut see = |row: &Entry| count += usize::from(row.state.run().is_some());
        world.store.clone().scan(None, usize::MAX, &mut see).unwrap();
        count
    };
    for n in 1..=5 {
        // The claimer retries after a pause of less than two seconds.
        wait_until("the next begins", || {
            world.pass(millis(100));
            !begun.is_empty()
        });
        drop(receive(&begun));
        assert_eq!(count_begun(), 1, "{n}");
        go.send(()).unwrap();
        wait_until("it is acked", || timers.snapshot().counts.acked == 2 + n);
    }
    assert!(world.store.is_empty());
}
