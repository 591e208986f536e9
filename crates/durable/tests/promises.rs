//! The guarantees of the README, on a store in memory and with a clock that the test sets.

mod common;

use common::{
    FaultyStore, KIND, MINUTE, World, millis, receive, schedule, secs, wait_acked, wait_until,
};
use crossbeam_channel::{Receiver, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wheelhouse_durable::store::{Key, Token};
use wheelhouse_durable::{Cancel, Error, EventKind, Handlers, Next, Stop};

/// A run, as its handler has seen it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    key: String,
    attempt: u32,
    token: Token,
    idempotency_key: String,
}

/// Handlers that send what they see and succeed.
fn telling() -> (Handlers, Receiver<Seen>) {
    let (sender, seen) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        let (key, idempotency_key) = (run.key().to_string(), run.idempotency_key());
        sender.send(Seen { key, attempt: run.attempt(), token: run.token(), idempotency_key })?;
        Ok(Next::Done)
    });
    (handlers, seen)
}

/// Durable on return: once a call has returned, its change is in the store, and every other
/// connection sees it.
#[test]
fn what_was_told_is_durable() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    let key = timers.after(MINUTE).key("order-17").schedule_bytes(KIND, "17").unwrap();
    assert_eq!(key, Key::new("order-17").unwrap());
    assert_eq!(world.find("order-17").unwrap().payload, b"17");
    timers.refresh("order-17", 2 * MINUTE).unwrap();
    assert_eq!(world.find("order-17").unwrap().due.as_millis(), 120_000);
    assert_eq!(timers.cancel("order-17").unwrap(), Cancel::Cancelled);
    assert_eq!(world.find("order-17"), None);
    let made = timers.after(MINUTE).schedule_bytes(KIND, "").unwrap();
    assert_ne!(made, timers.after(MINUTE).schedule_bytes(KIND, "").unwrap());
    timers.stop();
    assert_eq!(world.store.len(), 2, "jobs outlive the program");
}

/// At least once: jobs of an earlier program run, and so do jobs whose program died with them.
#[test]
fn jobs_outlive_programs() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    timers.after(MINUTE).key("a").schedule_bytes(KIND, "").unwrap();
    timers.after(secs(1)).key("b").schedule_bytes(KIND, "").unwrap();
    timers.stop();
    world.clock.advance(secs(1));
    assert_eq!(world.claim_and_die(secs(30)).len(), 1);

    let (handlers, seen) = telling();
    let timers = world.start(handlers);
    world.clock.advance(secs(30));
    let b = receive(&seen);
    assert_eq!((b.key.as_str(), b.attempt), ("b", 2), "the lease has run out");
    world.clock.advance(MINUTE);
    assert_eq!(receive(&seen).key, "a");
    timers.stop();
    assert!(world.store.is_empty(), "both are acked");
}

/// One acknowledged attempt: a machine is cut off while its handler works, and another one takes
/// the job over. The ack of the first is refused, and the run can see that.
#[test]
fn a_machine_that_was_cut_off_is_superseded() {
    let world = World::new();
    let (go, wait) = unbounded::<()>();
    let (sender, begun) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(run.token())?;
        wait.recv()?;
        assert!(run.is_superseded());
        Ok(Next::Done)
    });
    let store = FaultyStore::new(&world);
    let faults = store.faults.clone();
    let first = world.builder(handlers).start(store).unwrap();
    let go = go; // Dropped before the timers, so that a failing test does not hang.
    first.after(secs(1)).key("k").schedule_bytes(KIND, "").unwrap();
    world.clock.advance(secs(1));
    let old = receive(&begun);
    faults.down(true);

    let (handlers, seen) = telling();
    let second = world.start(handlers);
    world.clock.advance(secs(30));
    let new = receive(&seen);
    assert!(new.token > old && new.attempt == 2, "{new:?} after {old:?}");
    wait_until("the second acks", || second.snapshot().counts.acked == 1);
    faults.down(false);
    go.send(()).unwrap();
    wait_until("the first is refused", || first.snapshot().counts.superseded == 1);
    assert!(world.has_event(|kind| *kind == EventKind::Superseded));
    assert_eq!(first.snapshot().counts.acked, 0);
}

