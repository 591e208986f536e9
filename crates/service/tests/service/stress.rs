//! Many threads schedule, cancel and refresh at once, under their own keys and under common ones,
//! until the service is stopped. Each job runs exactly as often as the return values said, and not
//! before the deadline that was set last.

use crate::common::{Log, Rig, at, ms, start_workers, wait_until};
use fastrand::Rng;
use std::collections::HashSet;
use std::thread;
use std::time::Duration;
use wheelhouse_service::{ChangeError, Handle, JobHandle, Moment, Reason, Run, Status, Stop};

const THREADS: u64 = 4;
const KEYS: u64 = 64;
const POLLS: u64 = 200;

struct Scheduled {
    handle: JobHandle,
    /// How often it runs unless it is cancelled or stopped: once, or three times.
    planned: u64,
    /// A one-shot job does not begin before this.
    not_before: Moment,
    /// When its runs began.
    runs: Log<Moment>,
}

/// The state that the threads share.
#[derive(Clone)]
struct World {
    timers: Handle,
    /// Jobs under common keys.
    common: Log<Scheduled>,
    /// The numbers of the jobs that a cancel returned.
    came_back: Log<u64>,
    /// How often a common key was in use.
    in_use: Log<()>,
}

impl World {
    fn schedule(&self, key: String, random: &mut Rng) -> Result<Scheduled, Reason> {
        let (timers, runs) = (&self.timers, Log::default());
        let job = runs.job(|run| run.started());
        let delay = Duration::from_micros(random.u64(..5_000));
        let not_before = timers.now().saturating_add(delay);
        let periodic = || timers.every(ms(1)).first_after(delay).times(3);
        let (planned, scheduled) = match random.u64(..4) {
            0 => (1, timers.after(delay).named("job").run(job).map_err(Reason::from)),
            1 => (1, timers.after(delay).key(key).run(job).map_err(Reason::from)),
            2 => (3, periodic().run(job).map_err(Reason::from)),
            _ => (3, periodic().key(key).run(job).map_err(Reason::from)),
        };
        Ok(Scheduled { handle: scheduled?, planned, not_before, runs })
    }

    /// Cancels or moves a job that may be due at this very moment.
    fn disturb(&self, job: &mut Scheduled, random: &mut Rng) {
        let (once, number) = (job.planned == 1, job.handle.number());
        let told = match random.u64(..4) {
            0 => job.handle.cancel().map(|work| {
                assert!(!once || work.runs() == 0);
                self.came_back.push(number);
            }),
            1 => {
                let delay = Duration::from_micros(random.u64(..5_000));
                let not_before = self.timers.now().saturating_add(delay);
                job.handle.refresh(delay).map(|()| job.not_before = not_before)
            }
            _ => Ok(()),
        };
        match told {
            // Too late: the last run has begun.
            Err(ChangeError::Running) => assert!(job.handle.runs() > 0),
            Err(ChangeError::Stopped) => assert!(self.timers.is_stopped()),
            Ok(()) | Err(ChangeError::Finished | ChangeError::Cancelled) => {}
            Err(other) => panic!("{other:?}"),
        }
    }

    /// Schedules a one-shot job under a common key. Half of these jobs schedule another under the
    /// same key when they run: the key is free then, but other threads compete for it.
    fn schedule_common(&self, key: u64, random: &mut Rng) {
        let (runs, world) = (Log::default(), self.clone());
        let plan = self.timers.after(Duration::from_micros(random.u64(..2_000)));
        let replaces = random.u64(..3) == 0;
        let name = key.to_string();
        let plan = if replaces { plan.replacing(name) } else { plan.key(name) };
        let mut again = (random.u64(..2) == 0).then(|| Rng::with_seed(random.u64(..1 << 32)));
        let log = runs.clone();
        let scheduled = plan.run(move |run| {
            log.push(run.started());
            again.iter_mut().for_each(|random| world.schedule_common(key, random));
        });
        match scheduled.map_err(Reason::from) {
            Ok(handle) => {
                let not_before = Moment::ORIGIN;
                self.common.push(Scheduled { handle, planned: 1, not_before, runs });
            }
            Err(Reason::DuplicateKey) => self.in_use.push(()),
            Err(reason) => assert_eq!(reason, Reason::Stopped),
        }
    }

