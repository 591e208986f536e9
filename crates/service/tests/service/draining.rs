//! Draining, and stops that block no thread.

use crate::common::{
    BlockedJob, HOUR, Log, PATIENCE, arrives, at, await_here, ms, poll, returns, start,
    start_workers, wait_until,
};
use crate::stopping::{Stopper, StopsWhenDropped};
use crossbeam_channel::{bounded, unbounded};
use std::pin::pin;
use std::sync::Mutex;
use std::thread;
use wheelhouse_service::{Handle, ManualClock, Reason, Run, Service, Status, Stop};

#[test]
fn a_drain_lets_jobs_come_to_their_ends_and_gives_back_what_has_none() {
    for workers in [1, 2] {
        let ((service, timers), log) = (start_workers(workers), Log::default());
        for times in [1, 3] {
            timers.every(ms(10)).times(times).run(log.job(|run| run.number())).unwrap();
        }
        let endless = timers.every(HOUR).run(|_| ()).unwrap();
        // It ends itself before the drain begins, and its run ends afterwards.
        let (held, waits) = BlockedJob::job();
        let ends = move |run: &Run<'_>| {
            run.end();
            waits(run);
        };
        let ended = timers.every(ms(1)).run(ends).unwrap();
        arrives(&held.begun);
        let draining = thread::spawn(move || service.stop(Stop::Drain(HOUR)));
        wait_until(|| endless.status() == Status::Stopped);
        drop(held);
        let stopped = returns(move || draining.join().unwrap());
        assert_eq!(ended.status(), Status::Finished, "{workers} threads");
        let mut runs = log.take();
        runs.sort();
        assert_eq!((runs, stopped.running), (vec![1, 1, 2, 3], 0), "{workers} threads");
        assert_eq!((stopped.jobs.len(), endless.status()), (1, Status::Stopped));
        assert!(timers.is_empty() && timers.is_stopped(), "{workers} threads");
    }
}

#[test]
fn meanwhile_jobs_are_refused_and_futures_go_on() {
    let ((service, timers), (sender, answer)) = (start_workers(1), unbounded());
    let inner = timers.clone();
    let job = timers.after(ms(1)).run_async(move |_| async move {
        while inner.after(HOUR).run(|_| ()).is_ok() {}
        let refused = inner.after(HOUR).run(|_| ()).unwrap_err().reason;
        sender.send((refused, inner.sleep(ms(1)).await, inner.is_stopped())).unwrap();
    });
    drop(job.unwrap());
    drop(returns(move || service.stop(Stop::Drain(ms(500)))));
    assert_eq!(arrives(&answer), (Reason::Stopped, Ok(()), false));
}

#[test]
fn a_drain_ends_at_its_limit_and_gives_back_the_rest() {
    for workers in [1, 2] {
        let (service, timers) = start_workers(workers);
        let job = |delay| timers.after(delay).named("job").run(|_| ()).unwrap();
        // On a slow machine, a job may run before it is moved.
        let moved = (0..).map(|_| job(ms(1))).find(|job| job.refresh(HOUR).is_ok());
        let jobs = [job(HOUR), moved.unwrap()];
        let stopped = returns(move || service.stop(Stop::Drain(ms(30))));
        assert_eq!((stopped.jobs.len(), jobs.map(|job| job.status())), (2, [Status::Stopped; 2]));
    }
}

#[test]
fn a_drain_ends_when_the_last_job_is_cancelled() {
    for workers in [1, 2] {
        let (service, timers) = start_workers(workers);
        let job = timers.after(HOUR).run(|_| ()).unwrap();
        let canceller = thread::spawn(move || {
            while timers.after(HOUR).run(|_| ()).is_ok_and(|job| job.cancel().is_ok()) {}
            job.cancel().map(drop)
        });
        assert_eq!(returns(move || service.stop(Stop::Drain(HOUR))).jobs.len(), 0);
        assert_eq!(canceller.join().unwrap(), Ok(()));
    }
}

