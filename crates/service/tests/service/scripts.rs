//! Random scripts of operations on jobs: move, pause, resume, run now, pause all, cancel. They come
//! from outside and from the job's own runs. Runs are on the driving thread, or are futures that
//! are kept and carried out in any order. In all cases no run is early, a job that is paused or
//! cancelled has no run, each one-shot job runs once, periodic jobs continue, and nothing is left
//! in flight.

use crate::common::{Log, Rig, at_once, carry_out, ms};
use fastrand::Rng;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};
use wheelhouse_service::{AsyncRun, Backoff, ChangeError, Group, JobHandle, Run, Status};

/// The state of a job as its callers expect it. Times are in milliseconds.
#[derive(Default)]
struct Expected {
    /// No run begins before this, the time to which the job was moved.
    not_before: u64,
    is_paused: bool,
    /// `run_now` was called, and there was no run since then. It begins even if the job is paused.
    is_extra: bool,
    is_cancelled: bool,
    runs: u64,
    /// The changes that its next run makes to the job itself.
    next: &'static [Change],
}

/// The state that a job and its script share.
#[derive(Default)]
struct Shared {
    /// Runs that should not have begun.
    wrong: Log<String>,
    expected: Mutex<Expected>,
    /// All jobs are paused, and run on the driving thread.
    all_paused: Arc<AtomicBool>,
}

/// An operation on a job.
#[derive(Clone, Copy)]
enum Change {
    Move(u64),
    Pause,
    Resume,
    RunNow,
    Cancel,
}

/// The changes that a run may make to its own job.
const CHANGES: [&[Change]; 5] = [
    &[],
    &[Change::Move(30)],
    &[Change::Pause],
    &[Change::Pause, Change::Resume],
    &[Change::RunNow],
];

impl Shared {
    fn expected(&self) -> MutexGuard<'_, Expected> {
        self.expected.lock().unwrap()
    }

    /// Changes the job at a time.
    fn change(&self, job: &JobHandle, change: Change, now: u64) -> Result<(), ChangeError> {
        let mut expected = self.expected();
        match change {
            Change::Move(delay) => {
                job.refresh(ms(delay))?;
                (expected.not_before, expected.is_extra) = (now + delay, false);
            }
            Change::Pause => {
                job.pause()?;
                (expected.is_paused, expected.is_extra) = (true, false);
            }
            Change::Resume => {
                job.resume()?;
                expected.is_paused = false;
            }
            Change::RunNow => {
                job.run_now()?;
                (expected.not_before, expected.is_extra) = (0, true);
            }
            Change::Cancel => {
                drop(job.cancel()?);
                expected.is_cancelled = true;
            }
        }
        Ok(())
    }

    fn run(&self, run: &Run<'_>) {
        let begun = run.started().as_nanos() / 1_000_000;
        let mut expected = self.expected();
        // Retries have their own deadlines.
        let is_early = begun < expected.not_before && run.attempt() == 1;
        if is_early || run.started() < run.deadline() {
            self.wrong.push(format!("at {begun}, not {}", expected.not_before));
        }
        let is_paused = expected.is_paused && !expected.is_extra;
        if expected.is_cancelled || is_paused || self.all_paused.load(Ordering::SeqCst) {
            self.wrong.push(format!("at {begun}, though paused or cancelled"));
        }
        (expected.not_before, expected.is_extra) = (0, false);
        expected.runs += 1;
        let changes = std::mem::take(&mut expected.next);
        drop(expected);
        // The last run can no longer be changed.
        changes.iter().for_each(|change| _ = self.change(&run.job(), *change, begun));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Once,
    Repeats,
}

struct Job {
    handle: JobHandle,
    shared: Arc<Shared>,
    kind: Kind,
}

/// A scheduler, and what its jobs share.
struct World {
    rig: Rig,
    all_paused: Arc<AtomicBool>,
    group: Group,
    /// Runs that were handed out.
    kept: Vec<AsyncRun>,
}

fn schedule(world: &World, here: bool, random: &mut Rng) -> Job {
    let all_paused = Arc::clone(&world.all_paused);
    let shared = Arc::new(Shared { all_paused, ..Shared::default() });
    let (its, timers) = (Arc::clone(&shared), &world.rig.timers);
    let run = move |run: &Run<'_>| its.run(run);
    let (delay, period) = (ms(random.u64(..60)), ms(5 + random.u64(..40)));
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(timers.now().as_nanos()) + delay;
    macro_rules! planned {
        ($plan:expr) => {
            if here { $plan.run(run).unwrap() } else { $plan.run_async(at_once(run)).unwrap() }
        };
    }
    let (handle, kind) = match random.u64(..7) {
        0 => (planned!(timers.after(delay).named("job")), Kind::Once),
        1 => (planned!(timers.at(time).named("job")), Kind::Once),
        2 => (planned!(timers.every(period)), Kind::Repeats),
        3 => (planned!(timers.every(period).fixed_delay().slack(ms(4))), Kind::Repeats),
        4 => (planned!(timers.on(move |after| Some(after + period))), Kind::Repeats),
        5 => (planned!(timers.every(period).group(&world.group)), Kind::Repeats),
        _ => {
            let plan = timers.every(period).retry(Backoff::new(ms(7)).attempts(3));
            let fails_once = move |its: &Run<'_>| {
                run(its);
                if its.attempt() == 1 { Err("no") } else { Ok(()) }
            };
            let retried = match here {
                true => plan.try_run(fails_once).unwrap(),
                false => plan.try_run_async(at_once(fails_once)).unwrap(),
            };
            (retried, Kind::Repeats)
        }
    };
    Job { handle, shared, kind }
}

