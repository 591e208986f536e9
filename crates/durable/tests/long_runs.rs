//! Handlers that take long, hang, or stop the timers that run them.

use crate::common::*;
use parking_lot::Mutex;

fn waiting_for(who: &'static str) -> (Handlers, impl FnOnce(Durable) -> Waiting) {
    waiting(move |run, wait| {
        if key(run) == who {
            wait();
        }
        Ok(Next::Done)
    })
}

/// The hanging run is reported. After its limit the lease is not renewed, another program takes the
/// job over, and the run can see that. Its ack is refused.
#[test]
fn a_handler_that_hangs_loses_its_job() {
    let world = World::new();
    let (handlers, with) = waiting(|run, wait| {
        assert!(!run.is_superseded());
        wait();
        assert!(run.is_superseded());
        Ok(Next::Done)
    });
    let builder = world.builder(handlers).workers(1).slow_after(secs(15)).limit(secs(60));
    let timers = with(builder.start(world.store.clone()).unwrap());
    schedule(&timers, "k");
    timers.next();
    for third in 1..=5 {
        world.clock.advance(secs(10));
        wait_until("renewal", || world.visible_at("k") == Some(30 + third * 10));
    }
    let events = |wanted: fn(&EventKind) -> bool| {
        world.events.lock().iter().filter(|event| wanted(&event.kind)).count()
    };
    assert_eq!(events(|kind| matches!(kind, EventKind::StillRunning(_))), 1);
    assert_eq!(events(|kind| matches!(kind, EventKind::TimedOut(_))), 0);
    world.clock.advance(secs(10));
    wait_until("it is reported", || {
        events(|kind| *kind == EventKind::TimedOut(Duration::from_secs(60))) == 1
    });
    let old = world.find("k").unwrap().state.lease().unwrap().token;
    let (handlers, taken) = telling(|run| (run.attempt(), run.token()));
    let second = world.start(handlers);
    world.clock.advance(secs(19));
    assert!(taken.is_empty() && world.visible_at("k") == Some(80), "the lease lasts");
    world.clock.advance(secs(1));
    let (attempt, new) = receive(&taken);
    assert!(attempt == 2 && new > old, "{new:?} after {old:?}");
    wait_acked(&second, 1);
    timers.go();
    wait_until("the first is refused", || timers.snapshot().counts.superseded == 1);
    let counts = timers.snapshot().counts;
    assert_eq!((counts.acked, counts.slow, counts.timed_out), (0, 1, 1));
    assert_eq!(counts.leases_lost, 1);
    assert_eq!(events(|kind| matches!(kind, EventKind::Slow(_) | EventKind::Superseded)), 2);
}

/// The limit of a job overrides that of the program, and is stored with the job.
#[test]
fn a_job_may_have_a_limit_of_its_own() {
    let world = World::new();
    let timers = world.start_waiting(|its| its.limit(secs(1_000)));
    timers.after(secs(0)).key("k").limit(secs(5)).schedule_bytes(KIND, "").unwrap();
    assert_eq!(world.find("k").unwrap().policy, "limit=5000");
    wait_until("it runs", || timers.snapshot().counts.started == 1);
    world.clock.advance(secs(5));
    wait_until("it is reported", || timers.snapshot().counts.timed_out == 1);
    timers.go();
    wait_acked(&timers, 1);
    // A run that has ended when the claimer looks is counted, too.
    timers.after(secs(0)).limit(millis(5)).schedule_bytes(PACE, "").unwrap();
    wait_acked(&timers, 2);
    assert_eq!(timers.snapshot().counts.timed_out, 2);
}

