//! The lanes: closures and async handlers in one program.

use crate::common::*;

/// A kind whose handler is a closure. That of [`KIND`] is async.
const SYNC: &str = "sync/1";

fn both() -> Handlers {
    Handlers::new()
        .on_async_bytes(KIND, |_, _| async { Ok(Next::Done) })
        .on_bytes(SYNC, |_, _| Ok(Next::Done))
}

/// A backlog is worked off at a rate, by the test clock. That of one lane does not use up the rate.
#[test]
fn catching_up_has_a_rate() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    let kinds = [SYNC, KIND].repeat(50).into_iter();
    wait_all(kinds.map(|kind| producer.after(secs(0)).submit_bytes(kind, "")));
    producer.stop();
    world.clock.advance(MINUTE);
    let timers = world.builder(both()).catch_up_rate(20).start(world.store.clone()).unwrap();
    let begin = timers.now().unwrap();
    let mut first_async = None;
    wait_until("all are run", || {
        let elapsed = timers.now().unwrap().saturating_since(begin);
        let snapshot = timers.snapshot();
        let (started, allowed) = (snapshot.counts.started, elapsed.as_millis() / 50 + 4);
        assert!(u128::from(started) <= allowed, "{started} after {elapsed:?}");
        if started >= 20 {
            first_async.get_or_insert(snapshot.kinds[KIND].counts.started);
        }
        world.pass(millis(10));
        snapshot.counts.acked == 100
    });
    let first_async = first_async.unwrap();
    assert!((5..=15).contains(&first_async), "{first_async} of 20 were async");
    // The rate applies to late jobs only.
    let at = timers.now().unwrap().saturating_add(MINUTE);
    wait_all((0..1_000).map(|_| timers.at(at).submit_bytes(KIND, "")));
    let claims = timers.snapshot().counts.claims;
    world.clock.advance(MINUTE);
    wait_acked(&timers, 1_100);
    let claims = timers.snapshot().counts.claims - claims;
    assert!(claims < 100, "{claims} claims");
}

/// The rate bounds a burst too, although each claim finds one job: the next occurrence appears when
/// the run before it has ended.
#[test]
fn a_burst_has_the_rate() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    let burst = producer.every(secs(1)).unwrap().missed(Missed::Burst);
    burst.key("a").schedule_bytes(SYNC, "").unwrap();
    producer.stop();
    world.clock.advance(secs(1_000));
    let timers = world.builder(both()).catch_up_rate(20).start(world.store.clone()).unwrap();
    let begin = timers.now().unwrap();
    wait_until("a tenth of the burst is run", || {
        let elapsed = timers.now().unwrap().saturating_since(begin);
        let started = timers.snapshot().counts.started;
        let allowed = elapsed.as_millis() / 50 + 4;
        assert!(u128::from(started) <= allowed, "{started} after {elapsed:?}");
        world.pass(millis(10));
        started >= 100
    });
}

/// The store refuses the claims of closures only, for good or for the moment. Async handlers are
/// called nevertheless, and their claims begin runs. The pauses between the refused claims grow.
#[test]
fn a_lane_whose_claims_fail_does_not_block_the_other() {
    for error in [damaged, unavailable] {
        let world = World::new();
        world.faults.lock().never_claimed = Some((SYNC, error));
        let timers = world.start_faulty(both());
        timers.after(secs(0)).schedule_bytes(KIND, "").unwrap();
        for _ in 0..400 {
            world.clock.advance(millis(25));
            thread::sleep(millis(1));
        }
        wait_acked(&timers, 1);
        let plan = world.faults.lock();
        let begin = plan.to_begin.iter().filter(|most| **most > 0).count();
        assert!((2..=30).contains(&plan.refused_claims), "{} in 10 s", plan.refused_claims);
        assert!(begin > 5, "{:?}", plan.to_begin);
    }
}

/// Async runs hold as many bytes of payloads as a lane may lease. Closures still run.
#[test]
fn each_lane_has_its_own_bytes() {
    let world = World::new();
    let (sender, runs) = unbounded();
    let builder = world.builder(both());
    let builder = builder.spawn_on(move |run| sender.send(run).unwrap_or_default());
    let timers = builder.start(world.store.clone()).unwrap();
    let runs = runs; // Dropped before the timers, whose stop waits for the runs in it.
    for _ in 0..20 {
        timers.after(secs(0)).schedule_bytes(KIND, vec![0; MAX_PAYLOAD]).unwrap();
    }
    let held: Vec<_> = (0..16).map(|_| receive(&runs)).collect();
    timers.after(secs(0)).schedule_bytes(SYNC, vec![0; MAX_PAYLOAD]).unwrap();
    wait_acked(&timers, 1);
    assert_eq!((held.len(), world.leased()), (16, 16), "16 MiB are leased");
}
