//! The results of cancel and refresh in every state of a job, and in races with its runs. If runs
//! are futures, the test decides when each begins, so every order of events is possible without a
//! second thread.

use crate::common::{
    BlockedJob, Log, Rig, arrives, at, at_once, carry_out, ms, returns, start_workers,
};
use std::future::pending;
use std::sync::Arc;
use std::thread;
use wheelhouse_service::{ChangeError, EventKind, Run, Status};

#[test]
fn a_job_that_is_cancelled_comes_back_and_can_be_run_by_hand() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let handle = rig.timers.after(ms(5)).named("mail").run(log.times()).unwrap();
    let its = log.clone();
    let future = rig.timers.after(ms(5)).run_async(move |_| async move { its.push(100) }).unwrap();
    let (job, future) = (handle.cancel().unwrap(), future.cancel().unwrap());
    assert_eq!((job.deadline(), job.runs(), job.handle().name()), (at(5), 0, Some("mail")));
    assert_eq!(handle.status(), Status::Cancelled);
    assert_eq!(handle.cancel().unwrap_err(), ChangeError::Cancelled);
    assert_eq!(handle.refresh(ms(1)), Err(ChangeError::Cancelled));
    assert_eq!(rig.play(100), 0);
    job.run();
    future.run();
    assert_eq!(log.take(), [100; 2]);
}

/// Fault: the error was lost, and the limit ignored.
#[test]
fn a_job_that_is_run_by_hand_keeps_its_limit_and_its_error() {
    let (rig, events) = Rig::with_events();
    let fails = rig.timers.after(ms(5)).try_run(|_| Err::<(), _>("no")).unwrap();
    let waits = rig.timers.after(ms(5)).named("waits").limit(ms(1));
    let waits = waits.run_async(|_| pending()).unwrap();
    for (job, error) in [(fails, "no"), (waits, "ended at its limit of 1ms")] {
        let returned = job.cancel().unwrap();
        returns(|| returned.run());
        assert_eq!(job.last_error().as_deref(), Some(error));
        assert_eq!(events.kinds(), [EventKind::GaveUp(error.to_owned())]);
    }
}

/// Bug B8: a refresh that loses the race against the expiry returns no error, and the session is
/// deleted although it was refreshed.
#[test]
fn who_comes_too_late_is_told() {
    let mut rig = Rig::new();
    let answers = Log::default();
    let log = answers.clone();
    let too_late = move |run: &Run<'_>| {
        log.push(run.job().refresh(ms(10)));
        log.push(run.job().run_now());
        log.push(run.job().pause());
        log.push(run.job().cancel().map(drop));
    };
    let handle = rig.timers.after(ms(5)).named("job").run(too_late).unwrap();
    rig.play(100);
    assert_eq!(answers.take(), [Err(ChangeError::Running); 4]);
    assert_eq!((handle.status(), handle.runs()), (Status::Finished, 1));
}

/// Bug B8: the timer does not know which session it ends. So the timer of a session that was
/// refreshed, or is gone, ends the session that has the token now.
#[test]
fn a_session_is_kept_or_known_to_be_gone_and_its_successor_is_another() {
    let ((mut rig, held, _), log) = (Rig::with_kept_futures(), Log::default());
    let plan = rig.timers.after(ms(5)).key("token");
    let session = plan.run_async(at_once(log.named("first"))).unwrap();
    rig.play(4);
    assert_eq!(rig.timers.refresh("token", ms(5)), Ok(()), "before its time");
    rig.play(9);
    let stale = held.one();
    assert_eq!(rig.timers.refresh("token", ms(5)), Ok(()), "its end is due, and has not begun");
    assert_eq!(session.remaining(), Some(ms(5)));
    rig.play(13);
    carry_out(stale);
    assert_eq!((log.take(), held.take().len()), (vec![], 0), "not before the new time");
    rig.play(14);
    carry_out(held.one());
    assert_eq!(rig.timers.refresh("token", ms(5)), Err(ChangeError::UnknownKey), "it is gone");
    assert_eq!(session.refresh(ms(5)), Err(ChangeError::Finished));

    let plan = rig.timers.after(ms(5)).key("token");
    let next = plan.run_async(at_once(log.named("second"))).unwrap();
    let changed = [session.refresh(ms(50)), session.cancel().map(drop)];
    assert_eq!(changed, [Err(ChangeError::Finished); 2]);
    // The old handle does not reach the new session.
    assert_eq!((next.remaining(), next.status()), (Some(ms(5)), Status::Pending));
    rig.play(19);
    carry_out(held.one());
    assert_eq!(log.take(), [(14, "first"), (19, "second")]);
}

#[test]
fn a_session_without_a_time_to_live_ends_at_once() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let session = rig.timers.after(ms(0)).key("token").run(log.times()).unwrap();
    assert_eq!((rig.scheduler.poll(at(0)), log.take()), (1, vec![0]));
    assert_eq!(session.status(), Status::Finished);
    assert!(rig.timers.job("token").is_none());
}

/// A refresh to a later time does not touch the timer. The old deadline passes without a run.
#[test]
fn a_session_that_is_refreshed_all_the_time_never_ends() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let handle = rig.timers.after(ms(30)).run(log.times()).unwrap();
    for n in 1..=1000 {
        rig.play(10 * n);
        handle.refresh(ms(30)).unwrap();
    }
    assert_eq!(log.take(), []);
    rig.play(20_000);
    assert_eq!(log.take(), [10_030]);
    // One for each step of the test, and one for each time to live that passed.
    let polls = rig.timers.snapshot().counts.polls;
    assert!(polls < 2000, "{polls} polls");
}

/// The work of a run may be passed on.
#[test]
fn runs_overlap_only_where_that_was_asked_for() {
    let (_service, timers) = start_workers(4);
    let (blocked, waits) = BlockedJob::job();
    let waits = Arc::new(waits);
    let passed_on = Arc::clone(&waits);
    let alone = timers.every(ms(1)).run(move |run| waits(run)).unwrap();
    let beside = timers.every(ms(1)).times(2).run(move |run| {
        let waits = Arc::clone(&passed_on);
        run.timers().execute(move |run| waits(run)).unwrap();
    });
    (0..3).for_each(|_| arrives(&blocked.begun));
    thread::sleep(ms(5));
    assert_eq!((alone.runs(), beside.unwrap().runs(), timers.snapshot().running), (1, 2, 3));
    drop(blocked);
}
