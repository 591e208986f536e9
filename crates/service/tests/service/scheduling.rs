//! When jobs run: once, periodically, after stalls, on every backend. On a manual clock, so no test
//! waits.

use crate::common::{HOUR, Log, Rig, at, each_second, ms, poll};
use crossbeam_channel::unbounded;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_service::{JobHandle, JobIndex, Missed, Moment, Periodic, Reason, Run, Status};

#[test]
fn a_point_in_time_is_a_delay_a_moment_an_instant_or_a_time_of_the_wall_clock() {
    let noon = SystemTime::UNIX_EPOCH + 12 * HOUR;
    let (mut rig, log) = (Rig::starting(noon), Log::default());
    let timers = &rig.timers;
    rig.clock.set(at(10));
    let by_instant = timers.at(Instant::now() + HOUR).run(log.named("instant")).unwrap();
    let due = by_instant.remaining().unwrap();
    assert!((HOUR - ms(1_000)..=HOUR).contains(&due), "{due:?}");
    timers.after(ms(20)).run(log.named("after")).unwrap();
    timers.at(at(30)).run(log.named("at")).unwrap();
    let by_time = timers.at(noon + ms(30)).run(log.named("at time")).unwrap();
    assert_eq!((by_time.next_time(), by_time.deadline()), (Some(noon + ms(30)), Some(at(30))));
    let moved = timers.at(at(15)).run(log.named("moved")).unwrap();
    assert_eq!(moved.next_time(), Some(noon + ms(15)));
    moved.reschedule(noon + ms(40)).unwrap();
    let first = timers.every(ms(50)).first_at(noon + ms(45)).times(2);
    first.run(log.named("periodic")).unwrap();
    rig.play(30);
    assert_eq!(log.take(), [(30, "after"), (30, "at"), (30, "at time")]);
    // The clock is set back by half a second, and jobs that wait for it wait longer.
    rig.clock.set_wall(noon - ms(470));
    // A past point is due at once.
    rig.timers.at(at(20)).run(log.named("at")).unwrap();
    rig.timers.at(noon - ms(480)).run(log.named("at time")).unwrap();
    rig.timers.at(Instant::now() - ms(1)).run(log.named("instant")).unwrap();
    rig.timers.after(ms(0)).run(log.named("after")).unwrap();
    assert_eq!(rig.stall(30), 4);
    let mut now = log.take();
    now.sort_unstable();
    assert_eq!(now, ["after", "at", "at time", "instant"].map(|name| (30, name)));
    rig.play(1_000);
    assert_eq!(log.take(), [(540, "moved"), (545, "periodic"), (595, "periodic")]);
}

#[test]
fn a_periodic_job_runs_as_often_as_it_should() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let endless = rig.timers.every(ms(10)).run(log.named("endless")).unwrap();
    let twice = rig.timers.every(ms(10)).first_after(ms(3)).times(2);
    let twice = twice.run(log.named("twice")).unwrap();
    let once = rig.timers.every(ms(10)).first_at(at(12)).times(1).run(log.named("once")).unwrap();
    rig.play(32);
    let expected = [
        (3, "twice"),
        (10, "endless"),
        (12, "once"),
        (13, "twice"),
        (20, "endless"),
        (30, "endless"),
    ];
    assert_eq!(log.take(), expected);
    let done = Status::Finished;
    let jobs = [endless, twice, once].map(|job| (job.runs(), job.status()));
    assert_eq!((jobs, rig.timers.len()), ([(3, Status::Pending), (2, done), (1, done)], 1));
}

#[test]
fn a_run_is_told_where_it_stands() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let report = log.job(|run| {
        let job = run.job();
        assert_eq!((job.name(), job.to_string().as_str()), (Some("report"), "job 'report'"));
        let its = (job.status(), job.runs(), job.remaining());
        assert_eq!(its, (Status::Running, run.number(), None));
        (run.number(), run.deadline(), run.started(), run.lateness(), run.is_last())
    });
    rig.timers.every(ms(10)).times(2).named("report").run(report).unwrap();
    rig.play(10);
    rig.stall(25);
    assert_eq!(log.take(), [(1, at(10), at(10), ms(0), false), (2, at(20), at(25), ms(5), true)]);
}

