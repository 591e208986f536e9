//! Runs that fail, and are retried.

use crate::common::{Log, Rig, each_second, ms, poll};
use std::future::ready;
use std::time::Duration;
use wheelhouse_service::{Backoff, ChangeError, EventKind, Reason, Run, Status};

/// A job that fails in the runs with these numbers. It logs when each run began, in milliseconds,
/// and the number of the attempt.
fn fails(
    log: &Log<(u64, u32)>,
    numbers: &'static [u64],
) -> impl FnMut(&Run<'_>) -> Result<(), String> + Send + use<> {
    let log = log.clone();
    move |run| {
        log.push((run.started().as_nanos() / 1_000_000, run.attempt()));
        let failed = numbers.contains(&run.number());
        if failed { Err(format!("number {}", run.number())) } else { Ok(()) }
    }
}

#[test]
fn a_single_job_is_tried_until_it_succeeds_and_keeps_its_key() {
    let ((mut rig, events), log) = (Rig::with_events(), Log::default());
    let job = rig.timers.after(ms(10)).key("order").retry(Backoff::new(ms(10)));
    let job = job.try_run(fails(&log, &[1, 2])).unwrap();
    rig.play(15);
    assert_eq!((job.status(), job.last_error()), (Status::Pending, Some("number 1".to_owned())));
    let taken = rig.timers.after(ms(1)).key("order").run(|_| ()).unwrap_err();
    assert_eq!(taken.reason, Reason::DuplicateKey);
    rig.play(1000);
    assert_eq!(log.take(), [(10, 1), (20, 2), (40, 3)]);
    assert_eq!((job.status(), job.runs(), rig.timers.len()), (Status::Finished, 3, 0));
    assert_eq!(rig.timers.snapshot().keys, 0);
    assert_eq!(events.kinds(), [1, 2].map(|n| EventKind::Failed(format!("number {n}"))));
    assert_eq!(rig.timers.snapshot().counts.failed, 2);
}

#[test]
fn it_is_given_up_after_so_many_tries() {
    let ((mut rig, events), log) = (Rig::with_events(), Log::default());
    let backoff = Backoff::new(ms(10)).cap(ms(15)).attempts(3);
    let job = rig.timers.after(ms(10)).retry(backoff).try_run(fails(&log, &[1, 2, 3, 4])).unwrap();
    rig.play(1000);
    assert_eq!(log.take(), [(10, 1), (20, 2), (35, 3)]);
    assert_eq!((job.status(), job.last_error()), (Status::Finished, Some("number 3".to_owned())));
    assert_eq!(events.kinds().pop(), Some(EventKind::GaveUp("number 3".to_owned())));
}

/// Giving up is reported however the last attempt failed.
#[test]
fn that_it_is_given_up_is_told_after_a_panic_too() {
    let (mut rig, events) = Rig::with_events();
    let plan = rig.timers.every(ms(100)).times(2).retry(Backoff::new(ms(10)).attempts(2));
    let job = plan.try_run(|run| match run.number() {
        1..=3 => panic!("number {}", run.number()),
        _ => Ok::<(), String>(()),
    });
    job.unwrap();
    rig.play(1000);
    let panicked = |n| EventKind::Panicked(format!("number {n}"));
    let gave_up = EventKind::GaveUp("number 2".to_owned());
    assert_eq!(events.kinds(), [panicked(1), panicked(2), gave_up, panicked(3)]);
    let counts = rig.timers.snapshot().counts;
    assert_eq!((counts.panicked, counts.failed, counts.gave_up), (3, 0, 1));
}

/// So that a retried report is for the night of its first attempt.
#[test]
fn another_try_is_for_the_time_of_the_first() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let times = log.clone();
    let job =
        rig.timers.on(each_second).retry(Backoff::new(ms(10)).attempts(3)).try_run(move |run| {
            times.push((run.number(), run.time()));
            if run.number() <= 2 { Err("no") } else { Ok(()) }
        });
    let job = job.unwrap();
    let first = job.next_time();
    assert!(first.is_some());
    rig.play(1500);
    job.run_now().unwrap();
    rig.play(2500);
    let next = first.map(|time| time + Duration::from_secs(1));
    assert_eq!(log.take(), [(1, first), (2, first), (3, first), (4, None), (5, next)]);
}

#[test]
fn without_a_backoff_an_error_is_kept_and_reported() {
    let ((mut rig, events), log) = (Rig::with_events(), Log::default());
    let once = rig.timers.after(ms(1)).try_run(fails(&log, &[1])).unwrap();
    let again = rig.timers.every(ms(10)).times(2).try_run(fails(&log, &[1])).unwrap();
    rig.play(100);
    assert_eq!([&once, &again].map(|job| job.runs()), [1, 2]);
    assert!([&once, &again].iter().all(|job| job.last_error().is_some()));
    assert!(events.take().iter().all(|event| matches!(event.kind, EventKind::GaveUp(_))));
}

