//! The begin of a run: a job that waits for a worker is not running, its attempt is not counted,
//! and other programs take it if handlers take long.

use crate::common::*;

/// Timers on a store that fails as planned, whose handlers wait.
fn start_faulty(world: &World, workers: usize) -> Waiting {
    world.start_waiting_on(FaultyStore::new(world), |its| its.workers(workers))
}

/// The same after a run that took no time. So all jobs of [`KIND`] that are due begin at once.
fn at_no_pace(timers: Waiting) -> Waiting {
    schedule(&timers, "first");
    timers.runs("first");
    wait_acked(&timers, 1);
    timers
}

/// Jobs were claimed, and no claim was to begin a run.
#[track_caller]
fn assert_no_claim_begins(world: &World) {
    let to_begin = world.faults.lock().to_begin.clone();
    assert!(!to_begin.is_empty() && to_begin.iter().all(|most| *most == 0), "{to_begin:?}");
}

/// A leased job that waits for a worker is cancelled, moved and replaced like a pending job, by
/// this program and by another. The leased run never begins.
#[test]
fn what_waits_for_a_worker_can_be_cancelled_and_moved() {
    let world = World::new();
    let timers = world.start_waiting_at_a_pace();
    for key in ["runs", "cancelled", "by another", "moved", "replaced", "waits"] {
        schedule(&timers, key);
    }
    assert_eq!(timers.next(), "runs");
    wait_until("all are leased", || world.leased() == 6);
    let is_waiting = |key: &str| matches!(world.find(key).unwrap().state, State::Leased(_));
    assert!(!is_waiting("runs") && is_waiting("cancelled") && is_waiting("waits"));

    let other = world.start(Handlers::new());
    assert_eq!(timers.cancel("cancelled").unwrap(), Cancel::Cancelled);
    assert_eq!(other.cancel("by another").unwrap(), Cancel::Cancelled);
    other.refresh("moved", MINUTE).unwrap();
    other.after(2 * MINUTE).replacing("replaced").schedule_bytes(KIND, "").unwrap();
    assert_eq!(other.cancel("runs").unwrap(), Cancel::Running);
    (0..2).for_each(|_| timers.go());
    assert_eq!(timers.next(), "waits", "no other job has begun");
    wait_acked(&timers, 3);
    for (key, runs) in [("moved", 4), ("replaced", 5)] {
        world.clock.advance(MINUTE);
        timers.runs(key);
        wait_acked(&timers, runs);
    }
    assert!(world.store.is_empty() && world.events.lock().is_empty());
    assert_eq!(timers.snapshot().counts.leases_lost, 0);
}

/// If a program dies, the attempts of its begun runs count, and those of its leased jobs do not.
#[test]
fn an_attempt_is_counted_of_what_has_begun() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    schedule(&producer, "k");
    for _ in 0..30 {
        assert_eq!(world.lease_and_die(secs(30)).len(), 1);
        world.clock.advance(secs(30));
    }
    assert_eq!(world.claim_and_die(secs(30)).len(), 1);
    schedule(&producer, "begun by its claim");
    let limit = ClaimLimit { begin: 1, ..ClaimLimit::jobs(1) };
    let claimed = world.store.clone().claim(&Kinds::new([KIND]), limit, secs(30)).unwrap().0;
    assert!(claimed[0].has_begun());
    let (handlers, attempts) = telling(|run| run.attempt());
    let timers = world.start(handlers);
    world.clock.advance(secs(30));
    assert_eq!([receive(&attempts), receive(&attempts)], [2, 2]);
    wait_acked(&timers, 2);
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
    let (handlers, with) = waiting(|run, wait| {
        if key(run).starts_with("suspect") {
            wait();
        }
        Ok(Next::Done)
    });
    let timers = with(world.start(handlers));
    // The test clock decides when workers begin the next jobs.
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        wait_until(what, || {
            world.clock.advance(millis(1));
            std::thread::sleep(millis(1));
            is_so()
        });
    };
    wait_for("three have begun", &|| timers.begun.len() == 3);
    let mut first = [(); 3].map(|()| timers.next());
    first.sort();
    assert_eq!(first, ["failed", "new", "suspect 1"]);
    assert!(timers.begun.recv_timeout(millis(50)).is_err(), "the other suspects wait");
    timers.go();
    for suspect in ["suspect 2", "suspect 3"] {
        wait_for("the next has begun", &|| !timers.begun.is_empty());
        timers.runs(suspect);
    }
    wait_for("all are acked", &|| timers.snapshot().counts.acked == 5);
}

