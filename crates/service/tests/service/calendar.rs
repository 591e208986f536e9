//! Calendar jobs, and jobs for a time of the wall clock. On a manual clock.

use crate::common::{Log, Rig, at, at_once, carry_out, ms, poll};
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime};
use wheelhouse_service::{
    Backoff, Clock, EventKind, Handle, JobHandle, ManualClock, Moment, OnRule, Reason, Run,
    Scheduler, Status, When,
};

const HOUR: u64 = 3600;

fn seconds(n: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(n)
}

/// A job that logs the wall-clock time, in seconds.
fn wall_times(log: &Log<u64>, clock: &ManualClock) -> impl FnMut(&Run<'_>) + Send + use<> {
    let clock = clock.clone();
    log.job(move |_| clock.wall().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
}

/// Each full hour.
fn hourly(after: SystemTime) -> Option<SystemTime> {
    let hours = after.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / HOUR;
    Some(seconds((hours + 1) * HOUR))
}

/// Otherwise a rule that names past times would run for ever.
#[test]
fn a_rule_that_goes_nowhere_is_refused_or_ends() {
    let mut rig = Rig::starting(seconds(1000));
    for past in [999, 1000] {
        let rejected = rig.timers.on(move |_| Some(seconds(past))).run(|_| ()).unwrap_err();
        assert_eq!(rejected.reason, Reason::NoOccurrence);
    }
    let job = rig.timers.on(|_| Some(seconds(2000))).run(|_| ()).unwrap();
    rig.pass(Duration::from_secs(HOUR));
    assert_eq!((job.runs(), job.status()), (1, Status::Finished));
}

#[test]
fn no_time_has_two_runs_when_the_wall_clock_is_set_back() {
    let (mut rig, log) = (Rig::starting(seconds(0)), Log::default());
    let run = log.job(|run| run.started().since_origin().as_secs());
    rig.timers.on(hourly).run(run).unwrap();
    rig.pass(Duration::from_secs(5000));
    rig.clock.set_wall(seconds(1400));
    rig.pass(Duration::from_secs(15_000));
    // 1:00 occurs twice and has no second run. 2:00 has not come yet when the clock is set back.
    assert_eq!(log.take(), [3600, 10_800, 14_400, 18_000]);
}

/// As after a suspend of the machine: by the service's clock a run would be hours late.
#[test]
fn a_wall_clock_that_is_set_forward_is_noticed_within_a_minute() {
    let (mut rig, log) = (Rig::starting(seconds(1000)), Log::default());
    rig.timers.on(hourly).run(wall_times(&log, &rig.clock)).unwrap();
    let once = rig.timers.at(seconds(4000)).run(wall_times(&log, &rig.clock)).unwrap();
    // No longer waits for the wall clock.
    let moved = rig.timers.at(seconds(4000)).run(|_| ()).unwrap();
    moved.refresh(Duration::from_secs(7351)).unwrap();
    rig.pass(Duration::from_secs(90));
    assert_eq!(once.remaining(), Some(Duration::from_secs(2910)));
    rig.clock.set_wall(seconds(3_590));
    assert_eq!(once.remaining(), Some(Duration::from_secs(410)));
    rig.pass(Duration::from_secs(60));
    let late = log.take();
    assert!(late.len() == 1 && (3600..=3650).contains(&late[0]), "{late:?}");
    rig.pass(Duration::from_secs(7200));
    assert_eq!(log.take(), [4000, 7200, 10_800]);
    assert_eq!(moved.remaining(), Some(Duration::from_secs(1)));
    // A check of the clock is not a run. Neither a check nor the next time of a rule counts as a
    // move by a caller.
    let counts = rig.timers.snapshot().counts;
    assert_eq!((counts.runs, counts.rescheduled), (4, 1));
}

/// A wall clock that is slowed down or sped up, as time servers do: no run is early, and none is
/// late by more than a tick.
#[test]
fn a_run_is_in_time_by_a_wall_clock_that_drifts() {
    struct Drifting(ManualClock, u64);
    impl Clock for Drifting {
        fn now(&self) -> Moment {
            self.0.now()
        }
        fn wall(&self) -> SystemTime {
            let parts = u128::from(self.0.now().as_nanos()) * u128::from(self.1) / 1_000_000;
            SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(parts).unwrap())
        }
    }
    for speed in [999_500, 999_999, 1_000_001, 1_000_500] {
        let (clock, log) = (ManualClock::new(), Log::default());
        let mut scheduler =
            Scheduler::builder().clock(Drifting(clock.clone(), speed)).build().unwrap();
        let wall = Drifting(clock.clone(), speed);
        let late = log.job(move |_| wall.wall().duration_since(seconds(50_000)).unwrap());
        scheduler.handle().at(seconds(50_000)).run(late).unwrap();
        scheduler.play(&clock, Moment::ORIGIN.saturating_add(Duration::from_secs(50_100)));
        let late = log.take();
        // A clock that is fast by 1/2000 gains 30 ms in a minute, the time between two checks.
        let allowed = if speed > 1_000_000 { ms(31) } else { ms(2) };
        assert!(late.len() == 1 && late[0] <= allowed, "{speed}: {late:?}");
    }
}

