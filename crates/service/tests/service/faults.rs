//! Jobs that panic or take too long, channels that are full or closed, and panics elsewhere in code
//! of the user: none of them harms another job. (Bug B6: a panicking job ends the process. Java's
//! Timer dies with its first failing task, and ScheduledThreadPoolExecutor silently drops a
//! periodic one.)

use crate::common::{Bomb, HOUR, Log, Rig, at, carry_out, ms, poll};
use crossbeam_channel::{bounded, unbounded};
use std::panic::panic_any;
use std::sync::Arc;
use wheelhouse_service::{EventKind, Run, Status};

#[test]
fn a_panic_is_caught_counted_and_reported_and_the_schedule_goes_on() {
    let (mut rig, events) = Rig::with_events();
    let log = Log::default();
    let times = log.times();
    let fails_once = move |run: &Run<'_>| {
        times(run);
        assert!(run.number() != 2, "run {} fails", run.number());
    };
    let fails = rig.timers.every(ms(10)).named("fails at 20").run(fails_once).unwrap();
    let neighbour = rig.timers.every(ms(10)).run(|_| ()).unwrap();
    rig.play(40);
    assert_eq!((log.take(), neighbour.runs()), (vec![10, 20, 30, 40], 4));
    let events = events.take();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].kind, EventKind::Panicked("run 2 fails".to_owned()));
    assert_eq!(events[0].to_string(), "job 'fails at 20' panicked: run 2 fails");
    assert_eq!((fails.status(), rig.timers.snapshot().counts.panicked), (Status::Pending, 1));
}

/// In a closure, in one that is handed over, in an async job, and when a job is dropped.
#[test]
fn whatever_is_thrown_is_survived() {
    let (mut rig, events) = Rig::with_events();
    rig.timers.execute(|_| panic!("a literal")).unwrap();
    rig.timers.after(ms(2)).run(|run| panic!("run {}", run.number())).unwrap();
    rig.timers.after(ms(3)).run(|_| panic_any(5)).unwrap();
    rig.timers.after(ms(4)).run(|_| panic_any(Bomb)).unwrap();
    rig.timers.after(ms(5)).key("key").run(|_| drop(Bomb)).unwrap();
    let job = rig.timers.every(ms(6)).times(3).run_async(|run| {
        let number = run.number();
        assert!(number != 1, "in the closure");
        async move { assert!(number != 2, "in the future") }
    });
    rig.play(20);
    let messages: Vec<_> = events.take().iter().map(ToString::to_string).collect();
    let expected = [
        "job number 1 panicked: a literal",
        "job number 2 panicked: run 1",
        "job number 3 panicked: (no message)",
        "job number 4 panicked: (no message)",
        "job 'key' panicked: dropped",
        "job number 6 panicked: in the closure",
        "job number 6 panicked: in the future",
    ];
    assert_eq!(messages, expected);
    let (job, it) = (job.unwrap(), rig.timers.snapshot());
    assert_eq!((job.status(), job.runs(), it.counts.panicked), (Status::Finished, 3, 7));
    assert_eq!((it.counts.finished, it.jobs, it.running, it.in_flight), (6, 0, 0, 0));
}

/// Values of jobs are dropped after a run, by a replacement, when a channel is full, and with the
/// service.
#[test]
fn what_panics_when_it_is_dropped_harms_nobody() {
    let (mut rig, log, (sender, receiver)) = (Rig::new(), Log::default(), bounded(1));
    let timers = rig.timers.clone();
    let holds = |bomb: Bomb| {
        move |_: &Run<'_>| {
            let _alive = &bomb;
        }
    };
    timers.every(ms(10)).times(1).run(holds(Bomb)).unwrap();
    (0..3).for_each(|_| drop(timers.after(ms(10)).send(&sender, Bomb).unwrap()));
    let replaced = timers.after(ms(10)).key("key").run(holds(Bomb)).unwrap();
    timers.after(ms(20)).replacing("key").run(log.times()).unwrap();
    assert_eq!((replaced.status(), timers.len()), (Status::Cancelled, 5));
    rig.play(100);
    assert_eq!((log.take(), receiver.len(), timers.len()), (vec![20], 1, 0));
    assert_eq!(timers.snapshot().counts.undelivered, 2, "two values had no room");
    receiver.try_iter().for_each(std::mem::forget);
    timers.after(HOUR).send(&sender, Bomb).unwrap();
    drop(rig);
    assert!(timers.is_empty());
}

