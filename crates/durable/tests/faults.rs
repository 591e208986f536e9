//! A store that fails: nothing is lost, only stored changes are acknowledged, and no caller waits
//! forever. In `sim/promises.rs` each kind of call fails, before and after its effect.

use crate::common::*;

/// A failed commit returns an error, whether or not it took effect, and may be repeated.
#[test]
fn a_failed_commit_is_told() {
    for (fault, is_there) in [(Fault::Before, false), (Fault::After, true)] {
        let world = World::new();
        let timers = world.start_faulty(Handlers::new());
        let schedule = || timers.after(MINUTE).key("k").schedule_bytes(KIND, "");
        world.faults.down(true);
        assert!(matches!(timers.now(), Err(Error::Store(_))));
        assert!(world.events.lock().is_empty(), "the error of a lookup is no event");
        world.faults.down(false);
        world.faults.lock().next = fault;
        let error = schedule().unwrap_err();
        assert!(matches!(&error, Error::Store(why) if why.is_transient()), "{error}");
        assert_eq!(world.find("k").is_some(), is_there);
        match schedule() {
            Ok(_) => assert!(!is_there),
            Err(error) => assert!(is_there && matches!(error, Error::Duplicate(_)), "{error}"),
        }
        world.faults.lock().next = fault;
        assert!(timers.cancel("k").is_err());
        let second = if is_there { Cancel::Absent } else { Cancel::Cancelled };
        assert_eq!(timers.cancel("k").unwrap(), second);
        assert!(world.has_event(|kind| matches!(kind, EventKind::StoreFailed(_))));
    }
}

/// If the commit of an ack fails, the ack is repeated and the run is not, also if the failed commit
/// had taken effect.
#[test]
fn an_ack_is_repeated_until_it_is_taken() {
    for fault in [Fault::Before, Fault::After] {
        let world = World::new();
        let faults = world.faults.clone();
        // One claim, and then the ack: the clock stops, so the poll makes no call in between.
        let timers = world.start_faulty(Handlers::new().on_bytes(KIND, move |_, _| {
            faults.lock().next = fault;
            Ok(Next::Done)
        }));
        timers.after(secs(1)).key("k").schedule_bytes(KIND, "").unwrap();
        world.clock.advance(secs(1));
        wait_acked(&timers, 1);
        let counts = timers.snapshot().counts;
        assert_eq!((counts.started, counts.superseded), (1, 0), "{fault:?}");
        assert!(world.store.is_empty());
    }
}

/// Leases are renewed more often than the pauses between the attempts at an ack end. The ack is
/// repeated nevertheless.
#[test]
fn an_ack_is_repeated_between_renewals() {
    let world = World::new();
    let timers = world.start_waiting_on(FaultyStore::new(&world), |its| its);
    schedule(&timers, "k");
    timers.next();
    world.faults.down(true);
    let before = world.faults.commits().len();
    timers.go();
    // The next pause lasts 0.4 s.
    wait_until("its ack has failed", || world.faults.commits().len() > before + 3);
    world.faults.down(false);
    let until = || world.find("k").map(|row| row.visible_at);
    wait_until("it is acked", || {
        let before = until();
        world.clock.advance(secs(10));
        wait_until("its lease is renewed", || until().is_none() || until() > before);
        timers.snapshot().counts.acked == 1
    });
}

/// The server is unreachable for a while: callers get an error at once, and jobs continue when it
/// is back.
#[test]
fn a_store_that_was_away_is_asked_again() {
    let world = World::new();
    let timers = world.start_faulty(done());
    timers.after(secs(5)).key("k").schedule_bytes(KIND, "").unwrap();
    world.faults.down(true);
    assert!(matches!(timers.cancel("k"), Err(Error::Store(_))));
    assert!(matches!(timers.now(), Err(Error::Store(_))));
    wait_until("claims fail", || {
        world.clock.advance(millis(100));
        timers.snapshot().counts.store_errors > 10
    });
    world.faults.down(false);
    wait_until("it is run", || {
        world.clock.advance(millis(100));
        timers.snapshot().counts.acked == 1
    });
    // Claims, lookups of pauses, and the cancel.
    let is_failure = |event: &&Event| matches!(event.kind, EventKind::StoreFailed(_));
    let reported = world.events.lock().iter().filter(is_failure).count() as u64;
    assert_eq!(timers.snapshot().counts.store_errors, reported);
}

/// If the store refuses one change, only that one fails. A few more commits find it.
#[test]
fn one_that_is_refused_does_not_harm_others() {
    let world = World::new();
    world.faults.lock().refused = Some(b"bad".to_vec());
    let timers = world.start_faulty(Handlers::new());
    let submit = |n| timers.after(MINUTE).submit_bytes(KIND, if n == 41 { "bad" } else { "" });
    let commits = world.during_a_commit(&timers, || (0..64).map(submit).collect::<Vec<_>>());
    for (n, commit) in commits.into_iter().enumerate() {
        match commit.wait() {
            Err(Error::Store(why)) if n == 41 => assert!(matches!(*why, StoreError::Refused(_))),
            stored => assert!(n != 41 && stored.is_ok(), "{n}: {stored:?}"),
        }
    }
    assert_eq!(world.store.len(), 64);
    assert!(world.faults.commits().len() < 20, "{:?}", world.faults.commits());
}