    /// Cancels or refreshes the job that has a common key at this moment.
    fn disturb_common(&self, random: &mut Rng) {
        let key = random.u64(..KEYS).to_string();
        let told = if random.u64(..2) == 0 {
            self.timers.cancel(&key).map(|job| {
                assert_eq!((job.runs(), job.handle().key().map(|key| &**key)), (0, Some(&*key)));
                self.came_back.push(job.handle().number());
            })
        } else {
            self.timers.refresh(&key, Duration::from_micros(random.u64(..2_000)))
        };
        assert!(told != Err(ChangeError::Stopped) || self.timers.is_stopped());
    }

    /// Continues until the stop refuses a job.
    fn produce(&self, thread: u64) -> Vec<Scheduled> {
        let (mut random, mut jobs) = (Rng::with_seed(thread + 1), Vec::new());
        loop {
            // The jobs run in the meantime, also if these threads occupy all processors.
            wait_until(|| self.timers.len() <= 500);
            match self.schedule(format!("{thread}/{}", jobs.len()), &mut random) {
                Ok(job) => jobs.push(job),
                Err(reason) => {
                    assert_eq!(reason, Reason::Stopped);
                    return jobs;
                }
            }
            for among in [jobs.len(), jobs.len(), 50, 50] {
                let back = random.usize(..among.min(jobs.len()));
                let index = jobs.len() - 1 - back;
                self.disturb(&mut jobs[index], &mut random);
            }
            self.schedule_common(random.u64(..KEYS), &mut random);
            self.disturb_common(&mut random);
        }
    }
}

/// Compares the outcome of a job with what callers were told.
fn check(job: &Scheduled, cancelled: &HashSet<u64>, given_back: &HashSet<u64>) {
    let Scheduled { handle, planned, not_before, runs } = job;
    let (began, once) = (runs.take(), *planned == 1);
    let count = began.len() as u64;
    let [cancelled, given_back] = [cancelled, given_back].map(|all| all.contains(&handle.number()));
    let as_told = match handle.status() {
        Status::Finished => count == *planned && !cancelled && !given_back,
        // By a call or by its successor. A periodic job also during a run.
        Status::Cancelled => count <= if once { 0 } else { 3 } && !given_back,
        Status::Stopped => count <= 3 && !cancelled && (!once || count == 0 && given_back),
        _ => false,
    };
    assert!(as_told && count == handle.runs(), "{handle:?}: {count}, {cancelled}, {given_back}");
    let is_early = |began: &Moment| once && began < not_before;
    assert!(!began.iter().any(is_early), "{handle:?}: {began:?}, {not_before:?}");
}

/// Many threads schedule and disturb jobs, and continue until the stop refuses them. Returns how
/// often each of four things occurred.
fn stop_in_the_middle(how: Stop, workers: usize) -> [u64; 4] {
    let ((service, timers), common) = (start_workers(workers), Log::default());
    let world = World { timers, common, came_back: Log::default(), in_use: Log::default() };
    let (mut jobs, given_back) = thread::scope(|scope| {
        let world = &world;
        let threads: Vec<_> =
            (0..THREADS).map(|thread| scope.spawn(move || world.produce(thread))).collect();
        wait_until(|| world.timers.snapshot().counts.scheduled > 6_000);
        let stopped = service.stop(how).jobs;
        let given_back = stopped.iter().map(|job| job.handle().number()).collect();
        let jobs = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        (jobs.collect::<Vec<_>>(), given_back)
    });
    wait_until(|| world.timers.snapshot().in_flight == 0);
    jobs.extend(world.common.take());
    let came_back = world.came_back.take();
    let cancelled: HashSet<u64> = came_back.iter().copied().collect();
    assert_eq!(cancelled.len(), came_back.len(), "no job is returned twice");
    jobs.iter().for_each(|job| check(job, &cancelled, &given_back));

    let snapshot = world.timers.snapshot();
    let counts = snapshot.counts;
    assert_eq!((snapshot.jobs, snapshot.keys, counts.scheduled), (0, 0, jobs.len() as u64));
    assert_eq!(counts.scheduled, counts.finished + counts.cancelled + counts.stopped);
    assert_eq!(counts.runs, jobs.iter().map(|job| job.handle.runs()).sum::<u64>());
    [counts.finished, counts.cancelled, counts.rescheduled, world.in_use.len() as u64]
}