#[test]
fn a_run_may_stop_its_own_timers() {
    for way in ["drop", "stop", "async drop", "async stop"] {
        let (world, place) = (World::new(), Arc::new(Mutex::new(None::<Durable>)));
        let (its, (sender, stopped)) = (Arc::clone(&place), unbounded());
        let handlers = match way {
            "drop" | "stop" => Handlers::new().on_bytes(KIND, move |run, _| {
                let own = its.lock().take().ok_or("not yet")?;
                if way == "drop" {
                    drop(own)
                } else {
                    own.stop()
                }
                sender.send(run.timers().is_stopped())?;
                Ok(Next::Done)
            }),
            _ => Handlers::new().on_async_bytes(KIND, move |run, _| {
                let (own, sender) = (its.lock().take(), sender.clone());
                async move {
                    let own = own.ok_or("not yet")?;
                    if way == "async drop" {
                        drop(own)
                    } else {
                        own.stop_async().await
                    }
                    sender.send(run.timers().is_stopped())?;
                    Ok(Next::Done)
                }
            }),
        };
        let timers = world.start(handlers);
        let watch = timers.timers();
        timers.after(secs(1)).key("k").schedule_bytes(KIND, "").unwrap();
        *place.lock() = Some(timers);
        world.clock.advance(secs(1));
        assert!(receive(&stopped), "{way}");
        wait_acked(&watch, 1);
        assert!(world.store.is_empty());
    }
}

/// A job that hangs occupies one worker of a program: its next leases are released until its
/// handler has returned, also if its key is scheduled again and the claim begins the new job. Other
/// jobs continue.
#[test]
fn a_job_that_hangs_takes_one_worker() {
    let world = World::new();
    let (handlers, with) = waiting_for("hangs");
    let builder = world.builder(handlers).workers(2).limit(secs(10));
    let timers = with(builder.start(FaultyStore::new(&world)).unwrap());
    let released = || timers.snapshot().counts.released;
    schedule(&timers, "hangs");
    assert_eq!(timers.next(), "hangs");
    world.clock.advance(secs(10));
    wait_until("it is reported", || timers.snapshot().counts.timed_out == 1);
    world.clock.advance(secs(60));
    wait_until("its job is released", || released() == 1);
    assert_eq!(world.find("hangs").unwrap().attempt, 1, "another lease is no attempt");
    assert_eq!(timers.cancel("hangs").unwrap(), Cancel::Cancelled);
    world.faults.lock().to_begin.clear();
    schedule(&timers, "hangs");
    wait_until("the new job is released", || released() == 2);
    assert_eq!(world.faults.lock().to_begin.first(), Some(&1), "one worker is free");
    for round in 1..=3 {
        world.clock.advance(secs(60));
        wait_until("it is released again", || released() == 2 + round);
        schedule(&timers, "other");
        assert_eq!(timers.next(), "other");
        wait_acked(&timers, round);
    }
    let row = world.find("hangs").unwrap();
    assert_eq!((row.state, row.attempt, timers.begun.len()), (State::Pending, 0, 0));
    timers.go();
    wait_until("the first is refused", || timers.snapshot().counts.superseded == 1);
    world.clock.advance(secs(10));
    timers.runs("hangs");
    wait_acked(&timers, 4);
    assert!(world.store.is_empty());
}

/// A cancel was answered `Running`, so the run must take place: `stop` waits for it, although no
/// worker has begun it.
#[test]
fn a_stop_calls_what_has_begun() {
    let world = World::new();
    let (handlers, with) = waiting_for("first");
    let builder = world.builder(handlers).workers(1);
    let Waiting { timers, begun, go } = with(builder.start(world.store.clone()).unwrap());
    // By the test clock a run takes no time.
    schedule(&timers, "fast");
    wait_acked(&timers, 1);
    for key in ["first", "second"] {
        schedule(&timers, key);
    }
    wait_until("both have begun", || world.has_begun("second"));
    assert_eq!(timers.cancel("second").unwrap(), Cancel::Running);
    let watch = timers.timers();
    std::thread::scope(|scope| {
        scope.spawn(|| timers.stop());
        wait_until("it is being stopped", || watch.is_stopped());
        // Leases are renewed while the stop waits, and no more jobs are claimed.
        let claims = [1, 2, 3, 4].map(|third| {
            world.clock.advance(secs(10));
            wait_until("renewal", || world.visible_at("first") == Some(30 + 10 * third));
            watch.snapshot().counts.claims
        });
        assert_eq!(claims[2], claims[3], "it continues to claim");
        go.send(()).unwrap();
    });
    assert_eq!(begun.try_iter().collect::<Vec<_>>(), ["fast", "first", "second"]);
    assert!(world.store.is_empty());
}

