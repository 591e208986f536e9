//! Listing all jobs.

use crate::common::{Rig, at, ms};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use wheelhouse_service::future::DelayQueue;
use wheelhouse_service::{Scheduler, Status};

#[test]
fn each_job_is_listed_with_what_is_known_of_it() {
    let mut rig = Rig::new();
    let failing = rig.timers.every(ms(100)).named("report");
    drop(failing.try_run(|_| Err::<(), _>("no paper")).unwrap());
    rig.timers.after(ms(500)).key("session").run(|_| ()).unwrap();
    let plain = rig.timers.after(ms(700)).run(|_| ()).unwrap();
    rig.timers.after(ms(50)).run(|_| ()).unwrap();
    rig.timers.every(ms(50)).run(|_| ()).unwrap().pause().unwrap();
    rig.play(250);
    let mut listed: Vec<_> = rig.timers.jobs().collect();
    listed.sort_by_key(|job| job.number());
    let [report, session, last, paused] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!(
        (report.name(), report.runs(), report.deadline()),
        (Some("report"), 2, Some(at(300)))
    );
    assert_eq!(report.last_error().as_deref(), Some("no paper"));
    assert_eq!((session.key().map(|key| &**key), session.runs()), (Some("session"), 0));
    assert_eq!((last.number(), last.deadline()), (plain.number(), Some(at(700))));
    assert_eq!((paused.status(), paused.deadline()), (Status::Paused, None));
}

#[test]
fn what_futures_wait_for_is_not_listed() {
    let rig = Rig::new();
    let queue = DelayQueue::new(&rig.timers);
    queue.insert(ms(10), "value").unwrap();
    let mut sleep = pin!(rig.timers.sleep(ms(10)));
    assert!(sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!((rig.timers.len(), rig.timers.jobs().count()), (2, 0));
}

#[test]
fn a_job_that_runs_is_listed() {
    let (mut rig, held) = Rig::with_held_runs();
    let timers = rig.timers.clone();
    let job = rig.timers.after(ms(1)).run(move |run| {
        assert_eq!(timers.jobs().map(|job| job.number()).collect::<Vec<_>>(), [run.job().number()]);
    });
    drop(job.unwrap());
    rig.play(1);
    held.one().run();
    assert_eq!((rig.timers.snapshot().counts.panicked, rig.timers.jobs().count()), (0, 0));
}

#[test]
fn of_many_in_all_shards_each_is_listed_once_whatever_comes_and_goes() {
    let scheduler = Scheduler::builder().shards(4).build().unwrap();
    let timers = scheduler.handle();
    let schedule = |n| {
        let timers = timers.clone();
        let all = move || {
            (0..n).map(|n| timers.after(ms(1000 + n)).run(|_| ()).unwrap()).collect::<Vec<_>>()
        };
        std::thread::spawn(all).join().unwrap()
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
