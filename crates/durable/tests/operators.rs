//! Operations: changed schedules, lists, pauses, bounds on dead letters.

use crate::common::{
    KIND, MINUTE, World, always_waiting, done, millis, receive, schedule, secs, telling,
    wait_acked, wait_until,
};
use wheelhouse_durable::store::Key;
use wheelhouse_durable::{Cancel, Durable, DurableRun, Handlers, JobState, Scheduled, Stop};

/// The key and the due time in seconds.
fn seen(run: &DurableRun<'_>) -> (String, u64) {
    (run.key().to_string(), run.due().as_millis() / 1_000)
}

/// A run that was missed while no program ran still takes place; the next one follows the new rule.
#[test]
fn a_changed_schedule_takes_effect_and_forgets_nothing() {
    let world = World::new();
    let first = world.start(Handlers::new());
    let plan = |timers: &Durable, period| {
        let plan = timers.every(period).unwrap().updating("k");
        plan.schedule_bytes(KIND, "").unwrap()
    };
    assert_eq!(plan(&first, MINUTE), Scheduled::Created);
    assert_eq!(plan(&first, MINUTE), Scheduled::Kept);
    let kept = || first.every(2 * MINUTE).unwrap().keeping("k").schedule_bytes(KIND, "").unwrap();
    assert_eq!(kept(), Scheduled::Kept);
    assert_eq!(world.find("k").unwrap().policy, "every=60000");
    // No run was missed, so the next run follows the new rule.
    assert_eq!(plan(&first, 3 * MINUTE), Scheduled::Changed);
    assert_eq!(world.find("k").unwrap().due.as_millis(), 180_000);
    assert_eq!(plan(&first, MINUTE), Scheduled::Changed);
    first.stop();
    world.clock.advance(10 * MINUTE);
    let (handlers, seen) = telling(seen);
    let second = world.start(Handlers::new());
    assert_eq!(plan(&second, 60 * MINUTE), Scheduled::Changed);
    assert_eq!(plan(&second, 60 * MINUTE), Scheduled::Kept);
    let timers = world.start(handlers);
    assert_eq!(receive(&seen), ("k".to_owned(), 60), "the missed run");
    wait_acked(&timers, 1);
    assert_eq!(world.find("k").unwrap().due.as_millis(), 60_000 + 3_600_000);
    timers.cancel(Key::new("k").unwrap()).unwrap();
    let kept = timers.after(MINUTE).keeping("k").schedule_bytes(KIND, "").unwrap();
    assert_eq!(kept, Scheduled::Created);
}

/// A job that was cancelled during its run has no next occurrence, so an update schedules it again.
#[test]
fn an_update_schedules_a_job_anew_that_was_cancelled_while_it_ran() {
    let world = World::new();
    let timers = world.start_waiting(|its| its);
    let update = || timers.every(MINUTE).unwrap().updating("k").schedule_bytes(KIND, "").unwrap();
    assert_eq!(update(), Scheduled::Created);
    world.clock.advance(MINUTE);
    timers.next();
    assert_eq!(timers.cancel("k").unwrap(), Cancel::Running);
    assert_eq!(update(), Scheduled::Created);
    assert_eq!(update(), Scheduled::Kept);
    timers.go();
    wait_until("it is acked", || {
        timers.snapshot().counts.closed + timers.snapshot().counts.acked == 1
    });
    assert_eq!(world.find("k").unwrap().due.as_millis(), 120_000);
}

/// A run that a crash interrupted counts as missed. So does the first run of a newer schedule that
/// waited for the end of the interrupted one.
#[test]
fn an_update_repeats_an_interrupted_run() {
    let world = World::new();
    let producer = world.start(Handlers::new());
    let update = |minutes| {
        let plan = producer.every(minutes * MINUTE).unwrap().updating("k");
        plan.schedule_bytes(KIND, "").unwrap()
    };
    let due = || world.find("k").unwrap().due.as_millis() / 1_000;
    assert_eq!(update(1), Scheduled::Created);
    world.clock.advance(MINUTE);
    assert_eq!(world.claim_and_die(secs(30)).len(), 1);
    world.clock.advance(secs(30));
    assert_eq!((update(60), due()), (Scheduled::Changed, 60));
    // While its lease lasts, the run may still succeed.
    assert_eq!(world.claim_and_die(secs(300)).len(), 1);
    assert_eq!((update(2), due()), (Scheduled::Changed, 90 + 120));
    world.clock.advance(secs(200));
    assert_eq!((update(3), due()), (Scheduled::Changed, 90 + 120));
    let (handlers, seen) = telling(seen);
    let timers = world.start(handlers);
    world.clock.advance(secs(100));
    assert_eq!(receive(&seen), ("k".to_owned(), 210));
    wait_acked(&timers, 1);
}