/// Never early, and in the order of due times, then of commits.
#[test]
fn nothing_runs_early_and_all_in_order() {
    let world = World::new();
    let (handlers, seen) = telling();
    let timers = world.builder(handlers).workers(1).start(world.store.clone()).unwrap();
    // Each job has its own commit, and the commits are not in the order of the due times.
    for n in 0..40_u64 {
        let delay = (n * 7) % 10 + 1;
        timers.after(secs(delay)).key(format!("{delay} {n:02}")).schedule_bytes(KIND, "").unwrap();
    }
    let mut expected: Vec<_> = (0..40_u64).map(|n| ((n * 7) % 10 + 1, n)).collect();
    expected.sort_unstable();
    for second in 1..=10 {
        world.clock.advance(millis(999));
        // A job that is due now runs after the jobs that were handed out before.
        schedule(&timers, "now");
        assert_eq!(receive(&seen).key, "now", "nothing before second {second}");
        world.clock.advance(millis(1));
        for (delay, n) in expected.iter().filter(|(delay, _)| *delay == second) {
            assert_eq!(receive(&seen).key, format!("{delay} {n:02}"));
        }
        wait_until("all are acked", || timers.snapshot().in_flight == 0);
    }
}

/// The idempotency key is the same in all attempts and differs in every other run. Tokens grow.
#[test]
fn attempts_share_an_idempotency_key() {
    let world = World::new();
    let (sender, seen) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send((run.idempotency_key(), run.token(), run.attempt()))?;
        if run.attempt() < 3 { Err("not yet".into()) } else { Ok(Next::Done) }
    });
    let timers = world.builder(handlers).queue("orders").start(world.store.clone()).unwrap();
    let mut keys = Vec::new();
    for round in 0..2 {
        schedule(&timers, "k");
        let mut last = None;
        for attempt in 1..=3 {
            let (key, token, its) = receive(&seen);
            assert_eq!(its, attempt);
            if let Some((last_key, last_token)) = last {
                assert!(key == last_key && token > last_token, "{key} {token}");
            }
            last = Some((key, token));
            let counts = || timers.snapshot().counts;
            let ended = |n: u64| counts().retried + counts().acked == n;
            wait_until("the end", || ended(round * 3 + u64::from(attempt)));
            world.clock.advance(MINUTE);
        }
        keys.extend(last.map(|(key, _)| key));
    }
    assert!(keys[0].starts_with("orders/k/") && keys[0] != keys[1], "{keys:?}");
}

/// A handler can ack in its own transaction. No run is acked twice, and none is repeated.
#[test]
fn a_handler_may_ack_itself() {
    let world = World::new();
    let (store, acked) = (world.store.clone(), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&acked);
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        use wheelhouse_durable::store::{Outcome, Store};
        let outcome = store.clone().commit(&[run.ack()])?;
        assert_eq!(outcome, [Outcome::Done]);
        count.fetch_add(1, Ordering::SeqCst);
        Ok(Next::Acked)
    });
    let timers = world.start(handlers);
    schedule(&timers, "k");
    wait_acked(&timers, 1);
    wait_until("nothing is in flight", || timers.snapshot().in_flight == 0);
    assert!(world.store.is_empty() && acked.load(Ordering::SeqCst) == 1);
    assert!(world.events.lock().is_empty());
}

/// Cancel has one answer: `Cancelled`, `Running` or `Absent`. A run that is cancelled and fails is
/// not repeated.
#[test]
fn cancel_has_one_answer() {
    let world = World::new();
    let (go, wait) = unbounded::<()>();
    let (sender, begun) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(())?;
        wait.recv()?;
        assert!(run.is_cancelled());
        Err("it fails".into())
    });
    let timers = world.start(handlers);
    let go = go; // Dropped before the timers, so that a failing test does not hang.
    assert_eq!(timers.cancel("k").unwrap(), Cancel::Absent);
    assert!(matches!(timers.refresh("k", MINUTE), Err(Error::Absent(_))));
    schedule(&timers, "k");
    receive(&begun);
    assert!(matches!(timers.refresh("k", MINUTE), Err(Error::Running(_))));
    assert!(matches!(
        timers.after(secs(0)).key("k").schedule_bytes(KIND, ""),
        Err(Error::Duplicate(_))
    ));
    assert_eq!(timers.cancel("k").unwrap(), Cancel::Running);
    // The run learns of it by the renewal of its lease.
    world.clock.advance(secs(10));
    wait_until("renewal", || {
        world.find("k").is_some_and(|row| row.visible_at.as_millis() > 30_000)
    });
    go.send(()).unwrap();
    wait_until("the end", || timers.snapshot().counts.closed == 1);
    assert!(world.store.is_empty() && timers.snapshot().counts.retried == 0);
    assert_eq!(timers.dead(None, 9).unwrap(), []);
}

