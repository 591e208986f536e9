//! Jobs of `execute`: due when they are scheduled, without a timer.

use crate::common::{Log, Rig, arrives, at, ms, wait_until};
use crossbeam_channel::{bounded, unbounded};
use std::future::{poll_fn, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use wheelhouse_service::{AsyncRun, EventKind, Reason, Service, Stop};

/// Jobs run at the moment of the call and in order, whatever the tick.
#[test]
fn what_is_handed_over_waits_for_no_tick() {
    let (mut rig, log) = (Rig::with(|builder| builder.tick(ms(1_000))), Log::default());
    rig.stall(300);
    for name in ["first", "second"] {
        rig.timers.execute(log.named(name)).unwrap();
    }
    assert_eq!(rig.scheduler.next_wakeup(), Some(at(300)));
    assert_eq!(rig.scheduler.poll(at(300)), 2);
    assert_eq!(log.take(), [(300, "first"), (300, "second")]);
    assert_eq!((rig.timers.len(), rig.scheduler.next_wakeup()), (0, None));
    let snapshot = rig.timers.snapshot();
    assert_eq!((snapshot.counts.runs, snapshot.counts.finished, snapshot.in_flight), (2, 2, 0));
}

/// A job that calls `execute` again and again must not keep a poll from returning.
#[test]
fn what_a_job_hands_over_is_for_the_next_poll() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let its = log.clone();
    rig.timers
        .execute(move |run| {
            its.push("first");
            let next = its.clone();
            run.timers().execute(move |_| next.push("next")).unwrap();
        })
        .unwrap();
    assert_eq!((rig.scheduler.poll(at(0)), log.take()), (1, vec!["first"]));
    assert_eq!((rig.scheduler.poll(at(0)), log.take()), (1, vec!["next"]));
}

#[test]
fn a_pause_holds_it_as_any_other_job() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let its = log.clone();
    rig.timers.pause();
    rig.timers.execute(log.named("closure")).unwrap();
    rig.timers
        .execute_async(move |_| {
            its.push((0, "future"));
            ready(())
        })
        .unwrap();
    rig.play(10);
    assert_eq!((log.take(), rig.timers.len()), (vec![], 2));
    rig.timers.resume();
    rig.play(20);
    let mut ran: Vec<_> = log.take().into_iter().map(|(_, name)| name).collect();
    ran.sort_unstable();
    assert_eq!((ran, rig.timers.len()), (vec!["closure", "future"], 0));
}

#[test]
fn a_stop_returns_what_has_not_begun() {
    let rig = Rig::new();
    rig.timers.execute(|_| unreachable!("it is stopped before")).unwrap();
    rig.timers.execute_async(|_| async { unreachable!("it is stopped before") }).unwrap();
    let timers = rig.timers;
    assert_eq!((rig.scheduler.stop().len(), timers.len()), (2, 0));
    let refused = timers.execute(|_| ()).unwrap_err();
    assert_eq!(refused.reason, Reason::Stopped);
}

#[test]
fn a_stop_waits_for_what_was_handed_over() {
    let service = Service::builder().workers(1).start().unwrap();
    let (go, wait) = bounded::<()>(0);
    let (sender, ran) = unbounded();
    let its = sender.clone();
    let first = move |_: &wheelhouse_service::Run<'_>| {
        its.send("begun").unwrap();
        wait.recv().unwrap();
    };
    service.handle().execute(first).unwrap();
    assert_eq!(arrives(&ran), "begun");
    service.handle().execute(move |_| sender.send("second").unwrap()).unwrap();
    let timers = service.handle();
    std::thread::scope(|scope| {
        let stop = scope.spawn(|| service.stop(Stop::Wait));
        wait_until(|| timers.is_stopped());
        go.send(()).unwrap();
        assert!(stop.join().unwrap().jobs.is_empty());
    });
    assert_eq!(arrives(&ran), "second");
}

/// Closures run on the executor, futures go to the spawner, and panics are reported.
#[test]
fn it_runs_where_other_jobs_do() {
    let (mut rig, held) = Rig::with_held_runs();
    rig.timers.execute(|_| ()).unwrap();
    rig.scheduler.poll(at(0));
    assert!(rig.timers.snapshot().in_flight == 1 && rig.timers.len() == 1);
    held.one().run();
    assert_eq!(rig.timers.len(), 0);

    let (runs, events) = (Log::<AsyncRun>::default(), Log::default());
    let (keep, log) = (runs.clone(), events.clone());
    let mut rig = Rig::with(|builder| {
        let builder = builder.on_event(move |event| log.push(event.kind.clone()));
        builder.spawn_on(move |run| keep.push(run))
    });
    rig.timers.execute_async(|_| ready(())).unwrap();
    rig.timers.execute(|_| panic!("no")).unwrap();
    rig.scheduler.poll(at(0));
    assert_eq!(events.take(), [EventKind::Panicked("no".to_owned())]);
    assert_eq!((runs.len(), rig.timers.len()), (1, 1));
    drop(runs.take());
    assert_eq!((events.take(), rig.timers.len()), (vec![EventKind::Abandoned], 0));
}

/// Futures that wait occupy no thread: other jobs still run.
#[test]
fn a_thousand_futures_wait_on_two_threads() {
    let service = Service::builder().workers(2).start().unwrap();
    let (timers, wakers) = (service.handle(), Arc::new(Mutex::new(Some(Vec::<Waker>::new()))));
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..1_000 {
        let (wakers, done) = (Arc::clone(&wakers), Arc::clone(&done));
        let all_wait = poll_fn(move |context| match &mut *wakers.lock().unwrap() {
            Some(wakers) => {
                wakers.push(context.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        });
        timers
            .execute_async(|_| async move {
                all_wait.await;
                done.fetch_add(1, Ordering::SeqCst);
            })
            .unwrap();
    }
    wait_until(|| wakers.lock().unwrap().as_ref().is_some_and(|wakers| wakers.len() == 1_000));
    assert_eq!(timers.snapshot().running, 1_000);
    let (sender, ran) = bounded(1);
    timers.execute(move |_| sender.send(()).unwrap()).unwrap();
    arrives(&ran);
    let waiting = wakers.lock().unwrap().take();
    waiting.into_iter().flatten().for_each(Waker::wake);
    assert!(service.stop(Stop::Wait).jobs.is_empty());
    assert_eq!(done.load(Ordering::SeqCst), 1_000);
}
