//! Random schedules against a model of a few lines: a list of jobs, searched for the next deadline.

use crate::common::{Log, Rig};
use proptest::prelude::*;
use std::time::Duration;
use wheelhouse_service::{Clock, JobHandle, Missed, Moment, Status};

/// In microseconds, as all times here.
const TICK: u64 = 1_000;
const POLICIES: [Missed; 4] = [Missed::Once, Missed::Burst, Missed::Skip, Missed::Delay];

#[derive(Clone, Debug)]
enum Op {
    Once(u64),
    Every {
        period: u64,
        first: u64,
        times: u64,
        missed: Missed,
    },
    Cancel(usize),
    Refresh(usize, u64),
    /// Lets time pass from one wake-up to the next.
    Play(u64),
    /// Moves the clock without polling, and then polls once.
    Stall(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let micros = || prop_oneof![0_u64..10_000, 0_u64..2_000_000];
    let op = prop_oneof![
        3 => micros().prop_map(Op::Once),
        2 => (TICK..300_000, micros(), 1_u64..5, prop::sample::select(&POLICIES[..]))
            .prop_map(|(period, first, times, missed)| Op::Every { period, first, times, missed }),
        1 => (0_usize..64).prop_map(Op::Cancel),
        3 => (0_usize..64, micros()).prop_map(|(job, delay)| Op::Refresh(job, delay)),
        3 => micros().prop_map(Op::Play),
        2 => micros().prop_map(Op::Stall),
    ];
    prop::collection::vec(op, 1..80)
}

type RunOf = (u64, u64, usize);

#[derive(Clone, Debug, Default)]
struct Model {
    now: u64,
    jobs: Vec<ModelJob>,
    /// For each run: when it began, the tick of its deadline, and its job.
    runs: Vec<RunOf>,
    /// Periods that were left out.
    missed: u64,
}

#[derive(Clone, Debug)]
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
        self.jobs.push(ModelJob {
            deadline,
            period,
            left: times,
            missed,
            skipped: 0,
            cancelled: false,
        });
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

/// Applies the operations to both, and compares them.
fn check(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let (mut rig, log) = (Rig::new(), Log::<RunOf>::default());
    let mut model = Model::default();
    let mut handles: Vec<JobHandle> = Vec::new();
    let micros = Duration::from_micros;
    for op in ops {
        let number = handles.len();
        let runs = log.clone();
        let body = move |run: &wheelhouse_service::Run<'_>| {
            let [started, deadline] =
                [run.started(), run.deadline()].map(|moment| moment.as_nanos() / 1000);
            runs.push((started, deadline.next_multiple_of(TICK), number));
        };
        match op {
            Op::Once(delay) => {
                handles.push(rig.timers.after(micros(delay)).named("job").run(body).unwrap());
                model.schedule(delay, 0, 1, Missed::Burst);
            }
            Op::Every { period, first, times, missed } => {
                let plan = rig.timers.every(micros(period)).first_after(micros(first));
                handles.push(plan.times(times).missed(missed).run(body).unwrap());
                model.schedule(first, period, times, missed);
            }
            Op::Cancel(job) if !handles.is_empty() => {
                let job = job % number;
                let expected = model.jobs[job].deadline.take().is_some();
                model.jobs[job].cancelled |= expected;
                prop_assert_eq!(handles[job].cancel().is_ok(), expected);
            }
            Op::Refresh(job, delay) if !handles.is_empty() => {
                let job = job % number;
                let expected = model.jobs[job].deadline.is_some();
                prop_assert_eq!(handles[job].refresh(micros(delay)).is_ok(), expected);
                if expected {
                    model.jobs[job].deadline = Some(model.now + delay);
                }
            }
            Op::Play(by) => {
                rig.scheduler.play(&rig.clock, moment(model.now + by));
                model.play(by, false);
            }
            Op::Stall(by) => {
                rig.clock.set(moment(model.now + by));
                rig.scheduler.poll(rig.clock.now());
                model.play(by, true);
            }
            Op::Cancel(_) | Op::Refresh(..) => {}
        }
    }
    compare(&rig, &handles, &model, log.take())
}

fn compare(
    rig: &Rig,
    handles: &[JobHandle],
    model: &Model,
    mut runs: Vec<RunOf>,
) -> Result<(), TestCaseError> {
    let in_order = runs.is_sorted_by_key(|(time, tick, _)| (*time, *tick));
    prop_assert!(in_order, "in the order of time, and of deadlines");
    prop_assert_eq!(rig.clock.now(), moment(model.now));
    let mut expected = model.runs.clone();
    expected.sort_unstable();
    runs.sort_unstable();
    prop_assert_eq!(runs, expected);
    for (handle, job) in handles.iter().zip(&model.jobs) {
        let status = match job.deadline {
            Some(_) => Status::Pending,
            None if job.cancelled => Status::Cancelled,
            None => Status::Finished,
        };
        prop_assert_eq!(handle.status(), status);
        prop_assert_eq!(handle.deadline(), job.deadline.map(moment));
    }
    let pending = model.jobs.iter().filter(|job| job.deadline.is_some());
    prop_assert_eq!(rig.timers.len(), pending.count());
    let counts = rig.timers.snapshot().counts;
    prop_assert_eq!(counts.missed, model.missed);
    prop_assert_eq!(counts.scheduled, rig.timers.len() as u64 + counts.finished + counts.cancelled);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_schedules_run_as_the_model_says(ops in ops()) {
        check(ops)?;
    }
}
