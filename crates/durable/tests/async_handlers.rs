//! Async handlers.

use crate::common::*;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Waker};
use tokio::sync::watch;

/// A kind with async handlers, in tests that also have [`World::start_waiting`].
const FUTURE: &str = "future/1";

/// Timers whose async handlers send a message when they begin and when they are dropped. First
/// attempts wait until `go` is dropped.
type Waits = Waiting<watch::Sender<()>, &'static str>;

struct Tell(Sender<&'static str>);

impl Drop for Tell {
    fn drop(&mut self) {
        self.0.send("dropped").unwrap_or_default();
    }
}

/// The handlers of [`Waits`], its messages, and `go`.
fn first_attempt_of(
    handlers: Handlers,
    kind: &str,
) -> (Handlers, Receiver<&'static str>, watch::Sender<()>) {
    let ((sender, told), (go, gate)) = (unbounded(), watch::channel(()));
    let handlers = handlers.on_async_bytes(kind, move |run, _| {
        let (sender, mut gate) = (sender.clone(), gate.clone());
        async move {
            sender.send("begun")?;
            if run.attempt() == 1 {
                let _tell = Tell(sender);
                gate.changed().await.unwrap_or_default();
            }
            Ok(Next::Done)
        }
    });
    (handlers, told, go)
}

fn start(world: &World, store: impl Store, set: impl FnOnce(Builder) -> Builder) -> Waits {
    let (handlers, begun, go) = first_attempt_of(Handlers::new(), KIND);
    let timers = set(world.builder(world.with_a_pace(handlers))).start(store).unwrap();
    Waiting { go, begun, timers }
}

fn begin(world: &World, store: impl Store, set: impl FnOnce(Builder) -> Builder) -> Waits {
    let timers = start(world, store, set);
    schedule(&timers, "k");
    assert_eq!(timers.next(), "begun");
    timers
}

/// Advances the clock in steps, so that leases are renewed.
fn pass_until(world: &World, what: &str, mut is_so: impl FnMut() -> bool) {
    wait_until(what, || {
        world.clock.advance(millis(100));
        thread::sleep(millis(1));
        is_so()
    });
}

/// A thousand futures are in flight on two threads, and closures still run.
#[test]
fn a_thousand_runs_are_in_flight_on_two_threads() {
    let world = World::new();
    let timers = start(&world, world.store.clone(), |its| its.workers(2));
    let plan = |n| timers.after(secs(0)).key(format!("{n}"));
    wait_all((0..1_000).map(|n| plan(n).submit_bytes(KIND, "")));
    wait_until("all have begun", || timers.begun.len() == 1_000);
    assert_eq!(world.leased(), 1_000);
    world.set_the_pace(&timers);
    assert_eq!(timers.cancel("17").unwrap(), Cancel::Running);
    timers.go.send_replace(());
    wait_acked(&timers, 1_001);
    let counts = timers.snapshot().counts;
    assert_eq!((counts.started, counts.leases_lost), (1_001, 0));
    assert!(world.store.is_empty() && world.events.lock().is_empty());
}

/// Each lane reaches its own limit, whatever the other does.
#[test]
fn async_runs_have_a_bound_of_their_own() {
    let world = World::new();
    let (handlers, with) = always_waiting();
    let (handlers, told, opens) = first_attempt_of(handlers, FUTURE);
    let builder = world.builder(handlers).workers(2).max_in_flight(1).async_runs(3);
    let timers = with(builder.start(world.store.clone()).unwrap());
    let opens = opens; // Dropped before the timers.
    wait_all((0..10).map(|_| timers.after(secs(0)).submit_bytes(FUTURE, "")));
    assert_eq!([(); 3].map(|()| receive(&told)), ["begun"; 3]);
    ["a", "b"].iter().for_each(|key| schedule(&timers, key));
    assert_eq!(timers.next(), "a");
    assert!(timers.begun.recv_timeout(millis(50)).is_err(), "its lane is full");
    assert!(!told.try_iter().any(|what| what == "begun"), "the other too");
    assert_eq!(world.leased(), 4);
    timers.go();
    assert_eq!(timers.next(), "b");
    drop(opens);
    timers.go();
    wait_acked(&timers, 12);
    assert!(world.store.is_empty());
}

/// The renewal of the lease fails because another program has the job. The future is dropped.
#[test]
fn a_future_is_dropped_when_another_program_has_its_job() {
    let world = World::new();
    // The program has no room for another run, so it does not claim the job before the other.
    let timers = begin(&world, world.store.clone(), |its| its.async_runs(1));
    world.release("k", secs(0));
    let other = &world.claim_and_die(secs(15))[0];
    assert_eq!(other.job.attempt, 1, "the release took the attempt back");
    world.clock.advance(secs(10));
    assert_eq!(timers.next(), "dropped");
    wait_until("it is reported", || world.has_event(|kind| *kind == EventKind::LeaseLost));
    let counts = timers.snapshot().counts;
    assert_eq!((counts.leases_lost, counts.acked, counts.retried), (1, 0, 0));
    pass_until(&world, "it runs again after the other lease", || !timers.begun.is_empty());
    wait_acked(&timers, 1);
}

/// An unreachable store renews no lease. When the lease ends, other programs may have the job, so
/// the future is dropped.
#[test]
fn a_future_is_dropped_when_its_lease_cannot_be_renewed() {
    let world = World::new();
    let timers = begin(&world, FaultyStore::new(&world), |its| its);
    world.faults.down(true);
    world.clock.advance(secs(29));
    assert!(timers.begun.recv_timeout(millis(50)).is_err(), "the lease lasts");
    world.clock.advance(secs(1));
    assert_eq!(timers.next(), "dropped");
    world.faults.down(false);
    pass_until(&world, "it runs again", || !timers.begun.is_empty());
    wait_acked(&timers, 1);
    assert_eq!(timers.snapshot().counts.leases_lost, 1);
    assert!(world.has_event(|kind| *kind == EventKind::LeaseLost));
}

/// At its limit the future is dropped and counts as failed. The retry does not wait for the lease.
#[test]
fn a_future_is_dropped_at_its_limit_and_retried() {
    let world = World::new();
    let timers = start(&world, world.store.clone(), |its| its.limit(secs(100)));
    timers.after(secs(0)).key("k").limit(millis(1_500)).schedule_bytes(KIND, "").unwrap();
    assert_eq!(timers.next(), "begun");
    world.clock.advance(millis(1_499));
    assert!(timers.begun.recv_timeout(millis(50)).is_err(), "it is within its limit");
    world.clock.advance(millis(1));
    assert_eq!(timers.next(), "dropped");
    wait_until("it failed", || timers.snapshot().counts.retried == 1);
    assert!(world.has_event(|kind| *kind == EventKind::TimedOut(millis(1_500))));
    assert!(world.has_event(|kind| {
        matches!(kind, EventKind::Failed(why, wait) if why.contains("1.5s") && *wait <= secs(1))
    }));
    world.clock.advance(secs(1));
    assert_eq!(timers.next(), "begun");
    wait_acked(&timers, 1);
    assert_eq!(timers.snapshot().counts.timed_out, 1);
}

/// The handler panics in the call that creates the future, or in the future after it has waited.
#[test]
fn a_panic_is_a_failure() {
    let (world, (go, gate)) = (World::new(), watch::channel(()));
    let handlers = Handlers::new().on_async_bytes(KIND, move |run, _| {
        assert!(run.attempt() > 1, "no future");
        let mut gate = gate.clone();
        async move {
            gate.changed().await.unwrap_or_default();
            assert!(run.attempt() > 2, "no value");
            Ok(Next::Done)
        }
    });
    let timers = world.start(handlers);
    let go = go; // Dropped before the timers.
    schedule(&timers, "k");
    wait_until("the call has failed", || timers.snapshot().counts.retried == 1);
    world.clock.advance(secs(1));
    wait_until("it waits", || timers.snapshot().counts.started == 2);
    drop(go);
    wait_until("the future has failed", || timers.snapshot().counts.retried == 2);
    world.clock.advance(secs(2));
    wait_acked(&timers, 1);
    assert_eq!(timers.snapshot().counts.panicked, 2);
    for text in ["panicked: no future", "panicked: no value"] {
        let is_it = |kind: &EventKind| matches!(kind, EventKind::Failed(why, _) if why == text);
        assert!(world.has_event(is_it), "{text}");
    }
}

/// `stop` and `stop_async` wait for futures as for closures, and commit their ends.
#[test]
fn a_stop_waits_for_futures() {
    for is_async in [false, true] {
        let world = World::new();
        let Waiting { go, timers, .. } = begin(&world, world.store.clone(), |its| its);
        let watch = timers.timers();
        thread::scope(|scope| {
            let stop = || if is_async { block_on(timers.stop_async()) } else { timers.stop() };
            let stopping = scope.spawn(stop);
            wait_until("it is being stopped", || watch.is_stopped());
            // Leases are renewed while the stop waits.
            for _ in 0..4 {
                let until = world.find("k").unwrap().visible_at;
                world.clock.advance(secs(10));
                wait_until("renewal", || world.find("k").unwrap().visible_at > until);
            }
            assert!(!stopping.is_finished());
            drop(go);
        });
        assert_eq!(watch.snapshot().counts.acked, 1);
        assert!(world.store.is_empty());
    }
}

/// When the time of `stop_within` is over, the future is dropped.
#[test]
fn a_stop_that_waits_no_longer_drops_futures() {
    for is_async in [false, true] {
        let world = World::new();
        let its = begin(&world, world.store.clone(), |its| its);
        let Waiting { go: _go, begun, timers } = its;
        let running = match is_async {
            true => block_on(timers.stop_within_async(millis(10))),
            false => timers.stop_within(millis(10)),
        };
        assert_eq!((running, receive(&begun)), (1, "dropped"));
        assert_eq!(world.leased(), 1, "the job runs again after its lease");
    }
}

/// If the executor drops a run before it began, the job is released for a third of the visibility
/// timeout, also if a thread unwinds; no attempt is counted. If it drops it later, the job is
/// retried.
#[test]
fn an_executor_may_drop_runs() {
    let world = World::new();
    let (sender, runs) = unbounded::<AsyncRun>();
    let spawn = move |run| sender.send(run).unwrap_or_default();
    let timers = start(&world, world.store.clone(), |its| its.spawn_on(spawn));
    schedule(&timers, "k");
    for released in 1..=2 {
        let run = receive(&runs);
        let drops = move || {
            let _run = run;
            resume_unwind(Box::new("the executor"))
        };
        assert!(thread::spawn(drops).join().is_err());
        wait_until("it is released", || timers.snapshot().counts.released == released);
        assert!(runs.recv_timeout(millis(50)).is_err(), "it waits");
        assert_eq!(world.find("k").unwrap().attempt, 0);
        assert!(world.has_event(|kind| *kind == EventKind::Dropped(secs(10))));
        world.clock.advance(secs(10));
    }
    let mut run = receive(&runs);
    let poll =
        |run: &mut AsyncRun| Pin::new(run).poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(!poll(&mut run));
    assert_eq!((timers.next(), world.find("k").unwrap().attempt), ("begun", 1));
    drop(run);
    assert_eq!(timers.next(), "dropped");
    wait_until("it failed", || timers.snapshot().counts.retried == 1);
    world.clock.advance(secs(1));
    assert!(poll(&mut receive(&runs)));
    wait_acked(&timers, 1);
}

/// Each attempt reads the context. `updating` ignores it.
#[test]
fn a_job_carries_its_context() {
    let world = World::new();
    let (sender, seen) = unbounded();
    let handlers = Handlers::new().on_async_bytes(KIND, move |run, _| {
        let sender = sender.clone();
        async move {
            let entries = ["traceparent", "tenant", "none"].map(|name| run.context(name));
            sender.send(entries.map(|entry| entry.map(str::to_owned)))?;
            if run.attempt() == 1 { Err("no".into()) } else { Ok(Next::Done) }
        }
    });
    let timers = world.start(handlers);
    let plan = || timers.after(MINUTE).context("tenant", "5;%").context("traceparent", "00-1");
    assert_eq!(plan().updating("k").schedule_bytes(KIND, "").unwrap(), Scheduled::Created);
    let other = plan().context("traceparent", "00-2").updating("k");
    assert_eq!(other.schedule_bytes(KIND, "").unwrap(), Scheduled::Kept);
    let policy = world.find("k").unwrap().policy;
    assert_eq!(policy, "context=tenant:5%3B%25;context=traceparent:00-1");
    world.clock.advance(MINUTE);
    let entries = [Some("00-1".to_owned()), Some("5;%".to_owned()), None];
    assert_eq!(receive(&seen), entries);
    wait_until("it has failed", || timers.snapshot().counts.retried == 1);
    world.clock.advance(secs(1));
    assert_eq!(receive(&seen), entries);
    let long = "x".repeat(4_096);
    for (name, value) in [("", "x"), ("a=b", "x"), ("a", &long), ("a", "x\0")] {
        let refused = timers.after(MINUTE).context(name, value).schedule_bytes(KIND, "");
        assert!(
            matches!(&refused, Err(Error::Invalid(why)) if why.contains("context")),
            "{refused:?}"
        );
    }
}
