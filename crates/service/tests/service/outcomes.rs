//! The results of cancel and refresh in every state of a job, and in races with its runs. The
//! executor of these tests keeps each run until the test begins it, so every order of events is
//! possible without a second thread.

use crate::common::{BlockedJob, Log, Rig, arrives, at, ms};
use std::sync::Arc;
use std::thread;
use wheelhouse_service::{ChangeError, EventKind, Missed, Run, Status};

#[test]
fn a_job_that_is_cancelled_comes_back_and_can_be_run_by_hand() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let handle = rig.timers.after(ms(5)).named("mail").run(log.times()).unwrap();
    let job = handle.cancel().unwrap();
    assert_eq!((job.deadline(), job.runs(), job.handle().name()), (at(5), 0, Some("mail")));
    assert_eq!(handle.status(), Status::Cancelled);
    assert_eq!(handle.cancel().unwrap_err(), ChangeError::Cancelled);
    assert_eq!(handle.refresh(ms(1)), Err(ChangeError::Cancelled));
    assert_eq!(rig.play(100), 0);
    job.run();
    assert_eq!(log.take(), [100]);
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
    let ((mut rig, held, _), log) = (Rig::with_held_runs(), Log::default());
    let session = rig.timers.after(ms(5)).key("token").run(log.named("first")).unwrap();
    rig.play(4);
    assert_eq!(rig.timers.refresh("token", ms(5)), Ok(()), "before its time");
    rig.play(9);
    let stale = held.one();
    assert_eq!(rig.timers.refresh("token", ms(5)), Ok(()), "its end is due, and has not begun");
    assert_eq!(session.remaining(), Some(ms(5)));
    rig.play(13);
    stale.run();
    assert_eq!((log.take(), held.take().len()), (vec![], 0), "not before the new time");
    rig.play(14);
    held.one().run();
    assert_eq!(rig.timers.refresh("token", ms(5)), Err(ChangeError::UnknownKey), "it is gone");
    assert_eq!(session.refresh(ms(5)), Err(ChangeError::Finished));

    let next = rig.timers.after(ms(5)).key("token").run(log.named("second")).unwrap();
    let changed = [session.refresh(ms(50)), session.cancel().map(drop)];
    assert_eq!(changed, [Err(ChangeError::Finished); 2]);
    // The old handle does not reach the new session.
    assert_eq!((next.remaining(), next.status()), (Some(ms(5)), Status::Pending));
    rig.play(19);
    held.one().run();
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

/// If no worker is free, overlapping runs must not pile up.
#[test]
fn of_a_job_whose_runs_overlap_one_waits_for_a_worker_and_the_next_follows_its_begin() {
    let its_runs = |missed, nows: &[u64]| {
        let ((mut rig, held, _), log) = (Rig::with_held_runs(), Log::default());
        let seen = log.clone();
        let body = move |run: &Run<'_>| {
            seen.push((run.started().as_nanos() / 1_000_000, run.deadline(), run.missed()));
        };
        let plan = rig.timers.every(ms(10)).missed(missed).times(3);
        let job = plan.run_overlapping(body).unwrap();
        for now in nows {
            rig.play(*now);
            assert_eq!(job.status(), Status::Pending, "the run has not begun");
            held.one().run();
        }
        assert_eq!((job.status(), rig.play(100)), (Status::Finished, 0));
        log.take()
    };
    let expected = [(35, at(10), 0), (35, at(20), 0), (50, at(30), 0)];
    assert_eq!(its_runs(Missed::Burst, &[35, 35, 50]), expected);
    let expected = [(35, at(10), 0), (45, at(40), 2), (50, at(50), 0)];
    assert_eq!(its_runs(Missed::Skip, &[35, 45, 50]), expected);
}

#[test]
fn a_run_that_the_executor_drops_is_reported_and_a_periodic_job_goes_on() {
    let ((mut rig, held, events), runs) = (Rig::with_held_runs(), Log::default());
    let once = rig.timers.after(ms(10)).named("once").run(runs.named("once")).unwrap();
    let periodic = rig.timers.every(ms(10)).run(runs.named("periodic")).unwrap();
    let beside = rig.timers.every(ms(10)).run_overlapping(runs.named("beside")).unwrap();
    rig.play(10);
    drop(held.take());
    assert_eq!(events.kinds(), [const { EventKind::Abandoned }; 3]);
    rig.play(20);
    held.take().into_iter().for_each(|run| run.run());
    assert_eq!(runs.take(), [(20, "periodic"), (20, "beside")]);
    let pending = [periodic, beside].map(|job| job.is_pending());
    assert_eq!((once.status(), pending), (Status::Cancelled, [true; 2]));
    let snapshot = rig.timers.snapshot();
    assert_eq!((snapshot.counts.abandoned, snapshot.in_flight, snapshot.jobs), (3, 0, 2));
}

#[test]
fn runs_overlap_only_where_that_was_asked_for() {
    let (mut rig, held, _) = Rig::with_held_runs();
    let (blocked, waits) = BlockedJob::job();
    let waits = Arc::new(waits);
    let waits_too = Arc::clone(&waits);
    let alone = rig.timers.every(ms(10)).run(move |run| waits(run)).unwrap();
    let beside = rig.timers.every(ms(10)).times(3).run_overlapping(move |run| waits_too(run));
    let beside = beside.unwrap();
    let mut threads = Vec::new();
    for (now, runs) in [(10, 2), (20, 1), (30, 1)] {
        rig.play(now);
        let due = held.take();
        assert_eq!(due.len(), runs, "at {now}");
        for run in due {
            threads.push(thread::spawn(move || run.run()));
            arrives(&blocked.begun);
        }
    }
    assert_eq!((alone.runs(), beside.runs(), rig.timers.snapshot().running), (1, 3, 4));
    drop(blocked);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!((alone.status(), beside.status()), (Status::Pending, Status::Finished));
    rig.play(30);
    let next = held.one().job().number();
    assert_eq!((next, rig.timers.len()), (alone.number(), 1), "its period of 20");
}
