//! Jobs under keys: unique, replaced on request, found, and listed in the order of scheduling.

use crate::common::{Log, Rig, at, ms};
use std::sync::Barrier;
use std::thread;
use wheelhouse_service::{ChangeError, Reason, Status};

fn keys(rig: &Rig) -> Vec<String> {
    rig.timers.keys().iter().map(|key| key.to_string()).collect()
}

#[test]
fn a_second_job_with_a_key_is_refused_and_comes_back() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let first = rig.timers.after(ms(10)).key("session").run(log.named("first")).unwrap();
    let rejected = rig.timers.after(ms(20)).key("session").run(log.named("second")).unwrap_err();
    assert_eq!(
        (rejected.reason, rejected.to_string().as_str()),
        (
            Reason::DuplicateKey,
            "a job with this key is scheduled already: refresh or cancel that one, or schedule by \
             `replacing`"
        )
    );
    assert_eq!((rig.timers.len(), first.key().map(|key| &**key)), (1, Some("session")));
    rig.timers.after(ms(20)).key("another").run(rejected.job).unwrap();
    rig.play(100);
    assert_eq!(log.take(), [(10, "first"), (20, "second")]);
    assert_eq!(rig.timers.snapshot().counts.rejected, 1);
}

/// Bug B4: checking the key and taking it are two steps, and another task can come between them.
#[test]
fn of_many_who_want_a_key_at_once_exactly_one_gets_it() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 500;
    let (mut rig, barrier) = (Rig::new(), Barrier::new(THREADS));
    let (timers, all_at_once) = (&rig.timers, &barrier);
    // Errors are checked below: a panic here would leave the other threads at the barrier.
    let race = move || -> Vec<_> {
        let attempt = |round: usize| {
            all_at_once.wait();
            timers.after(ms(10)).key(format!("key {round}")).run(|_| ()).map(|job| job.number())
        };
        (0..ROUNDS).map(|round| attempt(round).map_err(|rejected| rejected.reason)).collect()
    };
    let answers: Vec<_> = thread::scope(|scope| {
        let racers = [race; THREADS].map(|race| scope.spawn(race));
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    for round in 0..ROUNDS {
        let (won, lost): (Vec<_>, Vec<_>) =
            answers.iter().map(|answers| answers[round]).partition(Result::is_ok);
        let holder = rig.timers.job(&format!("key {round}")).map(|job| job.number());
        assert_eq!((won.len(), holder), (1, won[0].ok()), "round {round}");
        assert!(
            lost.iter().all(|answer| *answer == Err(Reason::DuplicateKey)),
            "round {round}: {lost:?}"
        );
    }
    assert_eq!((rig.timers.len(), rig.play(10)), (ROUNDS, ROUNDS));
}

#[test]
fn an_empty_key_is_refused() {
    let rig = Rig::new();
    assert_eq!(rig.timers.after(ms(10)).key("").run(|_| ()).unwrap_err().reason, Reason::EmptyKey);
    assert_eq!(
        rig.timers.every(ms(10)).replacing("").run(|_| ()).unwrap_err().reason,
        Reason::EmptyKey
    );
    assert!(rig.timers.is_empty() && rig.timers.keys().is_empty());
}

/// A `main` that returns an error prints it by `Debug`.
#[test]
fn an_error_names_its_remedy_however_it_is_printed() {
    let rig = Rig::new();
    rig.timers.after(ms(10)).key("a").run(|_| ()).unwrap();
    let twice = rig.timers.after(ms(10)).key("a").run(|_| ()).unwrap_err();
    assert_eq!(format!("{twice:?}"), twice.to_string());
    assert!(twice.to_string().contains("schedule by `replacing`"), "{twice}");
    let missing = rig.timers.cancel("b").unwrap_err();
    assert!(format!("{missing:?}").contains("no job has this key"), "{missing:?}");
}

#[test]
fn a_job_replaces_another_on_request() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let first = rig.timers.after(ms(10)).replacing("session").run(log.named("first")).unwrap();
    let second =
        rig.timers.every(ms(15)).times(2).replacing("session").run(log.named("second")).unwrap();
    assert_eq!(
        (first.status(), second.status(), rig.timers.len()),
        (Status::Cancelled, Status::Pending, 1)
    );
    assert_eq!(rig.timers.job("session").map(|job| job.number()), Some(second.number()));
    rig.play(100);
    assert_eq!(log.take(), [(15, "second"), (30, "second")]);
}

