//! Limits, invalid input, and the stop: each refusal is typed and returns the job. And groups of
//! jobs of which at most N runs are in progress at once.

use crate::common::{
    Log, PATIENCE, Rig, at, at_once, carry_out, ms, poll, start_workers, wait_until,
};
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use wheelhouse_service::{
    AsyncRun, ChangeError, EventKind, Group, Reason, Rejected, Run, Scheduler, Service, Status,
    Stop,
};

/// A rig that accepts no more jobs.
fn full() -> Rig {
    let rig = Rig::with(|builder| builder.max_jobs(1));
    rig.timers.after(ms(1000)).run(|_| ()).unwrap();
    rig
}

/// The reason of a refusal, and its message. A `main` that returns the error prints it by `Debug`.
fn refused<T, F>(scheduled: Result<T, Rejected<F>>) -> (Reason, String) {
    let Err(rejected) = scheduled else { panic!("it is accepted") };
    assert_eq!(format!("{rejected:?}"), rejected.to_string());
    (rejected.reason, rejected.to_string())
}

#[test]
fn what_cannot_be_is_refused() {
    let rig = Rig::new();
    let every = |period| rig.timers.every(period);
    let after = |time| rig.timers.after(time);
    let job = after(ms(1)).key("key").run(|_| ()).unwrap();
    let full = full();
    let dropped = Service::start().unwrap().handle();
    let (far, below) = ("at most 584 years", Duration::from_micros(999));
    let keep = "keep the `Service` alive while jobs must run";
    for ((reason, message), expected, remedy) in [
        (refused(every(ms(0)).run(|_| ())), Reason::ZeroPeriod, "use `after` for a single run"),
        (refused(every(below).run(|_| ())), Reason::PeriodBelowTick(ms(1)), "a shorter tick"),
        (refused(every(ms(1)).times(0).run(|_| ())), Reason::ZeroTimes, "omit `times` to repeat"),
        (refused(after(ms(1)).key("").run(|_| ())), Reason::EmptyKey, "leave `key` out"),
        (refused(after(Duration::MAX).run(|_| ())), Reason::Overflow, far),
        (
            refused(after(ms(1)).key("key").run(|_| ())),
            Reason::DuplicateKey,
            "refresh or cancel that one, or schedule by `replacing`",
        ),
        (refused(rig.timers.on(|_| None).run(|_| ())), Reason::NoOccurrence, "returns past times"),
        (
            refused(full.timers.after(ms(1)).run(|_| ())),
            Reason::LimitReached(1),
            "raise `max_jobs`",
        ),
        // As in `Service::start()?.handle()`, which drops the service at once.
        (refused(dropped.after(ms(1)).run(|_| ())), Reason::Stopped, keep),
    ] {
        assert_eq!(reason, expected, "{message}");
        let (_, its) = message.split_once(": ").unwrap_or_else(|| panic!("no remedy: {message}"));
        assert!(its.contains(remedy), "{message}");
    }
    for (error, remedy) in [
        (job.refresh(Duration::MAX).unwrap_err(), far),
        (rig.timers.cancel("b").unwrap_err(), "no job has this key"),
        (dropped.refresh("key", ms(1)).unwrap_err(), keep),
    ] {
        assert_eq!(format!("{error:?}"), error.to_string());
        assert!(error.to_string().contains(remedy), "{error}");
    }
    assert_eq!((rig.timers.snapshot().counts.rejected, rig.timers.len()), (7, 1));
    assert!(every(ms(1)).times(1).run(|_| ()).is_ok());
}

#[test]
fn a_scheduler_that_cannot_be_is_not_built() {
    let scheduler = Scheduler::builder;
    for (builder, message) in [
        (scheduler().tick(ms(0)), "a tick of 0ns: it must be above zero and below 584 years"),
        (scheduler().tick(Duration::MAX), "below 584 years"),
        (scheduler().workers(0), "a number from 1 to 65534"),
        (scheduler().slow_after(ms(0)), "each run would be reported"),
        (scheduler().max_jobs(0), "leave `max_jobs` out for no limit"),
        (scheduler().max_jobs(usize::MAX), "at most 2147483648"),
    ] {
        let refused = builder.build().unwrap_err();
        assert!(refused.to_string().contains(message), "{refused}");
    }
}

