//! Many threads schedule, cancel and refresh at once: each job runs exactly as often as its owner was told.

mod common;

use common::ms;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use wheelhouse_service::{ChangeError, Handle, JobHandle, Moment, Run, Service, Status, Stop};

const PRODUCERS: u64 = 4;
const JOBS: u64 = 5_000;

/// What the owner of a job knows.
struct Owned {
    handle: JobHandle,
    one_shot: bool,
    /// No run begins after this was told.
    cancelled: bool,
    /// A one-shot job does not begin before this.
    not_before: Moment,
    runs: Arc<AtomicU64>,
    /// When the first run began.
    began: Arc<AtomicU64>,
}

/// A generator of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn schedule(timers: &Handle, producer: u64, n: u64, random: &mut Random) -> Owned {
    let (runs, began) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let body = {
        let (runs, began) = (Arc::clone(&runs), Arc::clone(&began));
        move |run: &Run<'_>| {
            if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                began.store(run.started().as_nanos(), Ordering::SeqCst);
            }
        }
    };
    let delay = Duration::from_micros(random.below(5_000));
    let not_before = timers.now().saturating_add(delay);
    let key = format!("{producer}/{n}");
    let periodic = || timers.every(ms(1)).first_after(delay).times(3);
    let (one_shot, handle) = match random.below(4) {
        0 => (true, timers.after(delay).run(body).unwrap()),
        1 => (true, timers.after(delay).key(key).run(body).unwrap()),
        2 => (false, periodic().run(body).unwrap()),
        _ => (false, periodic().key(key).run_overlapping(body).unwrap()),
    };
    Owned { handle, one_shot, cancelled: false, not_before, runs, began }
}

/// Cancels or moves a job that may be due at this very moment.
fn disturb(timers: &Handle, job: &mut Owned, random: &mut Random) {
    match random.below(4) {
        0 => match job.handle.cancel() {
            Ok(work) => {
                assert!(!job.one_shot || work.runs() == 0);
                job.cancelled = true;
            }
            // The one run of a one-shot job goes on, and counts.
            Err(ChangeError::Running) => job.cancelled |= !job.one_shot,
            Err(ChangeError::Finished) => {}
            Err(ChangeError::Cancelled) => assert!(job.cancelled),
            Err(other) => panic!("{other:?}"),
        },
        1 => {
            let delay = Duration::from_micros(random.below(5_000));
            let not_before = timers.now().saturating_add(delay);
            if job.handle.refresh(delay).is_ok() {
                job.not_before = not_before;
            }
        }
        _ => {}
    }
}

fn produce(timers: &Handle, producer: u64) -> Vec<Owned> {
    let mut random = Random(producer + 1);
    let mut jobs: Vec<Owned> = Vec::new();
    for n in 0..JOBS {
        // The jobs go on meanwhile, also where producers have all processors to themselves.
        while timers.len() > 500 {
            thread::yield_now();
        }
        jobs.push(schedule(timers, producer, n, &mut random));
        for _ in 0..2 {
            let any = random.below(n + 1) as usize;
            let recent = jobs.len() - 1 - random.below(jobs.len().min(50) as u64) as usize;
            disturb(timers, &mut jobs[any], &mut random);
            disturb(timers, &mut jobs[recent], &mut random);
        }
    }
    jobs
}

fn check(job: &Owned, given_back: bool) {
    let (runs, handle) = (job.runs.load(Ordering::SeqCst), &job.handle);
    assert_eq!(runs, handle.runs(), "{handle:?}");
    assert!(!(job.cancelled && given_back), "{handle:?}");
    if job.one_shot {
        assert_eq!(runs, u64::from(!job.cancelled && !given_back), "{handle:?}");
    } else if handle.status() == Status::Finished {
        assert_eq!(runs, 3, "{handle:?}");
    } else {
        // Cancelled, or ended by the stop between two runs.
        assert!(runs <= 3 && (job.cancelled || handle.status() == Status::Stopped), "{handle:?}");
    }
    if job.one_shot && runs > 0 {
        let began = Moment::from_nanos(job.began.load(Ordering::SeqCst));
        assert!(began >= job.not_before, "{handle:?} began at {began:?}, not to be before {:?}", job.not_before);
    }
}

fn each_runs_as_often_as_it_should(service: Service) {
    let timers = service.handle();
    let producers: Vec<_> = (0..PRODUCERS)
        .map(|producer| {
            let timers = timers.clone();
            thread::spawn(move || produce(&timers, producer))
        })
        .collect();
    let jobs: Vec<Owned> = producers.into_iter().flat_map(|producer| producer.join().unwrap()).collect();
    let stopped = service.stop(Stop::Wait);
    let given_back: HashSet<u64> = stopped.jobs.iter().map(|job| job.handle().number()).collect();

    for job in &jobs {
        check(job, given_back.contains(&job.handle.number()));
    }
    let snapshot = timers.snapshot();
    let counts = snapshot.counts;
    assert_eq!((snapshot.jobs, snapshot.keys, snapshot.in_flight, counts.scheduled), (0, 0, 0, PRODUCERS * JOBS));
    assert_eq!(counts.scheduled, counts.finished + counts.cancelled + counts.stopped);
    assert_eq!(counts.runs, jobs.iter().map(|job| job.runs.load(Ordering::SeqCst)).sum::<u64>());
    assert!(counts.cancelled > 1_000 && counts.finished > 1_000 && counts.rescheduled > 1_000, "{counts:?}");
}

#[test]
fn each_job_runs_as_often_as_it_should_on_the_driving_thread() {
    each_runs_as_often_as_it_should(Service::start().unwrap());
}

#[test]
fn each_job_runs_as_often_as_it_should_on_workers() {
    each_runs_as_often_as_it_should(Service::builder().workers(3).start().unwrap());
}
