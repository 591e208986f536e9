//! Limits, invalid input, and the stop: each refusal is typed and returns the job.

use crate::common::{Log, Rig, at, ms};
use std::time::Duration;
use wheelhouse_service::{BuildError, ChangeError, DueRun, Reason, Scheduler, Service, Status};

#[test]
fn what_cannot_be_is_refused() {
    let rig = Rig::new();
    let every = |period| rig.timers.every(period).first_after(ms(1));
    assert_eq!(every(ms(0)).run(|_| ()).unwrap_err().reason, Reason::ZeroPeriod);
    assert_eq!(
        every(Duration::from_micros(999)).run(|_| ()).unwrap_err().reason,
        Reason::PeriodBelowTick(ms(1))
    );
    assert_eq!(every(ms(1)).times(0).run(|_| ()).unwrap_err().reason, Reason::ZeroTimes);
    assert_eq!(every(ms(0)).run_overlapping(|_| ()).unwrap_err().reason, Reason::ZeroPeriod);
    assert_eq!(rig.timers.snapshot().counts.rejected, 4);
    assert!(rig.timers.is_empty());
    assert!(every(ms(1)).times(1).run(|_| ()).is_ok());
}

/// A rig that accepts no more jobs.
fn full() -> Rig {
    let rig = Rig::with(|builder| builder.max_jobs(1));
    rig.timers.after(ms(1000)).run(|_| ()).unwrap();
    rig
}

/// The remedy in a message, which is the part after the colon.
fn remedy(error: impl std::fmt::Display) -> String {
    let message = error.to_string();
    message.split_once(": ").unwrap_or_else(|| panic!("no remedy: {message}")).1.to_owned()
}

#[test]
fn who_is_refused_is_told_what_to_do_instead() {
    let rig = Rig::new();
    let every = |period| rig.timers.every(period);
    assert_eq!(remedy(every(ms(0)).run(|_| ()).unwrap_err()), "use `after` for a single run");
    assert_eq!(
        remedy(every(ms(1)).times(0).run(|_| ()).unwrap_err()),
        "omit `times` to repeat forever"
    );
    let after = |time| rig.timers.after(time);
    assert_eq!(
        remedy(after(ms(1)).key("").run(|_| ()).unwrap_err()),
        "leave `key` out for a job without one"
    );
    let far = "at most 584 years from the clock's origin";
    assert_eq!(remedy(after(Duration::MAX).run(|_| ()).unwrap_err()), far);
    let job = after(ms(1)).key("key").run(|_| ()).unwrap();
    assert_eq!(remedy(job.refresh(Duration::MAX).unwrap_err()), far);
    assert!(
        remedy(after(ms(1)).key("key").run(|_| ()).unwrap_err())
            .starts_with("refresh or cancel that one")
    );
    let past = rig.timers.on(|_| None).run(|_| ()).unwrap_err();
    assert_eq!(remedy(past), "its years have passed, or it returns past times");
    assert!(
        remedy(full().timers.after(ms(1)).run(|_| ()).unwrap_err()).starts_with("raise `max_jobs`")
    );
}

/// As in `Service::start()?.handle()`, which drops the service at once.
#[test]
fn who_has_dropped_the_service_is_told_to_keep_it() {
    let timers = Service::start().unwrap().handle();
    let stopped = "the service has been stopped or dropped: keep the `Service` alive while jobs \
                   must run";
    assert_eq!(timers.after(ms(1)).run(|_| ()).unwrap_err().to_string(), stopped);
    assert_eq!(timers.refresh("key", ms(1)).unwrap_err().to_string(), stopped);
}

