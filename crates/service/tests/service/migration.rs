//! Checks the migration page: the tests that it names exist, its statements about orderly ends
//! hold, and its statements about tokio hold for tokio's own intervals.

use crate::common::{Rig, at, ms};
use std::fs;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use wheelhouse_service::future::{DelayQueue, Interval, TimeoutError};
use wheelhouse_service::{ChangeError, Handle, Missed, Reason, Service, Status, Stop};

fn page() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/MIGRATION.md")).unwrap()
}

#[test]
fn the_page_has_as_many_systems_as_it_says() {
    let page = page();
    let calls = page.split_once("## Calls").unwrap().1;
    let systems = calls.lines().filter(|line| line.starts_with("**")).count();
    assert_eq!((systems, page.contains("The calls of twelve systems")), (12, true));
}

#[test]
fn each_test_that_the_page_names_exists() {
    let root = env!("CARGO_MANIFEST_DIR");
    let page = page();
    let named: Vec<_> = page
        .split('`')
        .filter(|text| text.starts_with("tests/"))
        .filter(|text| text.contains("::"))
        .collect();
    assert!(named.len() >= 20, "{named:?}");
    for test in named {
        let (file, name) = test.split_once("::").unwrap();
        let source = fs::read_to_string(format!("{root}/{file}")).unwrap();
        assert!(source.contains(&format!("fn {name}()")), "{test}");
    }
}

/// The `StopGracefull` of alex023/clock: each waiting job is run once, including jobs with several
/// runs.
#[test]
fn each_job_that_waits_can_be_run_once_at_the_end() {
    let service = Service::start().unwrap();
    let timers = service.handle();
    let runs = Arc::new(AtomicU64::new(0));
    let count = || {
        let runs = Arc::clone(&runs);
        move || {
            runs.fetch_add(1, Ordering::Relaxed);
        }
    };
    let hour = Duration::from_secs(3600);
    let (once, often, endless) = (count(), count(), count());
    let jobs = [
        timers.after(hour).named("job").run(move |_| once()).unwrap(),
        timers.every(hour).times(5).run(move |_| often()).unwrap(),
        timers.every(hour).run(move |_| endless()).unwrap(),
    ];
    for job in service.stop(Stop::Wait).jobs {
        job.run();
    }
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert!(jobs.iter().all(|job| job.status() == Status::Stopped));
}

/// The `shutdown()` of `ScheduledThreadPoolExecutor`: pending jobs still run, periodic jobs do not.
#[test]
fn who_wants_to_wait_for_what_is_pending_can_do_so() {
    let service = Service::start().unwrap();
    let timers = service.handle();
    let periodic = timers.every(Duration::from_secs(3600)).run(|_| {}).unwrap();
    let once = timers.after(Duration::from_millis(20)).named("job").run(|_| {}).unwrap();
    let stopped = service.stop(Stop::Drain(Duration::from_secs(60)));
    assert_eq!((stopped.jobs.len(), stopped.running), (1, 0));
    assert_eq!((once.status(), periodic.status()), (Status::Finished, Status::Stopped));
}

/// The calls of `tokio::time` and `DelayQueue` that have a counterpart, on tokio's own executor.
async fn program_of_tokio(timers: &Handle) {
    let before = timers.now();
    timers.sleep(ms(1)).await.unwrap();
    timers.sleep_until(before.saturating_add(ms(2))).await.unwrap();
    let mut sleep = timers.sleep(Duration::from_secs(3600));
    sleep.reset(ms(1));
    assert_eq!(((&mut sleep).await, sleep.await), (Ok(()), Ok(())), "the same when polled again");
    let mut interval = timers.every(ms(1)).first_after(Duration::ZERO).times(2).interval().unwrap();
    assert!(interval.tick().await.unwrap().unwrap().deadline <= timers.now());
    assert!(interval.tick().await.is_some() && interval.tick().await.is_none());
    assert_eq!(timers.every(Duration::ZERO).interval().err(), Some(Reason::ZeroPeriod));
    let mut interval = timers.every(ms(1)).first_at(before).interval().unwrap();
    assert_eq!(interval.tick().await.unwrap().unwrap().deadline, before);
    assert_eq!(timers.timeout(ms(1), pending::<()>()).await, Err(TimeoutError::Elapsed));
    let late = timers.timeout(before.saturating_since(timers.now()), pending::<()>());
    assert_eq!(late.await, Err(TimeoutError::Elapsed));
    assert_eq!(timers.timeout(Duration::ZERO, async { 1 }).await, Ok(1), "the future wins");
    let mut queue = DelayQueue::new(timers);
    queue.insert(ms(1), "put in").unwrap();
    assert_eq!((queue.len(), queue.next().await, queue.is_empty()), (1, Some("put in"), true));
}

#[test]
fn the_calls_of_tokio_have_the_counterparts_that_the_page_names() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let service = Service::start().unwrap();
    runtime.block_on(program_of_tokio(&service.handle()));
    let timers = service.handle();
    drop(service);
    assert_eq!(runtime.block_on(timers.sleep(ms(1))), Err(Reason::Stopped));
    assert_eq!(
        runtime.block_on(timers.timeout(ms(1), pending::<()>())),
        Err(TimeoutError::Refused(Reason::Stopped))
    );
}

/// Waits for the next beat, and returns when it was due, in milliseconds.
fn beat(rig: &mut Rig, interval: &mut Interval) -> u64 {
    loop {
        match interval.poll_tick(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(beat) => return beat.unwrap().unwrap().deadline.as_nanos() / 1_000_000,
            Poll::Pending => {
                let wakeup = rig.scheduler.next_wakeup().unwrap();
                rig.scheduler.play(&rig.clock, wakeup);
            }
        }
    }
}

