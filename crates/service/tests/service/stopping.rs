//! Stopping from unusual places: observers and destructors that stop the service, and destructors
//! that panic.

use crate::common::{
    BlockedJob, Bomb, HOUR, PATIENCE, Rig, arrives, carry_out, ms, returns, start, wait_until,
};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::future::ready;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Instant, SystemTime};
use wheelhouse_service::{
    AsyncRun, Builder, Event, EventKind, Group, Handle, JobHandle, Run, Service, Status, Stop,
    Stopped,
};

const WAYS: [Stop; 3] = [Stop::Now, Stop::Wait, Stop::WaitFor(PATIENCE)];

/// Stops a service from any place, once. Without a way to stop, it drops the service.
#[derive(Clone)]
pub(crate) struct Stopper {
    service: Arc<Mutex<Option<Service>>>,
    how: Option<Stop>,
    stopped: Sender<Option<Stopped>>,
}

impl Stopper {
    pub(crate) fn new(how: impl Into<Option<Stop>>) -> (Self, Receiver<Option<Stopped>>) {
        let (stopped, receiver) = bounded(1);
        (Self { service: Arc::default(), how: how.into(), stopped }, receiver)
    }

    /// Starts the service that it will stop, with a job that is not due.
    fn start(&self, builder: Builder) -> Handle {
        let (service, timers) = start(builder);
        timers.after(HOUR).run(|_| ()).unwrap();
        self.give(service);
        timers
    }

    pub(crate) fn give(&self, service: Service) {
        *self.service.lock().unwrap() = Some(service);
    }

    pub(crate) fn take(&self) -> Option<Service> {
        self.service.lock().unwrap().take()
    }

    pub(crate) fn stop(&self) {
        if let Some(service) = self.take() {
            // Without a way to stop, the closure is dropped, and the service with it.
            let stopped = self.how.map(|how| service.stop(how));
            self.stopped.send(stopped).unwrap();
        }
    }
}

/// How many jobs the stop has returned.
fn returned(stopped: &Receiver<Option<Stopped>>) -> usize {
    arrives(stopped).unwrap().jobs.len()
}

/// An observer stops the service at the first event of the kind. In each way of stopping, the stop
/// returns, and returns the job that was not due.
fn an_observer_stops(
    builder: impl Fn() -> Builder,
    expected: fn(&EventKind) -> bool,
    schedule: &dyn Fn(&Handle),
) {
    for how in WAYS {
        let (stopper, stopped) = Stopper::new(how);
        let observer = stopper.clone();
        let observe = move |event: &Event| {
            if expected(&event.kind) {
                observer.stop();
            }
        };
        let timers = stopper.start(builder().slow_after(ms(1)).on_event(observe));
        schedule(&timers);
        assert_eq!(returned(&stopped), 1, "{how:?}");
        wait_until(|| timers.snapshot().in_flight == 0);
        assert!(timers.is_stopped() && timers.is_empty(), "{how:?}");
    }
}

/// A job that ends when the service is stopped.
fn until_stopped(timers: &Handle) -> impl Fn(&Run<'_>) + Send + use<> {
    let timers = timers.clone();
    move |_| wait_until(|| timers.is_stopped())
}

/// Schedules an async job that sleeps until the service is stopped.
fn sleep_in_a_future(timers: &Handle) {
    let inner = timers.clone();
    let future = move |_: &Run<'_>| async move { _ = inner.sleep(HOUR).await };
    timers.after(ms(0)).run_async(future).unwrap();
}

#[test]
fn an_observer_may_stop_the_service_at_any_event() {
    let panics = |timers: &Handle| drop(timers.after(ms(0)).run(|_| panic!("stop it")).unwrap());
    let is_slow = |its: &Handle| drop(its.after(ms(0)).run(|_| thread::sleep(ms(5))).unwrap());
    let hangs = |timers: &Handle| drop(timers.after(ms(0)).run(until_stopped(timers)).unwrap());
    let (full, _receiver) = bounded(0);
    let (closed, _) = bounded(0);
    let send = |timers: &Handle| drop(timers.after(ms(0)).send(&full, ()).unwrap());
    let send_to_none = |timers: &Handle| drop(timers.after(ms(0)).send(&closed, ()).unwrap());
    let send_while_a_future_waits = |timers: &Handle| {
        sleep_in_a_future(timers);
        wait_until(|| timers.snapshot().running == 1);
        send_to_none(timers);
    };
    for workers in [1, 2] {
        let builder = || Service::builder().workers(workers);
        an_observer_stops(builder, |kind| matches!(kind, EventKind::Panicked(_)), &panics);
        an_observer_stops(builder, |kind| matches!(kind, EventKind::Slow(_)), &is_slow);
        an_observer_stops(builder, |kind| *kind == EventKind::ChannelFull, &send);
        let is_closed = |kind: &EventKind| *kind == EventKind::ChannelClosed;
        an_observer_stops(builder, is_closed, &send_to_none);
        if workers > 1 {
            // A single thread is in the job, and no other watches it.
            an_observer_stops(builder, |kind| matches!(kind, EventKind::StillRunning(_)), &hangs);
        }
        // Fault: no other thread took the lead from such an observer. So if it waited for an async
        // job that the threads of the service poll, the stop never returned.
        let is_running = |kind: &EventKind| matches!(kind, EventKind::StillRunning(_));
        an_observer_stops(builder, is_running, &sleep_in_a_future);
        an_observer_stops(builder, is_closed, &send_while_a_future_waits);
    }
    let future = |timers: &Handle| drop(timers.after(ms(0)).run_async(|_| ready(())).unwrap());
    let drops = || Service::builder().spawn_on(drop::<AsyncRun>);
    an_observer_stops(drops, |kind| *kind == EventKind::Abandoned, &future);
    let elsewhere = || Service::builder().spawn_on(|run| drop(thread::spawn(|| drop(run))));
    an_observer_stops(elsewhere, |kind| *kind == EventKind::Abandoned, &future);
}