#[test]
fn a_claim_begins_nothing_while_a_job_waits() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    for key in ["suspect 1", "suspect 2"] {
        producer.after(secs(0)).key(key).max_attempts(3).schedule_bytes(KIND, "").unwrap();
    }
    for _ in 0..2 {
        assert_eq!(world.claim_and_die(secs(30)).len(), 2);
        world.clock.advance(secs(30));
    }
    let timers = start_faulty(&world, 2);
    assert_eq!(timers.next(), "suspect 1");
    wait_until("the other one waits", || world.leased() == 2);
    world.faults.lock().to_begin.clear();
    schedule(&timers, "plain");
    assert_eq!(timers.next(), "plain");
    assert_no_claim_begins(&world);
    (0..3).for_each(|_| timers.go());
    wait_acked(&timers, 3);
}

/// If handlers take long, a program leases no more jobs than it has workers: the workers of other
/// programs may be free.
#[test]
fn what_takes_long_is_left_to_others() {
    let world = World::new();
    let timers = world.start_waiting(|its| its.workers(2));
    for n in 0..9 {
        schedule(&timers, &format!("{n}"));
    }
    for round in 0..3 {
        let mut two = [timers.next(), timers.next()];
        two.sort();
        assert_eq!(two, [format!("{}", 2 * round), format!("{}", 2 * round + 1)]);
        wait_until("ends are committed", || timers.snapshot().counts.acked == 2 * round);
        assert_eq!(world.leased(), 2, "the duration of a run is unknown, or long");
        world.clock.advance(secs(5));
        (0..2).for_each(|_| timers.go());
    }
}

/// After many small payloads a claim finds large ones: it leases no more than the bound.
#[test]
fn large_payloads_after_small_ones_stay_in_the_store() {
    let world = World::new();
    let timers = world.start_waiting(|its| its.workers(4));
    for n in 1..=30 {
        timers.after(secs(0)).schedule_bytes(PACE, "").unwrap();
        wait_acked(&timers, n);
    }
    let at = timers.now().unwrap().saturating_add(secs(1));
    let payload = vec![0; MAX_PAYLOAD];
    for n in 0..30 {
        let plan = timers.at(at).key(format!("{n:02}"));
        plan.schedule_bytes(KIND, payload.clone()).unwrap();
    }
    world.clock.advance(secs(1));
    (0..4).for_each(|_| drop(timers.next()));
    assert_eq!(timers.snapshot().counts.leased, 30 + 16, "16 MiB are leased");
    let last = world.find("29").unwrap();
    assert_eq!((last.state, last.attempt), (State::Pending, 0));
    (0..30).for_each(|_| timers.go());
    wait_acked(&timers, 60);
}

/// If the lease has run out when a claim or a commit has begun the run, the handler is not called,
/// and the attempt is not counted.
#[test]
fn a_run_does_not_begin_when_its_lease_has_run_out() {
    for by_claim in [true, false] {
        let world = World::new();
        let (handlers, begun) = telling(|run| (run.attempt(), run.is_superseded()));
        let timers = world.start_faulty(handlers);
        let plan = timers.after(secs(1)).key("k");
        // No claim begins a job with a policy.
        let plan = if by_claim { plan } else { plan.max_attempts(9) };
        plan.schedule_bytes(KIND, "").unwrap();
        let Faults { answer_gate, gate, .. } = &world.faults;
        let (commits, closed) = (world.faults.commits(), if by_claim { answer_gate } else { gate });
        let closed = closed.lock();
        world.clock.advance(secs(1));
        wait_until("it is to begin, or has begun", || match by_claim {
            true => world.has_begun("k"),
            false => world.faults.commits().len() > commits.len(),
        });
        world.clock.advance(secs(31));
        drop(closed);
        // If the claimer is faster than the release, the job is claimed again, and the attempt
        // counts.
        let (attempt, is_superseded) = receive(&begun);
        assert!(attempt <= 2 && !is_superseded);
        wait_acked(&timers, 1);
        assert_eq!(timers.snapshot().counts.started, 1);
        // If it was claimed again before the worker has looked at it, its renewal is refused.
        assert!(!world.has_event(|kind| *kind != EventKind::LeaseLost), "it was released");
        assert!(world.store.is_empty());
    }
}

