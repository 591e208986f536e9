//! A store that fails: nothing is lost, only stored changes are acknowledged, and no caller waits
//! forever.

use crate::common::{Fault, KIND, MINUTE, World, done, millis, secs, wait_acked, wait_until};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use wheelhouse_durable::store::StoreError;
use wheelhouse_durable::{Cancel, Error, EventKind, Handlers, Next};

/// A failed commit returns an error, whether or not it took effect, and may be repeated.
#[test]
fn a_failed_commit_is_told() {
    for (fault, is_there) in [(Fault::Before, false), (Fault::After, true)] {
        let world = World::new();
        let timers = world.start_faulty(Handlers::new());
        let schedule = || timers.after(MINUTE).key("k").schedule_bytes(KIND, "");
        world.faults.plan([fault]);
        let error = schedule().unwrap_err();
        assert!(matches!(&error, Error::Store(why) if why.is_transient()), "{error}");
        assert_eq!(world.find("k").is_some(), is_there);
        match schedule() {
            Ok(_) => assert!(!is_there),
            Err(error) => assert!(is_there && matches!(error, Error::Duplicate(_)), "{error}"),
        }
        world.faults.plan([fault]);
        assert!(timers.cancel("k").is_err());
        let second = if is_there { Cancel::Absent } else { Cancel::Cancelled };
        assert_eq!(timers.cancel("k").unwrap(), second);
        assert!(world.has_event(|kind| matches!(kind, EventKind::StoreFailed(_))));
    }
}

/// Runs jobs on a store whose call number `at` fails, and checks that each is done. Returns the
/// number of calls of the store.
fn work_with_a_fault(at: usize, fault: Fault) -> usize {
    let world = World::new();
    let runs: Arc<Mutex<BTreeMap<String, u32>>> = Arc::default();
    let handlers = Handlers::new().on_bytes(KIND, {
        let runs = Arc::clone(&runs);
        move |run, _| {
            let mut runs = runs.lock();
            let count = runs.entry(run.key().to_string()).or_default();
            *count += 1;
            match run.key().as_bytes() {
                b"fails" if *count == 1 => Err("once".into()),
                _ => Ok(Next::Done),
            }
        }
    });
    let timers = world.start_faulty(handlers);
    let mut plan = vec![Fault::None; at];
    plan.push(fault);
    world.faults.plan(plan);

    let names = ["a", "b", "c", "fails", "later"];
    for (n, name) in (0..).zip(names) {
        // The caller repeats a failed call, as the documentation says.
        while let Err(error) = timers.after(secs(n)).key(name).schedule_bytes(KIND, "") {
            match error {
                Error::Store(_) => {}
                Error::Duplicate(_) => break,
                other => panic!("{other}"),
            }
        }
    }
    // Leases of claims that failed after their effect run out.
    wait_until("each job is done", || {
        world.clock.advance(millis(500));
        world.store.is_empty() && timers.snapshot().in_flight == 0
    });
    let runs = runs.lock().clone();
    assert_eq!(runs.keys().collect::<Vec<_>>(), names, "call {at} fails {fault:?}");
    assert!(runs["fails"] >= 2 && timers.dead(None, 9).unwrap().is_empty());
    timers.stop();
    world.faults.lock().calls
}

/// Each call of the store fails once, before or after its effect. Each job runs and is acked.
#[test]
fn each_call_fails_once() {
    for fault in [Fault::Before, Fault::After] {
        // Until the planned call is beyond the last one.
        let calls = (0..).take_while(|at| work_with_a_fault(*at, fault) > *at).count();
        assert!(calls > 12, "five jobs are put, claimed and acked: {calls} calls");
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
            faults.plan([fault]);
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
        timers.snapshot().counts.store_errors > 3
    });
    world.faults.down(false);
    wait_until("it is run", || {
        world.clock.advance(millis(100));
        timers.snapshot().counts.acked == 1
    });
}

/// If the store refuses one change, only that change of the batch fails.
#[test]
fn one_that_is_refused_does_not_harm_others() {
    let world = World::new();
    world.faults.lock().refused = Some(b"bad".to_vec());
    let timers = world.start_faulty(Handlers::new());
    let closed = world.faults.gate.lock();
    let first = timers.after(MINUTE).key("first").submit_bytes(KIND, "");
    wait_until("the first commit", || world.faults.commits() == [1]);
    let submit =
        |key: &str, payload: &str| timers.after(MINUTE).key(key).submit_bytes(KIND, payload);
    let commits = [submit("a", ""), submit("b", "bad"), submit("c", "")];
    drop(closed);
    first.wait().unwrap();
    let [a, b, c] = commits.map(|commit| commit.wait());
    assert!(a.is_ok() && c.is_ok(), "{a:?} {c:?}");
    let Err(Error::Store(why)) = b else { panic!("it is refused: {b:?}") };
    assert!(matches!(*why, StoreError::Refused(_)));
    assert_eq!(world.store.len(), 3);
}