/// The same if the answer of the claim that has begun the run arrives during the stop.
#[test]
fn a_stop_calls_what_a_claim_has_begun() {
    let world = World::new();
    let (handlers, begun) = telling(key);
    let timers = world.start_faulty(handlers);
    timers.after(secs(1)).key("k").schedule_bytes(KIND, "").unwrap();
    let watch = timers.timers();
    std::thread::scope(|scope| {
        let closed = world.faults.answer_gate.lock();
        world.clock.advance(secs(1));
        wait_until("its claim has begun it", || world.has_begun("k"));
        assert_eq!(world.start(Handlers::new()).cancel("k").unwrap(), Cancel::Running);
        scope.spawn(|| timers.stop());
        wait_until("it is being stopped", || watch.is_stopped());
        drop(closed);
    });
    assert_eq!(begun.try_iter().collect::<Vec<_>>(), ["k"]);
    assert!(world.store.is_empty());
}

/// The claim waits for the connection when the stop begins.
#[test]
fn a_claim_after_a_stop_begins_nothing() {
    let world = World::new();
    let (handlers, begun) = telling(key);
    let timers = world.start_faulty(handlers);
    timers.after(secs(1)).key("k").schedule_bytes(KIND, "").unwrap();
    let (watch, commits) = (timers.timers(), world.faults.commits().len());
    std::thread::scope(|scope| {
        let closed = world.faults.gate.lock();
        scope.spawn(|| watch.cancel("absent"));
        wait_until("a commit has the connection", || world.faults.commits().len() > commits);
        world.clock.advance(secs(1));
        std::thread::sleep(Duration::from_millis(50));
        scope.spawn(|| timers.stop());
        wait_until("it is being stopped", || watch.is_stopped());
        drop(closed);
    });
    assert_eq!((begun.len(), world.find("k").unwrap().attempt), (0, 0));
}

/// The store's clock is set ahead by more than a lease, or the machine was suspended: the program's
/// clock does not show that the lease has ended. The program claims the job of its run. It begins
/// no second run before the handler has returned, and the first can see that it is superseded.
#[test]
fn a_run_loses_its_lease_to_a_step_of_the_clock() {
    let world = World::new();
    let clock = StoreClock::new(world.clock.clone());
    let (handlers, with) = waiting(|run, wait| {
        wait();
        match run.attempt() {
            1 if !run.is_superseded() => Err("it is superseded".into()),
            _ => Ok(Next::Done),
        }
    });
    let builder = world.builder(handlers).workers(2);
    let timers = with(builder.start(MemoryStore::with_clock(clock.clone())).unwrap());
    schedule(&timers, "k");
    timers.next();
    clock.at_least(timers.now().unwrap().saturating_add(MINUTE));
    world.clock.advance(secs(1));
    wait_until("its job is released", || timers.snapshot().counts.released == 1);
    wait_until("it is reported", || world.has_event(|kind| *kind == EventKind::LeaseLost));
    assert!(timers.begun.is_empty());
    timers.go();
    wait_until("its ack is refused", || timers.snapshot().counts.superseded == 1);
    wait_until("it runs again", || {
        world.clock.advance(secs(1));
        std::thread::sleep(Duration::from_millis(1));
        !timers.begun.is_empty()
    });
    timers.next();
    timers.go();
    wait_acked(&timers, 1);
    assert_eq!(timers.snapshot().counts.leases_lost, 1);
}
