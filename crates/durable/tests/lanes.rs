//! The lanes: closures and async handlers in one program, and executors that refuse runs.

use crate::common::{
    KIND, MINUTE, World, millis, receive, schedule, secs, wait_acked, wait_all, wait_until,
};
use crossbeam_channel::{Receiver, unbounded};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use wheelhouse_durable::store::State;
use wheelhouse_durable::{AsyncRun, Builder, Durable, Handlers, MAX_PAYLOAD, Next, StartError};

/// A kind whose handler is a closure. That of [`KIND`] is async.
const SYNC: &str = "sync/1";

/// Handlers of both kinds, which do nothing.
fn both() -> Handlers {
    Handlers::new()
        .on_async_bytes(KIND, |_, _| async { Ok(Next::Done) })
        .on_bytes(SYNC, |_, _| Ok(Next::Done))
}

/// Timers whose async runs come to the receiver. The receiver must be dropped first, since the stop
/// of the timers waits for the runs in it: bind the two as `(timers, runs)`.
fn with_runs(world: &World) -> (Durable, Receiver<AsyncRun>) {
    let (sender, runs) = unbounded();
    let builder = world.builder(both());
    let builder = builder.spawn_on(move |run| sender.send(run).unwrap_or_default());
    (builder.start(world.store.clone()).unwrap(), runs)
}

/// If an executor drops each run, the job is released for a third of the visibility timeout. Each
/// drop is reported, and no attempt is counted.
#[test]
fn an_executor_that_drops_all_runs_is_no_busy_loop() {
    let world = World::new();
    let timers = world.builder(both()).spawn_on(drop).start(world.store.clone()).unwrap();
    schedule(&timers, "k");
    let released = || timers.snapshot().counts.released;
    for n in 1..=3 {
        wait_until("it is released", || released() >= n);
        thread::sleep(millis(50));
        assert_eq!(released(), n);
        let job = world.find("k").unwrap();
        assert_eq!((job.state, job.attempt), (State::Pending, 0));
        world.clock.advance(secs(10));
    }
    let events = world.events.lock().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(events.iter().all(|event| event.contains("executor dropped the run")), "{events:?}");
    assert!(events.len() >= 3, "{events:?}");
}

/// A job is released although its run is dropped while a thread of the executor unwinds.
#[test]
fn a_run_that_is_dropped_by_a_panic_is_released() {
    let world = World::new();
    let (timers, runs) = with_runs(&world);
    timers.after(secs(0)).schedule_bytes(KIND, "").unwrap();
    let run = receive(&runs);
    let panics = thread::spawn(move || {
        let _run = run;
        resume_unwind(Box::new("the executor"))
    });
    assert!(panics.join().is_err());
    wait_until("it is released", || timers.snapshot().counts.released == 1);
}

/// With a catch-up rate, the backlog of one lane does not use up the rate.
#[test]
fn both_lanes_catch_up() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    let kinds = [SYNC, KIND].repeat(50).into_iter();
    wait_all(kinds.map(|kind| producer.after(secs(0)).submit_bytes(kind, "")));
    producer.stop();
    world.clock.advance(MINUTE);
    let futures = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&futures);
    let handlers =
        Handlers::new().on_bytes(SYNC, |_, _| Ok(Next::Done)).on_async_bytes(KIND, move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok(Next::Done) }
        });
    let builder = world.builder(handlers).catch_up_rate(20);
    let timers = builder.start(world.store.clone()).unwrap();
    wait_until("20 are acked", || {
        world.pass(millis(10));
        timers.snapshot().counts.acked >= 20
    });
    let futures = futures.load(Ordering::SeqCst);
    assert!((5..=15).contains(&futures), "{futures} of 20 were async");
}

/// The store refuses the claims of closures only. Async handlers are called nevertheless.
#[test]
fn a_lane_whose_claims_fail_does_not_block_the_other() {
    let world = World::new();
    world.faults.lock().never_claimed = Some(SYNC);
    let timers = world.start_faulty(both());
    timers.after(secs(0)).schedule_bytes(KIND, "").unwrap();
    wait_acked(&timers, 1);
    // Its claims begin runs, since only those of the other lane fail.
    wait_until("five claims begin runs", || {
        world.clock.advance(millis(100));
        let plan = world.faults.lock();
        plan.refused_claims > 5 && plan.to_begin.iter().filter(|most| **most > 0).count() > 5
    });
}

/// While the claims of one lane fail, the pauses grow, although those of the other lane succeed.
#[test]
fn the_pauses_of_a_lane_whose_claims_fail_grow() {
    let world = World::new();
    world.faults.lock().never_claimed = Some(KIND);
    let _timers = world.start_faulty(both());
    wait_until("the first fails", || world.faults.lock().refused_claims > 0);
    for _ in 0..400 {
        world.clock.advance(millis(25));
        thread::sleep(millis(1));
    }
    let refused = world.faults.lock().refused_claims;
    assert!((2..=30).contains(&refused), "{refused} in ten seconds");
}

/// Async runs hold as many bytes of payloads as a lane may lease. Closures still run.
#[test]
fn each_lane_has_its_own_bytes() {
    let world = World::new();
    let (timers, runs) = with_runs(&world);
    for _ in 0..20 {
        timers.after(secs(0)).schedule_bytes(KIND, vec![0; MAX_PAYLOAD]).unwrap();
    }
    let held: Vec<_> = (0..16).map(|_| receive(&runs)).collect();
    timers.after(secs(0)).schedule_bytes(SYNC, vec![0; MAX_PAYLOAD]).unwrap();
    wait_acked(&timers, 1);
    assert_eq!((held.len(), world.leased()), (16, 16), "16 MiB are leased");
}

/// The largest settings work, or are refused with a remedy.
#[test]
fn large_settings_do_not_panic() {
    let world = World::new();
    let start = |builder: Builder| builder.start(world.store.clone());
    let timers = start(world.builder(both()).async_runs(usize::MAX)).unwrap();
    timers.after(secs(0)).schedule_bytes(KIND, "").unwrap();
    wait_acked(&timers, 1);
    let handlers = Handlers::new().on_bytes("fails/1", |_, _| Err("no".into()));
    let builder = world.builder(handlers).backoff(Duration::MAX, Duration::MAX);
    let timers = start(builder).unwrap();
    timers.after(secs(0)).schedule_bytes("fails/1", "").unwrap();
    wait_until("it has failed", || timers.snapshot().counts.retried == 1);
    let year = secs(365 * 86_400);
    drop(start(world.builder(both()).poll(year).visibility_timeout(year)).unwrap());
    for longer in [Duration::MAX, year + millis(1)] {
        for builder in
            [world.builder(both()).poll(longer), world.builder(both()).visibility_timeout(longer)]
        {
            let refused = start(builder).err();
            assert!(matches!(refused, Some(StartError::Setting(_))), "{longer:?}: {refused:?}");
        }
    }
}