/// Bugs B3 and B9 of the articles' code, and their example of 1.2 s and 1.5 s in one slot: there
/// all of them fire up to a tick early.
#[test]
fn nothing_runs_before_its_time_whatever_the_tick() {
    let (mut rig, log) = (Rig::with(|builder| builder.tick(ms(1_000))), Log::default());
    for delay in [1, 999, 1000, 1001, 1200, 1500, 1999, 2000] {
        rig.timers.after(ms(delay)).run(log.times()).unwrap();
    }
    rig.timers.every(ms(1500)).times(3).run(log.times()).unwrap();
    rig.play(10_000);
    // The period of 1.5 s is kept: 1.5, 3 and 4.5, each rounded up.
    assert_eq!(log.take(), [1000, 1000, 1000, 2000, 2000, 2000, 2000, 2000, 2000, 3000, 5000]);
}

#[test]
fn with_a_slack_runs_come_together_and_none_is_early() {
    let (mut rig, log) = (Rig::new(), Log::default());
    for delay in [1, 4, 10, 11] {
        rig.timers.after(ms(delay)).slack(ms(10)).run(log.times()).unwrap();
    }
    rig.timers.after(ms(11)).slack(ms(3)).run(log.times()).unwrap();
    rig.timers.after(ms(11)).run(log.times()).unwrap();
    let moved = rig.timers.after(ms(100)).slack(ms(7)).run(log.times()).unwrap();
    moved.refresh(ms(15)).unwrap();
    let each = rig.timers.every(ms(4)).missed(Missed::Burst);
    each.times(3).slack(ms(10)).run(log.times()).unwrap();
    let by_rule = rig.timers.on(|after| Some(after + ms(7))).times(2).slack(ms(10));
    by_rule.run(log.times()).unwrap();
    rig.play(50);
    // The deadlines are not rounded: the periods of 4 ms end at 12.
    assert_eq!(log.take(), [10, 10, 10, 10, 10, 10, 11, 12, 20, 20, 20, 21]);
}

/// Bug B1: of four tasks in one slot only the first runs at its time.
#[test]
fn all_that_is_due_at_one_instant_runs_then_in_the_order_of_scheduling() {
    let (mut rig, log) = (Rig::new(), Log::default());
    for name in ["first", "second", "third", "fourth"] {
        rig.timers.after(ms(5)).run(log.named(name)).unwrap();
    }
    assert_eq!(rig.play(5), 4);
    assert_eq!(log.take(), [(5, "first"), (5, "second"), (5, "third"), (5, "fourth")]);
}

/// Bug B2: a period that is a multiple of the wheel's size takes twice as long.
#[test]
fn periods_may_be_whole_turns_of_the_wheel() {
    for period in [255, 256, 512, 65_536] {
        let (mut rig, log) = (Rig::new(), Log::default());
        rig.timers.every(ms(period)).times(4).run(log.times()).unwrap();
        rig.play(10 * period);
        assert_eq!(log.take(), [1, 2, 3, 4].map(|n| n * period));
    }
}

/// Bug B5: a ticker drops ticks when its reader stalls, and everything is late afterwards.
#[test]
fn a_stall_leaves_no_trace() {
    let (mut rig, log) = (Rig::new(), Log::default());
    rig.timers.every(ms(10)).run(log.times()).unwrap();
    rig.play(50);
    log.take();
    assert_eq!(rig.stall(85), 1);
    assert_eq!(log.take(), [85]);
    rig.play(100);
    assert_eq!(log.take(), [90, 100]);
}