/// A spawner stops the service when it gets the only run that is due, and returns that job too if
/// it holds the run meanwhile. Then the stop waits for the run until its limit.
#[test]
fn a_stop_in_a_spawner_returns() {
    let runs: fn(&Stopper, AsyncRun) = |stopper, run| {
        carry_out(run);
        stopper.stop();
    };
    let drops: fn(&Stopper, AsyncRun) = |stopper, run| {
        drop(run);
        stopper.stop();
    };
    let passes_on: fn(&Stopper, AsyncRun) = |stopper, run| {
        thread::spawn(|| carry_out(run));
        stopper.stop();
    };
    let holds: fn(&Stopper, AsyncRun) = |stopper, run| {
        stopper.stop();
        carry_out(run);
    };
    let waits = [Stop::Wait, Stop::WaitFor(PATIENCE)];
    let ends = [Stop::Now, Stop::WaitFor(ms(20))];
    for (act, ways, jobs) in
        [(runs, waits, 1), (drops, waits, 1), (passes_on, waits, 1), (holds, ends, 2)]
    {
        for how in ways {
            let ((stopper, stopped), start) = (Stopper::new(how), Instant::now());
            let inside = stopper.clone();
            let timers = stopper.start(Service::builder().spawn_on(move |run| act(&inside, run)));
            timers.after(ms(0)).run_async(|_| ready(())).unwrap();
            let stopped = arrives(&stopped).unwrap();
            assert_eq!((stopped.jobs.len(), stopped.running), (jobs, 0), "{how:?}");
            assert!(how != Stop::WaitFor(ms(20)) || start.elapsed() >= ms(20));
        }
    }
}

/// Fault: the stop excused the run that had freed the place, and so returned the job of the next.
#[test]
fn a_stop_in_a_spawner_that_gets_the_next_run_of_a_group_waits_for_that_run() {
    let (stopper, stopped) = Stopper::new(Stop::Wait);
    let (inside, own) = (stopper.clone(), Arc::new(OnceLock::<Handle>::new()));
    let timers = Arc::clone(&own);
    let is_first = Mutex::new(true);
    let spawn = move |run: AsyncRun| {
        let timers = Arc::clone(&timers);
        let is_first = std::mem::take(&mut *is_first.lock().unwrap());
        thread::spawn(move || {
            let timers = timers.wait();
            if is_first {
                wait_until(|| timers.snapshot().in_flight == 2);
            } else {
                wait_until(|| timers.is_stopped());
                thread::sleep(ms(5));
            }
            carry_out(run);
        });
        if !is_first {
            inside.stop();
        }
    };
    let timers = stopper.start(Service::builder().spawn_on(spawn));
    own.set(timers.clone()).unwrap();
    let group = Group::new(1);
    for _ in 0..2 {
        timers.after(ms(0)).group(&group).run_async(|_| ready(())).unwrap();
    }
    let stopped = arrives(&stopped).unwrap();
    assert_eq!((stopped.jobs.len(), stopped.running), (1, 0));
}

#[test]
fn an_observer_that_takes_its_time_holds_up_nobody_who_stops_the_service_at_once() {
    let ((begins, begun), (release, released)) = (bounded(1), bounded::<()>(1));
    let observe = move |event: &Event| {
        if matches!(event.kind, EventKind::StillRunning(_)) {
            begins.send(()).unwrap();
            released.recv().unwrap_or_default();
        }
    };
    let service = Service::builder().workers(2).slow_after(ms(1)).on_event(observe);
    let (service, timers) = start(service);
    timers.after(ms(0)).run(until_stopped(&timers)).unwrap();
    arrives(&begun);
    assert_eq!(returns(move || service.stop(Stop::Now)).jobs.len(), 0);
    drop(release);
}

