//! Async handlers.

mod common;

use common::{
    FaultyStore, KIND, MINUTE, World, block_on, millis, receive, schedule, secs, wait_acked,
    wait_all, wait_until,
};
use crossbeam_channel::{Receiver, Sender, unbounded};
use parking_lot::Mutex;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use wheelhouse_durable::store::{Change, Outcome, Store, When};
use wheelhouse_durable::{AsyncRun, Cancel, Durable, Error, EventKind, Handlers, Next, Scheduled};

/// A kind with async handlers, in tests that also have [`World::start_waiting`].
const FUTURE: &str = "future/1";

/// Futures wait at the gate until it is opened. Clones are the same gate.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    fn open(&self) {
        let mut gate = self.0.lock();
        gate.0 = true;
        let waiting = std::mem::take(&mut gate.1);
        drop(gate);
        waiting.into_iter().for_each(Waker::wake);
    }

    async fn pass(&self) {
        poll_fn(|context| {
            let mut gate = self.0.lock();
            if gate.0 {
                return Poll::Ready(());
            }
            gate.1.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Opens a gate when it is dropped, which is before the timers are: a failing test must not hang.
struct Opens(Gate);

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// Sends a message when it is dropped.
struct Tell(Sender<&'static str>);

impl Drop for Tell {
    fn drop(&mut self) {
        self.0.send("dropped").unwrap_or_default();
    }
}

/// Handlers whose first attempts wait at a gate until the returned [`Opens`] is dropped. They send
/// a message when they begin and when they are dropped.
fn first_attempt_waits() -> (Handlers, Receiver<&'static str>, Opens) {
    first_attempt_of(KIND)
}

fn first_attempt_of(kind: &str) -> (Handlers, Receiver<&'static str>, Opens) {
    let ((sender, told), gate) = (unbounded(), Gate::default());
    let opens = Opens(gate.clone());
    let handlers = Handlers::new().on_async_bytes(kind, move |run, _| {
        let (sender, gate) = (sender.clone(), gate.clone());
        async move {
            sender.send("begun")?;
            if run.attempt() == 1 {
                let _tell = Tell(sender);
                gate.pass().await;
            }
            Ok(Next::Done)
        }
    });
    (handlers, told, opens)
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
    let (handlers, told, opens) = first_attempt_waits();
    let builder = world.builder(world.with_a_pace(handlers)).workers(2);
    let timers = builder.start(world.store.clone()).unwrap();
    let opens = opens;
    let plan = |n| timers.after(secs(0)).key(format!("{n}"));
    wait_all((0..1_000).map(|n| plan(n).submit_bytes(KIND, "")));
    wait_until("all have begun", || told.len() == 1_000);
    assert_eq!(world.leased(), 1_000);
    world.set_the_pace(&timers);
    assert_eq!(timers.cancel("17").unwrap(), Cancel::Running);
    drop(opens);
    wait_acked(&timers, 1_001);
    let counts = timers.snapshot().counts;
    assert_eq!((counts.started, counts.leases_lost), (1_001, 0));
    assert!(world.store.is_empty() && world.events.lock().is_empty());
}

/// Each lane reaches its own limit, whatever the other does.
#[test]
fn async_runs_have_a_bound_of_their_own() {
    let world = World::new();
    let (handlers, told, opens) = first_attempt_of(FUTURE);
    let timers = world.start_waiting(handlers, world.store.clone(), |builder| {
        builder.workers(2).max_in_flight(1).async_runs(3)
    });
    let opens = opens;
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
    let (handlers, told, opens) = first_attempt_waits();
    // The program has no room for another run, so it does not claim the job before the other.
    let timers = world.builder(handlers).async_runs(1).start(world.store.clone()).unwrap();
    let _opens = opens;
    schedule(&timers, "k");
    assert_eq!(receive(&told), "begun");
    let token = world.find("k").unwrap().state.lease().unwrap().token;
    let key = wheelhouse_durable::store::Key::new("k").unwrap();
    let release = Change::Release { key, token, when: When::After(secs(0)) };
    assert_eq!(world.store.clone().commit(&[release]).unwrap(), [Outcome::Done]);
    let other = &world.claim_and_die(secs(15))[0];
    assert_eq!(other.job.attempt, 1, "the release took the attempt back");
    world.clock.advance(secs(10));
    assert_eq!(receive(&told), "dropped");
    wait_until("it is reported", || world.has_event(|kind| *kind == EventKind::LeaseLost));
    let counts = timers.snapshot().counts;
    assert_eq!((counts.leases_lost, counts.acked, counts.retried), (1, 0, 0));
    pass_until(&world, "it runs again after the other lease", || !told.is_empty());
    wait_acked(&timers, 1);
}

/// An unreachable store renews no lease. When the lease ends, other programs may have the job, so
/// the future is dropped.
#[test]
fn a_future_is_dropped_when_its_lease_cannot_be_renewed() {
    let world = World::new();
    let store = FaultyStore::new(&world);
    let faults = store.faults.clone();
    let (handlers, told, opens) = first_attempt_waits();
    let timers = world.builder(handlers).start(store).unwrap();
    let _opens = opens;
    schedule(&timers, "k");
    assert_eq!(receive(&told), "begun");
    faults.down(true);
    world.clock.advance(secs(29));
    assert!(told.recv_timeout(millis(50)).is_err(), "the lease lasts");
    world.clock.advance(secs(1));
    assert_eq!(receive(&told), "dropped");
    faults.down(false);
    pass_until(&world, "it runs again", || !told.is_empty());
    wait_acked(&timers, 1);
    assert_eq!(timers.snapshot().counts.leases_lost, 1);
    assert!(world.has_event(|kind| *kind == EventKind::LeaseLost));
}

/// At its limit the future is dropped and counts as failed. The retry does not wait for the lease.
#[test]
fn a_future_is_dropped_at_its_limit_and_retried() {
    let world = World::new();
    let (handlers, told, opens) = first_attempt_waits();
    let timers = world.builder(handlers).limit(secs(100)).start(world.store.clone()).unwrap();
    let _opens = opens;
    timers.after(secs(0)).key("k").limit(millis(1_500)).schedule_bytes(KIND, "").unwrap();
    assert_eq!(receive(&told), "begun");
    world.clock.advance(millis(1_499));
    assert!(told.recv_timeout(millis(50)).is_err(), "it is within its limit");
    world.clock.advance(millis(1));
    assert_eq!(receive(&told), "dropped");
    wait_until("it failed", || timers.snapshot().counts.retried == 1);
    assert!(world.has_event(|kind| *kind == EventKind::TimedOut(millis(1_500))));
    let is_it = |kind: &EventKind| {
        let EventKind::Failed(why, wait) = kind else { return false };
        why.contains("1.5s") && *wait <= secs(1)
    };
    assert!(world.has_event(is_it));
    world.clock.advance(secs(1));
    assert_eq!(receive(&told), "begun");
    wait_acked(&timers, 1);
    assert_eq!(timers.snapshot().counts.timed_out, 1);
}

/// The handler panics in the call that creates the future, or in the future after it has waited.
#[test]
fn a_panic_is_a_failure() {
    let (world, gate) = (World::new(), Gate::default());
    let its = gate.clone();
    let handlers = Handlers::new().on_async_bytes(KIND, move |run, _| {
        assert!(run.attempt() > 1, "no future");
        let gate = its.clone();
        async move {
            gate.pass().await;
            assert!(run.attempt() > 2, "no value");
            Ok(Next::Done)
        }
    });
    let timers = world.start(handlers);
    let _opens = Opens(gate.clone());
    schedule(&timers, "k");
    wait_until("the call has failed", || timers.snapshot().counts.retried == 1);
    world.clock.advance(secs(1));
    wait_until("it waits", || timers.snapshot().counts.started == 2);
    gate.open();
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
        let (handlers, told, opens) = first_attempt_waits();
        let timers = world.start(handlers);
        let opens = opens;
        schedule(&timers, "k");
        receive(&told);
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
            drop(opens);
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
        let (handlers, told, opens) = first_attempt_waits();
        let timers = world.start(handlers);
        let _opens = opens;
        schedule(&timers, "k");
        assert_eq!(receive(&told), "begun");
        let running = match is_async {
            true => block_on(timers.stop_within_async(millis(10))),
            false => timers.stop_within(millis(10)),
        };
        assert_eq!(running, 1);
        assert_eq!(receive(&told), "dropped");
        assert_eq!(world.leased(), 1, "the job runs again after its lease");
    }
}

/// The stop returns at once, since the run would wait for itself. The run is acked.
#[test]
fn a_future_may_stop_its_own_timers() {
    for is_async in [false, true] {
        let (world, place) = (World::new(), Arc::new(Mutex::new(None::<Durable>)));
        let (its, (sender, stopped)) = (Arc::clone(&place), unbounded());
        let handlers = Handlers::new().on_async_bytes(KIND, move |run, _| {
            let (own, sender) = (its.lock().take(), sender.clone());
            async move {
                match own {
                    Some(own) if is_async => own.stop_async().await,
                    Some(own) => own.stop(),
                    None => return Err("not yet".into()),
                }
                sender.send(run.timers().is_stopped())?;
                Ok(Next::Done)
            }
        });
        let timers = world.start(handlers);
        let watch = timers.timers();
        timers.after(secs(1)).key("k").schedule_bytes(KIND, "").unwrap();
        *place.lock() = Some(timers);
        world.clock.advance(secs(1));
        assert!(receive(&stopped));
        wait_until("it is acked", || watch.snapshot().counts.acked == 1);
        assert!(world.store.is_empty());
    }
}

/// If the executor drops a run before it began, the job is released, and waits. If it drops it
/// later, the job is retried.
#[test]
fn an_executor_may_drop_runs() {
    let world = World::new();
    let (handlers, told, opens) = first_attempt_waits();
    let (sender, runs) = unbounded::<AsyncRun>();
    let builder = world.builder(handlers).spawn_on(move |run| sender.send(run).unwrap_or_default());
    let timers = builder.start(world.store.clone()).unwrap();
    let _opens = opens;
    schedule(&timers, "k");
    drop(receive(&runs));
    wait_until("it is released", || timers.snapshot().counts.released == 1);
    world.clock.advance(secs(10));
    let mut run = receive(&runs);
    let poll =
        |run: &mut AsyncRun| Pin::new(run).poll(&mut Context::from_waker(Waker::noop())).is_ready();
    assert!(!poll(&mut run));
    assert_eq!((receive(&told), world.find("k").unwrap().attempt), ("begun", 1));
    drop(run);
    assert_eq!(receive(&told), "dropped");
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
    for (name, value) in [("", "x".to_owned()), ("a=b", "x".to_owned()), ("a", "x".repeat(4_096))] {
        let refused = timers.after(MINUTE).context(name, value).schedule_bytes(KIND, "");
        assert!(matches!(refused, Err(Error::Context(_))), "{refused:?}");
    }
}
