//! Pausing one job, pausing all jobs, and extra runs.

use crate::common::{
    BlockedJob, HOUR, Log, Rig, at, at_once, carry_out, each_second, ms, poll, start_workers,
    wait_until,
};
use crossbeam_channel::unbounded;
use std::future::ready;
use std::pin::pin;
use std::task::Poll;
use std::thread;
use wheelhouse_service::future::DelayQueue;
use wheelhouse_service::{
    Backoff, ChangeError, Clock, Handle, JobHandle, Missed, Run, Status, Stop,
};

/// An action on a job, or on all jobs.
type Act = fn(&Rig, &JobHandle);

const PAUSE: Act = |_, job| job.pause().unwrap();
const RESUME: Act = |_, job| job.resume().unwrap();
const PAUSE_ALL: Act = |rig, _| rig.timers.pause();
const RESUME_ALL: Act = |rig, _| rig.timers.resume();
const RUN_NOW: Act = |_, job| job.run_now().unwrap();
const MOVE: Act = |_, job| job.refresh(ms(1_000)).unwrap();

type Schedule = fn(&Handle, &Log<u64>) -> JobHandle;

/// Does this to a job at these times. Checks when its runs began.
#[track_caller]
fn check_runs(acts: &[(u64, Act)], expected: &[u64], schedule: Schedule) {
    let (mut rig, log) = (Rig::new(), Log::default());
    let job = schedule(&rig.timers, &log);
    for (time, act) in acts {
        // Nothing runs between two actions at one time.
        if at(*time) > rig.clock.now() {
            rig.play(*time);
        }
        act(&rig, &job);
    }
    rig.play(7_000);
    let (snapshot, runs) = (rig.timers.snapshot(), log.take());
    assert_eq!(runs, expected);
    // A rule that is only asked has no run.
    assert_eq!((snapshot.counts.missed, snapshot.counts.runs), (0, runs.len() as u64));
    assert_eq!(snapshot.lateness.count, runs.len() as u64);
}

/// The ways to pause and resume a job.
const WAYS: [(Act, Act); 2] = [(PAUSE, RESUME), (PAUSE_ALL, RESUME_ALL)];

/// Checks the runs of a job that is paused and resumed at these times, in either way.
#[track_caller]
fn check_runs_around(pauses: &[(u64, u64)], expected: &[u64], schedule: Schedule) {
    for (pause, resume) in WAYS {
        let acts = pauses.iter().flat_map(|(from, to)| [(*from, pause), (*to, resume)]);
        check_runs(&acts.collect::<Vec<_>>(), expected, schedule);
    }
}

#[test]
fn periods_that_pass_meanwhile_are_neither_made_up_for_nor_missed() {
    check_runs_around(&[(150, 550)], &[100, 600, 700, 800], |timers, log| {
        timers.every(ms(100)).missed(Missed::Burst).times(4).run(log.times()).unwrap()
    });
    // A period that has not passed stays, and a run that is due at that moment is not skipped.
    check_runs_around(&[(0, 60), (100, 200)], &[100, 200], |timers, log| {
        timers.every(ms(100)).times(2).run(log.times()).unwrap()
    });
    check_runs_around(&[(1_500, 4_500)], &[1_000, 5_000, 6_000], |timers, log| {
        timers.on(each_second).times(3).run(log.times()).unwrap()
    });
}

#[test]
fn a_single_job_runs_at_its_time_or_at_once() {
    check_runs_around(&[(0, 200)], &[200], |timers, log| {
        timers.after(ms(100)).run(log.times()).unwrap() // without a `JobState`
    });
    check_runs_around(&[(0, 200)], &[300], |timers, log| {
        timers.after(ms(300)).named("later").run(log.times()).unwrap()
    });
}

