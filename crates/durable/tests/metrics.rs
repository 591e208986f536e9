//! Snapshots and metrics.

use crate::common::*;

/// Runs jobs of three kinds: orders that succeed, an invoice that fails, and a mail for another
/// program. A job of a paused kind has waited for 90 seconds.
fn play() -> (World, Durable) {
    let world = World::new();
    let operator = world.start(Handlers::new());
    operator.pause(KIND).unwrap();
    schedule(&operator, "waits");
    world.clock.advance(secs(90));
    let handlers =
        done().on_bytes("close/1", |_, _| Ok(Next::Done)).on_bytes("bill/1", |run, _| {
            match run.attempt() {
                1 => Err("not now".into()),
                _ => Err(Stop::new("never").into()),
            }
        });
    let timers = world.start_faulty(handlers);
    let waited = || timers.snapshot().overdue == secs(90);
    wait_until("it is read how long the job has waited", waited);
    for key in ["a", "b", "c"] {
        timers.after(secs(1)).key(key).schedule_bytes("close/1", "").unwrap();
    }
    timers.after(secs(2)).key("invoice").schedule_bytes("bill/1", "").unwrap();
    timers.after(secs(2)).key("mail").schedule_bytes("mail/1", "").unwrap();
    timers.cancel("c").unwrap();
    timers.refresh("b", secs(3)).unwrap();
    wait_until("two are closed, one is dead", || {
        world.pass(millis(50));
        let counts = timers.snapshot().counts;
        (counts.acked, counts.dead) == (2, 1)
    });
    (world, timers)
}

#[test]
fn each_kind_is_counted_and_shown_with_the_sum() {
    let (_world, timers) = play();
    let snapshot = timers.snapshot();
    let of = |kind: &str| snapshot.kinds[kind].counts;
    let (close, bill) = (of("close/1"), of("bill/1"));
    assert_eq!((close.scheduled, close.started, close.acked, close.retried), (3, 2, 2, 0));
    assert_eq!((bill.scheduled, bill.started, bill.acked), (1, 2, 0));
    assert_eq!((bill.retried, bill.dead, bill.leased), (1, 1, 2));
    assert_eq!(snapshot.kinds.len(), 3, "a kind without a handler here has no entry");
    let counts = snapshot.counts;
    assert_eq!((counts.scheduled, counts.started, counts.acked), (5, 4, 2), "including mail");
    assert_eq!((counts.cancelled, counts.refreshed), (1, 1));
    let runs = |kind: &str| (snapshot.kinds[kind].run_time.count, snapshot.kinds[kind].lateness);
    assert_eq!((runs("close/1").0, runs("bill/1").0), (2, 2));
    assert_eq!(snapshot.lateness.count, 4);
    let kinds = ["close/1", "bill/1"];
    let sum: u64 = kinds.iter().map(|kind| runs(kind).1.sum).sum();
    let max = kinds.iter().map(|kind| runs(kind).1.max).max();
    assert_eq!((snapshot.lateness.sum, Some(snapshot.lateness.max)), (sum, max));
    assert!(snapshot.claim_time.count >= 2 && snapshot.claim_time.sum >= snapshot.claim_time.max);

    // The text has every metric once, with its type.
    let text = snapshot.prometheus();
    for line in [
        "# TYPE wheelhouse_durable_jobs_scheduled_total counter",
        "wheelhouse_durable_jobs_scheduled_total{kind=\"close/1\"} 3",
        "wheelhouse_durable_jobs_scheduled_total{kind=\"\"} 1",
        "wheelhouse_durable_runs_acked_total{kind=\"close/1\"} 2",
        "wheelhouse_durable_jobs_dead_total{kind=\"bill/1\"} 1",
        "wheelhouse_durable_jobs_cancelled_total 1",
        "wheelhouse_durable_in_flight 0",
        "wheelhouse_durable_clock_offset_seconds 0",
        "# TYPE wheelhouse_durable_overdue_seconds gauge",
        "wheelhouse_durable_overdue_seconds{kind=\"work/1\"} 90",
        "# TYPE wheelhouse_durable_store_dead_rows gauge",
        "wheelhouse_durable_store_dead_rows 7",
        "# TYPE wheelhouse_durable_lateness_seconds summary",
        "wheelhouse_durable_run_time_seconds_count{kind=\"bill/1\"} 2",
    ] {
        assert_eq!(text.lines().filter(|other| *other == line).count(), 1, "{line}\nin\n{text}");
    }
    let (comments, samples): (Vec<_>, Vec<_>) =
        text.lines().partition(|line| line.starts_with('#'));
    assert_eq!(comments.len(), 2 * (16 + 6 + 4 + 2 + 3), "help and type of each");
    assert_eq!(samples.len(), 16 * 4 + 6 + 6 + (2 * 3 + 3) * 7);
    let is_number =
        |line: &&str| line.rsplit_once(' ').is_some_and(|(_, n)| n.parse::<f64>().is_ok());
    assert!(samples.iter().all(is_number), "{text}");
}

#[test]
fn the_offset_of_the_clocks_is_shown() {
    let (world, here) = (World::new(), ManualClock::new());
    world.clock.advance(secs(5));
    let behind = world.builder(done()).clock(here).start(world.store.clone()).unwrap();
    wait_until("a claim", || behind.snapshot().clock_offset >= 5_000);
}