#[test]
fn each_job_runs_as_often_as_it_should_on_workers() {
    let mut all = [0; 4];
    for workers in [1, 3] {
        for how in [Stop::Now, Stop::Wait, Stop::WaitFor(ms(5))] {
            let its = stop_in_the_middle(how, workers);
            all.iter_mut().zip(its).for_each(|(all, its)| *all += its);
        }
    }
    assert!(all.iter().all(|count| *count > 1_000), "not all occurred: {all:?}");
}

/// Refreshes a job at about the time at which it runs, and compares the outcome with the return
/// value, which is returned.
fn race(timers: &Handle, random: &mut Rng) -> Result<(), ChangeError> {
    let started = Log::default();
    let body = started.job(|run| {
        // Long enough to be found running.
        thread::sleep(Duration::from_micros(200));
        run.started()
    });
    // It runs between half a tick and one and a half ticks from now.
    let job = timers.after(Duration::from_micros(500)).named("job").run(body).unwrap();
    thread::sleep(Duration::from_micros(random.u64(..2_500)));
    let not_before = timers.now().saturating_add(ms(2));
    let told = job.refresh(ms(2));
    assert!(told.is_ok() || job.runs() == 1, "the error reports a run that has not begun");
    wait_until(|| job.status() == Status::Finished);
    let began = started.take();
    assert_eq!((began.len(), job.runs()), (1, 1), "it runs once, whichever wins");
    assert!(told.is_err() || began[0] >= not_before, "at {:?}, not {not_before:?}", began[0]);
    told
}

#[test]
fn of_a_refresh_and_the_run_one_wins_and_the_caller_is_told_which() {
    let (_service, timers) = start_workers(3);
    let mut told = thread::scope(|scope| {
        let races = |seed| {
            let (mut random, timers) = (Rng::with_seed(seed), &timers);
            scope.spawn(move || (0..300).map(|_| race(timers, &mut random)).collect::<Vec<_>>())
        };
        let threads: Vec<_> = (1..=THREADS).map(races).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for outcome in [Ok(()), Err(ChangeError::Running), Err(ChangeError::Finished)] {
        let count = told.len();
        told.retain(|its| *its != outcome);
        assert!(told.len() < count, "{outcome:?} never occurred");
    }
    assert!(told.is_empty(), "{told:?}");
}

/// Bug B11: a timer that is added to a slot while the slot is emptied is lost, or fires a turn of
/// the wheel late. Here a job of each poll waits for threads that schedule jobs for the slot that
/// is expiring and for its neighbours. Poll n is at millisecond n.
#[test]
fn jobs_that_are_added_while_their_slot_expires_run_once_and_in_time() {
    let (mut rig, added) = (Rig::with(|builder| builder.shards(3)), Log::default());
    for poll in 1..=POLLS {
        let (timers, log) = (rig.timers.clone(), added.clone());
        let add = move || {
            for n in 0..48 {
                let (ran, deadline) = (Log::default(), poll - 1 + n % 4);
                timers.at(at(deadline)).run(ran.times()).unwrap();
                log.push((deadline.max(poll + 1), ran));
            }
        };
        let in_the_middle = move |_: &Run<'_>| {
            thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(&add))));
        };
        rig.timers.at(at(poll)).run(in_the_middle).unwrap();
        rig.stall(poll);
    }
    // The last jobs are due two ticks after the last poll.
    (1..=2).for_each(|n| _ = rig.stall(POLLS + n));
    let added = added.take();
    assert_eq!(added.len() as u64, THREADS * POLLS * 48);
    added.into_iter().for_each(|(due, ran)| assert_eq!(ran.take(), [due]));
    assert!(rig.timers.is_empty());
}