#[test]
fn what_is_refused_comes_back_as_it_was() {
    let (mut rig, log) = (Rig::new(), Log::default());
    rig.timers.after(ms(10)).key("session").run(log.named("first")).unwrap();
    let second = rig.timers.after(ms(20)).key("session").run(log.named("second")).unwrap_err();
    rig.timers.after(ms(20)).key("another").run(second.job).unwrap();
    rig.play(100);
    assert_eq!(log.take(), [(10, "first"), (20, "second")]);

    let (sender, receiver) = crossbeam_channel::unbounded();
    let rig = full();
    let full = Reason::LimitReached(1);
    let text = "given back".to_owned();
    let job = move |_: &Run<'_>| drop(text);
    let once = rig.timers.after(ms(1)).run(job).unwrap_err();
    assert_eq!(rig.timers.after(ms(1)).run(once.job).unwrap_err().reason, full);
    let rejected = rig.timers.after(ms(1)).send(&sender, "once".to_owned()).unwrap_err();
    assert_eq!((rejected.reason, rejected.job.as_str()), (full, "once"));
    let rejected = rig.timers.every(ms(1)).send(&sender, "often".to_owned()).unwrap_err();
    assert_eq!((rejected.reason, rejected.job.as_str()), (full, "often"));
    let mut runs = Vec::new();
    let rejected = rig.timers.every(ms(1)).run(move |run| runs.push(run.number())).unwrap_err();
    assert_eq!(rig.timers.every(ms(1)).run(rejected.job).unwrap_err().reason, full);
    assert!(receiver.is_empty());
}

#[test]
fn no_more_jobs_than_allowed_and_each_that_is_over_makes_room() {
    let mut rig = Rig::with(|builder| builder.max_jobs(2));
    let timers = rig.timers.clone();
    let after = |n| timers.after(ms(n)).run(|_| ()).map_err(Reason::from);
    let first = after(10).unwrap();
    after(20).unwrap();
    assert_eq!(after(30).unwrap_err(), Reason::LimitReached(2));
    drop(first.cancel().unwrap());
    after(30).unwrap();
    assert_eq!(after(40).unwrap_err(), Reason::LimitReached(2));
    rig.play(20);
    after(40).unwrap();
    // A job that is refused for its key takes no room.
    rig.play(1000);
    timers.after(ms(1)).key("key").run(|_| ()).unwrap();
    for _ in 0..3 {
        let refused = timers.after(ms(1)).key("key").run(|_| ()).unwrap_err().reason;
        assert_eq!(refused, Reason::DuplicateKey);
    }
    after(1).unwrap();
    assert_eq!(timers.len(), 2);
}

#[test]
fn stopping_gives_back_what_did_not_run_in_the_order_of_deadlines() {
    let (mut rig, log) = (Rig::new(), Log::default());
    rig.timers.after(ms(30)).named("third").run(log.named("third")).unwrap();
    rig.timers.every(ms(10)).named("second").run(log.named("second")).unwrap();
    rig.timers.after(ms(5)).named("over").run(log.named("over")).unwrap();
    rig.play(12);
    // Not polled yet.
    rig.timers.after(ms(1)).named("first").run(log.named("first")).unwrap();
    drop(rig.timers.after(ms(1)).run(log.named("cancelled")).unwrap().cancel().unwrap());
    assert_eq!(log.take(), [(5, "over"), (10, "second")]);

    let Rig { scheduler, timers, .. } = rig;
    let jobs = scheduler.stop();
    let left = jobs.iter().map(|job| (job.handle().name().unwrap(), job.deadline(), job.runs()));
    assert!(left.eq([("first", at(13), 0), ("second", at(20), 1), ("third", at(30), 0)]));
    assert!(jobs.iter().all(|job| job.handle().status() == Status::Stopped));
    let counts = timers.snapshot().counts;
    assert_eq!((counts.finished, counts.cancelled, counts.stopped, timers.len()), (1, 1, 3, 0));
    jobs.into_iter().for_each(|job| job.run());
    assert_eq!(log.take(), [(12, "first"), (12, "second"), (12, "third")]);
}

/// Bug B4: adding or removing a task after the stop blocks for ever.
#[test]
fn after_the_stop_everything_answers_and_nothing_blocks() {
    let rig = Rig::new();
    let job = rig.timers.after(ms(30)).key("key").run(|_| ()).unwrap();
    let Rig { scheduler, timers, .. } = rig;
    drop(scheduler);
    assert!(timers.is_stopped());
    assert_eq!((job.status(), job.cancel().unwrap_err()), (Status::Stopped, ChangeError::Stopped));
    assert_eq!(job.refresh(ms(1)), Err(ChangeError::Stopped));
    assert_eq!(timers.snapshot().keys, 0);
    for key in ["key", "never heard of"] {
        assert_eq!(timers.cancel(key).unwrap_err(), ChangeError::Stopped, "{key}");
        assert_eq!(timers.refresh(key, ms(1)), Err(ChangeError::Stopped), "{key}");
    }
    for _ in 0..1000 {
        let rejected = timers.after(ms(1)).key("key").run(|_| ()).unwrap_err();
        assert_eq!(rejected.reason, Reason::Stopped);
    }
    assert_eq!((timers.len(), timers.snapshot().counts.rejected), (0, 1000));
}