#[test]
fn missed_periods_are_made_up_for_left_out_or_shift_the_rest() {
    let run = |paced: fn(Periodic<'_>) -> Periodic<'_>| {
        let (mut rig, log) = (Rig::new(), Log::default());
        let (missed, clock) = (Log::default(), rig.clock.clone());
        let (times, skipped) = (log.times(), missed.clone());
        let body = move |run: &Run<'_>| {
            times(run);
            skipped.push(run.missed());
            if run.number() == 1 {
                clock.advance(ms(25)); // only this run takes that long
            }
        };
        paced(rig.timers.every(ms(10)).first_at(at(0))).run(body).unwrap();
        rig.play(50);
        (log.take(), missed.take().into_iter().sum::<u64>(), rig.timers.snapshot().counts.missed)
    };
    assert_eq!(run(|plan| plan.missed(Missed::Once)), (vec![0, 25, 30, 40, 50], 1, 1));
    assert_eq!(run(|plan| plan), run(|plan| plan.missed(Missed::Once)));
    assert_eq!(run(|plan| plan.missed(Missed::Burst)), (vec![0, 25, 25, 30, 40, 50], 0, 0));
    assert_eq!(run(|plan| plan.missed(Missed::Skip)), (vec![0, 30, 40, 50], 2, 2));
    assert_eq!(run(|plan| plan.missed(Missed::Delay)), (vec![0, 25, 35, 45], 0, 0));
    assert_eq!(run(|plan| plan.fixed_delay()), (vec![0, 35, 45], 0, 0));
}

/// Bug B10: after an idle hour, a timer of 5 ms starts on a high level and cascades through several
/// levels.
#[test]
fn an_idle_hour_costs_nothing_and_delays_nothing() {
    let (mut rig, log) = (Rig::new(), Log::default());
    rig.timers.after(ms(1)).run(log.times()).unwrap();
    rig.play(3_600_000);
    let before = rig.timers.snapshot().counts.polls;
    rig.timers.after(ms(5)).run(log.times()).unwrap();
    rig.play(3_600_100);
    assert_eq!(log.take(), [1, 3_600_005]);
    assert!(before <= 3, "{before} polls for one job");
    assert!(rig.timers.snapshot().counts.polls - before <= 4);
}

#[test]
fn jobs_schedule_cancel_and_refresh_from_inside() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let victim = rig.timers.after(ms(10)).named("job").run(log.named("cancelled")).unwrap();
    let other = rig.timers.after(ms(20)).run(log.named("moved")).unwrap();
    let (timers, names) = (rig.timers.clone(), log.clone());
    // Due at the same tick as the job that it cancels, and before it.
    let master = move |_: &Run<'_>| {
        names.push((10, "master"));
        timers.after(ms(0)).run(names.named("at once")).unwrap();
        timers.after(ms(15)).key("master").run(names.named("under its key")).unwrap();
        other.refresh(ms(30)).unwrap();
    };
    rig.timers.at(at(10)).key("master").run(master).unwrap();
    let early = victim.clone();
    rig.timers.at(at(9)).run(move |_| drop(early.cancel().unwrap())).unwrap();
    rig.play(100);
    let expected = [(10, "master"), (10, "at once"), (25, "under its key"), (40, "moved")];
    assert_eq!(log.take(), expected);
    assert_eq!(victim.status(), Status::Cancelled);
}

/// Fault: with the shortest tick, a job at the very last moment had the tick that stands for none.
#[test]
fn a_job_at_the_last_moment_runs_or_is_refused() {
    let mut rig = Rig::with(|builder| builder.tick(Duration::from_nanos(1)));
    let refused = rig.timers.at(Moment::MAX).run(|_| ()).unwrap_err();
    assert_eq!(refused.reason, Reason::Overflow);
    let mut sleep = pin!(rig.timers.sleep_until(Moment::MAX));
    assert_eq!(poll(&mut sleep), Poll::Ready(Err(Reason::Overflow)));
    let last = Moment::from_nanos(u64::MAX - 1);
    let job = rig.timers.at(last).slack(Duration::from_nanos(5)).named("last").run(|_| ());
    assert_eq!(rig.scheduler.next_wakeup().is_some(), job.is_ok());
    rig.clock.set(last);
    assert_eq!((rig.scheduler.poll(last), job.unwrap().status()), (1, Status::Finished));
}

