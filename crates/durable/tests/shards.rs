//! Timers on several stores: each key belongs to one store, and each store keeps its shard number.

use crate::common::*;
use std::collections::BTreeSet;
use wheelhouse_durable::store::{ClaimResult, Dead, Kind, Timestamp, Waker};

fn three() -> (World, [MemoryStore; 3]) {
    let world = World::new();
    let stores = [(); 3].map(|()| world.other_store());
    (world, stores)
}

/// Two stores on one clock. The first fails as planned.
fn two(world: &World, second: &MemoryStore) -> [Box<dyn Store>; 2] {
    [Box::new(FaultyStore::new(world)), Box::new(second.clone())]
}

fn schedule_forty(timers: &Durable) {
    for n in 0..40 {
        timers.after(secs(60)).key(format!("{n}")).schedule_bytes(KIND, "").unwrap();
    }
}

fn start(world: &World, stores: &[MemoryStore]) -> Durable {
    world.builder(done()).start_shards(stores.iter().cloned()).unwrap()
}

fn rows(store: &MemoryStore) -> usize {
    store.clone().scan(None, usize::MAX).unwrap().len()
}

/// A handler schedules jobs in every store by the timers of its run.
#[test]
fn a_key_is_found_in_its_store_and_all_stores_are_worked_off() {
    let (world, stores) = three();
    let (handlers, ran) = telling(key);
    let names: BTreeSet<_> = (0..300).map(|n| format!("order-{n}")).collect();
    let to_plan = names.clone();
    let handlers = handlers.on_bytes("plan/1", move |run, _| {
        let plan = |name: &String| run.timers().after(secs(1)).key(name).submit_bytes(KIND, "");
        wait_all(to_plan.iter().map(plan));
        Ok(Next::Done)
    });
    let timers = world.builder(handlers).start_shards(stores.clone()).unwrap();
    timers.after(secs(0)).schedule_bytes("plan/1", "").unwrap();
    wait_acked(&timers, 1);
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

    world.clock.advance(secs(2));
    wait_acked(&timers, 299);
    assert_eq!(ran.len(), 298);
    let ran_once: BTreeSet<_> = ran.try_iter().collect();
    assert_eq!(ran_once.len(), 298);
    assert!(!ran_once.contains("order-7") && !ran_once.contains("order-8"));
    timers.stop();
    assert_eq!(stores.iter().map(|store| rows(store) - 1).sum::<usize>(), 2);
}

/// Each store numbers its jobs by itself. A binary key is shown like a text of another store.
#[test]
fn idempotency_keys_of_two_stores_differ() {
    let (handlers, seen) = telling(|run| run.idempotency_key());
    let (world, [a, b, _]) = three();
    let timers = world.builder(handlers).start_shards([a, b]).unwrap();
    let (mut keys, mut runs) = (BTreeSet::new(), 0);
    for n in 0..64 {
        let (binary, text) = ([0xff, n], format!("ff{n:02x}"));
        if timers.shard_of(binary).unwrap() != timers.shard_of(&text).unwrap() {
            for key in [&binary, text.as_bytes()] {
                timers.after(secs(0)).key(key).schedule_bytes(KIND, "").unwrap();
                keys.insert(receive(&seen));
                runs += 1;
            }
        }
    }
    assert!(runs > 20 && keys.len() == runs, "{} of {runs}", keys.len());
}

/// The key of a job is shown before its generation: nothing follows it with a single store.
#[test]
fn an_idempotency_key_tells_of_a_binary_key_only_with_several_stores() {
    for (stores, end) in [(1, "/0"), (2, "/0/hex")] {
        let (handlers, seen) = telling(|run| run.idempotency_key());
        let (world, three) = three();
        let builder = world.builder(handlers);
        let timers = builder.start_shards(three.into_iter().take(stores)).unwrap();
        timers.after(secs(0)).key([0xff, 0x00]).schedule_bytes(KIND, "").unwrap();
        let key = receive(&seen);
        let number = key.strip_prefix("/ff00/").and_then(|key| key.strip_suffix(end));
        assert!(number.is_some_and(|its| its.parse::<u64>().is_ok()), "{stores} stores: {key}");
    }
}

#[test]
fn dead_letters_of_all_stores_are_listed_and_revived() {
    let (world, stores) = three();
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Err(Stop::new("no such order").into()));
    let timers = world.builder(handlers).start_shards(stores).unwrap();
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

/// Returns `true` if an event says this of the first of two stores.
fn is_reported(world: &World, what: &str) -> bool {
    world.has_event(|event| {
        matches!(event, EventKind::StoreFailed(why)
            if why.starts_with("shard 1 of 2: ") && why.contains(what))
    })
}