/// The timer of the former deadline fires too late to notice that the wall clock was set. The
/// second job is due in the poll in which it is scheduled.
#[test]
fn a_job_that_is_moved_to_a_later_wall_clock_time_follows_that_clock() {
    let mut rig = Rig::starting(seconds(0));
    let timers = rig.timers.clone();
    let schedule = move |delay| {
        let job = timers.after(Duration::from_secs(delay)).run(|_| ()).unwrap();
        job.reschedule(seconds(2 * HOUR)).unwrap();
    };
    schedule(HOUR);
    rig.timers.after(Duration::ZERO).run(move |_| schedule(0)).unwrap();
    assert_eq!(rig.pass(Duration::from_secs(300)), 1);
    rig.clock.set_wall(seconds(2 * HOUR));
    assert_eq!(rig.pass(Duration::from_secs(60)), 2);
}

/// A report that runs hours late can tell which hour it is for, and how late it is. It makes up for
/// all hours that have passed. A job continues after a panic, an extra run replaces none of the
/// rule, and the job can end itself.
#[test]
fn a_run_knows_the_time_that_it_is_for() {
    let (mut rig, log) = (Rig::new(), Log::default());
    // After the origin, so that a deadline hours ago is a moment too.
    rig.clock.set(at(10_000_000));
    rig.clock.set_wall(seconds(1000));
    let seen = log.clone();
    let job = move |run: &Run<'_>| {
        seen.push((run.time(), run.lateness().as_secs()));
        match run.number() {
            1 => panic!("it continues nevertheless"),
            2 => run.job().refresh(Duration::from_secs(30)).unwrap(),
            4 => run.end(),
            _ => {}
        }
    };
    let job = rig.timers.on(hourly).run(job).unwrap();
    rig.pass(Duration::from_secs(2600));
    rig.clock.set_wall(seconds(16_200));
    rig.pass(Duration::from_secs(60));
    rig.pass(Duration::from_secs(10_000));
    let (times, late): (Vec<_>, Vec<_>) = log.take().into_iter().unzip();
    let [first, second, third] = [3600, 7200, 18_000].map(|time| Some(seconds(time)));
    assert_eq!((times, job.status()), (vec![first, second, None, third], Status::Finished));
    assert!((9000..=9060).contains(&late[1]) && late[0] + late[2] + late[3] == 0, "{late:?}");
}

/// After a minute, and only once, however many times of the rule have passed. If they passed during
/// a pause, that run only asks the rule.
#[test]
fn a_run_of_a_rule_that_an_executor_drops_is_tried_again() {
    let (drops, refuses) = (Log::default(), Arc::new(AtomicBool::new(true)));
    let (log, refused) = (drops.clone(), Arc::clone(&refuses));
    let spawn = move |run| if refused.load(Relaxed) { log.push(()) } else { carry_out(run) };
    let mut rig = Rig::with(|builder| builder.spawn_on(spawn));
    let job = rig.timers.on(hourly).run_async(|_| ready(())).unwrap();
    rig.clock.set(at(3 * HOUR * 1000));
    rig.pass(Duration::from_secs(59));
    assert_eq!((drops.len(), job.remaining()), (1, Some(Duration::from_secs(1))));
    rig.pass(Duration::from_secs(1));
    assert_eq!((drops.len(), job.runs()), (2, 0));
    refuses.store(false, Relaxed);
    rig.pass(Duration::from_secs(60));
    assert_eq!((job.runs(), job.remaining()), (1, Some(Duration::from_secs(HOUR - 120))));
    for pauses in [1, 2] {
        refuses.store(true, Relaxed);
        job.pause().unwrap();
        rig.pass(Duration::from_secs(3 * HOUR));
        job.resume().unwrap();
        rig.pass(Duration::ZERO);
        assert_eq!((drops.take().is_empty(), job.remaining()), (false, Some(ms(60_000))));
        refuses.store(false, Relaxed);
        if pauses == 2 {
            job.pause().unwrap();
        }
        rig.pass(Duration::from_secs(90));
        job.resume().unwrap();
        rig.pass(Duration::ZERO);
        let next = Duration::from_secs(HOUR - 120 - 90 * pauses);
        assert_eq!((job.runs(), job.remaining()), (1, Some(next)), "{pauses} pauses");
    }
}

