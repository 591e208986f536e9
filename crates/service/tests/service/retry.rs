//! Runs that fail, and are retried.

use crate::common::{Log, Rig, at, carry_out, each_second, ms, poll};
use std::future::{pending, ready};
use std::time::Duration;
use wheelhouse_service::{Backoff, ChangeError, Clock, EventKind, Reason, Run, Status};

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

/// So that a retried report is for the night of its first attempt. The rule is not asked for a
/// retry, nor for a run that is requested for now. Such a run and its retry are for no time.
#[test]
fn another_try_is_for_the_time_of_the_first() {
    let (mut rig, log, asked) = (Rig::new(), Log::default(), Log::default());
    let (times, asks) = (log.clone(), asked.clone());
    let rule = move |after| {
        asks.push(());
        each_second(after)
    };
    let job = rig.timers.on(rule).retry(Backoff::new(ms(10)).attempts(3)).try_run(move |run| {
        times.push((run.number(), run.time()));
        if [1, 2, 4].contains(&run.number()) { Err("no") } else { Ok(()) }
    });
    let job = job.unwrap();
    let first = job.next_time();
    assert!(first.is_some());
    rig.play(1500);
    job.run_now().unwrap();
    rig.play(2500);
    let next = first.map(|time| time + Duration::from_secs(1));
    let expected = [(1, first), (2, first), (3, first), (4, None), (5, None), (6, next)];
    assert_eq!(log.take(), expected);
    assert_eq!(asked.len(), 3, "when it was planned, and in the first run of each time");
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
fn a_future_that_fails_or_takes_too_long_is_tried_again() {
    let ((mut rig, events), log) = (Rig::with_events(), Log::default());
    let times = log.times();
    let plan = rig.timers.after(ms(10)).named("job").limit(ms(5)).retry(Backoff::new(ms(10)));
    let job = plan.try_run_async(move |run| {
        times(run);
        let number = run.number();
        async move {
            match number {
                1 => Err("no"),
                2 => pending().await,
                _ => Ok(()),
            }
        }
    });
    let job = job.unwrap();
    rig.play(30);
    assert_eq!(job.last_error().as_deref(), Some("ended at its limit of 5ms"));
    rig.play(100);
    assert_eq!(log.take(), [10, 20, 45], "the second delay is twice as long");
    assert_eq!(events.kinds(), [EventKind::Failed("no".to_owned()), EventKind::TimedOut(ms(5))]);
    assert_eq!((job.status(), job.runs()), (Status::Finished, 3));
}

/// Fault: a job that was dropped before an attempt began was over, without an event for its end.
#[test]
fn an_attempt_that_its_executor_drops_has_failed() {
    for begins in [false, true] {
        let (mut rig, held, events) = Rig::with_kept_futures();
        let plan = rig.timers.after(ms(10)).key("key").retry(Backoff::new(ms(10)).attempts(3));
        let job = plan.try_run_async(|_| pending::<Result<(), &str>>()).unwrap();
        for time in [10, 20, 40] {
            rig.play(time);
            assert_eq!(rig.timers.snapshot().keys, 1);
            let mut run = held.one();
            assert!(!begins || poll(&mut run).is_pending());
        }
        let why = "Abandoned".to_owned();
        assert_eq!(job.last_error().as_ref(), Some(&why));
        let [dropped, gave_up] = [EventKind::Abandoned, EventKind::GaveUp(why)];
        assert_eq!(events.kinds(), [dropped.clone(), dropped.clone(), dropped, gave_up]);
        let snapshot = rig.timers.snapshot();
        let left = (job.status(), snapshot.jobs, snapshot.keys, snapshot.in_flight);
        assert_eq!(left, (Status::Finished, 0, 0, 0));
    }
}

/// Fault: such an attempt did not count as a run, so the job had one more.
#[test]
fn an_attempt_that_was_dropped_is_one_of_the_runs_of_a_job() {
    for dropped in [[1000].as_slice(), &[1000, 1010]] {
        let ((mut rig, held, _), log) = (Rig::with_kept_futures(), Log::default());
        let logs = log.clone();
        let job = move |run: &Run<'_>| {
            logs.push(run.number());
            ready(Ok::<_, &str>(()))
        };
        let plan = rig.timers.every(ms(1000)).times(1).retry(Backoff::new(ms(10)));
        let job = plan.try_run_async(job).unwrap();
        for time in dropped {
            rig.play(*time);
            drop(held.one());
        }
        rig.play(1030);
        carry_out(held.one());
        rig.play(5000);
        assert_eq!((held.take().len(), job.status()), (0, Status::Finished));
        assert_eq!(log.take(), [dropped.len() as u64 + 1]);
    }
}

