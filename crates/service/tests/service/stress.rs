//! Many threads schedule, cancel and refresh at once. Each job runs exactly as often as the return
//! values said, and not before the deadline that was set last.

use crate::common::{Log, Random, Rig, at, ms, wait_until};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use wheelhouse_service::{ChangeError, Handle, JobHandle, Moment, Run, Service, Status, Stop};

const PRODUCERS: u64 = 4;
const JOBS: u64 = 5_000;
const POLLS: u64 = 200;

/// A job, and what its owner was told about it.
struct Owned {
    handle: JobHandle,
    one_shot: bool,
    /// A cancel has succeeded, so no run begins afterwards.
    cancelled: bool,
    /// A one-shot job does not begin before this.
    not_before: Moment,
    runs: Arc<AtomicU64>,
    /// When the first run began.
    began: Arc<AtomicU64>,
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
        0 => (true, timers.after(delay).named("job").run(body).unwrap()),
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
            // The single run of a one-shot job continues, and counts.
            Err(ChangeError::Running) => job.cancelled |= !job.one_shot,
            Err(ChangeError::Finished) => {}
            Err(ChangeError::Cancelled) => assert!(job.cancelled),
            Err(other) => panic!("{other:?}"),
        },
        1 => {
            let delay = Duration::from_micros(random.below(5_000));
            let not_before = timers.now().saturating_add(delay);
            match job.handle.refresh(delay) {
                Ok(()) => job.not_before = not_before,
                // Too late: the last run has begun.
                Err(ChangeError::Running) => assert!(job.handle.runs() > 0),
                Err(ChangeError::Finished) => assert!(!job.cancelled || job.handle.runs() == 3),
                Err(ChangeError::Cancelled) => assert!(job.cancelled),
                Err(other) => panic!("{other:?}"),
            }
        }
        _ => {}
    }
}

