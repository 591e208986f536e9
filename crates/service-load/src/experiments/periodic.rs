//! Periodic jobs with one period, spread evenly over it.

use super::end_of_play::{stop_and_check, wait_for_runs};
use super::prelude::*;
use crate::ledger::PeriodicJob;

pub(super) const NOTES: &[&str] = &[
    "CPU/run: processor time of all threads, from when all jobs were taken in until the last run; \
     lateness: from the planned moment of a run until it began.",
];

/// The time allowed for scheduling before the first job is due.
const FOR_EACH: Duration = Duration::from_micros(4);
const AT_LEAST: Duration = Duration::from_millis(50);

pub(super) fn jobs(load: &Load) -> u32 {
    (f64::from(load.rate) * load.period.as_secs_f64()).round().max(1.0) as u32
}

/// How often each job runs.
pub(super) fn times(load: &Load) -> u32 {
    load.fires_time.div_duration_f64(load.period).round().max(1.0) as u32
}

/// When a job is due for the first time, in nanoseconds since the origin.
fn first(load: &Load, job: u32) -> u64 {
    let period = load.period.as_nanos();
    (period * u128::from(job) / u128::from(jobs(load))) as u64
}

pub(super) fn play<F: Facility>(facility: F, load: &Load) -> Result<Played> {
    let (jobs, times) = (jobs(load), times(load));
    let origin = Instant::now() + (FOR_EACH * jobs).max(AT_LEAST);
    let ledger = Ledger::new(origin, jobs as usize * times as usize);
    let mut faults = Faults::default();
    for job in 0..jobs {
        let periodic_job = PeriodicJob::new(&ledger, job * times..(job + 1) * times);
        let taken = facility.every(ledger.moment(first(load, job)), load.period, periodic_job);
        faults.refused += u64::from(!taken);
    }
    if let Err(wrong) = faults.verdict() {
        facility.stop();
        return Ok(Err(wrong));
    }
    facility.settle(jobs as usize)?;
    let begin = cpu_time();
    let last = ledger.moment(load.period.as_nanos() as u64 * u64::from(times));
    let all = [Expectations { ledger: &ledger, ends: expected_runs(load) }];
    wait_for_runs(&all, last, load.patience);
    // The figure is of the runs alone, so the clock is read before the facility settles.
    let end = cpu_time();
    facility.settle(0)?;
    let checked = stop_and_check(facility, &all, faults)?;
    Ok(checked.map(|Checked { lateness, .. }| {
        let mut figures = vec![Figure::count("runs", lateness.len())];
        figures.extend(lateness.figures(&[P50, P99, P99_9]));
        figures.extend(cpu_figure("CPU/run", [begin, end], lateness.len()));
        figures
    }))
}

fn expected_runs(load: &Load) -> Vec<Expected> {
    let period = load.period.as_nanos() as u64;
    let of = |job| (0..times(load)).map(move |run| (job, run));
    let due = |(job, run)| Expected::Runs(first(load, job) + period * u64::from(run));
    (0..jobs(load)).flat_map(of).map(due).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_a_job_are_a_period_apart_and_those_of_all_jobs_evenly_spread() {
        let load = Load {
            rate: 1_000,
            period: Duration::from_millis(10),
            fires_time: Duration::from_millis(30),
            ..Load::tiny()
        };
        let expected = expected_runs(&load);
        assert_eq!((jobs(&load), times(&load), expected.len()), (10, 3, 30));
        let runs = [0, 10_000_000, 20_000_000].map(Expected::Runs);
        assert_eq!(expected[..3], runs);
        assert_eq!(expected[27..], [9_000_000, 19_000_000, 29_000_000].map(Expected::Runs));
    }
}