/// The next attempt is for the time of the one that was dropped. A periodic job keeps its schedule.
#[test]
fn after_an_attempt_that_was_dropped_the_next_knows_its_number_and_time() {
    let ((mut rig, held, _), log) = (Rig::with_kept_futures(), Log::default());
    let (backoff, time) = (Backoff::new(ms(10)), rig.clock.wall() + ms(100));
    let logs = log.clone();
    let job = move |run: &Run<'_>| {
        logs.push((run.started(), run.attempt(), run.time()));
        ready(Ok::<_, &str>(()))
    };
    let plan = rig.timers.every(ms(1000)).first_at(time).retry(backoff);
    plan.try_run_async(job).unwrap();
    for dropped in [100, 110] {
        rig.play(dropped);
        drop(held.one());
    }
    for begins in [130, 1100] {
        rig.play(begins);
        carry_out(held.one());
    }
    assert_eq!(log.take(), [(at(130), 3, Some(time)), (at(1100), 1, None)]);
}

/// Fault: no retry followed, although the failure was reported as one that is retried.
#[test]
fn a_retry_out_of_range_is_at_the_end_of_time() {
    let (mut rig, events) = Rig::with_events();
    let backoff = Backoff::new(Duration::MAX).cap(Duration::MAX);
    let job = rig.timers.after(ms(10)).retry(backoff).try_run(|_| Err::<(), _>("no")).unwrap();
    rig.play(1000);
    assert_eq!(events.kinds(), [EventKind::Failed("no".to_owned())]);
    assert_eq!((job.status(), rig.scheduler.stop().len()), (Status::Pending, 1));
}

type Attempt = fn(&Run<'_>) -> Result<(), &'static str>;

/// Fault: the first three were told as failures that are retried, and the end of the tries was not
/// told after a panic in the first attempt.
#[test]
fn a_run_after_which_no_other_try_follows_is_told_as_given_up() {
    let ends: Attempt = |run| {
        run.end();
        Err("no")
    };
    let cancels: Attempt = |run| {
        assert_eq!(run.job().cancel().map(drop), Err(ChangeError::Running));
        assert_eq!(run.job().refresh(ms(5)), Err(ChangeError::Running));
        Err("no")
    };
    let panics: Attempt = |_| panic!("no");
    let ends_and_panics: Attempt = |run| {
        run.end();
        panic!("no")
    };
    let [failed, gave_up, panicked] =
        [EventKind::Failed, EventKind::GaveUp, EventKind::Panicked].map(|kind| kind("no".into()));
    let (fails, done): (Attempt, _) = (|_| Err("no"), Status::Finished);
    // Without a retry, which is zero here, the first attempt is the last.
    for (attempts, attempt, end, expected) in [
        (0, fails, (1, done), vec![&gave_up]),
        (1, fails, (1, done), vec![&gave_up]),
        (3, fails, (3, done), vec![&failed, &failed, &gave_up]),
        (9, ends, (1, done), vec![&gave_up]),
        (9, cancels, (1, Status::Cancelled), vec![&gave_up]),
        (1, panics, (1, done), vec![&panicked, &gave_up]),
        (2, panics, (2, done), vec![&panicked, &panicked, &gave_up]),
        (9, ends_and_panics, (1, done), vec![&panicked, &gave_up]),
    ] {
        let (mut rig, events) = Rig::with_events();
        let plan = rig.timers.after(ms(1));
        let backoff = Backoff::new(ms(1)).attempts(attempts);
        let plan = if attempts == 0 { plan } else { plan.retry(backoff) };
        let job = plan.key("key").try_run(attempt).unwrap();
        rig.play(1000);
        assert_eq!(events.kinds().iter().collect::<Vec<_>>(), expected);
        assert_eq!((job.runs(), job.status()), end);
        assert_eq!(job.last_error().as_deref(), Some("no"));
        let snapshot = rig.timers.snapshot();
        assert_eq!((snapshot.counts.gave_up, snapshot.jobs, snapshot.keys), (1, 0, 0));
    }
    let (mut rig, _) = Rig::with_events();
    let plan = rig.timers.every(ms(10)).retry(Backoff::new(ms(1)));
    let job = plan.try_run(ends).unwrap();
    rig.play(1000);
    assert_eq!((job.runs(), job.status()), (1, done));
    // The rule of this job has a single time.
    let (mut rig, events) = Rig::with_events();
    let mut times = std::iter::once(rig.clock.wall() + ms(1));
    let plan = rig.timers.on(move |_| times.next()).retry(Backoff::new(ms(1)));
    plan.try_run(|_| Err::<(), _>("no")).unwrap();
    rig.play(1000);
    assert_eq!(events.kinds(), [gave_up]);
}