/// The documentation of `Rejected` warns of this.
#[test]
fn the_reason_is_found_again_only_if_it_was_passed_on_alone() {
    type Boxed = Box<dyn std::error::Error + Send + Sync>;
    let rig = full();
    let plain = || -> Result<(), Boxed> {
        rig.timers.after(ms(1)).run(|_| ())?;
        Ok(())
    };
    let alone = || -> Result<(), Boxed> {
        rig.timers.after(ms(1)).run(|_| ()).map_err(Reason::from)?;
        Ok(())
    };
    assert_eq!(plain().unwrap_err().downcast_ref::<Reason>(), None);
    assert_eq!(alone().unwrap_err().downcast_ref(), Some(&Reason::LimitReached(1)));
}

#[test]
fn what_is_refused_comes_back_as_it_was() {
    let (sender, receiver) = crossbeam_channel::unbounded();
    let rig = full();
    let full = Reason::LimitReached(1);
    let text = "given back".to_owned();
    let job = move |_: &wheelhouse_service::Run<'_>| drop(text);
    let once = rig.timers.after(ms(1)).run(job).unwrap_err();
    assert_eq!(once.reason, full);
    assert_eq!(rig.timers.after(ms(1)).run(once.job).unwrap_err().reason, full);
    let rejected = rig.timers.after(ms(1)).send(&sender, "once".to_owned()).unwrap_err();
    assert_eq!((rejected.reason, rejected.job.as_str()), (full, "once"));
    let rejected = rig.timers.every(ms(1)).send(&sender, "often".to_owned()).unwrap_err();
    assert_eq!((rejected.reason, rejected.job.as_str()), (full, "often"));
    let mut runs = Vec::new();
    let mut rejected = rig.timers.every(ms(1)).run(move |run| runs.push(run.number())).unwrap_err();
    rejected = rig.timers.every(ms(1)).run(rejected.job).unwrap_err();
    assert_eq!(rejected.reason, full);
    let shared = rig.timers.every(ms(1)).run_overlapping(|_| ()).unwrap_err();
    assert_eq!(rig.timers.every(ms(1)).run_overlapping(shared.job).unwrap_err().reason, full);
    assert!(receiver.is_empty());
}

/// The closure and its captured values cannot be shared between threads, so the error with the job
/// in it cannot either.
#[test]
fn a_refusal_is_passed_on_without_the_job_where_that_cannot_go() {
    let witness = std::sync::Arc::new(());
    let held = std::cell::Cell::new(Some(witness.clone()));
    let rig = full();
    let schedule = || -> Result<(), Reason> {
        rig.timers.after(ms(1)).run(move |_| held.set(None))?;
        Ok(())
    };
    let pass_on = || -> Result<(), Box<dyn std::error::Error + Send + Sync>> { Ok(schedule()?) };
    let error = pass_on().unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&Reason::LimitReached(1)));
    assert_eq!(std::sync::Arc::strong_count(&witness), 1, "the job was dropped");
}

#[test]
fn no_more_jobs_than_allowed_and_each_that_is_over_makes_room() {
    let mut rig = Rig::with(|builder| builder.max_jobs(2));
    let after = |timers: &wheelhouse_service::Handle, n| {
        timers.after(ms(n)).run(|_| ()).map_err(|rejected| rejected.reason)
    };
    let first = after(&rig.timers, 10).unwrap();
    after(&rig.timers, 20).unwrap();
    assert_eq!(after(&rig.timers, 30).unwrap_err(), Reason::LimitReached(2));
    drop(first.cancel().unwrap());
    after(&rig.timers, 30).unwrap();
    assert_eq!(after(&rig.timers, 40).unwrap_err(), Reason::LimitReached(2));
    rig.play(20);
    after(&rig.timers, 40).unwrap();
    // A job that is refused for its key takes no room.
    rig.play(1000);
    rig.timers.after(ms(1)).key("key").run(|_| ()).unwrap();
    for _ in 0..3 {
        assert_eq!(
            rig.timers.after(ms(1)).key("key").run(|_| ()).unwrap_err().reason,
            Reason::DuplicateKey
        );
    }
    after(&rig.timers, 1).unwrap();
    assert_eq!(rig.timers.len(), 2);
}