#[track_caller]
fn refused(stores: &[MemoryStore], says: &str) {
    let started = Durable::builder(Handlers::new()).start_shards(stores.iter().cloned());
    let error = started.expect_err("it is refused");
    assert!(matches!(error, StartError::Store(StoreError::Refused(_))), "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

fn dead_letter(store: &MemoryStore) {
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Err(Stop::new("never").into()));
    let timers = Durable::start(store.clone(), handlers).unwrap();
    let now = timers.now().unwrap();
    timers.at(now).schedule_bytes(KIND, "").unwrap();
    wait_until("it is dead", || timers.snapshot().counts.dead == 1);
}

#[test]
fn a_store_is_opened_as_the_shard_that_it_is() {
    let (world, [a, b, c]) = three();
    let both = [a.clone(), b.clone()];
    (0..2).for_each(|_| drop(start(&world, &both)));
    refused(&[b.clone(), a.clone()], "shard 2 of 2 was opened as shard 1 of 2");
    refused(&[a.clone(), b.clone(), c.clone()], "shard 1 of 2 was opened as shard 1 of 3");
    refused(&[a.clone(), c.clone(), b], "shard 1 of 2 was opened as shard 1 of 3");
    refused(&[a], "shard 1 of 2 was opened as a store by itself");
    // A store with jobs whose keys may belong to another shard.
    let alone = start(&world, std::slice::from_ref(&c));
    alone.after(secs(1)).key("order-17").schedule_bytes(KIND, "").unwrap();
    let fresh = world.other_store();
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

/// A refusal changes no store, so that the mistake can be corrected.
#[test]
fn a_store_that_is_named_twice_is_not_marked() {
    let (world, [a, b, _]) = three();
    refused(&[a.clone(), a.clone()], "each once");
    refused(&[b.clone(), a.clone(), a.clone()], "each once");
    assert_eq!((rows(&a), rows(&b)), (0, 0));
    drop(start(&world, &[b, a.clone()]));
    refused(&[a.clone(), a.clone()], "shard 2 of 2 was opened as shard 1 of 2");
    assert_eq!(rows(&a), 1, "its number was there before");
}

/// A store after whose first commit something else happens.
struct ThenStore<F>(MemoryStore, Option<F>);

impl<F: FnOnce() + Send + 'static> Store for ThenStore<F> {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let outcomes = self.0.commit(changes);
        self.1.take().into_iter().for_each(|then| then());
        outcomes
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        self.0.claim(kinds, limit, visibility)
    }

    fn wake_by(&mut self, waker: Waker) {
        self.0.wake_by(waker);
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.0.find(key)
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.0.scan(after, max)
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        self.0.dead(after, max)
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        self.0.kinds()
    }
}

/// While a program that names a store twice starts, another program starts in the right way.
#[test]
fn a_refusal_keeps_the_shard_number_of_a_running_program() {
    let (world, [a, b, _]) = three();
    let both = [a.clone(), b];
    let (right, stores) = (world.builder(done()), both.clone());
    let start_right = move || schedule_forty(&right.start_shards(stores).unwrap());
    let twice: [Box<dyn Store>; 2] =
        [Box::new(ThenStore(a.clone(), Some(start_right))), Box::new(a)];
    let error = Durable::builder(Handlers::new()).start_shards(twice).unwrap_err();
    assert!(error.to_string().contains("each once"), "{error}");
    assert_eq!(both.iter().map(rows).sum::<usize>(), 42);
    drop(start(&world, &both));
}

#[test]
fn a_paused_store_becomes_a_shard() {
    let (world, stores) = three();
    let pauses = (0..40).map(|n| Change::pause(Some(&format!("{n}/1"))).unwrap());
    let pauses: Vec<_> = pauses.chain([Change::pause(None).unwrap()]).collect();
    stores[0].clone().commit(&pauses).unwrap();
    let timers = start(&world, &stores);
    assert!(timers.resume_all().unwrap(), "it stays paused");
    schedule_forty(&timers);
    world.clock.advance(secs(60));
    wait_acked(&timers, 40);
}

/// While a store is unreachable, also when the program starts, calls for its keys fail and its jobs
/// wait. Those of the other store run.
#[test]
fn a_store_that_is_away_holds_up_its_own_jobs_alone() {
    for at_start in [false, true] {
        let world = World::new();
        let other = world.other_store();
        let start = || world.builder(done()).start_shards(two(&world, &other)).unwrap();
        let mut timers = start();
        schedule_forty(&timers);
        if at_start {
            timers.stop();
            world.faults.down(true);
            timers = start();
        }
        world.faults.down(true);
        world.clock.advance(secs(60));
        let is_here = |n: &u32| timers.shard_of(format!("{n}")).unwrap() == 1;
        let (here, away): (Vec<u32>, Vec<u32>) = (0..40).partition(is_here);
        assert!(here.len() > 5 && away.len() > 5);
        wait_acked(&timers, here.len() as u64);
        for n in 0..40 {
            let plan = timers.after(secs(60)).replacing(format!("{n}"));
            match plan.schedule_bytes(KIND, "") {
                Ok(_) => assert!(here.contains(&n)),
                Err(error) => assert!(away.contains(&n) && matches!(error, Error::Store(_))),
            }
        }
        assert!(timers.now().is_ok(), "the time is that of another store");
        assert!(is_reported(&world, "planned"));
        world.faults.down(false);
        // The claimer retries after a pause of less than two seconds.
        world.clock.advance(secs(2));
        wait_acked(&timers, 40);
    }
}

/// A store that has lost its data is reported, not silently used as a new one. If it was
/// unreachable at the start, any call can find it empty, also the lookup of pauses.
#[test]
fn a_store_that_comes_back_empty_is_reported() {
    for later in [false, true] {
        let world = World::new();
        let other = world.other_store();
        let start = |stores: [Box<dyn Store>; 2]| {
            world.builder(done()).poll(millis(10)).start_shards(stores).unwrap()
        };
        let timers = start([Box::new(world.other_store()), Box::new(other.clone())]);
        schedule_forty(&timers);
        timers.stop();
        let is_lost = || is_reported(&world, "is empty");
        assert!(!is_lost());

        world.faults.down(later);
        let timers = start(two(&world, &other));
        assert_eq!(is_lost(), !later);
        if later {
            let errors = || timers.snapshot().counts.store_errors;
            wait_until("figures, kinds, pauses and a claim fail", || errors() >= 4);
            world.faults.down(false);
            // The claimer looks for pauses before it claims again, which it does after 50 ms.
            wait_until("it is reported", || {
                world.clock.advance(millis(10));
                std::thread::sleep(millis(1));
                is_lost()
            });
        }
    }
}
