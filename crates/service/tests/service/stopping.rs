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
    builder: impl Fn() -> Builder,
    expected: fn(&EventKind) -> bool,
    schedule: impl Fn(&Handle),
) {
    for how in WAYS {
        let (stopper, stopped) = Stopper::new(how);
        let observer = stopper.clone();
        let observe = move |event: &Event| {
            if expected(&event.kind) {
                observer.stop();
            }
        };
        let timers = stopper.start(builder().on_event(observe));
        schedule(&timers);
        let stopped =
            stopped.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{how:?} does not return"));
        assert_eq!(stopped.jobs.len(), 1, "{how:?}");
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
fn an_observer_may_stop_the_service_when_a_job_panics_or_was_slow_or_is() {
    for builder in [alone, pool, threads] {
        let panicked = |kind: &EventKind| matches!(kind, EventKind::Panicked(_));
        an_observer_stops(builder, panicked, |timers| {
            drop(timers.after(ms(0)).run(|_| panic!("stop it")).unwrap())
        });
        let (watchful, was_slow) =
            (|| builder().slow_after(ms(1)), |kind: &EventKind| matches!(kind, EventKind::Slow(_)));
        an_observer_stops(watchful, was_slow, |timers| {
            drop(timers.after(ms(0)).run(|_| thread::sleep(ms(5))).unwrap())
        });
    }
    for builder in [pool, threads] {
        let is_slow = |kind: &EventKind| matches!(kind, EventKind::StillRunning(_));
        an_observer_stops(
            || builder().slow_after(ms(1)),
            is_slow,
            |timers| drop(timers.after(ms(0)).run(until_stopped(timers)).unwrap()),
        );
    }
}

#[test]
fn an_observer_may_stop_the_service_when_a_value_cannot_be_delivered() {
    for builder in [alone, pool, threads] {
        let (sender, receiver) = bounded(0);
        let send = |timers: &Handle| drop(timers.after(ms(0)).send(&sender, ()).unwrap());
        an_observer_stops(builder, |kind| *kind == EventKind::ChannelFull, send);
        drop(receiver);
        an_observer_stops(builder, |kind| *kind == EventKind::ChannelClosed, send);
    }
}

#[test]
fn an_observer_may_stop_the_service_when_a_run_is_dropped() {
    let drops = || Service::builder().executor(drop::<DueRun>);
    let elsewhere = || Service::builder().executor(|run: DueRun| drop(thread::spawn(|| drop(run))));
    for builder in [drops, elsewhere] {
        let abandoned = |kind: &EventKind| *kind == EventKind::Abandoned;
        an_observer_stops(builder, abandoned, |timers| {
            drop(timers.after(ms(0)).run(|_| ()).unwrap())
        });
    }
}

/// An executor stops the service when it gets the only run that is due. Returns what the stop
/// returned.
fn an_executor_stops(how: Stop, act: fn(&Stopper, DueRun)) -> Stopped {
    let (stopper, stopped) = Stopper::new(how);
    let inside = stopper.clone();
    let timers = stopper.start(Service::builder().executor(move |run: DueRun| act(&inside, run)));
    timers.after(ms(0)).run(|_| ()).unwrap();
    stopped.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{how:?} does not return"))
}

#[test]
fn an_executor_may_stop_the_service_when_it_holds_no_run() {
    let ways: [fn(&Stopper, DueRun); 3] = [
        |stopper, run| {
            run.run();
            stopper.stop();
        },
        |stopper, run| {
            drop(run);
            stopper.stop();
        },
        |stopper, run| {
            thread::spawn(|| run.run());
            stopper.stop();
        },
    ];
    for act in ways {
        for how in [Stop::Wait, Stop::WaitFor(PATIENCE)] {
            let stopped = an_executor_stops(how, act);
            assert_eq!((stopped.jobs.len(), stopped.running), (1, 0), "{how:?}");
        }
    }
}

#[test]
fn an_executor_that_stops_while_it_holds_a_run_waits_for_that_as_long_as_it_was_told_to() {
    let act: fn(&Stopper, DueRun) = |stopper, run| {
        stopper.stop();
        run.run();
    };
    for how in [Stop::Now, Stop::WaitFor(ms(20))] {
        let start = Instant::now();
        let stopped = an_executor_stops(how, act);
        assert_eq!(
            (stopped.jobs.len(), stopped.running),
            (2, 0),
            "{how:?}: the job of this run too"
        );
        assert!(how == Stop::Now || start.elapsed() >= ms(20));
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
    begun.recv_timeout(PATIENCE).unwrap();
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
            let stopped = stopped
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("{how:?} does not return"));
            assert_eq!(stopped.jobs.len(), 1, "{how:?}");
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
        let service =
            builder().on_event(move |_| drop(Arc::clone(&held_by_observer))).start().unwrap();
        let timers = service.handle();
        timers.after(HOUR).run(holds(Bomb)).unwrap();
        timers.after(HOUR).run(holds(Bomb)).unwrap();
        timers.after(HOUR).run(holds(held_by_job)).unwrap();
        drop(timers);
        returns(move || drop(service));
        assert_eq!(Arc::strong_count(&witness), 1, "no thread has a reference to the shared state");
    }
}

#[test]
fn dropping_a_scheduler_drops_each_job_even_if_one_panics_in_that() {
    let (rig, witness) = (Rig::new(), Arc::new(()));
    let held = Arc::clone(&witness);
    rig.timers.after(ms(1)).run(holds(Bomb)).unwrap();
    rig.timers.after(ms(2)).run(holds(Bomb)).unwrap();
    rig.timers.after(ms(3)).run(holds(held)).unwrap();
    let timers = rig.timers.clone();
    drop(rig);
    assert_eq!((timers.len(), timers.is_stopped(), Arc::strong_count(&witness)), (0, true, 1));
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

/// If the stop waits for its run, it is returned like a job that does not run. Otherwise that run
/// is its last.
#[test]
fn a_periodic_job_that_runs_during_a_stop_has_no_further_run() {
    for (how, returned) in [(Stop::Wait, 1), (Stop::Now, 0)] {
        for builder in [alone, pool, threads] {
            let service = builder().start().unwrap();
            let timers = service.handle();
            let (held, job) = BlockedJob::job();
            let running = timers.every(ms(1)).named("running").run(job).unwrap();
            arrives(&held.begun);
            let stopping = thread::spawn(move || service.stop(how));
            wait_until(|| timers.is_stopped());
            wait_until(|| how == Stop::Wait || stopping.is_finished());
            drop(held);
            let stopped = returns(move || stopping.join().unwrap());
            wait_until(|| timers.snapshot().in_flight == 0);
            let jobs: Vec<_> =
                stopped.jobs.iter().map(|job| (job.handle().name(), job.runs())).collect();
            assert_eq!(jobs, vec![(Some("running"), 1); returned], "{how:?}");
            assert_eq!((running.status(), running.runs(), timers.len()), (Status::Stopped, 1, 0));
        }
    }
}

/// Ends a job whose runs overlap, by a stop, or if `how` is `None` by a cancel. No further run
/// begins.
fn ends_overlapping(how: Option<Stop>) {
    let service = Service::builder().workers(1).start().unwrap();
    let timers = service.handle();
    let (held, body) = BlockedJob::job();
    let job = timers.every(ms(1)).run_overlapping(body).unwrap();
    arrives(&held.begun);
    thread::sleep(ms(20));
    assert_eq!((timers.snapshot().in_flight, job.runs()), (1, 1), "the next waits for the thread");
    let (until, ends) = (timers.clone(), job.clone());
    let ending = thread::spawn(move || match how {
        None => (ends.cancel().map(|_| 1).unwrap(), Some(service)),
        Some(how) => (service.stop(how).jobs.len(), None),
    });
    // A stop without a limit waits for the run in progress. Everything else is over before that.
    wait_until(|| ending.is_finished() || how == Some(Stop::Wait) && until.is_stopped());
    drop(held);
    let (given_back, _service) = returns(move || ending.join().unwrap());
    wait_until(|| timers.snapshot().in_flight == 0);
    assert_eq!((given_back, job.runs(), timers.len()), (1, 1, 0), "{how:?}");
}

#[test]
fn of_a_job_whose_runs_overlap_none_begins_after_it_was_cancelled_or_given_back() {
    ends_overlapping(None);
    [Stop::Now, Stop::WaitFor(ms(20)), Stop::Wait].map(Some).into_iter().for_each(ends_overlapping);
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
            let stopped = stopped
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("{how:?} does not return"));
            assert_eq!((stopped.jobs.len(), waits.status()), (2, Status::Stopped), "{how:?}");
        }
    }
}

/// The same, by an observer that is called on the only thread.
#[test]
fn an_observer_on_the_only_thread_may_stop_the_service_while_a_run_waits_for_it() {
    for how in WAYS {
        let (stopper, stopped) = Stopper::new(how);
        let (observer, (begins, begun)) = (stopper.clone(), bounded(1));
        let (release, released) = bounded::<()>(1);
        let observe = move |_: &Event| {
            begins.send(()).unwrap();
            released.recv().unwrap_or_default();
            observer.stop();
        };
        let timers = stopper.start(Service::builder().workers(1).on_event(observe));
        timers.after(ms(0)).run(|_| panic!("stop it")).unwrap();
        begun.recv_timeout(PATIENCE).unwrap();
        timers.after(ms(0)).run(|_| ()).unwrap();
        drop(release);
        let stopped =
            stopped.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{how:?} does not return"));
        assert_eq!(stopped.jobs.len(), 2, "{how:?}");
    }
}