/// One step of a script, on one of its jobs.
fn step(world: &mut World, job: &Job, here: bool, random: &mut Rng) {
    let timers = &world.rig.timers;
    let change = match random.u64(..12) {
        0 | 1 => Change::Move(random.u64(..80)),
        2 => Change::Pause,
        3 | 4 => Change::Resume,
        5 => Change::RunNow,
        6 => {
            timers.pause();
            return world.all_paused.store(here, Ordering::SeqCst);
        }
        7 => {
            timers.resume();
            return world.all_paused.store(false, Ordering::SeqCst);
        }
        8 => return job.shared.expected().next = CHANGES[random.usize(..CHANGES.len())],
        9 if random.u64(..4) == 0 => Change::Cancel,
        _ => {
            for _ in 0..random.usize(..3).min(world.kept.len()) {
                let which = random.usize(..world.kept.len());
                carry_out(world.kept.swap_remove(which));
            }
            return;
        }
    };
    // Some jobs are over, some are running.
    let now = timers.now().as_nanos() / 1_000_000;
    job.shared.change(&job.handle, change, now).unwrap_or_default();
}

fn play(seed: u64, here: bool) {
    let mut random = Rng::with_seed(seed);
    let (rig, held) = if here {
        (Rig::new(), Log::default())
    } else {
        let (rig, held, _) = Rig::with_kept_futures();
        (rig, held)
    };
    let (all_paused, group) = (Arc::default(), Group::new(1));
    let mut world = World { rig, all_paused, group, kept: Vec::new() };
    let (mut jobs, mut now) = (Vec::new(), 0);
    for _ in 0..60 {
        match (random.u64(..5), jobs.len()) {
            (0, 0..5) | (_, 0) => jobs.push(schedule(&world, here, &mut random)),
            (1, _) => {
                now += random.u64(..50);
                world.rig.play(now);
                world.kept.extend(held.take());
            }
            (_, jobs_so_far) => {
                let which = random.usize(..jobs_so_far);
                step(&mut world, &jobs[which], here, &mut random);
            }
        }
    }
    for job in &jobs {
        job.shared.expected().next = &[];
        job.shared.change(&job.handle, Change::Resume, now).unwrap_or_default();
    }
    world.rig.timers.resume();
    world.all_paused.store(false, Ordering::SeqCst);
    let mut settle = || {
        for _ in 0..40 {
            now += 10;
            world.rig.play(now);
            world.kept.extend(held.take());
            // The end of a run may hand out the next of its group.
            while let Some(run) = world.kept.pop() {
                carry_out(run);
                world.kept.extend(held.take());
            }
        }
        jobs.iter().map(|job| job.shared.expected().runs).collect::<Vec<_>>()
    };
    let (before, after) = (settle(), settle());
    let mut go_on = 0;
    for (n, job) in jobs.iter().enumerate() {
        let (runs, more) = (after[n], after[n] - before[n]);
        let which = format!("seed {seed}, here {here}, job {n}: {runs} runs, {more} in the end");
        assert_eq!(job.shared.wrong.take(), Vec::<String>::new(), "{which}");
        match job.kind {
            _ if job.shared.expected().is_cancelled => assert_eq!(more, 0, "{which}"),
            Kind::Once => assert_eq!((runs, job.handle.status()), (1, Status::Finished), "{which}"),
            // The periods are 5 to 45 ms, and a retry may follow each run.
            Kind::Repeats => {
                assert!((4..=400).contains(&more), "{which}");
                go_on += 1;
            }
        }
    }
    let snapshot = world.rig.timers.snapshot();
    assert_eq!((snapshot.in_flight, snapshot.jobs), (0, go_on), "seed {seed}, here {here}");
    assert_eq!((world.group.running(), world.group.waiting()), (0, 0), "seed {seed}, here {here}");
}

#[test]
fn whatever_is_done_to_jobs_they_run_as_often_as_they_should() {
    for seed in 0..3_000 {
        play(seed, true);
        play(seed, false);
    }
}
