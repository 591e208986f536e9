//! Pausing one job, pausing all jobs, and extra runs.

use crate::common::{KeptRuns, Log, Rig, at, each_second, ms, poll};
use crossbeam_channel::unbounded;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, SystemTime};
use wheelhouse_service::future::DelayQueue;
use wheelhouse_service::{Backoff, ChangeError, JobHandle, Missed, Run, Status};

/// The common type of pausing and resuming one job, and all jobs.
type Switch = fn(&Rig, &JobHandle);

const WAYS: [(Switch, Switch); 2] = [
    (|_, job| job.pause().unwrap(), |_, job| job.resume().unwrap()),
    (|rig, _| rig.timers.pause(), |rig, _| rig.timers.resume()),
];

/// A job that is paused and resumed at these times, in both ways. Returns when its runs began.
fn runs_around(pauses: &[(u64, u64)], schedule: fn(&Rig, &Log<u64>) -> JobHandle) -> Vec<u64> {
    let runs = WAYS.map(|(pause, resume)| {
        let (mut rig, log) = (Rig::new(), Log::default());
        let job = schedule(&rig, &log);
        for (from, to) in pauses {
            rig.play(*from);
            pause(&rig, &job);
            rig.play(*to);
            resume(&rig, &job);
        }
        rig.play(7_000);
        let (snapshot, runs) = (rig.timers.snapshot(), log.take());
        // A rule that is only asked has no run.
        assert_eq!((snapshot.counts.missed, snapshot.counts.runs), (0, runs.len() as u64));
        assert_eq!(snapshot.lateness.count, runs.len() as u64);
        runs
    });
    assert_eq!(runs[0], runs[1]);
    runs.into_iter().next().unwrap()
}

#[test]
fn periods_that_pass_meanwhile_are_neither_made_up_for_nor_missed() {
    let runs = runs_around(&[(150, 550)], |rig, log| {
        rig.timers.every(ms(100)).missed(Missed::Burst).times(4).run(log.times()).unwrap()
    });
    assert_eq!(runs, [100, 600, 700, 800]);
    // A period that has not passed stays, and a run that is due at that moment is not skipped.
    let runs = runs_around(&[(0, 60), (100, 200)], |rig, log| {
        rig.timers.every(ms(100)).times(2).run(log.times()).unwrap()
    });
    assert_eq!(runs, [100, 200]);
    let runs = runs_around(&[(1_500, 4_500)], |rig, log| {
        rig.timers.on(each_second).times(3).run(log.times()).unwrap()
    });
    assert_eq!(runs, [1_000, 5_000, 6_000]);
}

#[test]
fn a_single_job_runs_at_its_time_or_at_once() {
    let at_once = runs_around(&[(0, 200)], |rig, log| {
        rig.timers.after(ms(100)).run(log.times()).unwrap() // without a `JobState`
    });
    let later = runs_around(&[(0, 200)], |rig, log| {
        rig.timers.after(ms(300)).named("later").run(log.times()).unwrap()
    });
    assert_eq!((at_once, later), (vec![200], vec![300]));
}

/// Fails in its first run.
fn fails_once(log: &Log<u64>) -> impl FnMut(&Run<'_>) -> Result<(), &'static str> + use<> {
    let times = log.times();
    move |run| {
        times(run);
        if run.number() == 1 { Err("no") } else { Ok(()) }
    }
}

/// A retry that the pause delayed runs at its end. Times of the schedule that passed are skipped,
/// as always. A rule counts from when it is asked.
#[test]
fn periods_that_pass_while_another_try_is_held_up_are_left_out() {
    let runs = runs_around(&[(1_010, 5_500)], |rig, log| {
        let plan = rig.timers.every(ms(1_000)).retry(Backoff::new(ms(50)).attempts(2));
        plan.try_run(fails_once(log)).unwrap()
    });
    assert_eq!(runs, [1_000, 5_500, 6_000, 7_000]);
    let runs = runs_around(&[(1_010, 5_500)], |rig, log| {
        let plan = rig.timers.on(|after| Some(after + ms(1_000)));
        plan.retry(Backoff::new(ms(50)).attempts(2)).try_run(fails_once(log)).unwrap()
    });
    assert_eq!(runs, [1_000, 5_500, 6_500]);
}

#[test]
fn a_job_that_is_paused_says_so_and_can_be_changed() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let job = rig.timers.every(ms(100)).run(log.times()).unwrap();
    job.pause().unwrap();
    job.pause().unwrap();
    assert_eq!((job.status(), job.deadline(), job.is_pending()), (Status::Paused, None, false));
    job.reschedule(at(40)).unwrap();
    rig.play(60);
    assert_eq!((log.len(), job.status()), (0, Status::Paused));
    job.resume().unwrap();
    job.resume().unwrap();
    rig.play(140);
    assert_eq!(log.take(), [140], "a period after what it was moved to");
    job.pause().unwrap();
    drop(job.cancel().unwrap());
    assert_eq!((job.status(), job.pause(), job.resume()), {
        let over = Err(ChangeError::Cancelled);
        (Status::Cancelled, over, over)
    });
    let plain = rig.timers.after(ms(1)).run(|_| ()).unwrap();
    plain.pause().unwrap();
    assert_eq!(plain.status(), Status::Paused);
    assert!(plain.cancel().is_ok() && rig.timers.is_empty());
    assert_eq!(rig.play(1000), 0);
}