/// Listing all kinds may read many dead rows, so it is done once a minute.
#[test]
fn pauses_are_looked_for_by_their_keys() {
    let world = World::new();
    let timers = world.start_faulty(done());
    let looks = || world.faults.lock().lists_of_kinds;
    wait_until("it has started", || timers.snapshot().counts.claims > 0);
    let before = looks();
    for second in 1..=30 {
        world.clock.advance(secs(1));
        wait_until("it looks for a pause", || world.faults.lock().finds >= 2 * second);
    }
    assert_eq!(looks(), before);
    world.clock.advance(secs(30));
    wait_until("it lists the kinds", || looks() > before);
}

#[test]
fn jobs_are_listed_by_prefix_kind_and_state() {
    let world = World::new();
    let (handlers, with) = always_waiting();
    let stores = [world.store.clone(), world.other_store()];
    let timers = with(world.builder(handlers).start_shards(stores).unwrap());
    for n in 0..300 {
        let kind = if n % 3 == 0 { "a/1" } else { "b/1" };
        let plan = timers.after(MINUTE).key(format!("{}-{n}", ["x", "y"][n % 2]));
        plan.schedule_bytes(kind, "").unwrap();
    }
    schedule(&timers, "x-runs");
    assert_eq!(timers.next(), "x-runs");
    timers.pause("a/1").unwrap();
    assert_eq!(timers.jobs().count(), 301, "reserved rows are not listed");
    assert_eq!(timers.jobs().prefix("x-").count(), 151);
    assert_eq!(timers.jobs().prefix("x-").kind("a/1").count(), 50);
    assert_eq!(timers.jobs().state(JobState::Pending).count(), 300);
    let running: Vec<_> = timers.jobs().state(JobState::Running).map(Result::unwrap).collect();
    assert_eq!(running.len(), 1);
    assert_eq!(running[0].key.to_string(), "x-runs");
    assert_eq!(timers.jobs().state(JobState::Leased).count(), 0);
    timers.go();
}

/// A pause applies to this program and to others, also to leased jobs that wait for a worker. Other
/// kinds continue.
#[test]
fn a_kind_and_all_of_them_can_be_paused() {
    let world = World::new();
    let timers = world.start_waiting_at_a_pace();
    for key in ["runs", "leased"] {
        schedule(&timers, key);
    }
    assert_eq!(timers.next(), "runs");
    wait_until("both are leased", || world.leased() == 2);
    let operator = world.start(Handlers::new());
    assert!(operator.pause(KIND).unwrap() && !operator.pause(KIND).unwrap());
    // Programs look for pauses once a second. Jobs scheduled before that may be leased.
    wait_until("a job is due and not leased", || {
        timers.after(secs(0)).schedule_bytes(KIND, "").unwrap();
        world.clock.advance(secs(1));
        std::thread::sleep(millis(2));
        timers.snapshot().overdue > secs(1)
    });
    timers.go();
    wait_acked(&timers, 2);
    wait_until("the others are given back", || world.leased() == 0);
    assert_eq!(world.find("leased").unwrap().attempt, 0);
    assert!(timers.begun.is_empty() && world.find("leased").is_some());
    // Another kind continues.
    timers.after(secs(0)).schedule_bytes(crate::common::PACE, "").unwrap();
    wait_acked(&timers, 3);
    assert!(operator.pause_all().unwrap());
    assert!(operator.resume(KIND).unwrap() && !operator.resume(KIND).unwrap());
    // A program that starts sees the pause before it leases any job.
    let (other, seen) = telling(seen);
    let other = world.start(other);
    assert!(other.resume_all().unwrap());
    receive(&seen);
    assert!(world.find("wheelhouse-pause:").is_none());
    let counts = operator.snapshot().counts;
    assert_eq!((counts.scheduled, counts.cancelled), (0, 0), "a pause is no job");
}

/// Dead letters beyond a number or an age are removed, the oldest first.
#[test]
fn dead_letters_are_kept_by_age_and_number() {
    for by_age in [false, true] {
        let world = World::new();
        let handlers = Handlers::new().on_bytes(KIND, |_, _| Err(Stop::new("never").into()));
        let builder = world.builder(handlers);
        let builder = match by_age {
            true => builder.dead_letters_for(2 * MINUTE),
            false => builder.most_dead_letters(3),
        };
        let timers = builder.start(world.store.clone()).unwrap();
        for n in 0..7 {
            schedule(&timers, &format!("{n}"));
            wait_until("it is dead", || timers.snapshot().counts.dead == n + 1);
            world.clock.advance(secs(25));
        }
        let left = || timers.dead(None, 99).unwrap();
        wait_until("some are removed", || {
            world.clock.advance(secs(1));
            std::thread::sleep(millis(1));
            left().len() <= 3
        });
        assert!(left().iter().all(|dead| dead.job.key.as_bytes() >= &b"4"[..]), "{:?}", left());
        assert!(timers.snapshot().counts.forgotten >= 4);
    }
}
