//! Commits: one commit serves many callers, which block or await.

use crate::common::*;
use wheelhouse_durable::Scheduled::{Changed, Created, Kept};

/// A caller that waits commits its change itself if no commit is under way. Changes that arrive
/// meanwhile are the next batch, of the committer.
#[test]
fn a_caller_that_is_alone_commits_its_own_change() {
    let world = World::new();
    let timers = world.start_faulty(Handlers::new());
    timers.after(MINUTE).key("a").schedule_bytes(KIND, "").unwrap();
    timers.refresh("a", MINUTE).unwrap();
    timers.cancel("a").unwrap();
    let here = thread::current().id();
    assert_eq!(world.faults.lock().committers, [here; 3]);
    let closed = world.faults.gate.lock();
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            timers.after(MINUTE).schedule_bytes(KIND, "").unwrap();
            thread::current().id()
        });
        wait_until("the first commit begins", || world.faults.commits().len() == 4);
        let others: Vec<_> = (0..9).map(|_| timers.after(MINUTE).submit_bytes(KIND, "")).collect();
        drop(closed);
        wait_all(others.into_iter());
        let (first, committers) = (first.join().unwrap(), world.faults.lock().committers.clone());
        assert_eq!((world.faults.commits(), committers[3]), (vec![1, 1, 1, 1, 9], first));
        assert!(![here, first].contains(&committers[4]));
        // After a shared batch more callers are about to come. Then this one is alone again, once
        // the committer waits.
        let is_by_caller = || {
            timers.after(MINUTE).schedule_bytes(KIND, "").unwrap();
            world.faults.lock().committers.last() == Some(&here)
        };
        assert!(!is_by_caller());
        wait_until("the caller is alone", is_by_caller);
    });
    let counts = timers.snapshot().counts;
    assert_eq!(counts.scheduled, world.store.len() as u64 + 1);
    assert_eq!((counts.refreshed, counts.cancelled), (1, 1));
    assert_eq!(counts.commits, timers.snapshot().batch.count);
}

#[test]
fn a_stop_waits_for_a_caller_that_commits() {
    let one = |timers: &Timers| timers.after(MINUTE).schedule_bytes(KIND, "").map(drop);
    let together = |timers: &Timers| {
        let put = timers.after(MINUTE).put(KIND, "").unwrap();
        timers.schedule_all([put]).map(drop)
    };
    for schedule in [one, together as fn(&Timers) -> Result<(), Error>] {
        let world = World::new();
        let durable = world.start_faulty(Handlers::new());
        let timers = durable.timers();
        let closed = world.faults.gate.lock();
        thread::scope(|scope| {
            let caller = scope.spawn(|| schedule(&timers));
            wait_until("the commit begins", || world.faults.commits() == [1]);
            let (sender, stopped) = unbounded();
            scope.spawn(move || {
                durable.stop();
                sender.send(()).unwrap();
            });
            wait_until("the stop begins", || timers.is_stopped());
            assert!(stopped.recv_timeout(millis(100)).is_err(), "the stop waits");
            drop(closed);
            receive(&stopped);
            assert_eq!(world.store.len(), 1, "stored when the stop has returned");
            caller.join().unwrap().unwrap();
        });
        assert!(matches!(schedule(&timers), Err(Error::Stopped)));
    }
}

#[test]
fn jobs_are_scheduled_together_or_not_at_all() {
    let world = World::new();
    let timers = world.start_faulty(Handlers::new());
    let put = |key: &str| timers.after(MINUTE).key(key).put(KIND, "").unwrap();
    let replaced = |key: &str| timers.after(MINUTE).replacing(key).put(KIND, "").unwrap();
    let (a, b, c) = ([put("a"), put("b")], [put("b"), replaced("a"), put("c")], [put("d")]);
    assert_eq!(timers.schedule_all(a).unwrap(), [Created; 2]);
    assert_eq!(timers.schedule_all(b).unwrap(), [Kept, Changed, Created]);
    world.faults.lock().next = Fault::Before;
    assert!(matches!(timers.schedule_all(c), Err(Error::Store(_))));
    assert_eq!((world.faults.commits(), world.store.len()), (vec![2, 3, 1], 3));
    let many = (0..513).map(|n| put(&format!("many {n}")));
    let refused = timers.schedule_all(many).unwrap_err().to_string();
    assert!(refused.contains("at most 512"), "{refused}");
    assert_eq!((timers.schedule_all([]).unwrap(), world.faults.commits().len()), (vec![], 3));
    assert_eq!(timers.snapshot().counts.scheduled, 4);
}