#[test]
fn a_scheduler_that_cannot_be_is_not_built() {
    let error = |builder: wheelhouse_service::Builder| builder.build().unwrap_err();
    let tick = |tick| error(Scheduler::builder().tick(tick));
    assert!(matches!(tick(Duration::ZERO), BuildError::Tick(Duration::ZERO)));
    assert!(matches!(tick(Duration::MAX), BuildError::Tick(Duration::MAX)));
    assert!(matches!(error(Scheduler::builder().workers(0)), BuildError::Workers(0)));
    assert!(matches!(
        error(Scheduler::builder().slow_after(Duration::ZERO)),
        BuildError::SlowAfterZero
    ));
    assert_eq!(
        remedy(error(Scheduler::builder().slow_after(ms(0)))).split(',').next(),
        Some("each run would be reported")
    );
    assert!(matches!(error(Scheduler::builder().max_jobs(0)), BuildError::NoJobs));
    assert!(remedy(BuildError::NoJobs).ends_with("leave `max_jobs` out for no limit"));
    assert!(matches!(
        error(Scheduler::builder().max_jobs(usize::MAX)),
        BuildError::Limit(usize::MAX)
    ));
    assert_eq!(
        tick(Duration::ZERO).to_string(),
        "a tick of 0ns: it must be above zero and below 584 years"
    );
}

#[test]
fn of_workers_and_an_executor_the_one_called_last_holds() {
    let drops = |run: DueRun| drop(run);
    let refused = Scheduler::builder().executor(drops).workers(0).build().unwrap_err();
    assert!(matches!(refused, BuildError::Workers(0)), "workers were called last");
    let mut rig = Rig::with(|builder| builder.workers(0).executor(drops));
    rig.timers.after(ms(1)).run(|_| ()).unwrap();
    rig.play(1);
    assert_eq!(rig.timers.snapshot().counts.abandoned, 1, "the executor was");
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
    let left: Vec<_> =
        jobs.iter().map(|job| (job.handle().name().unwrap(), job.deadline(), job.runs())).collect();
    assert_eq!(left, [("first", at(13), 0), ("second", at(20), 1), ("third", at(30), 0)]);
    assert!(jobs.iter().all(|job| job.handle().status() == Status::Stopped));
    let counts = timers.snapshot().counts;
    assert_eq!(
        (counts.scheduled, counts.finished, counts.cancelled, counts.stopped, timers.len()),
        (5, 1, 1, 3, 0)
    );
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
    assert!(timers.keys().is_empty());
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
fn runs_that_were_handed_out_are_given_back_too() {
    let (mut rig, held) = Rig::with_held_runs();
    let log = Log::default();
    rig.timers.after(ms(10)).run(log.times()).unwrap();
    let periodic = rig.timers.every(ms(10)).run(log.times()).unwrap();
    rig.play(10);
    let mut runs = held.take();
    let Rig { scheduler, .. } = rig;
    // One of the two has begun and ended, so it waits for the next period.
    runs.remove(1).run();
    let jobs = scheduler.stop();
    assert_eq!(
        jobs.iter().map(|job| (job.deadline(), job.runs())).collect::<Vec<_>>(),
        [(at(10), 0), (at(20), 1)]
    );
    runs.into_iter().for_each(|run| run.run());
    assert_eq!((log.take(), periodic.status()), (vec![10], Status::Stopped));
}

#[test]
fn what_a_stopped_service_held_is_dropped() {
    let witness = std::sync::Arc::new(());
    let rig = Rig::new();
    for key in ["a", "b", "c"] {
        let (witness, timers) = (witness.clone(), rig.timers.clone());
        // Jobs with a handle form a reference cycle, which the stop must break.
        rig.timers.after(ms(1)).key(key).run(move |_| drop((witness, timers))).unwrap();
    }
    let timers = rig.timers.clone();
    drop(rig);
    assert_eq!(std::sync::Arc::strong_count(&witness), 1);
    assert!(timers.is_stopped());
}