#[test]
fn an_observer_that_panics_harms_nobody() {
    let mut rig = Rig::with(|builder| builder.on_event(|event| panic!("{event}")));
    let job = rig.timers.every(ms(10)).run(|_| panic!("the job")).unwrap();
    rig.play(30);
    assert_eq!((job.runs(), rig.timers.snapshot().counts.panicked), (3, 3));
}

#[test]
fn a_slow_run_is_named_and_timed() {
    let (mut rig, events) = Rig::with_events();
    let clock = rig.clock.clone();
    let takes = move |run: &Run<'_>| clock.advance(ms(if run.number() == 2 { 101 } else { 100 }));
    rig.timers.every(ms(1000)).named("report").run(takes).unwrap();
    rig.play(3999);
    let events = events.take();
    assert_eq!((events.len(), &events[0].kind), (1, &EventKind::Slow(ms(101))));
    let message = events[0].to_string();
    assert!(message.starts_with("job 'report' took 101ms"), "{message}");
    assert!(message.contains("`Builder::workers`"), "{message}");
    let snapshot = rig.timers.snapshot();
    assert_eq!((snapshot.counts.slow, snapshot.run_time.max), (1, ms(101)));
    assert_eq!(snapshot.run_time.sum, ms(301));
}

#[test]
fn a_run_that_does_not_end_is_named_while_it_goes_on() {
    let (mut rig, runs, events) = Rig::with_kept_futures();
    let (release, released) = tokio::sync::oneshot::channel::<()>();
    let plan = rig.timers.after(ms(10)).named("stuck");
    drop(plan.run_async(move |_| async { released.await.unwrap() }).unwrap());
    rig.play(10);
    assert_eq!(rig.scheduler.next_wakeup(), Some(at(111)), "a run is in flight");
    let mut run = runs.one();
    assert!(poll(&mut run).is_pending());
    rig.play(110);
    assert_eq!(events.kinds(), [], "it has taken 100 ms, not longer");
    rig.play(1000);
    assert_eq!(events.kinds(), [EventKind::StillRunning(ms(101))]);
    assert_eq!(rig.scheduler.next_wakeup(), None, "once is enough");
    release.send(()).unwrap();
    carry_out(run);
    assert_eq!(events.kinds(), [EventKind::Slow(ms(990))]);
    assert_eq!(rig.timers.snapshot().counts.slow, 1);
}

#[test]
fn a_receiver_that_is_slow_holds_up_nobody() {
    let (mut rig, events) = Rig::with_events();
    let (sender, receiver) = bounded(1);
    let periodic = rig.timers.every(ms(10)).named("beat").send(&sender, ()).unwrap();
    rig.play(30);
    assert_eq!(events.kinds(), [EventKind::ChannelFull, EventKind::ChannelFull]);
    receiver.recv().unwrap();
    rig.play(40);
    let undelivered = rig.timers.snapshot().counts.undelivered;
    assert_eq!((receiver.len(), periodic.runs(), undelivered), (1, 4, 2));
}

#[test]
fn a_periodic_job_ends_when_nobody_receives() {
    let (mut rig, events) = Rig::with_events();
    let (sender, receiver) = unbounded();
    let periodic = rig.timers.every(ms(10)).named("beat").send(&sender, ()).unwrap();
    rig.timers.after(ms(30)).named("last").send(&sender, ()).unwrap();
    rig.play(10);
    drop(receiver);
    rig.play(100);
    let told: Vec<_> = events.take().iter().map(ToString::to_string).collect();
    let expected =
        ["beat", "last"].map(|job| format!("job '{job}' found its channel closed, and ends"));
    assert_eq!(told, expected);
    assert_eq!((periodic.status(), periodic.runs(), rig.timers.len()), (Status::Finished, 2, 0));
}

/// Fault: the stop panicked, and the jobs were lost.
#[test]
fn a_waker_whose_destructor_panics_does_not_stop_a_stop() {
    let Rig { mut scheduler, timers, .. } = Rig::new();
    let bomb = Bomb;
    scheduler.set_waker(Arc::new(move || _ = &bomb));
    timers.after(ms(1)).run(|_| ()).unwrap();
    assert_eq!(scheduler.stop().len(), 1);
}