#[test]
fn an_async_job_may_await_the_stop_of_its_service() {
    for how in [Stop::Wait, Stop::Now, Stop::Drain(HOUR)] {
        let ((service, timers), (sender, answer)) = (start_workers(1), bounded(1));
        let service = Mutex::new(Some(service));
        timers.every(HOUR).run(|_| ()).unwrap();
        let job = timers.after(ms(0)).run_async(move |_| {
            let service = service.lock().unwrap().take().unwrap();
            async move { sender.send(service.stop_async(how).await.jobs.len()).unwrap() }
        });
        drop(job.unwrap());
        assert_eq!(arrives(&answer), 1, "{how:?}");
    }
}

/// The job has many runs to make up for, and the driver is about to begin the next one when the
/// stop begins.
#[test]
fn a_periodic_job_that_is_behind_has_no_run_after_the_stop() {
    let clock = ManualClock::new();
    let builder = Service::builder().workers(1).shards(1).clock(clock.clone());
    let (service, timers) = start(builder);
    // When it is taken back, all other waiting jobs are too.
    let other = timers.after(HOUR).named("job").run(|_| ()).unwrap();
    let (begun, begins) = bounded(100);
    let behind = timers.every(ms(10)).run(move |_| {
        begun.send(()).unwrap();
        wait_until(|| other.status() == Status::Stopped);
    });
    let behind = behind.unwrap();
    clock.set(at(500));
    arrives(&begins);
    let stopped = returns(move || service.stop(Stop::Wait));
    assert_eq!((behind.runs(), behind.status(), stopped.jobs.len()), (1, Status::Stopped, 2));
}

/// Fault: one other job was not waited for, if the job that called for the drain was over, or was
/// none of those that the drain waits for.
#[test]
fn a_drain_that_a_job_calls_for_waits_for_all_other_jobs() {
    let ways: [fn(&Handle, Stopper); 4] = [
        |timers, stopper| {
            let stops = move |_: &Run<'_>| {
                drop(stopper.take().map(|service| service.stop_async(Stop::Drain(PATIENCE))));
            };
            drop(timers.after(ms(0)).run(stops).unwrap());
        },
        |timers, stopper| {
            drop(timers.every(ms(1)).run(move |_| stopper.stop()).unwrap());
        },
        |timers, stopper| {
            let held = StopsWhenDropped(stopper);
            let job = move |_: &Run<'_>| {
                let _alive = &held;
            };
            drop(timers.every(ms(1)).times(1).run(job).unwrap());
        },
        // Fault: the value was dropped where no other thread can take the lead.
        |timers, stopper| {
            let (closed, _) = bounded(0);
            drop(timers.after(ms(0)).send(&closed, StopsWhenDropped(stopper)).unwrap());
        },
    ];
    for (n, stops) in ways.into_iter().enumerate() {
        let ((service, timers), (sender, ran)) = (start_workers(2), bounded(1));
        timers.after(ms(100)).run(move |_| sender.send(n).unwrap()).unwrap();
        let (stopper, _stopped) = Stopper::new(Stop::Drain(PATIENCE));
        stopper.give(service);
        stops(&timers, stopper);
        assert_eq!(arrives(&ran), n);
        wait_until(|| timers.is_empty());
    }
}

/// The call blocks no thread. Fault: one other run was not waited for, since the run that called
/// for the stop had ended.
#[test]
fn a_stop_that_a_job_calls_for_waits_for_all_other_runs() {
    let ((service, timers), (sender, stops)) = (start_workers(2), bounded(1));
    let held = BlockedJob::start(&timers);
    timers.after(HOUR).run(|_| ()).unwrap();
    let service = Mutex::new(Some(service));
    let job = move |_: &Run<'_>| {
        let service = service.lock().unwrap().take().unwrap();
        sender.send(service.stop_async(Stop::Wait)).unwrap();
    };
    timers.after(ms(0)).run(job).unwrap();
    let mut stop = pin!(arrives(&stops));
    assert!(timers.is_stopped(), "from the call on");
    wait_until(|| timers.snapshot().running == 1);
    thread::sleep(ms(20));
    assert!(poll(&mut stop).is_pending());
    held.release();
    let stopped = await_here(stop);
    assert_eq!((stopped.jobs.len(), stopped.running), (1, 0));
}