/// Fault: the times were compared with a moment that was estimated before the pause. So a time that
/// had passed had a run, and a time to come had none.
#[test]
fn the_wall_clock_may_be_set_in_a_pause() {
    for [set, before, after, time] in [[8200, 120, 2700, 10_800], [100, 3000, 600, 3600]] {
        for extra in [false, true] {
            let (mut rig, log) = (Rig::starting(seconds(1000)), Log::default());
            let job = rig.timers.on(hourly).run(log.job(|run| run.time())).unwrap();
            job.pause().unwrap();
            if extra {
                job.run_now().unwrap();
                job.pause().unwrap();
            }
            rig.clock.set_wall(seconds(set));
            rig.pass(Duration::from_secs(before));
            job.resume().unwrap();
            rig.pass(Duration::from_secs(after));
            let expected = extra.then_some(None).into_iter().chain([Some(seconds(time))]);
            assert_eq!(log.take(), expected.collect::<Vec<_>>(), "set to {set}");
        }
    }
    // A single job runs at its time.
    let (mut rig, log) = (Rig::starting(seconds(1000)), Log::default());
    let job = rig.timers.at(seconds(8200)).run(wall_times(&log, &rig.clock)).unwrap();
    job.pause().unwrap();
    rig.clock.set_wall(seconds(8190));
    job.resume().unwrap();
    rig.pass(Duration::from_secs(20));
    assert_eq!(log.take(), [8200]);
}

type Planned = fn(&Handle, OnRule<'_>, Log<(u64, Option<SystemTime>)>) -> JobHandle;

/// Fault: the run after such a panic called the closure a minute later, for no time, also if it
/// only was to ask the rule. It counted as one of the `times`, and a retry did not replace it.
#[test]
fn a_rule_that_panics_once_is_asked_again_and_each_time_has_one_run() {
    fn job(log: Log<(u64, Option<SystemTime>)>) -> impl FnMut(&Run<'_>) + Send {
        move |run| log.push((run.timers().now().since_origin().as_secs(), run.time()))
    }
    let run: Planned = |_, plan, log| plan.run(job(log)).unwrap();
    let retried: Planned = |_, plan, log| {
        let mut body = job(log);
        let job = move |run: &Run<'_>| {
            body(run);
            Ok::<_, &str>(())
        };
        plan.retry(Backoff::new(Duration::from_secs(1))).try_run(job).unwrap()
    };
    let counted: Planned = |_, plan, log| plan.times(2).run(job(log)).unwrap();
    let polled: Planned = |_, plan, log| plan.run_async(at_once(job(log))).unwrap();
    let asked_after_pause: Planned = |timers, plan, log| {
        let paused = plan.run(job(log)).unwrap();
        paused.pause().unwrap();
        let its = paused.clone();
        timers.after(Duration::from_secs(4000)).run(move |_| its.resume().unwrap()).unwrap();
        paused
    };
    for (schedule, hours, end) in [
        (run, vec![1, 2, 3], Status::Pending),
        (retried, vec![1, 2, 3], Status::Pending),
        (counted, vec![1, 2], Status::Finished),
        (polled, vec![1, 2, 3], Status::Pending),
        (asked_after_pause, vec![2, 3], Status::Pending),
    ] {
        let ((mut rig, events), log) = (Rig::with_events(), Log::default());
        let mut asked = 0;
        let rule = move |after| {
            asked += 1;
            assert!(asked != 2, "not now");
            hourly(after)
        };
        let job = schedule(&rig.timers, rig.timers.on(rule), log.clone());
        rig.pass(Duration::from_secs(3 * HOUR + 600));
        let expected: Vec<_> = hours.iter().map(|n| (n * HOUR, Some(seconds(n * HOUR)))).collect();
        assert_eq!((log.take(), job.status()), (expected, end));
        assert_eq!(events.kinds(), [EventKind::Panicked("not now".to_owned())]);
        assert_eq!(job.last_error().as_deref(), Some("not now"));
        assert_eq!(rig.timers.snapshot().counts.panicked, 1);
    }
}

