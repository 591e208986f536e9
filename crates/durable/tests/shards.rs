//! Timers on several stores: each key belongs to one store, and each store keeps its shard number.

mod common;

use common::{FaultyStore, KIND, World, millis, secs, wait_acked, wait_all, wait_until};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use wheelhouse_durable::store::{Key, MemoryStore, Store, StoreClock};
use wheelhouse_durable::{
    Cancel, Durable, DurableRun, Error, EventKind, Handlers, Next, StartError, Stop,
};
use wheelhouse_service::ManualClock;

/// Three stores on one clock.
fn three() -> (ManualClock, [MemoryStore; 3]) {
    let clock = ManualClock::new();
    let stores = [(); 3].map(|()| MemoryStore::with_clock(StoreClock::new(clock.clone())));
    (clock, stores)
}

/// Starts timers on these stores, and records the keys that run.
fn start(clock: &ManualClock, stores: &[MemoryStore]) -> (Durable, Arc<Mutex<Vec<String>>>) {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&ran);
    let handlers = Handlers::new().on_bytes(KIND, move |run: &DurableRun<'_>, _| {
        note.lock().push(run.key().to_string());
        Ok(Next::Done)
    });
    let builder = Durable::builder(handlers).clock(clock.clone());
    (builder.start_shards(stores.iter().cloned()).unwrap(), ran)
}

fn rows(store: &MemoryStore) -> usize {
    store.clone().scan(None, usize::MAX).unwrap().len()
}

#[test]
fn a_key_is_found_in_its_store_and_all_stores_are_worked_off() {
    let (clock, stores) = three();
    let (timers, ran) = start(&clock, &stores);
    let names: BTreeSet<_> = (0..300).map(|n| format!("order-{n}")).collect();
    let plan = |name: &String| timers.after(secs(1)).key(name).submit_bytes(KIND, "");
    wait_all(names.iter().map(plan));
    // Each store has one more row, with its shard number.
    let counts = stores.each_ref().map(|store| rows(store) - 1);
    assert!(counts.iter().all(|count| (50..150).contains(count)), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 300);
    for name in &names {
        let key = Key::new(name).unwrap();
        let store = &stores[timers.shard_of(name).unwrap()];
        assert!(store.clone().find(&key).unwrap().is_some(), "{name} is in its store");
        assert!(timers.find(name).unwrap().is_some());
    }
    let again = timers.after(secs(1)).key("order-7").schedule_bytes(KIND, "").unwrap_err();
    assert!(matches!(again, Error::Duplicate(_)), "{again}");
    assert_eq!(timers.cancel("order-7").unwrap(), Cancel::Cancelled);
    timers.refresh("order-8", secs(60)).unwrap();
    // A job scheduled without a key is found by the key that it gets.
    let made = timers.after(secs(60)).schedule_bytes(KIND, "").unwrap();
    assert!(timers.find(made.as_bytes()).unwrap().is_some());

    clock.advance(secs(2));
    wait_acked(&timers, 298);
    let ran_once: BTreeSet<_> = ran.lock().iter().cloned().collect();
    assert_eq!((ran_once.len(), ran.lock().len()), (298, 298));
    assert!(!ran_once.contains("order-7") && !ran_once.contains("order-8"));
    timers.stop();
    assert_eq!(stores.iter().map(|store| rows(store) - 1).sum::<usize>(), 2);
}

/// A handler can schedule jobs in every store by the timers of its run.
#[test]
fn a_handler_reaches_every_store() {
    let (clock, stores) = three();
    let handlers = Handlers::new().on_bytes("first/1", |run: &DurableRun<'_>, _| {
        for n in 0..30 {
            let plan = run.timers().after(millis(0)).key(format!("next-{n}"));
            plan.schedule_bytes("next/1", "")?;
        }
        Ok(Next::Done)
    });
    let timers = Durable::builder(handlers).clock(clock).start_shards(stores.clone()).unwrap();
    timers.after(millis(0)).schedule_bytes("first/1", "").unwrap();
    wait_acked(&timers, 1);
    assert!(stores.iter().all(|store| rows(store) > 1));
    for n in 0..30 {
        assert_eq!(timers.cancel(format!("next-{n}")).unwrap(), Cancel::Cancelled);
    }
}

