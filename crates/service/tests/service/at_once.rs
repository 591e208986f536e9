//! Jobs of `execute`: due when they are scheduled, without a timer.

use crate::common::{BlockedJob, Log, Rig, arrives, at, ms, wait_until};
use crossbeam_channel::unbounded;
use std::future::ready;
use wheelhouse_service::{EventKind, Reason, Service, Stop};

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

#[test]
fn a_stop_returns_what_has_not_begun() {
    for paused in [false, true] {
        let mut rig = Rig::new();
        if paused {
            rig.timers.pause();
        }
        rig.timers.execute(|_| unreachable!("it is stopped before")).unwrap();
        rig.timers.execute_async(|_| async { unreachable!("it is stopped before") }).unwrap();
        if paused {
            rig.play(10);
        }
        let timers = rig.timers;
        assert_eq!((rig.scheduler.stop().len(), timers.len()), (2, 0), "paused: {paused}");
        assert_eq!(timers.snapshot().counts.abandoned, 0, "paused: {paused}");
        assert_eq!(timers.execute(|_| ()).unwrap_err().reason, Reason::Stopped);
    }
}

#[test]
fn a_stop_waits_for_what_was_handed_over() {
    let service = Service::builder().workers(1).start().unwrap();
    let (timers, (sender, ran)) = (service.handle(), unbounded());
    let (held, first) = BlockedJob::job();
    timers.execute(first).unwrap();
    arrives(&held.begun);
    timers.execute(move |_| sender.send("second").unwrap()).unwrap();
    let stop = std::thread::spawn(|| service.stop(Stop::Wait));
    wait_until(|| timers.is_stopped());
    held.release();
    assert!(stop.join().unwrap().jobs.is_empty());
    assert_eq!(arrives(&ran), "second");
}

/// Closures run on the executor, futures go to the spawner, and panics are reported.
#[test]
fn it_runs_where_other_jobs_do() {
    let (mut rig, held, _) = Rig::with_held_runs();
    rig.timers.execute(|_| ()).unwrap();
    rig.scheduler.poll(at(0));
    assert!(rig.timers.snapshot().in_flight == 1 && rig.timers.len() == 1);
    held.one().run();
    assert_eq!(rig.timers.len(), 0);

    let (mut rig, runs, events) = Rig::with_kept_futures();
    rig.timers.execute_async(|_| ready(())).unwrap();
    rig.timers.execute(|_| panic!("no")).unwrap();
    rig.scheduler.poll(at(0));
    assert_eq!(events.kinds(), [EventKind::Panicked("no".to_owned())]);
    assert_eq!((runs.len(), rig.timers.len()), (1, 1));
    drop(runs.take());
    assert_eq!((events.kinds(), rig.timers.len()), (vec![EventKind::Abandoned], 0));
}