/// Fails in its first runs.
fn fails(log: &Log<u64>, runs: u64) -> impl FnMut(&Run<'_>) -> Result<(), &'static str> + use<> {
    let times = log.times();
    move |run| {
        times(run);
        if run.number() <= runs { Err("no") } else { Ok(()) }
    }
}

/// A retry that the pause delayed runs at its end. Times of the schedule that passed are skipped,
/// as always. A rule counts from when it is asked.
#[test]
fn periods_that_pass_while_another_try_is_held_up_are_left_out() {
    check_runs_around(&[(1_010, 5_500)], &[1_000, 5_500, 6_000, 7_000], |timers, log| {
        let plan = timers.every(ms(1_000)).retry(Backoff::new(ms(50)).attempts(2));
        plan.try_run(fails(log, 1)).unwrap()
    });
    check_runs_around(&[(1_010, 5_500)], &[1_000, 5_500, 6_500], |timers, log| {
        let plan = timers.on(|after| Some(after + ms(1_000)));
        plan.retry(Backoff::new(ms(50)).attempts(2)).try_run(fails(log, 1)).unwrap()
    });
    // Fault: the run that only asks the rule ended the retries.
    check_runs_around(&[(3_010, 6_010)], &[3_000, 6_010, 6_110], |timers, log| {
        let plan = timers.on(|after| Some(after + ms(3_000)));
        plan.retry(Backoff::new(ms(50))).try_run(fails(log, 2)).unwrap()
    });
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
    assert_eq!([job.pause(), job.resume()], [Err(ChangeError::Cancelled); 2]);
    let plain = rig.timers.after(ms(1)).run(|_| ()).unwrap();
    plain.pause().unwrap();
    assert_eq!(plain.status(), Status::Paused);
    assert!(plain.cancel().is_ok() && rig.timers.is_empty());
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

/// Fault: a resume was accepted.
#[test]
fn a_job_that_waits_for_a_stop_can_be_neither_paused_nor_resumed() {
    let (service, timers) = start_workers(2);
    let held = BlockedJob::start(&timers);
    let job = timers.every(HOUR).run(|_| ()).unwrap();
    job.pause().unwrap();
    let other = timers.after(HOUR).named("other").run(|_| ()).unwrap();
    let stop = thread::spawn(move || service.stop(Stop::Wait));
    wait_until(|| other.status() == Status::Stopped);
    assert_eq!([job.pause(), job.resume()], [Err(ChangeError::Stopped); 2]);
    held.release();
    assert_eq!(stop.join().unwrap().jobs.len(), 2);
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

/// Two jobs of one tick, and three that were due when they were scheduled, of which one is async.
#[test]
fn what_came_due_in_a_pause_begins_in_order() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let its = log.clone();
    rig.timers.pause();
    for name in ["first", "second"] {
        rig.timers.after(ms(1)).run(log.named(name)).unwrap();
    }
    rig.play(10);
    for name in ["third", "fourth"] {
        rig.timers.execute(log.named(name)).unwrap();
    }
    rig.timers.execute_async(move |_| async move { its.push((10, "last")) }).unwrap();
    rig.play(10);
    assert_eq!((log.len(), rig.timers.len()), (0, 5));
    rig.timers.resume();
    rig.play(10);
    assert_eq!(log.take(), ["first", "second", "third", "fourth", "last"].map(|name| (10, name)));
}

#[test]
fn a_run_now_leaves_the_schedule_as_it_is() {
    check_runs(
        &[(130, RUN_NOW), (130, RUN_NOW), (160, RUN_NOW)],
        &[100, 130, 160, 200, 300],
        |timers, log| timers.every(ms(100)).times(3).run(log.times()).unwrap(),
    );
    // The run of a one-shot job is its only one.
    check_runs(&[(10, RUN_NOW)], &[10], |timers, log| {
        timers.after(ms(100)).run(log.times()).unwrap()
    });
    // A paused job has one run. It is due again at 320 and at 420, which the slack rounds up.
    check_runs(&[(20, PAUSE), (20, RUN_NOW), (300, RESUME)], &[20, 350, 450], |timers, log| {
        let plan = timers.every(ms(100)).first_after(ms(120)).slack(ms(50)).times(2);
        plan.run(log.times()).unwrap()
    });
    // The time of a rule passed during a pause. Then the run is moved: it takes place.
    let acts = [(0, PAUSE), (500, PAUSE_ALL), (500, RESUME), (500, MOVE), (500, RESUME_ALL)];
    check_runs(&acts, &[1_500], |timers, log| {
        timers.on(|after| Some(after + ms(100))).times(1).run(log.times()).unwrap()
    });
}

/// The job was moved, which ended its turn. Then it came due again, while all jobs are paused.
#[test]
fn a_run_that_lost_its_turn_does_not_begin_in_place_of_one_that_is_held() {
    let (mut rig, held, _) = Rig::with_kept_futures();
    let job = rig.timers.every(ms(10)).run_async(|_| ready(())).unwrap();
    rig.play(10);
    let too_late = held.one();
    job.refresh(ms(5)).unwrap();
    rig.timers.pause();
    rig.play(15);
    carry_out(too_late);
    assert_eq!((job.runs(), job.status()), (0, Status::Pending));
    rig.timers.resume();
    rig.play(20);
    carry_out(held.one());
    assert_eq!(job.runs(), 1);
}

#[test]
fn a_run_now_that_its_executor_drops_leaves_the_job_paused() {
    let ((mut rig, held, _), log) = (Rig::with_kept_futures(), Log::default());
    let job = rig.timers.every(ms(100)).run_async(at_once(log.times())).unwrap();
    job.pause().unwrap();
    job.run_now().unwrap();
    rig.play(10);
    assert_eq!(job.status(), Status::Pending, "it waits for a worker");
    drop(held.one());
    assert_eq!(job.status(), Status::Paused);
    rig.play(500);
    assert!(held.take().is_empty());
    job.resume().unwrap();
    rig.play(650);
    carry_out(held.one());
    assert_eq!(log.take(), [650]);
}