#[test]
fn dead_letters_of_all_stores_are_listed_and_revived() {
    let (clock, stores) = three();
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Err(Stop::new("no such order").into()));
    let timers = Durable::builder(handlers).clock(clock).start_shards(stores).unwrap();
    for n in 0..20 {
        timers.after(millis(0)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
    }
    wait_until("all are dead", || timers.snapshot().counts.dead == 20);
    let (mut seen, mut after) = (BTreeSet::new(), None);
    loop {
        let page = timers.dead(after, 6).unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.job.generation);
        seen.extend(page.iter().map(|dead| dead.job.key.to_string()));
    }
    assert_eq!(seen.len(), 20);
    for dead in timers.dead(None, 20).unwrap() {
        timers.revive(&dead, secs(60)).unwrap();
        assert!(timers.find(dead.job.key.as_bytes()).unwrap().is_some());
    }
}

/// Returns `true` if an event says that this store is empty.
fn is_lost(world: &World, store: &str) -> bool {
    world.has_event(|event| {
        matches!(event, EventKind::StoreFailed(why)
            if why.starts_with(store) && why.contains("is empty"))
    })
}

#[track_caller]
fn refused(stores: &[MemoryStore], says: &str) {
    let started = Durable::builder(Handlers::new()).start_shards(stores.iter().cloned());
    let error = started.expect_err("it is refused");
    assert!(matches!(error, StartError::Shard(_)), "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

fn dead_letter(store: &MemoryStore) {
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Err(Stop::new("never").into()));
    let timers = Durable::start(store.clone(), handlers).unwrap();
    let now = timers.now().unwrap();
    timers.at(now).schedule_bytes(KIND, "").unwrap();
    wait_until("it is dead", || timers.snapshot().counts.dead == 1);
}

/// The row with the shard number of a store can be neither cancelled nor replaced.
#[test]
fn the_key_of_that_row_is_not_for_jobs() {
    let (clock, stores) = three();
    let (timers, _) = start(&clock, &stores);
    let key = "wheelhouse-shard";
    let error = timers.after(secs(1)).replacing(key).schedule_bytes(KIND, "").unwrap_err();
    assert!(matches!(error, Error::Reserved(_)), "{error}");
    assert!(matches!(timers.cancel(key).unwrap_err(), Error::Absent(_)));
    assert!(matches!(timers.refresh(key, secs(1)).unwrap_err(), Error::Absent(_)));
    timers.stop();
    drop(start(&clock, &stores));
}

#[test]
fn a_store_is_opened_as_the_shard_that_it_is() {
    let (clock, [a, b, c]) = three();
    let both = [a.clone(), b.clone()];
    drop(start(&clock, &both));
    drop(start(&clock, &both));
    refused(&[b.clone(), a.clone()], "shard 2 of 2 was opened as shard 1 of 2");
    refused(&[a.clone(), b.clone(), c.clone()], "shard 1 of 2 was opened as shard 1 of 3");
    refused(&[a.clone(), c.clone(), b], "shard 1 of 2 was opened as shard 1 of 3");
    refused(&[a], "shard 1 of 2 was opened as a store by itself");
    // A store with jobs whose keys may belong to another shard.
    let (alone, _) = start(&clock, std::slice::from_ref(&c));
    alone.after(secs(1)).key("order-17").schedule_bytes(KIND, "").unwrap();
    let fresh = MemoryStore::with_clock(StoreClock::new(clock));
    refused(&[fresh.clone(), c.clone()], "dead letters cannot become shard 2 of 2");
    alone.cancel("order-17").unwrap();
    alone.stop();
    // A store with only a dead letter. The earlier refusal has not marked the fresh store.
    dead_letter(&c);
    refused(&[fresh.clone(), c], "dead letters cannot become shard 2 of 2");
    drop(Durable::start(fresh, Handlers::new()).unwrap());
    let none: [MemoryStore; 0] = [];
    let error = Durable::builder(Handlers::new()).start_shards(none).unwrap_err();
    assert!(error.to_string().contains("no stores"), "{error}");
}

#[test]
fn a_store_that_is_away_holds_up_its_own_jobs_alone() {
    let world = World::new();
    let faulty = FaultyStore::new(&world);
    let faults = faulty.faults.clone();
    let other = MemoryStore::with_clock(StoreClock::new(world.clock.clone()));
    let stores: [Box<dyn Store>; 2] = [Box::new(faulty), Box::new(other)];
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
    let timers = world.builder(handlers).start_shards(stores).unwrap();
    faults.down(true);
    let schedule = |n: u32| timers.after(millis(0)).key(format!("{n}")).schedule_bytes(KIND, "");
    let (mut done, mut failed) = (0, 0);
    for n in 0..40 {
        match (timers.shard_of(format!("{n}")).unwrap(), schedule(n)) {
            (1, Ok(_)) => done += 1,
            (0, Err(Error::Store(_))) => failed += 1,
            (shard, answer) => panic!("{n} in shard {shard}: {answer:?}"),
        }
    }
    assert!(done > 5 && failed > 5, "{done} and {failed}");
    assert!(timers.now().is_ok(), "the time is that of another store");
    assert!(world.has_event(
        |event| matches!(event, EventKind::StoreFailed(why) if why.starts_with("shard 1 of 2: "))
    ));
    wait_acked(&timers, done);
    faults.down(false);
    for n in (0..40).filter(|n| timers.shard_of(format!("{n}")).unwrap() == 0) {
        schedule(n).unwrap();
    }
    // The claimer retries after a pause of less than two seconds.
    world.clock.advance(secs(2));
    wait_acked(&timers, done + failed);
}

/// A program starts while one of its stores is unreachable: the jobs of the other store run, and
/// its own jobs run when it is back.
#[test]
fn a_program_starts_while_one_of_its_stores_is_away() {
    let world = World::new();
    let faulty = FaultyStore::new(&world);
    let faults = faulty.faults.clone();
    let other = MemoryStore::with_clock(StoreClock::new(world.clock.clone()));
    let start = |faulty: FaultyStore| {
        let stores: [Box<dyn Store>; 2] = [Box::new(faulty), Box::new(other.clone())];
        let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
        world.builder(handlers).start_shards(stores)
    };
    let timers = start(faulty).unwrap();
    for n in 0..40 {
        timers.after(secs(1)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
    }
    timers.stop();

    let faulty = FaultyStore { faults: faults.clone(), ..FaultyStore::new(&world) };
    faults.down(true);
    let timers = start(faulty).expect("the other store is there");
    world.clock.advance(secs(1));
    let (here, away): (Vec<u32>, Vec<u32>) =
        (0..40).partition(|n| timers.shard_of(format!("{n}")).unwrap() == 1);
    assert!(here.len() > 5 && away.len() > 5);
    let acked = || timers.snapshot().counts.acked;
    wait_until("those of the other store have run", || acked() == here.len() as u64);
    assert!(timers.find(format!("{}", away[0])).is_err());
    faults.down(false);
    world.clock.advance(secs(2));
    wait_until("all have run", || acked() == 40);
}

/// A store that has lost its data is reported, not silently used as a new one.
#[test]
fn a_store_that_comes_back_empty_is_reported() {
    let world = World::new();
    let store = || MemoryStore::with_clock(StoreClock::new(world.clock.clone()));
    let kept = store();
    let start =
        |stores: [Box<dyn Store>; 2]| world.builder(Handlers::new()).start_shards(stores).unwrap();
    let is_reported = || is_lost(&world, "shard 2 of 2: ");
    let timers = start([Box::new(kept.clone()), Box::new(store())]);
    for n in 0..40 {
        timers.after(secs(60)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
    }
    timers.stop();
    assert!(!is_reported());
    start([Box::new(kept.clone()), Box::new(store())]).stop();
    assert!(is_reported());
}

/// Any call can find that the store is empty, also the lookup of pauses.
#[test]
fn a_store_that_comes_back_empty_to_handlers_is_reported() {
    let world = World::new();
    let faulty = FaultyStore::new(&world);
    let faults = faulty.faults.clone();
    let other = MemoryStore::with_clock(StoreClock::new(world.clock.clone()));
    let lost = MemoryStore::with_clock(StoreClock::new(world.clock.clone()));
    let start = |store: Box<dyn Store>| {
        let stores: [Box<dyn Store>; 2] = [store, Box::new(other.clone())];
        let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
        world.builder(handlers).poll(millis(10)).start_shards(stores).unwrap()
    };
    let timers = start(Box::new(lost));
    for n in 0..40 {
        timers.after(secs(60)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
    }
    timers.stop();

    faults.down(true);
    let timers = start(Box::new(faulty));
    wait_until("claims fail", || timers.snapshot().counts.store_errors > 0);
    faults.down(false);
    // The claimer looks for pauses before it claims again, which it does after 50 ms.
    wait_until("it is reported", || {
        world.clock.advance(millis(10));
        std::thread::sleep(millis(1));
        is_lost(&world, "shard 1 of 2: ")
    });
}