/// Fault: it was for no time.
#[test]
fn a_run_of_a_rule_that_is_tried_again_is_for_the_same_time() {
    let (log, refuses) = (Log::default(), Arc::new(AtomicBool::new(true)));
    let refused = Arc::clone(&refuses);
    let spawn = move |run| if refused.load(Relaxed) { drop(run) } else { carry_out(run) };
    let mut rig = Rig::with(|builder| builder.spawn_on(spawn));
    let job = rig.timers.on(hourly).run_async(at_once(log.job(|run| run.time()))).unwrap();
    rig.pass(Duration::from_secs(HOUR + 90));
    job.run_now().unwrap();
    refuses.store(false, Relaxed);
    rig.pass(Duration::from_secs(HOUR));
    let times = [None, Some(seconds(HOUR)), Some(seconds(2 * HOUR))];
    assert_eq!(log.take(), times);
}

/// When a job first runs: this long ago.
type First = fn(&Rig, Duration) -> When;

/// Fault: after a past `Instant`, the periods counted from the present. Those of an interval after
/// a past `SystemTime` too.
#[test]
fn a_past_first_time_means_the_same_by_each_clock() {
    let (minute, seconds) = (Duration::from_secs(60), Duration::from_secs);
    let by_moment = |_: &Rig, past: Duration| at(3_600_000 - past.as_millis() as u64).into();
    let by_time = |rig: &Rig, past| (rig.clock.wall() - past).into();
    let by_instant = |_: &Rig, past: Duration| (Instant::now() - past).into();
    let firsts: [First; 3] = [by_moment, by_time, by_instant];
    for first in firsts {
        let mut rig = Rig::new();
        rig.clock.set(at(3_600_000));
        let plan = || rig.timers.every(minute).slack(ms(0)).first_at(first(&rig, seconds(90)));
        let (job, mut interval) = (plan().run(|_| ()).unwrap(), plan().interval().unwrap());
        let mut beat = || poll(&mut pin!(interval.tick()));
        assert!(beat().is_pending());
        rig.scheduler.poll(rig.clock.now());
        assert_eq!((job.runs(), beat().is_ready()), (1, true));
        // The clock of an `Instant` advances during the test.
        let left = job.remaining().unwrap();
        assert!((seconds(5)..=seconds(30)).contains(&left), "{left:?}");
        assert!(beat().is_pending());
        rig.pass(minute / 2);
        let Poll::Ready(Some(Ok(second))) = beat() else { panic!("it is due") };
        assert_eq!((job.runs(), second.missed), (2, 1));
    }
    // The origin is the first moment.
    let mut rig = Rig::new();
    rig.clock.set(at(90_000));
    let plan = rig.timers.every(minute).slack(ms(0));
    let job = plan.first_at(rig.clock.wall() - 3 * minute).run(|_| ()).unwrap();
    rig.pass(ms(0));
    assert_eq!((job.runs(), job.remaining()), (1, Some(seconds(30))));
}

/// Otherwise a driver that sleeps for hours would check the wall clock only after hours.
#[test]
fn a_driver_that_sleeps_is_woken_to_look_at_the_wall_clock() {
    let (mut rig, woken) = (Rig::starting(seconds(0)), Log::default());
    let log = woken.clone();
    rig.scheduler.set_waker(Arc::new(move || log.push(())));
    let near = rig.timers.after(Duration::from_secs(4 * HOUR)).run(|_| ()).unwrap();
    rig.scheduler.poll(rig.clock.now());
    assert!(rig.scheduler.next_wakeup().is_some_and(|wakeup| wakeup > at(60_000)));
    rig.timers.after(Duration::from_secs(9 * HOUR)).run(|_| ()).unwrap();
    assert_eq!(woken.len(), 0);
    rig.timers.at(seconds(9 * HOUR)).run(|_| ()).unwrap();
    assert_eq!(woken.len(), 1);
    rig.scheduler.poll(rig.clock.now());
    assert!(
        near.is_pending() && rig.scheduler.next_wakeup().is_some_and(|wakeup| wakeup <= at(60_000))
    );
}

#[test]
fn a_poll_with_a_time_of_its_own_ends() {
    let mut rig = Rig::starting(seconds(0));
    let job = rig.timers.at(seconds(1000)).run(|_| ()).unwrap();
    for second in [0, 60, 120, 999, 1001] {
        rig.scheduler.poll(at(second * 1000));
    }
    assert_eq!((job.runs(), rig.clock.now()), (1, Moment::ORIGIN));
}
