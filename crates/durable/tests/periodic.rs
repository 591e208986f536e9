//! Periodic jobs. `src/claim/judge.rs` tests which runs are too late.

use crate::common::*;
use std::time::SystemTime;

/// Occurrence, number of missed occurrences, due time in seconds.
fn occurrence(run: &DurableRun<'_>) -> (u64, u64, u64) {
    (run.occurrence(), run.missed(), run.due().as_millis() / 1_000)
}

/// After a day of downtime one run catches up, and knows the number of missed occurrences. They are
/// counted once, not with each of its attempts.
#[test]
fn one_run_catches_up() {
    let world = World::new();
    let (sender, seen) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(occurrence(run))?;
        if run.occurrence() == 0 && run.attempt() < 3 { Err("no".into()) } else { Ok(Next::Done) }
    });
    let timers = world.start(Handlers::new());
    timers.every(MINUTE).unwrap().key("k").schedule_bytes(KIND, "").unwrap();
    timers.stop();
    world.clock.advance(24 * 60 * MINUTE + secs(30));
    let timers = world.start(handlers);
    for failed in [1, 2] {
        assert_eq!(receive(&seen), (0, 1_439, 60));
        wait_until("it has failed", || timers.snapshot().counts.retried == failed);
        world.clock.advance(secs(5));
    }
    assert_eq!(receive(&seen), (0, 1_439, 60));
    wait_acked(&timers, 1);
    world.clock.advance(secs(20));
    assert_eq!(receive(&seen), (1_440, 0, 1_441 * 60));
    wait_acked(&timers, 2);
    assert_eq!(timers.snapshot().counts.missed, 1_439);
    assert_eq!(timers.cancel("k").unwrap(), Cancel::Cancelled);
}

/// Cron line and time zone are stored as data: another program runs the job.
#[test]
fn cron_lines_are_stored() {
    let world = World::new();
    world.clock.set_wall(SystemTime::UNIX_EPOCH + secs(1_774_657_800)); // 2026-03-28 00:30 UTC
    let timers = world.start(Handlers::new());
    let plan = timers.cron("30 2 * * *", "Europe/Berlin").unwrap();
    plan.key("report").schedule_bytes(KIND, "").unwrap();
    let unknown = "check the spelling, install the package `tzdata`, or add `jiff` with its \
                   feature `tzdb-bundle-always`";
    for (line, zone, remedy) in [
        ("* * *", "UTC", ""),
        ("* * * * *", "Nowhere", unknown),
        ("* * * * *", "a;b=c", "'a;b=c' is not known: write its IANA name"),
        ("0 0 9 * * MON 2020", "UTC", "has no time in the future: change its year or date"),
    ] {
        let Err(Error::Rule(why)) = timers.cron(line, zone) else { panic!("{line} {zone}") };
        assert!(why.contains(remedy), "{why}");
    }
    timers.stop();

    let (handlers, seen) = telling(occurrence);
    let timers = world.start(handlers);
    world.clock.advance(Duration::from_secs(3_600));
    assert_eq!(receive(&seen), (0, 0, 1_774_661_400)); // 02:30 CET
    wait_acked(&timers, 1);
    world.clock.advance(Duration::from_secs(86_400));
    // On the 29th 02:30 is skipped: the clock changes from 02:00 to 03:00 at 01:00 UTC.
    assert_eq!(receive(&seen), (1, 0, 1_774_746_000));
}

