//! Commits: one commit serves many callers, which block or await.

mod common;

use common::{Fault, FaultyStore, KIND, MINUTE, World, block_on, secs, wait_until};
use std::sync::Arc;
use std::thread;
use wheelhouse_durable::{Durable, Error, Handlers, MAX_PAYLOAD, Scheduled};

/// A `main` that returns an error prints it by `Debug`.
#[test]
fn an_error_names_its_remedy_however_it_is_printed() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    timers.after(secs(9)).key("a").schedule_bytes(KIND, "").unwrap();
    let twice = timers.after(secs(9)).key("a").schedule_bytes(KIND, "").unwrap_err();
    assert_eq!(format!("{twice:?}"), twice.to_string());
    assert!(twice.to_string().contains("by `keeping`"), "{twice}");
    let none = Durable::builder(Handlers::new()).workers(0).start(world.store.clone());
    assert!(format!("{:?}", none.unwrap_err()).contains("handlers need one at least"));
}

/// Changes that arrive during a commit are the next batch.
#[test]
fn one_commit_serves_many() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let (faults, gate) = (store.faults.clone(), Arc::clone(&store.gate));
    let timers = world.builder(Handlers::new()).start(store).unwrap();
    let closed = gate.lock();
    let first = timers.after(MINUTE).submit_bytes(KIND, "");
    wait_until("the first commit begins", || faults.commits() == [1]);
    let commits: Vec<_> = (0..500).map(|_| timers.after(MINUTE).submit_bytes(KIND, "")).collect();
    assert_eq!(world.store.len(), 0);
    drop(closed);
    first.wait().unwrap();
    for commit in commits {
        let key = commit.key().clone();
        assert_eq!(commit.wait().unwrap(), key);
    }
    assert_eq!(faults.commits(), [1, 500]);
    let snapshot = timers.snapshot();
    assert_eq!((snapshot.counts.scheduled, snapshot.counts.commits), (501, 2));
    assert_eq!((snapshot.batch.count, world.store.len()), (2, 501));
}

/// A caller that waits commits its change itself if no commit is under way. Changes that arrive
/// meanwhile are the next batch, of the committer.
#[test]
fn a_caller_that_is_alone_commits_its_own_change() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let (faults, gate) = (store.faults.clone(), Arc::clone(&store.gate));
    let timers = world.builder(Handlers::new()).start(store).unwrap();
    timers.after(MINUTE).key("a").schedule_bytes(KIND, "").unwrap();
    timers.refresh("a", MINUTE).unwrap();
    timers.cancel("a").unwrap();
    let here = thread::current().id();
    assert_eq!(faults.lock().committers, [here; 3]);
    let closed = gate.lock();
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            timers.after(MINUTE).schedule_bytes(KIND, "").unwrap();
            thread::current().id()
        });
        wait_until("the first commit begins", || faults.commits().len() == 4);
        let others: Vec<_> = (0..9).map(|_| timers.after(MINUTE).submit_bytes(KIND, "")).collect();
        drop(closed);
        others.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
        let (first, committers) = (first.join().unwrap(), faults.lock().committers.clone());
        assert_eq!((faults.commits(), committers[3]), (vec![1, 1, 1, 1, 9], first));
        assert!(![here, first].contains(&committers[4]));
        // After a shared batch more callers are about to come. Then this one is alone again, once
        // the committer waits.
        let is_by_caller = || {
            timers.after(MINUTE).schedule_bytes(KIND, "").unwrap();
            faults.lock().committers.last() == Some(&here)
        };
        assert!(!is_by_caller());
        wait_until("the caller is alone", is_by_caller);
    });
    let counts = timers.snapshot().counts;
    assert_eq!(counts.scheduled, world.store.len() as u64 + 1);
    assert_eq!((counts.refreshed, counts.cancelled), (1, 1));
}

#[test]
fn a_stop_waits_for_a_caller_that_commits() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let (faults, gate) = (store.faults.clone(), Arc::clone(&store.gate));
    let durable = world.builder(Handlers::new()).start(store).unwrap();
    let timers = durable.timers();
    let closed = gate.lock();
    thread::scope(|scope| {
        let caller = scope.spawn(|| timers.after(MINUTE).schedule_bytes(KIND, ""));
        wait_until("the commit begins", || faults.commits() == [1]);
        let stops = scope.spawn(|| {
            durable.stop();
            world.store.len()
        });
        wait_until("the stop begins", || timers.is_stopped());
        drop(closed);
        assert_eq!(stops.join().unwrap(), 1, "stored when the stop has returned");
        caller.join().unwrap().unwrap();
    });
    let refused = timers.after(MINUTE).schedule_bytes(KIND, "");
    assert!(matches!(refused, Err(Error::Stopped)));
}

/// Jobs that are scheduled together are one commit, or none.
#[test]
fn jobs_are_scheduled_together_or_not_at_all() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let faults = store.faults.clone();
    let timers = world.builder(Handlers::new()).start(store).unwrap();
    let put = |key: &str| timers.after(MINUTE).key(key).put(KIND, "").unwrap();
    let replaced = |key: &str| timers.after(MINUTE).replacing(key).put(KIND, "").unwrap();
    let (a, b, c) = ([put("a"), put("b")], [put("b"), replaced("a"), put("c")], [put("d")]);
    assert_eq!(timers.schedule_all(a).unwrap(), [Scheduled::Created; 2]);
    assert_eq!(
        timers.schedule_all(b).unwrap(),
        [Scheduled::Kept, Scheduled::Changed, Scheduled::Created]
    );
    faults.plan([Fault::Before]);
    assert!(matches!(timers.schedule_all(c), Err(Error::Store(_))));
    assert_eq!((faults.commits(), world.store.len()), (vec![2, 3, 1], 3));
    let many = (0..513).map(|n| put(&format!("many {n}")));
    let refused = timers.schedule_all(many).unwrap_err().to_string();
    assert!(refused.contains("at most 512"), "{refused}");
    assert_eq!((timers.schedule_all([]).unwrap(), faults.commits().len()), (vec![], 3));
    assert_eq!(timers.snapshot().counts.scheduled, 4);
}

#[test]
fn a_commit_can_be_awaited() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    for _ in 0..200 {
        block_on(timers.after(MINUTE).submit_bytes(KIND, "")).unwrap();
    }
    assert_eq!(world.store.len(), 200);
    let commit = timers.after(MINUTE).key("k").submit_bytes(KIND, "");
    block_on(async {
        commit.await.unwrap();
        let again = timers.after(MINUTE).key("k").submit_bytes(KIND, "").await;
        assert!(matches!(again, Err(Error::Duplicate(_))));
    });
}

#[test]
fn what_cannot_be_stored_is_refused_at_once() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    let schedule =
        |key: &[u8], payload: Vec<u8>| timers.after(MINUTE).key(key).schedule_bytes(KIND, payload);
    assert!(matches!(schedule(b"", vec![]), Err(Error::Key(_))));
    assert!(matches!(schedule(&[0; 513], vec![]), Err(Error::Key(_))));
    assert!(matches!(schedule(b"k", vec![0; MAX_PAYLOAD + 1]), Err(Error::Payload(_))));
    assert!(schedule(b"k", vec![0; MAX_PAYLOAD]).is_ok());
    let map = std::collections::BTreeMap::from([((1, 2), 3)]);
    let refused = timers.after(MINUTE).schedule(KIND, &map);
    assert!(matches!(refused, Err(Error::Payload(_))), "JSON has no such key");
    assert!(matches!(timers.cancel(""), Err(Error::Key(_))));
}

/// Many threads wait, each for its own change.
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
