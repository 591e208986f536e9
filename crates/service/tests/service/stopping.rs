//! Stopping from unusual places: observers and destructors that stop the service, and destructors
//! that panic.

use crate::common::{BlockedJob, Bomb, HOUR, Log, PATIENCE, Rig, arrives, ms, returns, wait_until};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;
use wheelhouse_service::{
    Builder, DueRun, Event, EventKind, Handle, Run, Service, Status, Stop, Stopped,
};

const WAYS: [Stop; 3] = [Stop::Now, Stop::Wait, Stop::WaitFor(PATIENCE)];

/// Stops a service from any place, once.
#[derive(Clone)]
struct Stopper {
    service: Arc<Mutex<Option<Service>>>,
    how: Stop,
    stopped: Sender<Stopped>,
}

impl Stopper {
    fn new(how: Stop) -> (Self, Receiver<Stopped>) {
        let (stopped, receiver) = bounded(1);
        (Self { service: Arc::default(), how, stopped }, receiver)
    }

    /// Starts the service that it will stop, with a job that is not due.
    fn start(&self, builder: Builder) -> Handle {
        let service = builder.start().unwrap();
        let timers = service.handle();
        timers.after(HOUR).run(|_| ()).unwrap();
        *self.service.lock().unwrap() = Some(service);
        timers
    }

    fn stop(&self) {
        let service = self.service.lock().unwrap().take();
        if let Some(service) = service {
            self.stopped.send(service.stop(self.how)).unwrap();
        }
    }
}

/// An observer stops the service at the first event of the kind. In each way of stopping, the stop
/// returns, and returns the job that was not due.
fn an_observer_stops(
    builder: fn() -> Builder,
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
        assert_eq!(arrives(&stopped).jobs.len(), 1, "{how:?}");
        wait_until(|| timers.snapshot().in_flight == 0);
        assert!(timers.is_stopped() && timers.is_empty(), "{how:?}");
    }
}

fn alone() -> Builder {
    Service::builder().workers(1)
}

fn pool() -> Builder {
    Service::builder().workers(2)
}

fn threads() -> Builder {
    Service::builder().executor(|run: DueRun| drop(thread::spawn(|| run.run())))
}

/// A job that ends when the service is stopped.
fn until_stopped(timers: &Handle) -> impl Fn(&Run<'_>) + Send + use<> {
    let timers = timers.clone();
    move |_| wait_until(|| timers.is_stopped())
}

#[test]
fn an_observer_may_stop_the_service_at_any_event() {
    let at_once = |timers: &Handle, job: Box<dyn FnOnce(&Run<'_>) + Send>| {
        drop(timers.after(ms(0)).run(job).unwrap());
    };
    let panics = |timers: &Handle| at_once(timers, Box::new(|_| panic!("stop it")));
    let is_slow = |timers: &Handle| at_once(timers, Box::new(|_| thread::sleep(ms(5))));
    let hangs = |timers: &Handle| at_once(timers, Box::new(until_stopped(timers)));
    let (sender, receiver) = bounded(0);
    let send = |timers: &Handle| drop(timers.after(ms(0)).send(&sender, ()).unwrap());
    for builder in [alone, pool, threads] {
        an_observer_stops(builder, |kind| matches!(kind, EventKind::Panicked(_)), &panics);
        an_observer_stops(builder, |kind| matches!(kind, EventKind::Slow(_)), &is_slow);
        an_observer_stops(builder, |kind| *kind == EventKind::ChannelFull, &send);
    }
    drop(receiver);
    for builder in [alone, pool, threads] {
        an_observer_stops(builder, |kind| *kind == EventKind::ChannelClosed, &send);
    }
    for builder in [pool, threads] {
        an_observer_stops(builder, |kind| matches!(kind, EventKind::StillRunning(_)), &hangs);
    }
    let drops = || Service::builder().executor(drop::<DueRun>);
    let elsewhere = || Service::builder().executor(|run: DueRun| drop(thread::spawn(|| drop(run))));
    for builder in [drops, elsewhere] {
        an_observer_stops(builder, |kind| *kind == EventKind::Abandoned, &panics);
    }
}

