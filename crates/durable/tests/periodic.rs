//! Periodic jobs, and late runs.

use crate::common::{KIND, MINUTE, World, receive, secs, telling, wait_acked, wait_until};
use crossbeam_channel::unbounded;
use std::time::{Duration, SystemTime};
use wheelhouse_durable::{Cancel, DurableRun, Error, EventKind, Handlers, Late, Missed, Next};

/// Occurrence, number of missed occurrences, due time in seconds.
fn place(run: &DurableRun<'_>) -> (u64, u64, u64) {
    (run.occurrence(), run.missed(), run.due().as_millis() / 1_000)
}

#[test]
fn it_has_no_occurrence_after_it_expires() {
    let world = World::new();
    let (handlers, seen) = telling(place);
    let timers = world.start(handlers);
    let expires = timers.now().unwrap().saturating_add(2 * MINUTE);
    // The second occurrence of `k` would be at the expiry, the first of `l` after it.
    timers.every(MINUTE).unwrap().expires(expires).key("k").schedule_bytes(KIND, "").unwrap();
    timers.every(60 * MINUTE).unwrap().expires(expires).key("l").schedule_bytes(KIND, "").unwrap();
    world.clock.advance(MINUTE);
    assert_eq!(receive(&seen), (0, 0, 60));
    wait_until("it is over", || world.find("k").is_none());
    world.clock.advance(60 * MINUTE);
    wait_until("it is over", || world.find("l").is_none());
    assert_eq!((seen.try_iter().count(), timers.snapshot().counts.skipped), (0, 1));
}

/// After a day of downtime one run catches up, and knows the number of missed occurrences. They are
/// counted once, not with each of its attempts.
#[test]
fn one_run_catches_up() {
    let world = World::new();
    let (sender, seen) = unbounded();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(place(run))?;
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

#[test]
fn a_burst_must_be_asked_for() {
    let world = World::new();
    let (handlers, seen) = telling(place);
    let timers = world.start(Handlers::new());
    let plan = timers.every(MINUTE).unwrap().missed(Missed::Burst);
    plan.key("k").schedule_bytes(KIND, "").unwrap();
    timers.stop();
    world.clock.advance(5 * MINUTE);
    let timers = world.start(handlers);
    for n in 0..5 {
        assert_eq!(receive(&seen), (n, 0, 60 * (n + 1)));
    }
    wait_acked(&timers, 5);
    assert_eq!(world.find("k").unwrap().due.as_millis(), 6 * 60_000);
}

/// Cron line and time zone are stored as data: another program runs the job.
#[test]
fn cron_lines_are_stored() {
    let world = World::new();
    world.clock.set_wall(SystemTime::UNIX_EPOCH + secs(1_774_657_800)); // 2026-03-28 00:30 UTC
    let timers = world.start(Handlers::new());
    let plan = timers.cron("30 2 * * *", "Europe/Berlin").unwrap();
    plan.key("report").schedule_bytes(KIND, "").unwrap();
    for (line, zone) in [("* * *", "UTC"), ("* * * * *", "Nowhere"), ("* * * * *", "a;b=c")] {
        assert!(matches!(timers.cron(line, zone), Err(Error::Rule(_))), "{line} {zone}");
    }
    assert!(matches!(timers.cron("0 0 9 * * MON 2020", "UTC"), Err(Error::Rule(_))));
    timers.stop();

    let (handlers, seen) = telling(place);
    let timers = world.start(handlers);
    world.clock.advance(Duration::from_secs(3_600));
    assert_eq!(receive(&seen), (0, 0, 1_774_661_400)); // 02:30 CET
    wait_acked(&timers, 1);
    world.clock.advance(Duration::from_secs(86_400));
    // On the 29th 02:30 is skipped: the clock changes from 02:00 to 03:00 at 01:00 UTC.
    assert_eq!(receive(&seen), (1, 0, 1_774_746_000));
}

/// Programs of other versions read the line too, so it is stored in a form that all of them read
/// alike.
#[test]
fn a_cron_line_is_stored_as_every_version_reads_it() {
    let world = World::new();
    let timers = world.start(Handlers::new());
    for (line, stored) in [
        ("0 9 * * MON-FRI", "zone=UTC;cron=0 9 * * MON-FRI"),
        ("0 22-2 */2 * Friday-Monday # nights", "zone=UTC;cron=0 22-23,0-2 */2 * +5-6,0-1"),
        ("@midnight", "zone=UTC;cron=@daily"),
    ] {
        timers.cron(line, "UTC").unwrap().replacing("k").schedule_bytes(KIND, "").unwrap();
        assert_eq!(world.find("k").unwrap().policy, stored, "{line}");
    }
    let refused = timers.cron("@every 5m", "UTC").err().unwrap().to_string();
    assert!(refused.contains("`every(Duration)`"), "{refused}");
    let refused = timers.cron("TZ=Europe/Berlin 0 9 * * *", "UTC").err().unwrap().to_string();
    assert!(refused.contains("'Europe/Berlin' as the second argument"), "{refused}");
}

/// A handler can schedule the next occurrence of its job. Its number counts the missed ones too.
#[test]
fn a_handler_may_ask_for_another_run() {
    let world = World::new();
    let (sender, seen) = unbounded();
    let handlers = || {
        let sender = sender.clone();
        Handlers::new().on_bytes(KIND, move |run, payload| {
            sender.send((place(run), run.attempt(), payload.to_vec()))?;
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
fn late_ones_are_dead_or_left_out_if_they_say_so() {
    let world = World::new();
    let (handlers, seen) = telling(place);
    let timers = world.start(Handlers::new());
    let plan = |key, late| timers.after(MINUTE).key(key).late(late);
    plan("within", Late::Within(secs(10))).schedule_bytes(KIND, "").unwrap();
    plan("skip", Late::Skip(secs(10))).schedule_bytes(KIND, "").unwrap();
    plan("run", Late::Run).schedule_bytes(KIND, "").unwrap();
    let soon = SystemTime::UNIX_EPOCH + secs(65);
    timers.after(MINUTE).key("expires").expires(soon).schedule_bytes(KIND, "").unwrap();
    let every = timers.every(MINUTE).unwrap().late(Late::Within(secs(10)));
    every.key("every").schedule_bytes(KIND, "").unwrap();
    timers.stop();
    world.clock.advance(MINUTE + secs(20));
    let timers = world.start(handlers);
    assert_eq!(receive(&seen), (0, 0, 60), "the job with `Late::Run`");
    wait_until("all are judged", || {
        let counts = timers.snapshot().counts;
        (counts.dead, counts.skipped, counts.given_up, counts.acked) == (2, 1, 1, 1)
    });
    let dead = timers.dead(None, 9).unwrap();
    let mut reasons: Vec<_> =
        dead.iter().map(|dead| (dead.job.key.to_string(), dead.reason.as_str())).collect();
    reasons.sort();
    assert_eq!(reasons[0], ("expires".to_owned(), "expired"));
    assert_eq!((reasons[1].0.as_str(), reasons[1].1.contains("late")), ("within", true));
    assert!(world.has_event(|kind| matches!(kind, EventKind::GaveUp(_))));
    world.clock.advance(secs(40));
    assert_eq!(receive(&seen), (1, 0, 120), "the periodic job continues");
}

/// If an occurrence has used up its attempts, the job continues with the next occurrence.
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
