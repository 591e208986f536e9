//! Operations: changed schedules, lists, pauses, bounds on dead letters.

use crate::common::*;
use crossbeam_channel::bounded;

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

/// Listing all kinds may read many dead rows, so it is done once a minute. Each second one call
/// looks for pauses, however many kinds there are.
#[test]
fn pauses_are_looked_for_by_one_call() {
    let world = World::new();
    let timers = world.start_faulty(done());
    let lists = || world.faults.lock().lists_of_kinds;
    wait_until("it has started", || timers.snapshot().counts.claims > 0);
    let (before, finds) = (lists(), world.faults.lock().finds);
    for second in 1..=30 {
        world.clock.advance(secs(1));
        wait_until("it looks for a pause", || world.faults.lock().looks >= second);
    }
    assert_eq!((lists(), world.faults.lock().finds), (before, finds));
    world.clock.advance(secs(30));
    wait_until("it lists the kinds", || lists() > before);
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

/// Otherwise `count` would not return while an error lasts.
#[test]
fn a_list_of_jobs_ends_after_an_error() {
    let world = World::new();
    let timers = world.start_faulty(Handlers::new());
    wait_all((0..40).map(|_| timers.after(MINUTE).submit_bytes(KIND, "")));
    let mut jobs = timers.jobs();
    assert!(jobs.next().unwrap().is_ok());
    world.faults.down(true);
    let read: Vec<_> = jobs.by_ref().take(100).collect();
    let failed = read.iter().filter(|job| job.is_err()).count();
    assert_eq!((read.len(), failed), (32, 1), "the rest of the page, and the error");
    world.faults.down(false);
    assert!(jobs.next().is_none());
    assert_eq!(timers.jobs().count(), 40);
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
    assert!(matches!(operator.pause(""), Err(Error::Invalid(_))), "it would pause all kinds");
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

/// An older program does not know the policy of a job. It leaves the job to a newer one: a release
/// delays the job by a second, or by as much as it is late already. Not all of them are reported.
#[test]
fn a_job_of_a_newer_program_is_left_to_it() {
    let world = World::new();
    let (handlers, begun) = telling(seen);
    drop(world.store.clone().commit(&[put("k", KIND, "colour=blue")]).unwrap());
    let timers = world.start(handlers);
    for (now, visible) in [(0, 1_000), (1_000, 2_000), (2_000, 4_000), (4_000, 8_000)] {
        let is_so = |row: Entry| (row.visible_at.as_millis(), row.attempt) == (visible, 0);
        wait_until("it is released", || world.find("k").is_some_and(is_so));
        world.clock.advance(millis(visible - now));
    }
    let events: Vec<_> = world.events.lock().iter().map(|event| event.kind.clone()).collect();
    assert_eq!((begun.len(), events), (0, vec![EventKind::NotUnderstood; 2]));
    timers.stop();
}

fn bury(world: &World, letters: usize) {
    let mut store = world.store.clone();
    let puts: Vec<_> = (0..letters).map(|n| put(format!("{n}"), "buried/1", "")).collect();
    store.commit(&puts).unwrap();
    let kinds = Kinds::new(["buried/1"]);
    let claimed = store.claim(&kinds, ClaimLimit::jobs(letters), MINUTE).unwrap().0;
    let bury = |leased: Leased| {
        let (key, token, reason) = (leased.job.key, leased.token, String::new());
        Change::Bury { key, token, reason }
    };
    store.commit(&claimed.into_iter().map(bury).collect::<Vec<_>>()).unwrap();
    assert_eq!(store.dead(None, usize::MAX).unwrap().len(), letters);
}

/// A look for dead letters to remove reads many pages. In between, jobs are claimed and their
/// leases are renewed.
#[test]
fn leases_are_renewed_between_the_pages_of_dead_letters() {
    let world = World::new();
    let store = FaultyStore { has_beside: true, ..FaultyStore::new(&world) };
    let timers = world.start_waiting_on(store, |its| its.most_dead_letters(3));
    // Dropped before the timers, so that a failing test does not hang.
    let (page, pages) = bounded(0);
    *world.faults.pages.lock() = Some(page);
    // From here on each page waits, also one of the look at the start.
    bury(&world, 5 * 16);
    world.clock.advance(MINUTE);
    schedule(&timers, "k");
    receive(&pages);
    assert_eq!(timers.next(), "k");
    for third in 1..=5 {
        world.clock.advance(secs(10));
        receive(&pages);
        wait_until("renewal", || world.visible_at("k") == Some(90 + 10 * third));
    }
    drop(pages);
    wait_until("the letters are removed", || timers.dead(None, 99).unwrap().len() == 3);
    timers.go();
    wait_acked(&timers, 1);
}

/// Many dead letters are removed by several commits: otherwise the ends of runs would wait for the
/// removal of all of them.
#[test]
fn dead_letters_are_removed_in_portions() {
    let world = World::new();
    bury(&world, 600);
    let builder = world.builder(done()).most_dead_letters(20);
    let timers = builder.start(FaultyStore::new(&world)).unwrap();
    wait_until("they are removed", || timers.snapshot().counts.forgotten == 580);
    assert_eq!(world.faults.commits(), [256, 256, 68]);
    assert_eq!(timers.dead(None, 99).unwrap().len(), 20);
}
