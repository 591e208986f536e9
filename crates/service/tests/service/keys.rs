//! Jobs under keys: unique, replaced on request, and found; and the list of all jobs.

use crate::common::{Log, Rig, at, at_once, ms, poll};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Barrier;
use std::thread;
use wheelhouse_service::{Backoff, ChangeError, JobHandle, Reason, Run};

/// The keys in use, in the order in which their jobs were scheduled.
fn keys(rig: &Rig) -> Vec<String> {
    let mut jobs: Vec<_> = rig.timers.jobs().collect();
    jobs.sort_by_key(JobHandle::number);
    jobs.iter().filter_map(|job| job.key().map(|key| key.to_string())).collect()
}

/// Bug B4: checking the key and taking it are two steps, and another task can come between them.
#[test]
fn of_many_who_want_a_key_at_once_exactly_one_gets_it() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 500;
    let (mut rig, barrier) = (Rig::new(), Barrier::new(THREADS));
    let timers = rig.timers.clone();
    // Errors are checked below: a panic here would leave the other threads at the barrier.
    let attempt = |round: usize| {
        barrier.wait();
        let scheduled = timers.after(ms(10)).key(format!("key {round}")).run(|_| ());
        scheduled.map(|job| job.number()).map_err(Reason::from)
    };
    let race = || (0..ROUNDS).map(attempt).collect::<Vec<_>>();
    let answers = thread::scope(|scope| {
        let racers = [(); THREADS].map(|()| scope.spawn(race));
        racers.map(|racer| racer.join().unwrap())
    });
    for round in 0..ROUNDS {
        let holder = rig.timers.job(&format!("key {round}")).unwrap().number();
        let count = |answer| answers.iter().filter(|its| its[round] == answer).count();
        let counts = [count(Ok(holder)), count(Err(Reason::DuplicateKey))];
        assert_eq!(counts, [1, THREADS - 1], "round {round}");
    }
    assert_eq!((rig.timers.len(), rig.play(10)), (ROUNDS, ROUNDS));
}

#[test]
fn an_empty_key_is_refused() {
    let rig = Rig::new();
    let once = rig.timers.after(ms(10)).key("").run(|_| ()).unwrap_err();
    let periodic = rig.timers.every(ms(10)).replacing("").run(|_| ()).unwrap_err();
    assert_eq!([once.reason, periodic.reason], [Reason::EmptyKey; 2]);
    assert!(rig.timers.is_empty() && keys(&rig).is_empty());
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
fn while_a_periodic_job_runs_its_key_is_in_use_unless_it_was_cancelled() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let (timers, answers) = (rig.timers.clone(), log.clone());
    let asks = move |run: &Run<'_>| {
        answers.push(timers.after(ms(1)).key("periodic").run(|_| ()).is_ok());
        if run.number() == 2 {
            run.end();
            answers.push(timers.after(ms(500)).key("periodic").run(|_| ()).is_ok());
        }
    };
    rig.timers.every(ms(10)).key("periodic").run(asks).unwrap();
    rig.play(100);
    assert_eq!(log.take(), [false, false, true]);
    assert!(rig.timers.job("periodic").is_some(), "the successor keeps its key");
}

#[test]
fn each_job_is_listed_with_what_is_known_of_it() {
    let mut rig = Rig::new();
    let failing = rig.timers.every(ms(100)).named("report");
    drop(failing.try_run(|_| Err::<(), _>("no paper")).unwrap());
    rig.timers.after(ms(500)).key("session").run(|_| ()).unwrap();
    let plain = rig.timers.after(ms(700)).run(|_| ()).unwrap();
    // A run that is in progress is listed.
    let seen = Log::default();
    rig.timers.after(ms(50)).run(seen.job(|run| run.timers().jobs().count())).unwrap();
    // The jobs of futures are not.
    let mut sleep = pin!(rig.timers.sleep(ms(500)));
    assert!(poll(&mut sleep).is_pending());
    rig.play(250);
    assert_eq!((seen.take(), rig.timers.len()), (vec![4], 4));
    let mut listed: Vec<_> = rig.timers.jobs().collect();
    listed.sort_by_key(|job| job.number());
    let [report, session, last] = &listed[..] else { panic!("{listed:?}") };
    let its = (report.name(), report.runs(), report.deadline());
    assert_eq!(its, (Some("report"), 2, Some(at(300))));
    assert_eq!(report.last_error().as_deref(), Some("no paper"));
    assert_eq!((session.key().map(|key| &**key), session.runs()), (Some("session"), 0));
    assert_eq!((last.number(), last.deadline()), (plain.number(), Some(at(700))));
}

#[test]
fn of_many_in_all_shards_each_is_listed_once_whatever_comes_and_goes() {
    let timers = &Rig::with(|builder| builder.shards(4)).timers;
    // Each thread has its own shard.
    let schedule = |n| {
        let job = |n: u64| timers.after(ms(1000 + n)).run(|_| ()).unwrap();
        let all = || (0..n).map(job).collect::<Vec<_>>();
        thread::scope(|scope| scope.spawn(all).join().unwrap())
    };
    let stay: Vec<_> = (0..8).flat_map(|_| schedule(700)).collect();
    let go = schedule(1000);
    let mut listed = Vec::new();
    for (n, job) in timers.jobs().enumerate() {
        listed.push(job.number());
        if let Some(job) = go.get(n) {
            drop(job.cancel());
            timers.after(ms(1)).run(|_| ()).unwrap();
        }
    }
    let seen: BTreeSet<_> = listed.iter().copied().collect();
    assert_eq!(seen.len(), listed.len(), "none twice");
    assert!(stay.iter().all(|job| seen.contains(&job.number())));
}

/// Such work cannot be called again, whatever the plan says, so its first run is the last.
#[test]
fn the_key_of_a_job_that_cannot_be_retried_is_free_in_its_run() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let backoff = Backoff::new(ms(1));
    let is_free = |key: &'static str| log.job(move |run| run.timers().job(key).is_none());
    let plan = |key| rig.timers.after(ms(1)).key(key).retry(backoff);
    plan("run").run(is_free("run")).unwrap();
    plan("async").run_async(at_once(is_free("async"))).unwrap();
    rig.play(10);
    assert_eq!(log.take(), [true; 2]);
}