fn produce(timers: &Handle, producer: u64) -> Vec<Owned> {
    let mut random = Random(producer + 1);
    let mut jobs: Vec<Owned> = Vec::new();
    for n in 0..JOBS {
        // The jobs run in the meantime, also if producers occupy all processors.
        wait_until(|| timers.len() <= 500);
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
        assert!(
            began >= job.not_before,
            "{handle:?} began at {began:?}, not to be before {:?}",
            job.not_before
        );
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
    let jobs: Vec<Owned> =
        producers.into_iter().flat_map(|producer| producer.join().unwrap()).collect();
    let stopped = service.stop(Stop::Wait);
    let given_back: HashSet<u64> = stopped.jobs.iter().map(|job| job.handle().number()).collect();

    for job in &jobs {
        check(job, given_back.contains(&job.handle.number()));
    }
    let snapshot = timers.snapshot();
    let counts = snapshot.counts;
    assert_eq!(
        (snapshot.jobs, snapshot.keys, snapshot.in_flight, counts.scheduled),
        (0, 0, 0, PRODUCERS * JOBS)
    );
    assert_eq!(counts.scheduled, counts.finished + counts.cancelled + counts.stopped);
    assert_eq!(counts.runs, jobs.iter().map(|job| job.runs.load(Ordering::SeqCst)).sum::<u64>());
    assert!(
        counts.cancelled > 1_000 && counts.finished > 1_000 && counts.rescheduled > 1_000,
        "{counts:?}"
    );
}

#[test]
fn each_job_runs_as_often_as_it_should_on_the_driving_thread() {
    each_runs_as_often_as_it_should(Service::builder().workers(1).start().unwrap());
}

#[test]
fn each_job_runs_as_often_as_it_should_on_workers() {
    each_runs_as_often_as_it_should(Service::builder().workers(3).start().unwrap());
}

/// The outcomes of races between a refresh and a run.
#[derive(Default)]
struct Races {
    won: usize,
    lost_to_a_run_that_went_on: usize,
    lost_to_one_that_had_ended: usize,
}

/// Refreshes a job at about the time at which it runs, and compares the outcome with the return
/// value.
fn race(timers: &Handle, random: &mut Random, races: &mut Races) {
    let started = Log::default();
    let log = started.clone();
    let body = move |run: &Run<'_>| {
        log.push(run.started());
        // Long enough to be found running.
        thread::sleep(Duration::from_micros(200));
    };
    // It runs between half a tick and one and a half ticks from now.
    let job = timers.after(Duration::from_micros(500)).named("job").run(body).unwrap();
    thread::sleep(Duration::from_micros(random.below(2_500)));
    let not_before = timers.now().saturating_add(ms(2));
    let told = job.refresh(ms(2));
    assert!(told.is_ok() || job.runs() == 1, "the error reports a run that has not begun");
    wait_until(|| job.status() == Status::Finished);
    let began = started.take();
    assert_eq!((began.len(), job.runs()), (1, 1), "it runs once, whichever wins");
    match told {
        Ok(()) => {
            races.won += 1;
            assert!(
                began[0] >= not_before,
                "began at {:?}, not to be before {not_before:?}",
                began[0]
            );
        }
        Err(ChangeError::Running) => races.lost_to_a_run_that_went_on += 1,
        Err(ChangeError::Finished) => races.lost_to_one_that_had_ended += 1,
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn of_a_refresh_and_the_run_one_wins_and_the_caller_is_told_which() {
    let service = Service::builder().workers(3).start().unwrap();
    let refreshers: Vec<_> = (0..PRODUCERS)
        .map(|seed| {
            let (timers, mut races, mut random) =
                (service.handle(), Races::default(), Random(seed + 1));
            thread::spawn(move || {
                (0..300).for_each(|_| race(&timers, &mut random, &mut races));
                races
            })
        })
        .collect();
    let races: Vec<_> = refreshers.into_iter().map(|refresher| refresher.join().unwrap()).collect();
    let sum = |of: fn(&Races) -> usize| races.iter().map(of).sum::<usize>();
    let counts = [
        sum(|it| it.won),
        sum(|it| it.lost_to_a_run_that_went_on),
        sum(|it| it.lost_to_one_that_had_ended),
    ];
    assert!(counts.iter().all(|count| *count > 0), "not all three outcomes occurred: {counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 300 * PRODUCERS as usize);
}

/// The state that the producers and the polling thread share. Poll n is at millisecond n.
#[derive(Default)]
struct Meeting {
    /// Polls that have begun.
    polls: AtomicU64,
    /// The number of the poll that runs jobs, or ran them last.
    expiring: AtomicU64,
    /// How often a producer has scheduled a job while a poll ran others.
    arrived: AtomicU64,
}

fn wait_for(number: &AtomicU64, at_least: u64) {
    wait_until(|| number.load(Ordering::SeqCst) >= at_least);
}

/// When a job was due, and when it ran.
struct Added {
    deadline: u64,
    /// The number of polls that had begun when it had been scheduled: the next one must see it.
    after: u64,
    ran: Log<u64>,
}

/// Schedules jobs for the slot that is expiring and for its neighbours: the first of each fifty
/// during a poll, the others at any time.
fn add(timers: &Handle, meeting: &Meeting, seed: u64) -> Vec<Added> {
    let (mut random, mut jobs) = (Random(seed), Vec::new());
    for poll in 1..=POLLS {
        wait_for(&meeting.expiring, poll);
        for n in 0..50 {
            let (ran, deadline) =
                (Log::default(), meeting.polls.load(Ordering::SeqCst) - 1 + random.below(4));
            timers.at(at(deadline)).run(ran.times()).unwrap();
            jobs.push(Added { deadline, after: meeting.polls.load(Ordering::SeqCst), ran });
            meeting.arrived.fetch_add(u64::from(n == 0), Ordering::SeqCst);
        }
    }
    jobs
}

/// Bug B11: a timer that is added to a slot while the slot is emptied is lost, or fires a turn of
/// the wheel late.
#[test]
fn jobs_that_are_added_while_their_slot_expires_run_once_and_in_time() {
    let mut rig = Rig::new();
    let timers = rig.timers.clone();
    let meeting = Arc::new(Meeting::default());
    let producers = (1..=PRODUCERS).map(|seed| {
        let (timers, meeting) = (rig.timers.clone(), Arc::clone(&meeting));
        thread::spawn(move || add(&timers, &meeting, seed))
    });
    let producers: Vec<_> = producers.collect();
    let mut poll = |number| {
        meeting.polls.store(number, Ordering::SeqCst);
        rig.stall(number)
    };
    for number in 1..=POLLS {
        let met = Arc::clone(&meeting);
        let in_the_middle = move |_: &Run<'_>| {
            met.expiring.store(number, Ordering::SeqCst);
            wait_for(&met.arrived, PRODUCERS * number);
        };
        timers.at(at(number)).run(in_the_middle).unwrap();
        poll(number);
    }
    let added: Vec<_> =
        producers.into_iter().flat_map(|producer| producer.join().unwrap()).collect();
    // The last jobs are due two ticks after the last poll.
    (1..=2).for_each(|n| _ = poll(POLLS + n));

    assert_eq!(added.len() as u64, PRODUCERS * POLLS * 50);
    for Added { deadline, after, ran } in added {
        let ran = ran.take();
        let in_time = deadline..=deadline.max(after + 1);
        assert!(
            ran.len() == 1 && in_time.contains(&ran[0]),
            "due at {deadline}, known to poll {}: {ran:?}",
            after + 1
        );
    }
    assert!(rig.timers.is_empty());
}
