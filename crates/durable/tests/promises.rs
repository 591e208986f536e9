//! The guarantees of the README, on a store in memory and with a clock that the test sets.
//!
//! The first two, "durable on return" and "at least once", need programs that are killed. They are
//! tested in `sim/promises.rs`, and with real processes in `tests/processes.rs` of
//! `wheelhouse-store-sqlite` and `src/failures.rs` of `wheelhouse-test-servers`. "One acknowledged
//! attempt" is tested in `long_runs.rs`, the bounds in `driving.rs`.

use crate::common::*;
use std::fmt;

/// The machine is cut off when the handler returns, for longer than its lease. Its ack is repeated
/// until the store answers. By then another machine has acked the job.
#[test]
fn an_ack_that_is_repeated_after_the_lease_is_superseded() {
    let world = World::new();
    let first = world.start_waiting_on(FaultyStore::new(&world), |its| its);
    schedule(&first, "k");
    first.next();
    world.faults.down(true);
    let commits = world.faults.commits().len();
    first.go();
    wait_until("its ack has failed", || world.faults.commits().len() > commits);
    let (handlers, seen) = telling(|run| run.attempt());
    let second = world.start(handlers);
    world.clock.advance(secs(30));
    assert_eq!(receive(&seen), 2);
    wait_acked(&second, 1);
    world.faults.down(false);
    wait_until("its ack is refused", || first.snapshot().in_flight == 0);
    let counts = first.snapshot().counts;
    assert_eq!((counts.superseded, counts.acked), (1, 0));
    assert!(world.has_event(|kind| *kind == EventKind::Superseded));
}