/// The four beats after the beat at 0, of our interval. The first of them is taken no sooner than
/// at `taken`.
fn beats(missed: Missed, period: u64, taken: u64) -> [u64; 4] {
    let mut rig = Rig::new();
    let mut interval =
        rig.timers.every(ms(period)).first_after(Duration::ZERO).missed(missed).interval().unwrap();
    assert_eq!(beat(&mut rig, &mut interval), 0);
    rig.play(taken);
    [(); 4].map(|()| beat(&mut rig, &mut interval))
}

/// The same of tokio, on a clock that only advances while the beat is awaited.
fn beats_of_tokio(missed: MissedTickBehavior, period: u64, taken: u64) -> [u64; 4] {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        // From here on, whole milliseconds are also those of tokio's driver.
        tokio::time::sleep(ms(1)).await;
        let mut interval = tokio::time::interval(ms(period));
        interval.set_missed_tick_behavior(missed);
        let first = interval.tick().await;
        tokio::time::advance(ms(taken)).await;
        assert_eq!(first.elapsed(), ms(taken));
        let mut beats = [0; 4];
        for beat in &mut beats {
            *beat = (interval.tick().await - first).as_millis() as u64;
        }
        beats
    })
}

#[test]
fn beats_that_are_missed_differ_from_those_of_tokio_as_the_page_says() {
    let both = |period, taken| {
        let ours =
            [Missed::Burst, Missed::Skip, Missed::Delay].map(|missed| beats(missed, period, taken));
        let theirs =
            [MissedTickBehavior::Burst, MissedTickBehavior::Skip, MissedTickBehavior::Delay];
        (ours, theirs.map(|missed| beats_of_tokio(missed, period, taken)))
    };
    // More than 5 ms late, and no beat is due at that moment: no difference.
    let same = [[10, 20, 30, 40], [10, 40, 50, 60], [10, 43, 53, 63]];
    assert_eq!(both(10, 33), (same, same));
    // A beat is due at exactly that moment.
    let [burst, delay] = [[10, 20, 30, 40], [10, 40, 50, 60]];
    assert_eq!(both(10, 30), ([burst, [10, 30, 40, 50], delay], [burst, [10, 40, 50, 60], delay]));
    // Four milliseconds late: several periods, or part of one.
    let burst = [2, 4, 6, 8];
    assert_eq!(both(2, 6), ([burst, [2, 6, 8, 10], [2, 8, 10, 12]], [burst; 3]));
    let burst = [10, 20, 30, 40];
    assert_eq!(both(10, 14), ([burst, burst, [10, 24, 34, 44]], [burst; 3]));
}

#[test]
fn a_value_that_is_due_comes_out_of_a_delay_queue_and_is_neither_put_off_nor_taken_out() {
    let mut rig = Rig::new();
    let mut queue = DelayQueue::new(&rig.timers);
    let [due, _, later] = ["due", "due too", "later"].map(|value| {
        let delay = if value == "later" { ms(20) } else { ms(10) };
        queue.insert(delay, value).unwrap()
    });
    assert_eq!(due.job().deadline(), Some(at(10)));
    rig.play(10);
    assert_eq!((due.job().deadline(), queue.len()), (None, 3));
    assert_eq!(
        (due.refresh(ms(5)), due.remove()),
        (Err(ChangeError::Over), Err(ChangeError::Over))
    );
    assert_eq!((later.remove().ok(), later.remove().ok()), (Some("later"), None));
    let mut next = || pin!(queue.next()).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!([next(), next(), next()], [Some("due"), Some("due too"), None].map(Poll::Ready));
}

#[test]
fn a_job_may_start_a_task_of_tokio() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let service = Service::start().unwrap();
    let (spawner, (sender, answer)) = (runtime.handle().clone(), crossbeam_channel::bounded(1));
    let task = move || {
        let sender = sender.clone();
        async move { sender.send("from a task").unwrap() }
    };
    let job =
        service.handle().every(ms(1)).times(1).run(move |_| drop(spawner.spawn(task()))).unwrap();
    crate::common::wait_until(|| job.status() == Status::Finished);
    runtime.block_on(tokio::task::yield_now());
    assert_eq!(answer.try_recv(), Ok("from a task"));
}

/// A line with days and weekdays. tokio-cron-scheduler requires both to match.
#[cfg(feature = "cron")]
#[test]
fn a_day_and_a_weekday_are_either_or_with_a_plus_both() {
    use std::time::SystemTime;
    use wheelhouse_service::Rule;
    use wheelhouse_service::cron::Cron;
    use wheelhouse_service::cron::jiff::civil::date;
    use wheelhouse_service::cron::jiff::tz::TimeZone;

    let midnight = |month, day| {
        SystemTime::from(date(2026, month, day).to_zoned(TimeZone::UTC).unwrap().timestamp())
    };
    let next = |line| Cron::new(line, TimeZone::UTC).unwrap().next(midnight(3, 14)).unwrap();
    let nine = Duration::from_secs(9 * 3600);
    assert_eq!(next("0 9 13 * FRI"), midnight(3, 20) + nine, "a Friday");
    assert_eq!(next("0 9 13 * +FRI"), midnight(11, 13) + nine, "the next Friday that is a 13th");
    assert_eq!(
        next("30 0 9 13 * +FRI"),
        midnight(11, 13) + nine + Duration::from_secs(30),
        "with seconds in front"
    );
}