#[test]
fn a_key_finds_its_job_until_the_last_run_begins() {
    let (mut rig, log) = (Rig::new(), Log::default());
    rig.timers.after(ms(10)).key("cancelled").run(log.named("cancelled")).unwrap();
    rig.timers.after(ms(10)).key("refreshed").run(log.named("refreshed")).unwrap();
    rig.timers.every(ms(10)).times(2).key("periodic").run(log.named("periodic")).unwrap();
    let job = rig.timers.cancel("cancelled").unwrap();
    assert_eq!(job.handle().key().map(|key| &**key), Some("cancelled"));
    rig.timers.reschedule("refreshed", at(5)).unwrap();
    assert_eq!(rig.timers.job("refreshed").unwrap().deadline(), Some(at(5)));
    rig.timers.refresh("refreshed", ms(35)).unwrap();
    assert_eq!(rig.timers.cancel("cancelled").unwrap_err(), ChangeError::UnknownKey);
    assert_eq!(rig.timers.refresh("never heard of", ms(1)), Err(ChangeError::UnknownKey));
    assert_eq!(rig.timers.reschedule("never heard of", at(1)), Err(ChangeError::UnknownKey));
    rig.play(10);
    assert_eq!(keys(&rig), ["refreshed", "periodic"]);
    rig.play(20);
    assert_eq!(keys(&rig), ["refreshed"]);
    rig.play(100);
    assert_eq!(log.take(), [(10, "periodic"), (20, "periodic"), (35, "refreshed")]);
    assert!(keys(&rig).is_empty());
    assert_eq!(rig.timers.refresh("refreshed", ms(1)), Err(ChangeError::UnknownKey));
}

#[test]
fn keys_are_listed_in_the_order_of_scheduling_whatever_goes() {
    let mut rig = Rig::new();
    for n in 0..100 {
        rig.timers.after(ms(1000 - n)).key(format!("{n}")).run(|_| ()).unwrap();
    }
    for n in (0..100).filter(|n| n % 3 != 0) {
        drop(rig.timers.cancel(&n.to_string()).unwrap());
    }
    rig.timers.after(ms(2000)).key("50").run(|_| ()).unwrap();
    rig.timers.after(ms(2000)).replacing("3").run(|_| ()).unwrap();
    let expected: Vec<_> =
        (0..100).filter(|n| n % 3 == 0 && *n != 3).chain([50, 3]).map(|n| n.to_string()).collect();
    assert_eq!(keys(&rig), expected);
    assert_eq!(rig.timers.snapshot().keys, expected.len());
    rig.play(1500);
    assert_eq!(keys(&rig), ["50", "3"]);
}

#[test]
fn while_a_periodic_job_runs_its_key_is_in_use_unless_it_was_cancelled() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let (timers, answers) = (rig.timers.clone(), log.clone());
    rig.timers
        .every(ms(10))
        .key("periodic")
        .run(move |run| {
            answers.push(timers.after(ms(1)).key("periodic").run(|_| ()).is_ok());
            if run.number() == 2 {
                run.end();
                answers.push(timers.after(ms(500)).key("periodic").run(|_| ()).is_ok());
            }
        })
        .unwrap();
    rig.play(100);
    assert_eq!(log.take(), [false, false, true]);
    assert_eq!(keys(&rig), ["periodic"], "the key of the successor");
}
