//! Async jobs: overlap, cancel, stop and panics work as for closures.

use crate::common::{
    BlockedJob, HOUR, Log, Rig, arrives, at, ms, poll, returns, start, start_workers, wait_until,
};
use crossbeam_channel::unbounded;
use std::future::{pending, poll_fn, ready};
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use wheelhouse_service::{
    Event, EventKind, Group, ManualClock, Missed, Reason, Run, Service, Status, Stop,
};

/// In a burst each missed period has its run after the one before, and one run is due at a time.
#[test]
fn a_run_lasts_from_the_first_poll_until_the_future_is_ready_and_overlaps_no_other() {
    let (mut rig, runs, _) = Rig::with_kept_futures();
    let (deadlines, log) = (Log::default(), Log::default());
    let (its, receivers) = (deadlines.clone(), log.clone());
    let burst = rig.timers.every(ms(10)).missed(Missed::Burst);
    let job = burst.run_async(move |run| {
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        its.push(run.deadline());
        receivers.push(sender);
        async { receiver.await.unwrap() }
    });
    let job = job.unwrap();
    rig.play(10);
    for number in 1..=3 {
        let mut run = runs.one();
        assert_eq!((job.status(), job.runs()), (Status::Pending, number - 1));
        assert!(poll(&mut run).is_pending());
        assert_eq!((job.status(), rig.timers.snapshot().running), (Status::Running, 1));
        rig.play(35);
        assert_eq!(runs.len(), 0, "no run overlaps another");
        log.one().send(()).unwrap();
        assert!(poll(&mut run).is_ready());
        assert!(poll(&mut run).is_ready(), "and again");
        assert_eq!((job.status(), rig.timers.snapshot().in_flight), (Status::Pending, 0));
        rig.play(35);
    }
    assert_eq!((runs.len(), deadlines.take()), (0, [10, 20, 30].map(at).to_vec()));
}

/// The job of the limit does not count for the limit of jobs.
#[test]
fn a_run_that_reaches_its_limit_is_ended_and_the_next_begins() {
    let (runs, witness) = (Log::default(), Arc::new(()));
    let (keep, inside) = (runs.clone(), Arc::clone(&witness));
    let (mut rig, events) =
        Rig::with_events_and(|builder| builder.max_jobs(1).spawn_on(move |run| keep.push(run)));
    let job = rig.timers.every(ms(10)).limit(ms(5)).times(2).run_async(move |_| {
        let held = Arc::clone(&inside);
        async move {
            pending::<()>().await;
            drop(held);
        }
    });
    for begin in [10, 20] {
        rig.play(begin);
        let mut run = runs.one();
        assert!(poll(&mut run).is_pending());
        rig.play(begin + 4);
        assert!(poll(&mut run).is_pending(), "a millisecond is left");
        assert_eq!(Arc::strong_count(&witness), 3);
        rig.play(begin + 5);
        assert!(poll(&mut run).is_ready());
        assert_eq!(events.kinds(), [EventKind::TimedOut(ms(5))]);
        assert!(Arc::strong_count(&witness) <= 2, "the future is dropped");
    }
    assert_eq!(job.unwrap().status(), Status::Finished);
    assert_eq!((rig.timers.snapshot().counts.timed_out, rig.timers.len()), (2, 0));
    rig.timers.after(ms(1)).run(|_| ()).unwrap();
    assert!(rig.timers.after(ms(1)).run(|_| ()).is_err(), "one is allowed, as before");
}

#[test]
fn a_future_that_its_executor_drops_is_abandoned() {
    let (mut rig, runs, events) = Rig::with_kept_futures();
    let job = rig.timers.every(ms(10)).run_async(|_| pending()).unwrap();
    for (n, begins) in [(1, false), (2, true)] {
        rig.play(10 * n);
        let mut run = runs.one();
        assert!(!begins || poll(&mut run).is_pending());
        drop(run);
        assert_eq!(events.kinds(), [EventKind::Abandoned]);
    }
    let once = rig.timers.after(ms(0)).named("once").run_async(|_| pending()).unwrap();
    rig.timers.execute_async(|_| pending()).unwrap();
    rig.play(20);
    assert_eq!(runs.take().len(), 2);
    let snapshot = rig.timers.snapshot();
    assert_eq!((job.is_pending(), once.status()), (true, Status::Cancelled));
    assert_eq!((snapshot.counts.abandoned, snapshot.in_flight, snapshot.jobs), (4, 0, 1));
    assert_eq!(events.kinds(), [EventKind::Abandoned, EventKind::Abandoned]);
    // Also if spawning it panics.
    let (mut rig, events) =
        Rig::with_events_and(|builder| builder.spawn_on(|_| panic!("no runtime")));
    rig.timers.after(ms(1)).run_async(|_| ready(())).unwrap();
    rig.play(1);
    assert_eq!((events.kinds(), rig.timers.len()), (vec![EventKind::Abandoned], 0));
}

/// Nothing can poll such a future again.
#[test]
fn a_run_ends_when_its_last_waker_is_dropped() {
    let mut rig = Rig::new();
    let (group, wakers) = (Group::new(1), Log::default());
    let kept = wakers.clone();
    let waits = move |_: &Run<'_>| {
        poll_fn(move |context| {
            kept.push(context.waker().clone());
            Poll::<()>::Pending
        })
    };
    let plan = rig.timers.after(ms(1)).group(&group).named("waits");
    let job = plan.run_async(waits).unwrap();
    rig.play(1);
    assert_eq!((job.status(), group.running()), (Status::Running, 1));
    drop(wakers.take());
    rig.play(2);
    assert_eq!((job.status(), group.running()), (Status::Finished, 0));
    assert_eq!(rig.timers.snapshot().counts.abandoned, 1);
}