/// A claim begins the run if a worker is free: no commit follows before the handler is called. It
/// begins none while all workers are busy.
#[test]
fn a_claim_begins_what_a_worker_is_free_for() {
    let world = World::new();
    let timers = start_faulty(&world, 2);
    for key in ["a", "b", "c"] {
        schedule(&timers, key);
    }
    let mut two = [timers.next(), timers.next()];
    two.sort();
    assert_eq!((two, world.faults.commits()), (["a", "b"].map(String::from), vec![1; 3]));
    assert_eq!(world.find("c").unwrap().state, State::Pending);
    assert_eq!(timers.cancel("a").unwrap(), Cancel::Running);
    assert_eq!(world.faults.lock().to_begin.iter().max(), Some(&2));
    (0..3).for_each(|_| timers.go());
    assert_eq!(timers.next(), "c");
    wait_until("all have ended", || world.store.is_empty());
}

#[test]
fn what_a_claim_has_begun_does_not_wait_for_the_others() {
    for workers in [1, 2] {
        let world = World::new();
        let timers = at_no_pace(start_faulty(&world, workers));
        timers.after(secs(1)).key("plain").schedule_bytes(KIND, "").unwrap();
        let other = timers.after(secs(1)).key("other").max_attempts(9);
        other.schedule_bytes(KIND, "").unwrap();
        let (closed, before) = (world.faults.gate.lock(), world.faults.commits().len());
        world.clock.advance(secs(1));
        wait_until("the other is to begin", || world.faults.commits().len() > before);
        assert_eq!(timers.next(), "plain");
        assert!(timers.begun.is_empty() && !world.has_begun("other"));
        drop(closed);
        timers.go();
        timers.runs("other");
        wait_acked(&timers, 3);
    }
}

/// One worker keeps the order: the `Begin` of a job waits for the committer, and a later job, which
/// the other connection leases, does not overtake it.
#[test]
fn a_later_job_does_not_overtake_a_begin_in_the_queue() {
    let world = World::new();
    let ((handlers, with), (go, wait)) = (always_waiting(), unbounded::<()>());
    let handlers = handlers.on_bytes("slow/1", move |_, _| {
        wait.recv().unwrap_or_default();
        Ok(Next::Done)
    });
    let store = FaultyStore { has_beside: true, ..FaultyStore::new(&world) };
    let builder = world.builder(handlers).workers(1);
    let timers = at_no_pace(with(builder.start(store).unwrap()));
    let go = go; // Dropped before the timers.
    // A run of a kind that has not run yet is expected to take long, so no other job begins.
    timers.after(secs(0)).schedule_bytes("slow/1", "").unwrap();
    wait_until("it runs", || timers.snapshot().counts.started == 2);
    schedule(&timers, "a");
    wait_until("it waits", || world.leased() == 2);
    let closed = world.faults.gate.lock();
    drop(go);
    wait_until("its end is to be committed", || timers.snapshot().run_time.count == 2);
    std::thread::sleep(millis(50));
    schedule(&world.start(Handlers::new()), "b");
    wait_until("it is leased", || world.find("b").unwrap().state.is_held());
    assert!(timers.begun.recv_timeout(millis(50)).is_err(), "both wait for the committer");
    drop(closed);
    ["a", "b"].iter().for_each(|key| timers.runs(key));
    wait_acked(&timers, 4);
}

/// While the only worker is busy, no claim begins a run: a later job could overtake those whose
/// `Begin` waits for the committer. If the job that waits loses its lease, that is counted once,
/// although both its renewal and its release are refused.
#[test]
fn a_job_that_waits_for_the_only_worker_may_lose_its_lease() {
    let world = World::new();
    let timers = at_no_pace(start_faulty(&world, 1));
    schedule(&timers, "runs");
    assert_eq!(timers.next(), "runs");
    world.faults.lock().to_begin.clear();
    schedule(&timers, "waits");
    wait_until("it has begun", || world.has_begun("waits"));
    assert_no_claim_begins(&world);
    world.release("waits", MINUTE);
    world.clock.advance(secs(10));
    wait_until("its renewal is refused", || world.has_event(|kind| *kind == EventKind::LeaseLost));
    timers.go();
    wait_until("both have ended", || timers.snapshot().in_flight == 0);
    let counts = timers.snapshot().counts;
    assert_eq!((counts.acked, counts.started, counts.leases_lost), (2, 2, 1));
}