#[test]
fn no_more_runs_go_on_at_once_and_all_have_their_turn() {
    for workers in [1, 2] {
        let (service, timers) = start_workers(workers);
        let (group, now) = (Group::new(2), Arc::new(AtomicUsize::new(0)));
        let counted = || {
            let now = Arc::clone(&now);
            move |_: &Run<'_>| {
                assert!(now.fetch_add(1, Ordering::SeqCst) < 2, "too many at once");
                thread::sleep(ms(1));
                now.fetch_sub(1, Ordering::SeqCst);
            }
        };
        for _ in 0..20 {
            timers.after(ms(1)).group(&group).run(counted()).unwrap();
        }
        let periodic = timers.every(ms(1)).times(10).group(&group).run(counted()).unwrap();
        let stopped = service.stop(Stop::Drain(PATIENCE));
        let counts = timers.snapshot().counts;
        assert_eq!((stopped.jobs.len(), counts.runs, counts.panicked), (0, 30, 0));
        // A thread frees the place of its run a moment after the end of the run.
        wait_until(|| group.running() == 0);
        assert_eq!((group.waiting(), periodic.status()), (0, Status::Finished));
    }
}

#[test]
fn who_waits_can_be_cancelled_and_moved_and_comes_in_order_however_a_run_ends() {
    let ((mut rig, held, events), log) = (Rig::with_kept_futures(), Log::default());
    let group = Group::new(1);
    let job = |n: u64| {
        let log = log.clone();
        let run = move |_: &Run<'_>| {
            log.push(n);
            assert!(n != 1, "it breaks");
        };
        rig.timers.after(ms(n)).group(&group).run_async(at_once(run)).unwrap()
    };
    let jobs = [1, 2, 3, 4, 5, 6].map(job);
    rig.play(10);
    assert_eq!((group.running(), group.waiting()), (1, 5));
    drop(jobs[1].cancel().unwrap());
    jobs[2].refresh(ms(10)).unwrap();
    // One after the other, including runs whose turn is over, and one that is dropped.
    for n in 1..=6 {
        let run = held.one();
        if n == 5 { drop(run) } else { carry_out(run) }
    }
    assert_eq!((log.take(), group.running(), group.waiting()), (vec![1, 4, 6], 0, 0));
    assert!(matches!(&events.kinds()[..], [EventKind::Panicked(_), EventKind::Abandoned]));
    rig.play(20);
    carry_out(held.one());
    assert_eq!((log.take(), rig.timers.len()), (vec![3], 0));
    assert_eq!(rig.timers.snapshot().in_flight, 0);
}

#[test]
fn an_async_run_has_its_place_until_its_future_is_ready_or_dropped() {
    let (mut rig, runs, _) = Rig::with_kept_futures();
    let group = Group::new(1);
    for n in 1..=3 {
        drop(rig.timers.after(ms(n)).group(&group).run_async(|_| pending()).unwrap());
    }
    let (log, times) = (Log::default(), 4);
    drop(rig.timers.after(ms(times)).group(&group).run(log.times()).unwrap());
    rig.play(10);
    for waiting in [3, 2, 1] {
        let mut run = runs.one();
        assert!(poll(&mut run).is_pending());
        assert_eq!((group.running(), group.waiting(), log.len()), (1, waiting, 0));
    }
    rig.scheduler.poll(at(10));
    assert_eq!((group.running(), group.waiting(), log.take()), (0, 0, vec![10]));
    assert_eq!((rig.timers.len(), rig.timers.snapshot().in_flight), (0, 0));
}

#[test]
fn many_that_wait_take_no_stack() {
    let (mut rig, kept, _) = Rig::with_kept_futures();
    let group = Group::new(1);
    drop(rig.timers.after(ms(0)).group(&group).run_async(|_| pending()).unwrap());
    (0..100_000).for_each(|_| drop(rig.timers.after(ms(1)).group(&group).run(|_| ()).unwrap()));
    rig.play(10);
    assert_eq!(group.waiting(), 100_000);
    kept.take().clear();
    rig.scheduler.poll(at(10));
    assert_eq!((group.waiting(), rig.timers.len()), (0, 0));
}

#[test]
fn a_group_is_one_for_several_services() {
    let [(mut one, held, _), (mut two, held_too, _)] = [(); 2].map(|()| Rig::with_kept_futures());
    let group = Group::new(0);
    one.timers.after(ms(1)).group(&group).run_async(|_| ready(())).unwrap();
    two.timers.after(ms(1)).group(&group.clone()).run_async(|_| ready(())).unwrap();
    one.play(1);
    two.play(1);
    let take = |runs: Vec<AsyncRun>| runs.into_iter().map(carry_out).count();
    assert_eq!([take(held_too.take()), take(held.take()), take(held_too.take())], [0, 1, 1]);
}