#[test]
fn tries_leave_a_schedule_as_it_is() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let plan = rig.timers.every(ms(100)).times(3).retry(Backoff::new(ms(30)).attempts(5));
    // The third attempt of the first run is due after the second period.
    let job = plan.try_run(fails(&log, &[1, 2, 4])).unwrap();
    rig.play(10_000);
    assert_eq!(log.take(), [(100, 1), (130, 2), (190, 3), (200, 1), (230, 2), (300, 1)]);
    assert_eq!((job.status(), job.runs()), (Status::Finished, 6));
    let plan = rig.timers.every(ms(100)).times(2).retry(Backoff::new(ms(90)).attempts(3));
    let from = 10_000;
    plan.try_run(fails(&log, &[1, 2, 3])).unwrap();
    rig.play(from + 10_000);
    // The next period is the next attempt. The last period is retried too.
    let times = [(100, 1), (190, 2), (200, 3)];
    assert_eq!(log.take(), times.map(|(time, attempt)| (from + time, attempt)));
}

#[test]
fn a_panic_is_a_failure() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let times = log.clone();
    let job = rig.timers.every(ms(100)).retry(Backoff::new(ms(10))).run(move |run| {
        times.push(run.started().as_nanos() / 1_000_000);
        assert_ne!(run.number(), 1, "it breaks");
    });
    let job = job.unwrap();
    rig.play(250);
    assert_eq!(log.take(), [100, 110, 200]);
    assert!(job.last_error().is_some_and(|error| error.contains("it breaks")));
}

#[test]
fn a_cancellation_during_a_try_is_the_end() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let times = log.clone();
    let job = rig.timers.after(ms(10)).key("k").retry(Backoff::new(ms(10))).try_run(move |run| {
        times.push(());
        assert_eq!(run.job().refresh(ms(5)).err(), Some(ChangeError::Running));
        assert_eq!(run.job().cancel().err(), Some(ChangeError::Running));
        Err::<(), _>("no")
    });
    let job = job.unwrap();
    rig.play(1000);
    assert_eq!((log.len(), job.status()), (1, Status::Cancelled));
    assert!(rig.timers.is_empty() && rig.timers.snapshot().keys == 0);
}

#[test]
fn tries_without_delay_keep_no_poll_from_returning() {
    let mut rig = Rig::new();
    let job = rig.timers.after(ms(0)).retry(Backoff::new(Duration::ZERO));
    let job = job.try_run(|_| Err::<(), _>("no")).unwrap();
    for runs in 1..5 {
        assert_eq!((rig.stall(0), job.runs()), (1, runs));
    }
}

#[test]
fn a_future_that_fails_or_takes_too_long_is_tried_again() {
    let (mut rig, runs, _) = Rig::with_kept_futures();
    let plan = rig.timers.after(ms(10)).limit(ms(5)).retry(Backoff::new(ms(10)));
    let job = plan.try_run_async(|run| {
        let number = run.number();
        async move {
            match number {
                1 => Err("no"),
                2 => std::future::pending().await,
                _ => ready(Ok(())).await,
            }
        }
    });
    let job = job.unwrap();
    rig.play(10);
    assert!(poll(&mut runs.one()).is_ready());
    rig.play(20);
    let mut second = runs.one();
    assert!(poll(&mut second).is_pending());
    rig.play(25);
    assert!(poll(&mut second).is_ready());
    assert_eq!(job.last_error().as_deref(), Some("ended at its limit of 5ms"));
    rig.play(44);
    assert!(runs.take().is_empty(), "the second delay is twice as long");
    rig.play(45);
    assert!(poll(&mut runs.one()).is_ready());
    assert_eq!((job.status(), job.runs()), (Status::Finished, 3));
}

#[test]
fn a_run_that_fails_and_ends_its_job_is_not_retried() {
    let mut rig = Rig::new();
    let fails_and_ends = |run: &Run<'_>| {
        run.end();
        Err::<(), _>("it failed")
    };
    let backoff = Backoff::new(ms(10));
    let jobs = [
        rig.timers.after(ms(10)).retry(backoff).try_run(fails_and_ends).unwrap(),
        rig.timers.every(ms(10)).retry(backoff).try_run(fails_and_ends).unwrap(),
    ];
    rig.play(1000);
    for job in jobs {
        let (runs, status, error) = (job.runs(), job.status(), job.last_error());
        assert_eq!((runs, status, error.as_deref()), (1, Status::Finished, Some("it failed")));
    }
}