#[test]
fn nothing_runs_early_and_all_in_order() {
    let world = World::new();
    let (handlers, seen) = telling(key);
    let timers = world.builder(handlers).workers(1).start(world.store.clone()).unwrap();
    // Each job has its own commit, and the commits are not in the order of the due times. Claims
    // begin the jobs without a policy only.
    for n in 0..40_u64 {
        let delay = (n * 7) % 10 + 1;
        let plan = timers.after(secs(delay)).key(format!("{delay} {n:02}"));
        let plan = if n % 4 == 1 { plan.max_attempts(9) } else { plan };
        plan.schedule_bytes(KIND, "").unwrap();
    }
    let mut expected: Vec<_> = (0..40_u64).map(|n| ((n * 7) % 10 + 1, n)).collect();
    expected.sort_unstable();
    for second in 1..=10 {
        world.clock.advance(millis(999));
        // A job that is due now runs after the jobs that were handed out before.
        schedule(&timers, "now");
        assert_eq!(receive(&seen), "now", "nothing before second {second}");
        world.clock.advance(millis(1));
        for (delay, n) in expected.iter().filter(|(delay, _)| *delay == second) {
            assert_eq!(receive(&seen), format!("{delay} {n:02}"));
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
    let mut runs = Vec::new();
    for round in 1..=2 {
        schedule(&timers, "k");
        wait_until("it is acked", || {
            world.pass(millis(100));
            timers.snapshot().counts.acked == round
        });
        runs.extend(seen.try_iter());
    }
    assert!(runs.is_sorted_by_key(|(_, token, _)| *token), "{runs:?}");
    assert_eq!(runs.iter().map(|run| run.2).collect::<Vec<_>>(), [1, 2, 3, 1, 2, 3]);
    let is_same = |one: usize, other: usize| runs[one].0 == runs[other].0;
    assert!(is_same(0, 1) && is_same(0, 2) && is_same(3, 5) && !is_same(2, 3), "{runs:?}");
    assert!(runs[0].0.starts_with("orders/k/"), "{runs:?}");
}

/// A handler can ack in its own transaction. No run is acked twice, and none is repeated. If the
/// handler has not returned when its lease is to be renewed, the lease is not taken for lost.
#[test]
fn a_handler_may_ack_itself() {
    let world = World::new();
    let store = world.store.clone();
    let (handlers, with) = waiting(move |run, wait| {
        assert_eq!(store.clone().commit(&[run.ack()])?, [Outcome::Done]);
        wait();
        assert!(!run.is_superseded());
        Ok(Next::Acked)
    });
    let timers = with(world.start_faulty(handlers));
    schedule(&timers, "k");
    timers.next();
    wait_until("it has acked", || world.store.is_empty());
    // The second renewal follows the outcome of the first.
    for count in 1..=2 {
        world.clock.advance(secs(10));
        wait_until("a renewal", || {
            world.faults.lock().renewals.iter().filter(|renewals| **renewals > 0).count() == count
        });
    }
    timers.go();
    wait_acked(&timers, 1);
    wait_until("nothing is in flight", || timers.snapshot().in_flight == 0);
    assert!(world.store.is_empty() && timers.snapshot().counts.started == 1);
    assert!(world.events.lock().is_empty());
}

/// Cancel has one answer: `Cancelled`, `Running` or `Absent`. A run that is cancelled and fails is
/// not repeated.
#[test]
fn cancel_has_one_answer() {
    let world = World::new();
    let (handlers, with) = waiting(|run, wait| {
        wait();
        assert!(run.is_cancelled());
        Err("it fails".into())
    });
    let timers = with(world.start(handlers));
    assert_eq!(timers.cancel("k").unwrap(), Cancel::Absent);
    assert!(matches!(timers.refresh("k", MINUTE), Err(Error::Absent(_))));
    schedule(&timers, "k");
    timers.next();
    assert!(matches!(timers.refresh("k", MINUTE), Err(Error::Running(_))));
    let again = timers.after(secs(0)).key("k").schedule_bytes(KIND, "");
    assert!(matches!(again, Err(Error::Duplicate(_))));
    assert_eq!(timers.cancel("k").unwrap(), Cancel::Running);
    // The run learns of it by the renewal of its lease.
    world.clock.advance(secs(10));
    wait_until("renewal", || world.visible_at("k") > Some(30));
    timers.go();
    wait_until("the end", || timers.snapshot().counts.closed == 1);
    assert!(world.store.is_empty() && timers.snapshot().counts.retried == 0);
    assert_eq!(timers.dead(None, 9).unwrap(), []);
}

#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Unspeakable {}

/// Poison jobs end: a job that returns errors or panics is retried with backoff, and becomes a dead
/// letter, which can be revived.
#[test]
fn poison_ends() {
    let world = World::new();
    let handlers = Handlers::new().on_bytes(KIND, |run, _| match run.attempt() {
        2 => panic!("two"),
        3 => Err(Unspeakable.into()),
        _ => Err("no database".into()),
    });
    let timers =
        world.builder(handlers).backoff(attempts_up_to(4)).start(world.store.clone()).unwrap();
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
    let counts = timers.snapshot().counts;
    assert_eq!((counts.started, counts.panicked), (4, 2));
    let dead = timers.dead(None, 9).unwrap();
    assert_eq!(dead[0].reason, "attempt 4 failed: no database");
    for what in ["panicked: two", "panicked: no words"] {
        let is_it = |kind: &EventKind| matches!(kind, EventKind::Failed(why, _) if why == what);
        assert!(world.has_event(is_it), "{what}: {:?}", world.events.lock());
    }

    timers.revive(&dead[0], MINUTE).unwrap();
    assert!(matches!(timers.revive(&dead[0], MINUTE), Err(Error::Absent(_))));
    assert_eq!(world.find("k").unwrap().attempt, 0);
    assert!(timers.dead(None, 9).unwrap().is_empty());
}

/// Poison jobs end: a `Stop` and a payload that cannot be read are not retried. Reasons are
/// bounded.
#[test]
fn what_says_stop_is_not_tried_again() {
    let world = World::new();
    let handlers = Handlers::new()
        .on_bytes(KIND, |_, _| Err(Stop::new("é".repeat(9_000)).into()))
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
    let is_bounded = |why: &&str| why.len() <= 4_096 && why.ends_with(".. (18000 bytes)");
    assert!(reasons.iter().any(is_bounded), "{reasons:?}");
    assert!(reasons.iter().any(|why| why.contains("payload cannot be read")), "{reasons:?}");
    assert!(timers.forget(&dead[0]).unwrap() && !timers.forget(&dead[0]).unwrap());
}

/// Unknown kinds wait: jobs of a kind without a handler are not claimed, and are reported. A
/// program with the handler runs them.
#[test]
fn unknown_kinds_wait() {
    let world = World::new();
    let (handlers, seen) = telling(key);
    let timers = world.start(handlers);
    timers.after(secs(0)).key("other").schedule_bytes("other/1", "").unwrap();
    schedule(&timers, "ours");
    assert_eq!(receive(&seen), "ours");
    world.clock.advance(MINUTE);
    wait_until("a report", || world.has_event(|kind| matches!(kind, EventKind::UnknownKind(_))));
    assert_eq!(world.find("other").unwrap().attempt, 0);
    timers.stop();

    let handlers = Handlers::new().on_bytes("other/1", |_, _| Ok(Next::Done));
    let timers = world.start(handlers);
    wait_acked(&timers, 1);
}
