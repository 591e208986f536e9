//! Draining, and stops that block no thread.

use crate::common::{
    BlockedJob, Bomb, HOUR, Log, PATIENCE, arrives, at, await_here, kinds, ms, start, start_workers,
};
use crate::common::{poll, returns, wait_until};
use crate::stopping::{Stopper, StopsWhenDropped};
use crossbeam_channel::{bounded, unbounded};
use std::pin::pin;
use std::sync::Mutex;
use std::thread;
use wheelhouse_service::{Handle, ManualClock, Reason, Run, Service, Status, Stop};

#[test]
fn a_drain_lets_jobs_come_to_their_ends_and_gives_back_what_has_none() {
    for (kind, builder) in kinds() {
        let service = builder.start().unwrap();
        let (timers, log) = (service.handle(), Log::default());
        for times in [1, 3] {
            let log = log.clone();
            let plan = timers.every(ms(10)).times(times);
            plan.run(move |run| log.push(run.number())).unwrap();
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
        assert_eq!(ended.status(), Status::Finished, "{kind}");
        let mut runs = log.take();
        runs.sort();
        assert_eq!((runs, stopped.running), (vec![1, 1, 2, 3], 0), "{kind}");
        assert_eq!((stopped.jobs.len(), endless.status()), (1, Status::Stopped), "{kind}");
        assert!(timers.is_empty() && timers.is_stopped(), "{kind}");
    }
}

#[test]
fn meanwhile_jobs_are_refused_and_futures_go_on() {
    let service = Service::builder().workers(1).start().unwrap();
    let (timers, (sender, answer)) = (service.handle(), unbounded());
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
    for (_, builder) in kinds() {
        let (service, timers) = start(builder);
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
    for (_, builder) in kinds() {
        let (service, timers) = start(builder);
        let job = timers.after(HOUR).run(|_| ()).unwrap();
        let canceller = std::thread::spawn(move || {
            while timers.after(HOUR).run(|_| ()).is_ok_and(|job| job.cancel().is_ok()) {}
            job.cancel().map(drop)
        });
        assert_eq!(returns(move || service.stop(Stop::Drain(HOUR))).jobs.len(), 0);
        assert_eq!(canceller.join().unwrap(), Ok(()));
    }
}

#[test]
fn an_async_stop_blocks_nobody_and_waits_for_runs() {
    let (service, timers) = start_workers(1);
    let held = BlockedJob::start(&timers);
    timers.after(HOUR).run(|_| ()).unwrap();
    let mut stop = pin!(service.stop_async(Stop::Wait));
    assert!(timers.is_stopped(), "from the call on");
    assert!(poll(&mut stop).is_pending());
    held.release();
    let stopped = await_here(stop);
    assert_eq!((stopped.jobs.len(), stopped.running), (1, 0));
}

#[test]
fn an_async_stop_that_is_dropped_goes_on() {
    let (service, timers) = start(Service::builder());
    let job = timers.after(HOUR).named("job").run(|_| ()).unwrap();
    // It also drops the jobs. If it did not catch their panics one by one, the process would abort.
    for bomb in [Bomb, Bomb] {
        let holds = move |_: &Run<'_>| {
            let _alive = &bomb;
        };
        timers.after(HOUR).run(holds).unwrap();
    }
    let log = Log::<()>::default();
    let kept = log.clone();
    timers.after(HOUR).run(move |_| kept.push(())).unwrap();
    drop(service.stop_async(Stop::Wait));
    wait_until(|| job.status() == Status::Stopped && timers.is_empty() && log.is_alone());
}

#[test]
fn an_async_job_may_await_the_stop_of_its_service() {
    for how in [Stop::Wait, Stop::Now, Stop::Drain(HOUR)] {
        let service = Service::builder().workers(1).start().unwrap();
        let (timers, (sender, answer)) = (service.handle(), bounded(1));
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
        let service = Service::builder().workers(2).start().unwrap();
        let (timers, (sender, ran)) = (service.handle(), bounded(1));
        timers.after(ms(100)).run(move |_| sender.send(n).unwrap()).unwrap();
        let (stopper, _stopped) = Stopper::new(Stop::Drain(PATIENCE));
        stopper.give(service);
        stops(&timers, stopper);
        assert_eq!(arrives(&ran), n);
        wait_until(|| timers.is_empty());
    }
}

/// Fault: one other run was not waited for, since the run that called for the stop had ended.
#[test]
fn a_stop_that_a_job_calls_for_waits_for_all_other_runs() {
    let service = Service::builder().workers(2).start().unwrap();
    let (timers, (sender, stops)) = (service.handle(), bounded(1));
    let held = BlockedJob::start(&timers);
    let service = Mutex::new(Some(service));
    let job = move |_: &Run<'_>| {
        let service = service.lock().unwrap().take().unwrap();
        sender.send(service.stop_async(Stop::Wait)).unwrap();
    };
    timers.after(ms(0)).run(job).unwrap();
    let mut stop = pin!(arrives(&stops));
    wait_until(|| timers.snapshot().running == 1);
    thread::sleep(ms(20));
    assert!(poll(&mut stop).is_pending());
    held.release();
    assert_eq!(await_here(stop).running, 0);
}