/// A store might refuse the whole batch with such a change. Each error names its remedy, also in a
/// `main` that returns it, which prints it by `Debug`.
#[test]
fn what_cannot_be_stored_is_refused_at_once() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    let put = |key: &[u8], kind: &str, payload: usize| {
        timers.after(MINUTE).key(key).schedule_bytes(kind, vec![0; payload]).err()
    };
    let check = |error: Option<Error>, is_it: fn(&Error) -> bool| {
        let error = error.expect("it is refused");
        assert!(is_it(&error) && format!("{error:?}") == error.to_string(), "{error}");
    };
    fn says(error: &Error, what: &str) -> bool {
        matches!(error, Error::Invalid(why) if why.contains(what))
    }
    assert!(put(&[0; 512], &"x".repeat(255), MAX_PAYLOAD).is_none());
    for refused in [
        put(b"", KIND, 0),
        put(&[0; 513], KIND, 0),
        timers.cancel("").err(),
        timers.submit_cancel("").wait().err(),
    ] {
        check(refused, |error| says(error, "keys have 1 to 512 bytes"));
    }
    for kind in ["", "close\0order/1", "close\norder/1", &"x".repeat(256)] {
        check(put(b"k", kind, 0), |error| says(error, "kinds have 1 to 255 bytes"));
        let handlers = Handlers::new().on_bytes(kind, |_, _| Ok(Next::Done));
        let error = world.builder(handlers).start(world.store.clone()).unwrap_err();
        let says = error.to_string().contains("kinds have 1 to 255 bytes");
        assert!(says && matches!(error, StartError::Setting(_)), "{error}");
    }
    let map = std::collections::BTreeMap::from([((1, 2), 3)]); // JSON has no such key.
    for refused in
        [put(b"k", KIND, MAX_PAYLOAD + 1), timers.after(MINUTE).schedule(KIND, &map).err()]
    {
        check(refused, |error| matches!(error, Error::Payload(_)));
    }
    check(timers.every(Duration::from_micros(900)).err(), |its| matches!(its, Error::Rule(_)));
    assert!(put(b"k", KIND, 0).is_none());
    check(put(b"k", KIND, 0), |error| error.to_string().contains("by `keeping`"));
    // The key of the row with the shard number of a store.
    let key = "wheelhouse-shard";
    let replaced = timers.after(MINUTE).replacing(key).schedule_bytes(KIND, "");
    check(replaced.err(), |error| says(error, "reserved"));
    check(timers.cancel(key).err(), |error| matches!(error, Error::Absent(_)));
    check(timers.refresh(key, MINUTE).err(), |error| matches!(error, Error::Absent(_)));
    assert_eq!(world.store.len(), 2);
}

#[test]
fn threads_share_commits() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    thread::scope(|scope| {
        for thread in 0..8 {
            let timers = timers.timers();
            scope.spawn(move || {
                for n in 0..200 {
                    let key = format!("{thread} {n}");
                    timers.after(MINUTE).key(&key).schedule_bytes(KIND, "").unwrap();
                    if n % 2 == 0 {
                        timers.cancel(&key).unwrap();
                    }
                }
            });
        }
    });
    let counts = timers.snapshot().counts;
    assert_eq!((counts.scheduled, counts.cancelled, world.store.len()), (1_600, 800, 800));
}

/// A commit has at most 16 MiB of payloads: it must reach a server within its timeout.
#[test]
fn large_payloads_are_committed_in_portions() {
    let world = World::new();
    let timers = world.start_faulty(Handlers::new());
    let submit = |_| timers.after(MINUTE).submit_bytes(KIND, vec![0; MAX_PAYLOAD]);
    let commits = world.during_a_commit(&timers, || (0..40).map(submit).collect::<Vec<_>>());
    wait_all(commits.into_iter());
    assert_eq!(world.faults.commits(), [1, 16, 16, 8]);
}
