//! Many threads use the same few keys, and producers continue while the service is stopped: each
//! job runs, is returned, or is refused, exactly one of these.

use crate::common::{Log, Random, ms, wait_until};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use wheelhouse_service::{
    ChangeError, Counts, Handle, JobHandle, Reason, Run, Service, Status, Stop,
};

const THREADS: u64 = 4;
const KEYS: u64 = 64;

/// A one-shot job, and the number of its runs.
struct Owned {
    handle: JobHandle,
    runs: Arc<AtomicU64>,
}

/// The scheduled jobs, and the numbers of the jobs that a cancel returned.
#[derive(Clone, Default)]
struct Known {
    jobs: Log<Owned>,
    came_back: Log<u64>,
}

/// Schedules a job under a key. Half of the jobs schedule another under the same key when they run:
/// the key is free then, but other threads compete for it. Returns the reason of a refusal.
fn schedule(timers: &Handle, known: &Known, key: u64, random: &mut Random) -> Option<Reason> {
    let delay = Duration::from_micros(random.below(2_000));
    let (replaces, leaves_another) = (random.below(3) == 0, random.below(2) == 0);
    let runs = Arc::new(AtomicU64::new(0));
    let (counter, again, inner) = (Arc::clone(&runs), timers.clone(), known.clone());
    let mut seed = Random(random.below(u64::from(u32::MAX)));
    let body = move |_: &Run<'_>| {
        counter.fetch_add(1, Ordering::SeqCst);
        if leaves_another {
            let refused = schedule(&again, &inner, key, &mut seed);
            assert!(
                refused
                    .is_none_or(|reason| matches!(reason, Reason::DuplicateKey | Reason::Stopped))
            );
        }
    };
    let plan = timers.after(delay);
    let plan = if replaces { plan.replacing(key.to_string()) } else { plan.key(key.to_string()) };
    match plan.run(body) {
        Ok(handle) => {
            known.jobs.push(Owned { handle, runs });
            None
        }
        Err(rejected) => Some(rejected.reason),
    }
}

/// Cancels or refreshes the job that has the key at this moment.
fn disturb(timers: &Handle, known: &Known, key: u64, random: &mut Random) {
    let key = key.to_string();
    let told = match random.below(3) {
        0 => timers.cancel(&key).map(|job| {
            assert_eq!((job.runs(), job.handle().key().map(|key| &**key)), (0, Some(&*key)));
            known.came_back.push(job.handle().number());
        }),
        1 => timers.refresh(&key, Duration::from_micros(random.below(2_000))),
        _ => timers.job(&key).map_or(Err(ChangeError::UnknownKey), |job| job.refresh(ms(1))),
    };
    // The job was found under its key, and may have begun, ended or been cancelled before it could
    // be changed.
    assert!(told != Err(ChangeError::Stopped) || timers.is_stopped());
}

/// Compares the outcome of each job with what callers were told. `given_back` are the jobs that the
/// stop returned.
fn check(timers: &Handle, known: &Known, given_back: &HashSet<u64>) {
    let (jobs, came_back) = (known.jobs.take(), known.came_back.take());
    let cancelled: HashSet<u64> = came_back.iter().copied().collect();
    assert_eq!(cancelled.len(), came_back.len(), "no job is returned twice");
    for Owned { handle, runs } in &jobs {
        let (number, runs) = (handle.number(), runs.load(Ordering::SeqCst));
        assert_eq!(runs, handle.runs(), "{handle:?}");
        let expected = match handle.status() {
            Status::Finished => (1, false, false),
            // Cancelled by its key, or replaced.
            Status::Cancelled => (0, cancelled.contains(&number), false),
            Status::Stopped => (0, false, true),
            other => panic!("{handle:?} is {other:?}"),
        };
        assert_eq!(
            (runs, cancelled.contains(&number), given_back.contains(&number)),
            expected,
            "{handle:?}"
        );
    }
    let snapshot = timers.snapshot();
    let counts = snapshot.counts;
    assert_eq!((snapshot.jobs, snapshot.keys, snapshot.in_flight), (0, 0, 0));
    assert_eq!(counts.scheduled, counts.finished + counts.cancelled + counts.stopped);
    assert!(
        counts.scheduled >= jobs.len() as u64,
        "a job that the stop refused may have been counted"
    );
}

/// Many threads use a few keys, and continue until the stop refuses them. Returns the counters, and
/// how often a key was in use.
fn stop_in_the_middle(how: Stop, workers: usize) -> (Counts, u64) {
    let service =
        Service::builder().workers(workers).tick(Duration::from_micros(100)).start().unwrap();
    let (timers, known, in_use) = (service.handle(), Known::default(), AtomicU64::new(0));
    let given_back = thread::scope(|scope| {
        for seed in 1..=THREADS {
            let (timers, known, in_use) = (timers.clone(), known.clone(), &in_use);
            scope.spawn(move || {
                let mut random = Random(seed);
                for round in 0.. {
                    if round % 20 == 0 {
                        // As long as the delays, so that some jobs run.
                        thread::sleep(ms(1));
                    }
                    if round % 500 == 0 {
                        assert!(timers.snapshot().keys <= KEYS as usize);
                    }
                    match schedule(&timers, &known, random.below(KEYS), &mut random) {
                        None => {}
                        Some(Reason::DuplicateKey) => _ = in_use.fetch_add(1, Ordering::SeqCst),
                        refused => return assert_eq!(refused, Some(Reason::Stopped)),
                    }
                    disturb(&timers, &known, random.below(KEYS), &mut random);
                }
            });
        }
        wait_until(|| known.jobs.len() > 2_000);
        service.stop(how).jobs.iter().map(|job| job.handle().number()).collect()
    });
    wait_until(|| timers.snapshot().in_flight == 0);
    check(&timers, &known, &given_back);
    (timers.snapshot().counts, in_use.into_inner())
}

#[test]
fn a_stop_in_the_middle_loses_no_job_and_runs_none_twice() {
    let mut all = [0; 4];
    for workers in [1, 3] {
        for how in [Stop::Now, Stop::Wait, Stop::WaitFor(ms(5))] {
            for _ in 0..5 {
                let (counts, in_use) = stop_in_the_middle(how, workers);
                let its = [counts.finished, counts.cancelled, counts.rescheduled, in_use];
                all.iter_mut().zip(its).for_each(|(all, its)| *all += its);
            }
        }
    }
    assert!(all.iter().all(|count| *count > 300), "not all occurred: {all:?}");
}