/// A run moves the next run of its job to the present. And two jobs do so with each other.
#[test]
fn jobs_that_move_each_other_to_the_present_keep_no_poll_from_returning() {
    let moves: fn(&JobHandle) = |job| job.refresh(ms(0)).unwrap();
    let starts: fn(&JobHandle) = |job| job.run_now().unwrap();
    let to_itself = [("a", "a")];
    let to_each_other = [("a", "b"), ("b", "a")];
    for (act, jobs, runs) in [
        (moves, &to_itself[..], [1, 1, 1]),
        (moves, &to_each_other[..], [2, 1, 1]),
        // The extra run of the second, and then the one that was due.
        (starts, &to_each_other[..], [1, 2, 1]),
    ] {
        let mut rig = Rig::new();
        for &(own, other) in jobs {
            let job = move |run: &Run<'_>| {
                assert!(run.number() < 100, "no poll ends");
                act(&run.timers().job(other).unwrap());
            };
            rig.timers.every(ms(10)).key(own).run(job).unwrap();
        }
        assert_eq!([rig.stall(10), rig.stall(10), rig.stall(10)], runs);
    }
}

#[test]
fn time_has_an_end_and_nothing_overflows_there() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let last = Moment::from_nanos(u64::MAX / 1_000_000 * 1_000_000);
    let beyond = Moment::from_nanos(last.as_nanos() + 1);
    rig.timers.at(last).run(log.named("last")).unwrap();
    rig.timers.every(ms(10)).first_at(last).run(log.named("first of many")).unwrap();
    let half_of_time = rig.timers.every(Duration::from_nanos(u64::MAX / 2));
    half_of_time.first_after(ms(1)).run(log.named("twice a time")).unwrap();
    assert_eq!(rig.timers.at(beyond).run(|_| ()).unwrap_err().reason, Reason::Overflow);
    let (every, max) = (|period| rig.timers.every(period), Duration::MAX);
    for plan in [every(max), every(max).first_after(ms(1)), every(ms(1)).first_after(max)] {
        assert_eq!(plan.run(|_| ()).unwrap_err().reason, Reason::Overflow);
    }
    assert_eq!(rig.scheduler.play(&rig.clock, Moment::MAX), 4);
    let names: Vec<_> = log.take().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["twice a time", "twice a time", "last", "first of many"]);
    assert!(rig.timers.is_empty(), "a job ends if its next moment is out of range");
}

/// The runs of the same program on a backend.
fn runs_on(backend: impl Timer<JobIndex> + Send + 'static) -> Vec<u64> {
    let (mut rig, log) = (Rig::with(|builder| builder.backend(backend)), Log::default());
    for n in 0..500 {
        let delay = ms(n * n % 701);
        let plan = rig.timers.every(ms(50 + n)).first_after(delay).times(1 + n % 3);
        let plan = if n % 2 == 0 { plan.missed(Missed::Skip) } else { plan };
        let job = plan.run(log.times()).unwrap();
        match n % 7 {
            0 => drop(job.cancel().unwrap()),
            1 => job.refresh(ms(900 - n)).unwrap(),
            2 => job.refresh(ms(1)).unwrap(),
            _ => {}
        }
    }
    rig.play(3_000);
    assert!(rig.timers.is_empty());
    log.take()
}