/// Without `spawn_on`, the driver polls the futures too.
#[test]
fn without_an_executor_the_scheduler_polls_it_whenever_it_can_go_on() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let (timers, steps) = (rig.timers.clone(), log.clone());
    let job = rig.timers.after(ms(1)).named("job").run_async(move |_| async move {
        steps.push("begun");
        timers.sleep(ms(5)).await.unwrap();
        steps.push("slept");
        tokio::task::yield_now().await;
        steps.push("yielded");
    });
    let job = job.unwrap();
    rig.play(1);
    assert_eq!((log.take(), job.status()), (vec!["begun"], Status::Running));
    rig.play(5);
    assert_eq!((log.len(), job.status()), (0, Status::Running));
    rig.play(6);
    assert_eq!((log.take(), job.status()), (vec!["slept", "yielded"], Status::Finished));
    assert_eq!((rig.scheduler.next_wakeup(), rig.timers.snapshot().in_flight), (None, 0));
}

/// The threads stay until the last async run has ended, also after a stop that does not wait.
#[test]
fn a_future_is_polled_to_its_end_though_the_service_is_stopped_or_dropped() {
    let ways = [Some(Stop::Now), Some(Stop::Wait), None];
    for (how, workers) in ways.into_iter().flat_map(|how| [(how, 1), (how, 3)]) {
        let ((service, timers), (tells, told)) = (start_workers(workers), unbounded());
        let (release, released) = tokio::sync::oneshot::channel::<()>();
        let inner = timers.clone();
        let job = timers.after(ms(0)).named("job").run_async(move |_| async move {
            tells.send(inner.sleep(ms(2)).await).unwrap();
            // The stop ends this wait, but not the run.
            tells.send(inner.sleep(HOUR).await).unwrap();
            released.await.unwrap();
        });
        assert_eq!(arrives(&told), Ok(()));
        let ending = thread::spawn(move || how.map(|how| service.stop(how).jobs.len()));
        assert_eq!(arrives(&told), Err(Reason::Stopped));
        wait_until(|| how != Some(Stop::Now) || ending.is_finished());
        assert!(how == Some(Stop::Now) || !ending.is_finished());
        release.send(()).unwrap();
        assert_eq!(returns(move || ending.join().unwrap()), how.map(|_| 0));
        let job = job.unwrap();
        wait_until(|| job.status() == Status::Finished && timers.snapshot().in_flight == 0);
        assert_eq!(job.runs(), 1);
    }
}

/// Waiting async jobs occupy no thread, so more of them than threads can be in progress.
#[test]
fn in_a_service_of_one_thread_many_wait_at_once() {
    let ((service, timers), (sender, ran)) = (start_workers(1), unbounded());
    let gate = Arc::new(tokio::sync::Barrier::new(100));
    for n in 0..100 {
        let (inner, sender, gate) = (timers.clone(), sender.clone(), Arc::clone(&gate));
        let job = move |_: &Run<'_>| async move {
            gate.wait().await;
            inner.sleep(ms(1)).await.unwrap();
            sender.send(()).unwrap();
        };
        if n % 2 == 0 {
            drop(timers.after(ms(0)).run_async(job).unwrap());
        } else {
            timers.execute_async(job).unwrap();
        }
    }
    (0..100).for_each(|_| arrives(&ran));
    assert!(service.stop(Stop::Wait).jobs.is_empty());
}

/// Stops a service with an async job that hangs (`None` drops the service), while the clock
/// advances. If the thread is busy, the job begins during the stop.
fn stops_at_the_limit(how: Option<Stop>, busy: bool) {
    let (clock, events) = (ManualClock::new(), Log::default());
    let log = events.clone();
    let observe = move |event: &Event| log.push(event.kind.clone());
    let builder = Service::builder().workers(1).clock(clock.clone()).on_event(observe);
    let ((service, timers), (begins, hangs)) = (start(builder), unbounded());
    let hang = move |_: &Run<'_>| {
        begins.send(()).unwrap();
        pending()
    };
    drop(timers.after(ms(1)).limit(ms(5)).run_async(hang).unwrap());
    let (held, holds) = BlockedJob::job();
    if busy {
        timers.after(ms(2)).run(holds).unwrap();
    }
    clock.advance(ms(2));
    arrives(if busy { &held.begun } else { &hangs });
    let stopping = thread::spawn(move || how.map(|how| service.stop(how).running));
    // A drain refuses jobs before it has stopped.
    wait_until(|| timers.is_stopped() || matches!(how, Some(Stop::Drain(_))));
    drop(held);
    wait_until(|| {
        clock.advance(ms(1));
        timers.snapshot().in_flight == 0
    });
    let running = returns(move || stopping.join().unwrap());
    assert!(how == Some(Stop::Now) || running.unwrap_or(0) == 0, "{how:?}: {running:?}");
    assert_eq!(events.take(), [EventKind::TimedOut(ms(5))], "{how:?}");
}

/// Fault: from the begin of a stop the limit of an async job did not hold, so that the stop waited
/// for ever for a run that hung.
#[test]
fn the_limit_of_an_async_job_holds_while_the_service_stops() {
    for how in [Stop::Now, Stop::Wait, Stop::WaitFor(HOUR), Stop::Drain(HOUR)] {
        stops_at_the_limit(Some(how), false);
    }
    stops_at_the_limit(None, false);
    stops_at_the_limit(Some(Stop::Wait), true);
    stops_at_the_limit(Some(Stop::WaitFor(HOUR)), true);
}