#[test]
fn what_is_paused_is_given_back_by_a_stop() {
    for (pause, _) in WAYS {
        let mut rig = Rig::new();
        let jobs = [10, 100].map(|n| rig.timers.every(ms(n)).run(|_| ()).unwrap());
        jobs.iter().for_each(|job| pause(&rig, job));
        rig.play(50);
        let stopped = rig.scheduler.stop();
        assert_eq!((stopped.len(), jobs.map(|job| job.status())), (2, [Status::Stopped; 2]));
    }
}

#[test]
fn a_run_that_waits_for_a_worker_loses_its_turn_and_one_that_goes_on_is_the_last_for_now() {
    let ((mut rig, held), log) = (Rig::with_held_runs(), Log::default());
    let job = rig.timers.every(ms(100)).run(log.times()).unwrap();
    rig.play(100);
    let due = held.one();
    job.pause().unwrap();
    due.run();
    assert_eq!((log.len(), rig.timers.snapshot().in_flight), (0, 0));
    job.resume().unwrap();
    rig.play(200);
    held.one().run();
    assert_eq!(log.take(), [200], "the run of 100 was delayed past 100");

    let (mut rig, log) = (Rig::new(), Log::default());
    let times = log.times();
    let job = rig.timers.every(ms(100)).run(move |run| {
        times(run);
        run.job().pause().unwrap();
    });
    let job = job.unwrap();
    rig.play(350);
    assert_eq!((log.take(), job.status()), (vec![100], Status::Paused));
    job.resume().unwrap();
    rig.play(400);
    assert_eq!(log.take(), [400]);
}

#[test]
fn while_all_are_held_futures_go_on_and_jobs_can_be_scheduled() {
    let mut rig = Rig::new();
    let (sender, sent) = unbounded();
    rig.timers.pause();
    let mut queue = DelayQueue::new(&rig.timers);
    queue.insert(ms(10), "value").unwrap();
    let mut sleep = pin!(rig.timers.sleep(ms(10)));
    assert!(poll(&mut sleep).is_pending());
    rig.timers.after(ms(10)).send(&sender, 1).unwrap();
    let cancelled = rig.timers.after(ms(10)).send(&sender, 2).unwrap();
    let moved = rig.timers.after(ms(10)).send(&sender, 3).unwrap();
    rig.play(20);
    assert_eq!(poll(&mut sleep), Poll::Ready(Ok(())));
    assert_eq!(poll(&mut pin!(queue.next())), Poll::Ready(Some("value")));
    assert_eq!((sent.len(), moved.remaining()), (0, Some(ms(0))));
    drop(cancelled.cancel().unwrap());
    moved.refresh(ms(5)).unwrap();
    rig.play(30);
    rig.timers.resume();
    rig.play(40);
    assert_eq!(sent.try_iter().collect::<Vec<_>>().len(), 2);
    assert!(rig.timers.is_empty());
}

#[test]
fn many_that_came_due_meanwhile_are_let_go_in_portions() {
    let mut rig = Rig::new();
    let (sender, sent) = unbounded();
    (0..1000).for_each(|n| drop(rig.timers.after(ms(n)).send(&sender, n).unwrap()));
    rig.timers.pause();
    rig.play(2000);
    rig.timers.resume();
    rig.play(2000);
    assert!(sent.try_iter().eq(0..1000), "in the order of their deadlines");
}

#[test]
fn a_run_now_leaves_the_schedule_as_it_is() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let job = rig.timers.every(ms(100)).times(3).run(log.times()).unwrap();
    rig.play(130);
    job.run_now().unwrap();
    job.run_now().unwrap();
    rig.play(160);
    job.run_now().unwrap();
    rig.play(10_000);
    assert_eq!(log.take(), [100, 130, 160, 200, 300]);
    assert_eq!((job.status(), job.run_now()), (Status::Finished, Err(ChangeError::Finished)));
}