/// The same jobs on every backend of the registry have the same runs at the same times.
#[test]
fn every_backend_runs_the_same_jobs_at_the_same_times() {
    let mut all = Vec::new();
    macro_rules! each {
        ($($backend:ty,)+) => {
            $(
                let backend = <$backend>::build::<JobIndex, NoMeter>();
                all.push((<$backend>::INFO.name, runs_on(backend)));
            )+
        };
    }
    wheelhouse_registry::for_each_backend!(each);
    assert!(all.len() >= 4 && all[0].1.len() > 800);
    for (name, runs) in &all {
        assert_eq!(runs, &all[0].1, "{name} and {}", all[0].0);
    }
}

/// Jitter delays runs, and does not change the schedule.
#[test]
fn with_jitter_each_run_is_late_by_up_to_as_much_and_nothing_drifts() {
    let (mut rig, log) = (Rig::new(), Log::default());
    for missed in [Missed::Burst, Missed::Skip, Missed::Delay] {
        let begin = rig.timers.now();
        let plan = rig.timers.every(ms(100)).missed(missed).jitter(ms(90)).times(1000);
        let late = log.job(move |run| run.deadline().saturating_since(begin));
        let job = plan.run(late).unwrap();
        rig.pass(ms(200_000));
        assert_eq!((job.status(), rig.timers.snapshot().counts.missed), (Status::Finished, 0));
        is_spread(&(1..).zip(log.take()).map(|(n, at)| at - n * ms(100)).collect::<Vec<_>>());
    }
    // A rule keeps its times.
    let (times, seen) = (log.clone(), Log::default());
    let log_of_times = seen.clone();
    let start = rig.timers.now().since_origin();
    let job = rig.timers.on(each_second).jitter(ms(90)).times(1000).run(move |run| {
        let time = run.time().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        log_of_times.push(time - start);
        times.push(run.deadline().since_origin() - time);
    });
    rig.pass(ms(1_100_000));
    assert_eq!(job.unwrap().status(), Status::Finished);
    assert_eq!(seen.take(), (1..=1000).map(Duration::from_secs).collect::<Vec<_>>());
    is_spread(&log.take());
}

/// Delays by a jitter of 90 ms.
fn is_spread(late: &[Duration]) {
    assert!(late.iter().all(|late| *late <= ms(90)), "{late:?}");
    for third in [0, 30, 60].map(ms) {
        let within = late.iter().filter(|late| (third..third + ms(30)).contains(late)).count();
        assert!(within > 200, "spread evenly: {within} from {third:?}");
    }
}

/// From values that are sent once, periodically and by a rule, and from a future.
#[test]
fn values_arrive_at_the_times_of_a_rule() {
    let (mut rig, (sender, receiver)) = (Rig::new(), unbounded());
    rig.timers.after(ms(1_500)).send(&sender, "once").unwrap();
    rig.timers.every(ms(2_500)).times(2).send(&sender, "often").unwrap();
    let plan = rig.timers.on(each_second).times(3).named("beat");
    let job = plan.send(&sender, "sent").unwrap();
    let sends = sender.clone();
    let future = rig.timers.on(each_second).times(3).run_async(move |run| {
        assert_eq!(run.time(), Some(SystemTime::UNIX_EPOCH + run.deadline().since_origin()));
        let sender = sends.clone();
        async move { sender.send("from a future").unwrap() }
    });
    let mut arrived = Vec::new();
    for now in (0..=5_000).step_by(500) {
        rig.play(now);
        arrived.extend(receiver.try_iter().map(|value| (now, value)));
    }
    let [first, second, third] =
        [1_000, 2_000, 3_000].map(|now| [(now, "sent"), (now, "from a future")]);
    let [once, often] = [[(1_500, "once")], [(2_500, "often")]];
    let all = [&first[..], &once, &second, &often, &third, &[(5_000, "often")]];
    assert_eq!(arrived, all.concat());
    assert_eq!((job.status(), job.name(), job.runs()), (Status::Finished, Some("beat"), 3));
    assert_eq!(future.unwrap().status(), Status::Finished);
    drop(sender);
    assert!(receiver.recv().is_err(), "the service has no sender any more");
}