/// Stops a service when it is dropped.
pub(crate) struct StopsWhenDropped(pub(crate) Stopper);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[test]
fn a_job_may_stop_or_drop_the_service_that_runs_it_and_so_may_what_it_holds() {
    let ways = WAYS.into_iter().chain([Stop::Drain(ms(10))]).map(Some).chain([None]);
    for (how, when_dropped) in ways.flat_map(|how| [(how, false), (how, true)]) {
        for workers in [1, 2] {
            let (stopper, stopped) = Stopper::new(how);
            let timers = stopper.start(Service::builder().workers(workers));
            timers.every(HOUR).run(|_| ()).unwrap();
            let held = StopsWhenDropped(stopper);
            // Called by reference, so that the value is dropped with the job, after the run.
            let job = move |_: &Run<'_>| {
                let StopsWhenDropped(stopper) = &held;
                if !when_dropped {
                    stopper.stop();
                }
            };
            timers.every(ms(1)).times(1).run(job).unwrap();
            let jobs = arrives(&stopped).map(|stopped| stopped.jobs.len());
            assert_eq!(jobs, how.map(|_| 2), "{workers}, {how:?}, {when_dropped}");
            wait_until(|| timers.is_empty() && timers.snapshot().in_flight == 0);
        }
    }
}

/// Jobs of all kinds, in all states. One of them has a handle of the service, which has references
/// to its jobs.
fn schedule_all_kinds(timers: &Handle) -> Vec<JobHandle> {
    let own = timers.clone();
    let far = |key: &str| timers.after(HOUR).key(key);
    far("a").run(|_| ()).unwrap();
    far("b").run(move |_| drop(own)).unwrap();
    drop(far("c").run(|_| ()).unwrap().cancel().unwrap());
    timers.after(HOUR).replacing("a").run(|_| ()).unwrap();
    vec![
        timers.after(ms(0)).run(|_| ()).unwrap(),
        timers.every(ms(1)).key("beat").run(|_| ()).unwrap(),
        timers.every(ms(1)).run(|_| thread::sleep(ms(2))).unwrap(),
        timers.every(ms(1)).times(2).key("twice").run(|run| _ = run.job().refresh(ms(3))).unwrap(),
        timers.at(SystemTime::now() + HOUR).key("wall").run(|_| ()).unwrap(),
    ]
}

/// Schedules jobs that panic when they are dropped. If these panics were not caught one by one, the
/// process would abort.
fn schedule_bombs(timers: &Handle) {
    for bomb in [Bomb, Bomb] {
        timers.after(HOUR).run(move |_| drop(bomb)).unwrap();
    }
}

/// A service that is stopped, that is dropped, and of which the future of a stop is dropped.
#[test]
fn what_a_service_holds_is_gone_with_it_even_if_jobs_panic_in_that() {
    let ends: [(fn(Service), bool); 5] = [
        (|service| drop(service.stop(Stop::Now)), false),
        (|service| drop(service.stop(Stop::Wait)), false),
        (|service| drop(service.stop(Stop::WaitFor(PATIENCE))), false),
        (drop, true),
        (|service| drop(service.stop_async(Stop::Wait)), true),
    ];
    for ((end, drops_jobs), workers) in ends.into_iter().flat_map(|end| [(end, 1), (end, 2)]) {
        let token = Arc::new(());
        let held = Arc::clone(&token);
        let builder = Service::builder().workers(workers);
        let (service, timers) = start(builder.on_event(move |_| drop(Arc::clone(&held))));
        let jobs = schedule_all_kinds(&timers);
        if drops_jobs {
            schedule_bombs(&timers);
        }
        thread::sleep(ms(5));
        returns(move || end(service));
        assert!(timers.after(HOUR).key("late").run(|_| ()).is_err());
        wait_until(|| timers.is_empty());
        drop((timers, jobs));
        // Threads that were not joined drop it a moment later.
        wait_until(|| Arc::strong_count(&token) == 1);
    }
    // A scheduler too.
    let (rig, token) = (Rig::new(), Arc::new(()));
    let (timers, held) = (rig.timers.clone(), Arc::clone(&token));
    schedule_bombs(&timers);
    timers.after(HOUR).run(move |_| drop(held)).unwrap();
    drop(rig);
    assert_eq!((timers.len(), timers.is_stopped(), Arc::strong_count(&token)), (0, true, 1));
}

/// Fault: such a stop waited for ever for runs that only its own thread could carry out, and a
/// drain also for jobs.
#[test]
fn on_the_only_thread_a_stop_waits_for_nothing_that_needs_this_thread() {
    for how in WAYS.into_iter().chain([Stop::Drain(HOUR)]) {
        let (stopper, stopped) = Stopper::new(how);
        let timers = stopper.start(Service::builder().workers(1));
        sleep_in_a_future(&timers);
        wait_until(|| timers.snapshot().running == 1);
        let (held, waits) = BlockedJob::job();
        let first = move |run: &Run<'_>| {
            waits(run);
            stopper.stop();
        };
        timers.after(ms(0)).run(first).unwrap();
        arrives(&held.begun);
        // Two are due.
        timers.execute(|_| ()).unwrap();
        let due = timers.after(ms(0)).named("job").run(|_| ()).unwrap();
        drop(held);
        assert_eq!((returned(&stopped), due.status()), (3, Status::Stopped), "{how:?}");
        wait_until(|| timers.is_empty() && timers.snapshot().in_flight == 0);
    }
}
