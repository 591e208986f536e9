//! Random schedules against a model of a few lines: a list of jobs, searched for the next deadline.

use crate::common::{Log, Rig};
use fastrand::Rng;
use std::time::Duration;
use wheelhouse_service::{Clock, JobHandle, Missed, Moment, Status};

/// In microseconds, as all times here.
const TICK: u64 = 1_000;
const POLICIES: [Missed; 4] = [Missed::Once, Missed::Burst, Missed::Skip, Missed::Delay];

type RunOf = (u64, u64, usize);

#[derive(Default)]
struct Model {
    now: u64,
    jobs: Vec<ModelJob>,
    /// For each run: when it began, the tick of its deadline, and its job.
    runs: Vec<RunOf>,
    /// Periods that were left out.
    missed: u64,
}

struct ModelJob {
    /// `None`: it is over.
    deadline: Option<u64>,
    period: u64,
    left: u64,
    missed: Missed,
    /// The periods that are left out before the next run.
    skipped: u64,
    cancelled: bool,
}

impl Model {
    fn schedule(&mut self, first: u64, period: u64, times: u64, missed: Missed) {
        let deadline = Some(self.now + first);
        let job = ModelJob { deadline, period, left: times, missed, skipped: 0, cancelled: false };
        self.jobs.push(job);
    }

    fn play(&mut self, by: u64, stalls: bool) {
        let until = self.now + by;
        for (number, job) in self.jobs.iter_mut().enumerate() {
            while let Some(deadline) = job.deadline {
                // A deadline that is past when the job is scheduled or moved is due at once.
                let tick = deadline.next_multiple_of(TICK);
                let begins = tick.max(if stalls { until } else { self.now });
                if begins > until {
                    break;
                }
                self.runs.push((begins, tick, number));
                job.left -= 1;
                let late = begins - deadline;
                let periods = match job.missed {
                    _ if job.left == 0 => 1,
                    // The first whole period after the begin of this run.
                    Missed::Once => late / job.period + 1,
                    // A period that is due at this moment is not left out.
                    Missed::Skip => late.div_ceil(job.period).max(1),
                    _ => 1,
                };
                // They are counted when the next run begins.
                self.missed += std::mem::replace(&mut job.skipped, periods - 1);
                let from = match job.missed {
                    Missed::Delay if begins >= tick + TICK => begins,
                    _ => deadline,
                };
                job.deadline = (job.left > 0).then_some(from + periods * job.period);
            }
        }
        self.now = until;
    }
}

fn moment(micros: u64) -> Moment {
    Moment::from_nanos(micros * 1000)
}

/// Does the same random things to a scheduler and to the model.
fn play(random: &mut Rng) {
    let (mut rig, log) = (Rig::new(), Log::<RunOf>::default());
    let (mut model, mut handles) = (Model::default(), Vec::<JobHandle>::new());
    for _ in 0..random.usize(1..80) {
        // Half of the times are short.
        let longest = [10_000, 2_000_000][random.usize(..2)];
        let (number, time) = (handles.len(), random.u64(..longest));
        let delay = Duration::from_micros(time);
        let body = log.job(move |run| {
            let [started, deadline] =
                [run.started(), run.deadline()].map(|moment| moment.as_nanos() / 1000);
            (started, deadline.next_multiple_of(TICK), number)
        });
        match random.u8(..14) {
            0..3 => {
                handles.push(rig.timers.after(delay).named("job").run(body).unwrap());
                model.schedule(time, 0, 1, Missed::Burst);
            }
            3..5 => {
                let (period, times) = (random.u64(TICK..300_000), random.u64(1..5));
                let missed = POLICIES[random.usize(..POLICIES.len())];
                let plan = rig.timers.every(Duration::from_micros(period)).first_after(delay);
                handles.push(plan.times(times).missed(missed).run(body).unwrap());
                model.schedule(time, period, times, missed);
            }
            // From one wake-up to the next.
            5..8 => {
                rig.scheduler.play(&rig.clock, moment(model.now + time));
                model.play(time, false);
            }
            // Without a poll before the end.
            8..10 => {
                rig.clock.set(moment(model.now + time));
                rig.scheduler.poll(rig.clock.now());
                model.play(time, true);
            }
            change if number > 0 => {
                let job = random.usize(..number);
                let (handle, its) = (&handles[job], &mut model.jobs[job]);
                let expected = its.deadline.is_some();
                if change == 10 {
                    assert_eq!(handle.cancel().is_ok(), expected);
                    (its.deadline, its.cancelled) = (None, its.cancelled || expected);
                } else {
                    assert_eq!(handle.refresh(delay).is_ok(), expected);
                    its.deadline = expected.then_some(model.now + time);
                }
            }
            _ => {}
        }
    }
    compare(&rig, &handles, &model, log.take());
}

fn compare(rig: &Rig, handles: &[JobHandle], model: &Model, mut runs: Vec<RunOf>) {
    let in_order = runs.is_sorted_by_key(|(time, tick, _)| (*time, *tick));
    assert!(in_order, "in the order of time, and of deadlines: {runs:?}");
    assert_eq!(rig.clock.now(), moment(model.now));
    let mut expected = model.runs.clone();
    expected.sort_unstable();
    runs.sort_unstable();
    assert_eq!(runs, expected);
    for (handle, job) in handles.iter().zip(&model.jobs) {
        let status = match job.deadline {
            Some(_) => Status::Pending,
            None if job.cancelled => Status::Cancelled,
            None => Status::Finished,
        };
        assert_eq!((handle.status(), handle.deadline()), (status, job.deadline.map(moment)));
    }
    let pending = model.jobs.iter().filter(|job| job.deadline.is_some());
    assert_eq!(rig.timers.len(), pending.count());
    let counts = rig.timers.snapshot().counts;
    assert_eq!(counts.missed, model.missed);
    assert_eq!(counts.scheduled, rig.timers.len() as u64 + counts.finished + counts.cancelled);
}

#[test]
fn random_schedules_run_as_the_model_says() {
    for seed in 0..500 {
        println!("seed {seed}");
        play(&mut Rng::with_seed(seed));
    }
}