/// The claims of two stores begin runs for the same worker. The second is released, without an
/// attempt, and runs after the first.
#[test]
fn a_run_that_its_claim_has_begun_without_a_worker_is_released() {
    let world = World::new();
    let (handlers, with) = always_waiting();
    let (one, other, faults) = (world.other_store(), world.other_store(), Faults::default());
    let slow =
        FaultyStore { store: one.clone(), faults: faults.clone(), ..FaultyStore::new(&world) };
    let fast = FaultyStore { store: other.clone(), ..FaultyStore::new(&world) };
    let builder = world.builder(handlers).workers(1);
    let timers = with(builder.start_shards([slow, fast]).unwrap());
    let put = |store: &MemoryStore, key: &str| {
        assert_eq!(store.clone().commit(&[put(key, KIND, "")]).unwrap(), [Outcome::Done]);
    };
    let row = || one.clone().find(&Key::new("second").unwrap()).unwrap().unwrap();
    let closed = faults.answer_gate.lock();
    put(&one, "second");
    wait_until("its claim has begun it", || row().state.run().is_some());
    put(&other, "first");
    assert_eq!(timers.next(), "first");
    drop(closed);
    wait_until("it is released", || timers.snapshot().counts.released == 1);
    assert!(timers.begun.is_empty() && row().attempt == 0, "{:?}", row());
    timers.go();
    assert_eq!((timers.next().as_str(), row().attempt), ("second", 1));
    timers.go();
    wait_acked(&timers, 2);
}

/// If the answer of a claim is lost, the runs that it has begun have used up an attempt, once. A
/// job that may have one or two attempts only is not begun by a claim.
#[test]
fn a_lost_answer_of_a_claim_costs_an_attempt_and_no_job() {
    for most in [1, 2, 20] {
        let world = World::new();
        let (handlers, attempts) = telling(|run| (key(run), run.attempt()));
        let builder = world.builder(handlers).workers(2).backoff(attempts_up_to(most));
        let timers = builder.start(FaultyStore::new(&world)).unwrap();
        timers.after(secs(1)).key("plain").schedule_bytes(KIND, "").unwrap();
        let once = timers.after(secs(1)).key("once").max_attempts(1);
        once.schedule_bytes(KIND, "").unwrap();
        world.faults.lock().loses_a_claim = true;
        world.clock.advance(secs(1));
        wait_until("its answer is lost", || timers.snapshot().counts.store_errors == 1);
        world.clock.advance(secs(31));
        wait_acked(&timers, 2);
        let mut seen: Vec<_> = attempts.try_iter().collect();
        seen.sort();
        let attempt = if most <= 2 { 1 } else { 2 };
        assert_eq!(seen, [("once".to_owned(), 1), ("plain".to_owned(), attempt)]);
        assert_eq!(timers.dead(None, 9).unwrap(), []);
        let to_begin = world.faults.lock().to_begin.clone();
        assert_eq!(to_begin.first(), Some(&0), "the claim after a failure begins nothing");
    }
}

#[test]
fn no_more_begin_after_an_outage_than_there_are_workers() {
    let world = World::new();
    let clock = world.clock.clone();
    let (handlers, with) = waiting(move |_, wait| {
        wait();
        clock.advance(millis(10));
        Ok(Next::Done)
    });
    let builder = world.builder(world.with_a_pace(handlers)).workers(1);
    let timers = with(builder.start(FaultyStore::new(&world)).unwrap());
    world.set_the_pace(&timers);
    // Fewer than half of the jobs that may be leased, so the claimer leases all of them.
    for n in 0..6 {
        schedule(&timers, &format!("{n:02}"));
    }
    assert_eq!(timers.next(), "00");
    wait_until("all are leased", || world.leased() == 6);
    world.faults.down(true);
    timers.go();
    wait_until("each was to begin", || world.faults.commits().iter().any(|changes| *changes >= 6));
    world.faults.down(false);
    let count_begun = || world.rows().iter().filter(|row| row.state.run().is_some()).count();
    for n in 1..=5 {
        // The claimer retries after a pause of less than two seconds.
        wait_until("the next begins", || {
            world.pass(millis(100));
            !timers.begun.is_empty()
        });
        drop(timers.next());
        assert_eq!(count_begun(), 1, "{n}");
        timers.go();
        wait_acked(&timers, 2 + n);
    }
    assert!(world.store.is_empty());
}