/// A job that replaces a running one begins after that run.
#[test]
fn a_replacement_begins_after_the_run() {
    let world = World::new();
    let (go, wait) = unbounded::<()>();
    let (sender, begun) = unbounded();
    let running = Arc::new(AtomicU32::new(0));
    let handlers = Handlers::new().on_bytes(KIND, move |_, payload| {
        assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "one run of a key at a time");
        sender.send(payload.to_vec())?;
        wait.recv()?;
        running.fetch_sub(1, Ordering::SeqCst);
        Ok(Next::Done)
    });
    let timers = world.start(handlers);
    let go = go; // Dropped before the timers, so that a failing test does not hang.
    timers.after(secs(0)).key("k").schedule_bytes(KIND, "old").unwrap();
    assert_eq!(receive(&begun), b"old");
    timers.after(secs(0)).replacing("k").schedule_bytes(KIND, "new").unwrap();
    go.send(()).unwrap();
    assert_eq!(receive(&begun), b"new");
    go.send(()).unwrap();
    wait_acked(&timers, 2);
    assert!(world.store.is_empty());
}

/// Poison jobs end: a job that returns errors or panics is retried with backoff, and becomes a dead
/// letter, which can be revived.
#[test]
fn poison_ends() {
    let world = World::new();
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        count.fetch_add(1, Ordering::SeqCst);
        if run.attempt() == 2 {
            panic!("two");
        }
        Err("no database".into())
    });
    let timers = world.builder(handlers).max_attempts(4).start(world.store.clone()).unwrap();
    schedule(&timers, "k");
    for attempt in 1..4 {
        wait_until("a retry", || timers.snapshot().counts.retried == attempt);
        let row = world.find("k").unwrap();
        let wait = row.visible_at.as_millis() - timers.now().unwrap().as_millis();
        let longest = 1_000 << (attempt - 1);
        assert!((longest / 2..=longest).contains(&wait), "{wait} ms after attempt {attempt}");
        world.clock.advance(millis(wait));
    }
    wait_until("its death", || timers.snapshot().counts.dead == 1);
    assert_eq!((calls.load(Ordering::SeqCst), timers.snapshot().counts.panicked), (4, 1));
    let dead = timers.dead(None, 9).unwrap();
    assert_eq!(dead[0].reason, "attempt 4 failed: no database");
    let told =
        |kind: &EventKind| matches!(kind, EventKind::Failed(why, _) if why == "panicked: two");
    assert!(world.has_event(told), "{:?}", world.events.lock());

    timers.revive(&dead[0], MINUTE).unwrap();
    assert!(matches!(timers.revive(&dead[0], MINUTE), Err(Error::Absent(_))));
    assert_eq!(world.find("k").unwrap().attempt, 0);
    assert!(timers.dead(None, 9).unwrap().is_empty());
}

/// Poison jobs end: a `Stop` and a payload that cannot be read are not retried.
#[test]
fn what_says_stop_is_not_tried_again() {
    let world = World::new();
    let handlers = Handlers::new()
        .on_bytes(KIND, |_, _| Err(Stop::new("no such order").into()))
        .on("order/1", |_, order: u32| {
            assert_eq!(order, 17);
            Ok(Next::Done)
        });
    let timers = world.start(handlers);
    timers.after(secs(0)).schedule_bytes(KIND, "").unwrap();
    timers.after(secs(0)).schedule_bytes("order/1", "seventeen").unwrap();
    timers.after(secs(0)).schedule("order/1", &17).unwrap();
    wait_until("two die", || timers.snapshot().counts.dead == 2);
    wait_acked(&timers, 1);
    let dead = timers.dead(None, 9).unwrap();
    let reasons: Vec<_> = dead.iter().map(|dead| dead.reason.as_str()).collect();
    assert!(reasons.contains(&"no such order"), "{reasons:?}");
    assert!(reasons.iter().any(|why| why.contains("payload cannot be read")), "{reasons:?}");
    assert!(timers.forget(&dead[0]).unwrap() && !timers.forget(&dead[0]).unwrap());
}

/// Unknown kinds wait: jobs of a kind without a handler are not claimed, and are reported. A
/// program with the handler runs them.
#[test]
fn unknown_kinds_wait() {
    let world = World::new();
    let (handlers, seen) = telling();
    let timers = world.start(handlers);
    timers.after(secs(0)).key("other").schedule_bytes("other/1", "").unwrap();
    schedule(&timers, "ours");
    assert_eq!(receive(&seen).key, "ours");
    world.clock.advance(MINUTE);
    wait_until("a report", || world.has_event(|kind| matches!(kind, EventKind::UnknownKind(_))));
    assert_eq!(world.find("other").unwrap().attempt, 0);
    timers.stop();

    let handlers = Handlers::new().on_bytes("other/1", |_, _| Ok(Next::Done));
    let timers = world.start(handlers);
    wait_acked(&timers, 1);
}