#[test]
fn a_single_job_and_one_that_is_paused_run_now_too() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let single = rig.timers.after(ms(100)).run(log.times()).unwrap();
    rig.play(10);
    single.run_now().unwrap();
    rig.play(20);
    assert_eq!((log.take(), single.run_now()), (vec![10], Err(ChangeError::Over)));
    let paused = rig.timers.every(ms(100)).slack(ms(50)).run(log.times()).unwrap();
    paused.pause().unwrap();
    paused.run_now().unwrap();
    rig.play(300);
    assert_eq!((log.take(), paused.status()), (vec![20], Status::Paused));
    paused.resume().unwrap();
    rig.play(400);
    // Due at 320, which the slack rounds up to 350.
    assert_eq!(log.take(), [350]);
}

#[test]
fn a_rule_is_not_asked_for_a_run_beside_it() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let (asked, times) = (Log::default(), log.clone());
    let asks = asked.clone();
    let seconds = move |after: SystemTime| {
        asks.push(());
        Some(after + Duration::from_secs(1))
    };
    let job = rig.timers.on(seconds).run(move |run| {
        times.push((run.started().as_nanos() / 1_000_000, run.time().is_some()));
    });
    let job = job.unwrap();
    rig.play(400);
    job.run_now().unwrap();
    rig.play(1000);
    assert_eq!((log.take(), asked.len()), (vec![(400, false), (1000, true)], 2));
}

/// The job was moved, which ended its turn. Then it came due again, while all jobs are paused.
#[test]
fn a_run_that_lost_its_turn_does_not_begin_in_place_of_one_that_is_held() {
    let (mut rig, held) = Rig::with_held_runs();
    let job = rig.timers.every(ms(10)).run(|_| ()).unwrap();
    rig.play(10);
    let too_late = held.one();
    job.refresh(ms(5)).unwrap();
    rig.timers.pause();
    rig.play(15);
    too_late.run();
    assert_eq!((job.runs(), job.status()), (0, Status::Pending));
    rig.timers.resume();
    rig.play(20);
    held.one().run();
    assert_eq!(job.runs(), 1);
}

/// A job that is paused except for one run. Runs are kept.
fn paused_with_a_run_now() -> (Rig, KeptRuns, Log<u64>, JobHandle) {
    let ((rig, held), log) = (Rig::with_held_runs(), Log::default());
    let job = rig.timers.every(ms(100)).run(log.times()).unwrap();
    job.pause().unwrap();
    job.run_now().unwrap();
    (rig, held, log, job)
}

/// Also if another thread begins the runs, whatever happens before it does.
#[test]
fn of_a_job_that_is_paused_a_run_now_begins_on_a_worker() {
    let (mut rig, held, log, job) = paused_with_a_run_now();
    assert_eq!(job.status(), Status::Pending, "it waits for a worker");
    rig.play(10);
    held.one().run();
    assert_eq!((log.take(), job.status()), (vec![10], Status::Paused));
    // Paused again, or moved: this ends its turn.
    for lose in [JobHandle::pause, |job: &JobHandle| job.refresh(ms(50))] {
        job.run_now().unwrap();
        rig.play(20);
        lose(&job).unwrap();
        held.one().run();
        job.run_now().unwrap();
        lose(&job).unwrap();
        rig.play(200);
        assert!(held.take().is_empty());
        assert_eq!((log.take(), job.status()), (vec![], Status::Paused));
    }
}

#[test]
fn a_run_now_that_its_executor_drops_leaves_the_job_paused() {
    let (mut rig, held, log, job) = paused_with_a_run_now();
    rig.play(10);
    drop(held.one());
    assert_eq!(job.status(), Status::Paused);
    rig.play(500);
    assert!(held.take().is_empty());
    job.resume().unwrap();
    rig.play(650);
    held.one().run();
    assert_eq!(log.take(), [650]);
}

/// The time of a rule passed during a pause, and then the run is moved: it takes place.
#[test]
fn a_run_of_a_rule_that_is_moved_after_a_pause_is_not_left_out() {
    let tenths = |after: SystemTime| Some(after + ms(100));
    let (mut rig, log) = (Rig::new(), Log::default());
    let job = rig.timers.on(tenths).times(1).run(log.times()).unwrap();
    job.pause().unwrap();
    rig.play(500);
    rig.timers.pause();
    job.resume().unwrap();
    job.refresh(ms(1_000)).unwrap();
    rig.timers.resume();
    rig.play(5_000);
    assert_eq!(log.take(), [1_500]);
}

#[test]
fn a_run_now_waits_until_all_are_let_go() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let job = rig.timers.every(ms(100)).run(log.times()).unwrap();
    job.pause().unwrap();
    rig.timers.pause();
    job.run_now().unwrap();
    rig.play(10);
    assert_eq!(log.take(), []);
    rig.timers.resume();
    rig.play(200);
    assert_eq!((log.take(), job.status()), (vec![10], Status::Paused));
}
