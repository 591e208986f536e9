//! Random scripts of operations on jobs: move, pause, resume, run now, pause all, cancel. They come
//! from outside and from the job's own runs. Runs are on the driving thread, or are kept by an
//! executor and carried out in any order. In all cases no run is early, each one-shot job runs
//! once, periodic jobs continue, and nothing is left in flight.

use crate::common::{KeptRuns, Random, Rig, ms};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use wheelhouse_service::{Backoff, DueRun, JobHandle, Run, Status};

/// A run may begin at any time.
const ANY: u64 = 0;

/// The state that a job and its script share. Times are in milliseconds.
#[derive(Default)]
struct Told {
    runs: AtomicU64,
    early: AtomicU64,
    /// The time to which it was moved, unless `run_now` was called since then.
    not_before: AtomicU64,
    /// The operation of its next run on the job itself.
    next: AtomicU64,
}

impl Told {
    fn moved(&self, to: u64) {
        self.not_before.store(to, Ordering::SeqCst);
    }

    fn run(&self, run: &Run<'_>) {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let begun = run.started().as_nanos() / 1_000_000;
        // Retries have their own deadlines.
        let is_early = begun < self.not_before.load(Ordering::SeqCst) && run.attempt() == 1;
        self.early
            .fetch_add(u64::from(is_early || run.started() < run.deadline()), Ordering::SeqCst);
        self.moved(ANY);
        let job = run.job();
        let done = match self.next.swap(0, Ordering::SeqCst) {
            1 => job.refresh(ms(30)).map(|()| self.moved(begun + 30)),
            2 => job.pause(),
            3 => job.pause().and_then(|()| job.resume()),
            4 => job.run_now(),
            _ => Ok(()),
        };
        // The last run can no longer be changed.
        done.unwrap_or_default();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Once,
    Repeats,
}

struct Job {
    handle: JobHandle,
    told: Arc<Told>,
    kind: Kind,
    /// It was cancelled.
    is_gone: bool,
}

fn schedule(rig: &Rig, random: &mut Random) -> Job {
    let told = Arc::new(Told::default());
    let (its, timers) = (Arc::clone(&told), &rig.timers);
    let run = move |run: &Run<'_>| its.run(run);
    let (delay, period) = (ms(random.below(60)), ms(5 + random.below(40)));
    let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(timers.now().as_nanos()) + delay;
    let (handle, kind) = match random.below(7) {
        0 => (timers.after(delay).named("job").run(run).unwrap(), Kind::Once),
        1 => (timers.at(time).named("job").run(run).unwrap(), Kind::Once),
        2 => (timers.every(period).run(run).unwrap(), Kind::Repeats),
        3 => (timers.every(period).run_overlapping(run).unwrap(), Kind::Repeats),
        4 => (timers.every(period).fixed_delay().slack(ms(4)).run(run).unwrap(), Kind::Repeats),
        5 => (timers.on(move |after| Some(after + period)).run(run).unwrap(), Kind::Repeats),
        _ => {
            let plan = timers.every(period).retry(Backoff::new(ms(7)).attempts(3));
            let fails_once = move |its: &Run<'_>| {
                run(its);
                if its.attempt() == 1 { Err("no") } else { Ok(()) }
            };
            (plan.try_run(fails_once).unwrap(), Kind::Repeats)
        }
    };
    Job { handle, told, kind, is_gone: false }
}

/// One step of a script, on one of its jobs.
fn step(rig: &mut Rig, job: &mut Job, kept: &mut Vec<DueRun>, random: &mut Random) {
    let handle = &job.handle;
    let done = match random.below(12) {
        0 | 1 => {
            let delay = random.below(80);
            let to = rig.timers.now().as_nanos() / 1_000_000 + delay;
            handle.refresh(ms(delay)).map(|()| job.told.moved(to))
        }
        2 => handle.pause(),
        3 | 4 => handle.resume(),
        5 => handle.run_now().map(|()| job.told.moved(ANY)),
        6 => {
            rig.timers.pause();
            Ok(())
        }
        7 => {
            rig.timers.resume();
            Ok(())
        }
        8 => {
            job.told.next.store(random.below(5), Ordering::SeqCst);
            Ok(())
        }
        9 if random.below(4) == 0 => {
            job.is_gone = true;
            handle.cancel().map(drop)
        }
        _ => {
            let count = random.below(3).min(kept.len() as u64);
            for _ in 0..count {
                kept.swap_remove(random.below(kept.len() as u64) as usize).run();
            }
            Ok(())
        }
    };
    // Some jobs are over, some are running.
    done.unwrap_or_default();
}

fn play(seed: u64, here: bool) {
    let mut random = Random(seed);
    let (mut rig, held) =
        if here { (Rig::new(), KeptRuns::default()) } else { Rig::with_held_runs() };
    let (mut jobs, mut kept, mut now) = (Vec::new(), Vec::new(), 0);
    for _ in 0..60 {
        match (random.below(5), jobs.len()) {
            (0, 0..5) | (_, 0) => jobs.push(schedule(&rig, &mut random)),
            (1, _) => {
                now += random.below(50);
                rig.play(now);
                kept.extend(held.take());
            }
            (_, jobs_so_far) => {
                let which = random.below(jobs_so_far as u64) as usize;
                step(&mut rig, &mut jobs[which], &mut kept, &mut random);
            }
        }
    }
    for job in &jobs {
        job.told.next.store(0, Ordering::SeqCst);
        job.handle.resume().unwrap_or_default();
    }
    rig.timers.resume();
    let mut settle = || {
        for _ in 0..40 {
            now += 10;
            rig.play(now);
            kept.extend(held.take());
            kept.drain(..).for_each(DueRun::run);
        }
        jobs.iter().map(|job| job.told.runs.load(Ordering::SeqCst)).collect::<Vec<_>>()
    };
    let (before, after) = (settle(), settle());
    for (n, job) in jobs.iter().enumerate() {
        let (runs, more) = (after[n], after[n] - before[n]);
        let which = format!("seed {seed}, here {here}, job {n}: {runs} runs, {more} in the end");
        assert_eq!(job.told.early.load(Ordering::SeqCst), 0, "{which}: one was early");
        match job.kind {
            _ if job.is_gone => assert_eq!(more, 0, "{which}, and it was cancelled"),
            Kind::Once => assert_eq!((runs, job.handle.status()), (1, Status::Finished), "{which}"),
            // The periods are 5 to 45 ms, and a retry may follow each run.
            Kind::Repeats => assert!((4..=400).contains(&more), "{which}"),
        }
    }
    let snapshot = rig.timers.snapshot();
    let go_on = jobs.iter().filter(|job| !job.is_gone && job.kind == Kind::Repeats).count();
    assert_eq!((snapshot.in_flight, snapshot.jobs), (0, go_on), "seed {seed}, here {here}");
}

#[test]
fn whatever_is_done_to_jobs_they_run_as_often_as_they_should() {
    for seed in 0..3_000 {
        play(seed, true);
        play(seed, false);
    }
}