/// The settings of a plan are stored as text. A cron line is stored in a form that programs of all
/// versions read alike.
#[test]
fn a_plan_is_stored_as_every_version_reads_it() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    let (after, every) = (|| timers.after(MINUTE), || timers.every(MINUTE).unwrap());
    let cron = |line| timers.cron(line, "UTC").unwrap();
    for (plan, stored) in [
        (after(), ""),
        (after().late(Late::Within(secs(10))), "late=within:10000"),
        (after().late(Late::Skip(secs(10))), "late=skip:10000"),
        (after().expires(SystemTime::UNIX_EPOCH + secs(65)), "expires=65000"),
        (after().max_attempts(0), "attempts=1"),
        (after().limit(Duration::from_nanos(1)), "limit=1"),
        (every().missed(Missed::Burst), "missed=burst;every=60000"),
        (cron("0 9 * * MON-FRI"), "zone=UTC;cron=0 9 * * MON-FRI"),
        (cron("0 22-2 */2 * Friday-Monday # nights"), "zone=UTC;cron=0 22-23,0-2 */2 * +5-6,0-1"),
        (cron("@midnight"), "zone=UTC;cron=@daily"),
    ] {
        plan.replacing("k").schedule_bytes(KIND, "").unwrap();
        assert_eq!(world.find("k").unwrap().policy, stored);
    }
    for (line, says) in [
        ("@every 5m", "`every(Duration)`"),
        ("TZ=Europe/Berlin 0 9 * * *", "'Europe/Berlin' as the second argument"),
    ] {
        let refused = timers.cron(line, "UTC").err().unwrap().to_string();
        assert!(refused.contains(says), "{refused}");
    }
}

/// A handler can schedule the next occurrence of its job. Its number counts the missed ones too.
#[test]
fn a_handler_may_ask_for_another_run() {
    let world = World::new();
    let (sender, seen) = unbounded();
    let handlers = || {
        let sender = sender.clone();
        Handlers::new().on_bytes(KIND, move |run, payload| {
            sender.send((occurrence(run), run.attempt(), payload.to_vec()))?;
            Ok(if run.occurrence() < 2 { Next::After(10 * MINUTE) } else { Next::Done })
        })
    };
    let timers = world.start(handlers());
    timers.after(secs(0)).key("k").schedule_bytes(KIND, "p").unwrap();
    for n in 0..3 {
        assert_eq!(receive(&seen), ((n, 0, 600 * n), 1, b"p".to_vec()));
        wait_acked(&timers, n + 1);
        world.clock.advance(10 * MINUTE);
    }
    assert!(world.store.is_empty());
    timers.every(MINUTE).unwrap().key("every").schedule_bytes(KIND, "").unwrap();
    timers.stop();

    world.clock.advance(4 * MINUTE); // At 34 minutes: 31 is due, and 32 to 34 are missed.
    let timers = world.start(handlers());
    assert_eq!(receive(&seen), ((0, 3, 31 * 60), 1, Vec::new()));
    wait_acked(&timers, 1);
    world.clock.advance(10 * MINUTE);
    assert_eq!(receive(&seen), ((4, 0, 44 * 60), 1, Vec::new()));
}

#[test]
fn a_series_outlives_an_occurrence_that_fails() {
    let world = World::new();
    let handlers = Handlers::new().on_bytes(KIND, |run, _| {
        if run.occurrence() == 0 { Err("broken".into()) } else { Ok(Next::Done) }
    });
    let timers = world.start(handlers);
    let plan = timers.every(MINUTE).unwrap().max_attempts(2);
    plan.key("k").schedule_bytes(KIND, "").unwrap();
    world.clock.advance(MINUTE);
    wait_until("a retry", || timers.snapshot().counts.retried == 1);
    world.clock.advance(secs(1));
    wait_until("it is given up", || timers.snapshot().counts.given_up == 1);
    world.clock.advance(MINUTE);
    wait_acked(&timers, 1);
    assert_eq!((world.find("k").unwrap().occurrence, timers.dead(None, 9).unwrap().len()), (2, 0));
}

#[test]
fn an_impossible_period_is_refused_with_a_remedy() {
    let timers = World::new().start(Handlers::new());
    for (period, remedy) in [
        (Duration::ZERO, "the period is zero: for a single run use `after`"),
        (Duration::from_micros(500), "500µs is not a whole number of milliseconds: round it"),
        (Duration::from_nanos(2_000_001), "2.000001ms is not a whole number of milliseconds"),
    ] {
        let Err(Error::Rule(why)) = timers.every(period) else { panic!("{period:?}") };
        assert!(why.contains(remedy), "{why}");
    }
}