/// An executor stops the service when it gets the only run that is due, and returns that job too if
/// it holds the run meanwhile. Then the stop waits for the run until its limit.
#[test]
fn an_executor_may_stop_the_service() {
    let runs: fn(&Stopper, DueRun) = |stopper, run| {
        run.run();
        stopper.stop();
    };
    let drops: fn(&Stopper, DueRun) = |stopper, run| {
        drop(run);
        stopper.stop();
    };
    let passes_on: fn(&Stopper, DueRun) = |stopper, run| {
        thread::spawn(|| run.run());
        stopper.stop();
    };
    let holds: fn(&Stopper, DueRun) = |stopper, run| {
        stopper.stop();
        run.run();
    };
    let waits = [Stop::Wait, Stop::WaitFor(PATIENCE)];
    let ends = [Stop::Now, Stop::WaitFor(ms(20))];
    for (act, ways, jobs) in
        [(runs, waits, 1), (drops, waits, 1), (passes_on, waits, 1), (holds, ends, 2)]
    {
        for how in ways {
            let ((stopper, stopped), start) = (Stopper::new(how), Instant::now());
            let inside = stopper.clone();
            let executor = move |run: DueRun| act(&inside, run);
            let timers = stopper.start(Service::builder().executor(executor));
            timers.after(ms(0)).run(|_| ()).unwrap();
            let stopped = arrives(&stopped);
            assert_eq!((stopped.jobs.len(), stopped.running), (jobs, 0), "{how:?}");
            assert!(how != Stop::WaitFor(ms(20)) || start.elapsed() >= ms(20));
        }
    }
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
    let service = pool().slow_after(ms(1)).on_event(observe).start().unwrap();
    let timers = service.handle();
    timers.after(ms(0)).run(until_stopped(&timers)).unwrap();
    arrives(&begun);
    assert_eq!(returns(move || service.stop(Stop::Now)).jobs.len(), 0);
    drop(release);
}

/// Stops a service when it is dropped.
struct StopsWhenDropped(Stopper);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[test]
fn what_a_job_holds_may_stop_the_service_when_it_is_dropped() {
    for builder in [alone, pool, threads] {
        for how in WAYS {
            let (stopper, stopped) = Stopper::new(how);
            let timers = stopper.start(builder());
            let held = StopsWhenDropped(stopper);
            // Called by reference, so that the value is dropped with the job, after the run.
            let job = move |_: &Run<'_>| {
                let _held = &held;
            };
            timers.every(ms(1)).times(1).run(job).unwrap();
            assert_eq!(arrives(&stopped).jobs.len(), 1, "{how:?}");
        }
    }
}

/// A value that panics when it is dropped.
fn holds<T: Send + 'static>(value: T) -> impl FnMut(&Run<'_>) + Send + 'static {
    move |_| {
        let _held = &value;
    }
}

#[test]
fn dropping_a_service_drops_each_job_and_ends_its_threads_even_if_one_panics_in_that() {
    for builder in [alone, pool] {
        let witness = Arc::new(());
        let (held_by_observer, held_by_job) = (Arc::clone(&witness), Arc::clone(&witness));
        let builder = builder().on_event(move |_| drop(Arc::clone(&held_by_observer)));
        let service = builder.start().unwrap();
        schedule_bombs(&service.handle(), held_by_job);
        returns(move || drop(service));
        assert_eq!(Arc::strong_count(&witness), 1, "no thread has a reference to the shared state");
    }
    // A scheduler too.
    let (rig, witness) = (Rig::new(), Arc::new(()));
    let timers = rig.timers.clone();
    schedule_bombs(&timers, Arc::clone(&witness));
    drop(rig);
    assert_eq!((timers.len(), timers.is_stopped(), Arc::strong_count(&witness)), (0, true, 1));
}

/// Schedules two jobs that panic when they are dropped, and one that has this reference.
fn schedule_bombs(timers: &Handle, held: Arc<()>) {
    timers.after(HOUR).run(holds(Bomb)).unwrap();
    timers.after(HOUR).run(holds(Bomb)).unwrap();
    timers.after(HOUR).run(holds(held)).unwrap();
}

#[test]
fn a_job_takes_the_place_of_one_that_panics_when_it_is_dropped() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let first = rig.timers.after(ms(5)).key("key").run(holds(Bomb)).unwrap();
    let second = rig.timers.after(ms(10)).replacing("key").run(log.times()).unwrap();
    assert_eq!(
        (first.status(), second.status(), rig.timers.len()),
        (Status::Cancelled, Status::Pending, 1)
    );
    rig.play(100);
    assert_eq!((log.take(), rig.timers.is_empty()), (vec![10], true));
}

/// Fault: a stop that a job called waited for ever for a run that waited for the thread of that
/// job.
#[test]
fn a_job_that_stops_the_service_does_not_wait_for_what_waits_for_its_thread() {
    for workers in [1, 2] {
        for how in WAYS {
            let (stopper, stopped) = Stopper::new(how);
            let timers = stopper.start(Service::builder().workers(workers));
            let (inside, (held, waits)) = (stopper.clone(), BlockedJob::job());
            let first = move |run: &Run<'_>| {
                waits(run);
                inside.stop();
            };
            timers.after(ms(0)).run(first).unwrap();
            arrives(&held.begun);
            // The other threads are occupied too until the stop, so that the next run waits for the
            // thread of this job.
            for _ in 1..workers {
                timers.after(ms(0)).run(until_stopped(&timers)).unwrap();
            }
            wait_until(|| timers.snapshot().running == workers);
            let waits = timers.after(ms(0)).named("job").run(|_| ()).unwrap();
            drop(held);
            let returned = arrives(&stopped).jobs.len();
            assert_eq!((returned, waits.status()), (2, Status::Stopped), "{how:?}");
        }
    }
}
