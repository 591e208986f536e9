//! Scheduling alone, as fast as the producers can: jobs that are due in one to two hours.

use super::prelude::*;
use std::ops::Range;

pub(super) const NOTES: &[&str] = &[
    "jobs/s: until the facility had taken in all of them; CPU/job: processor time of all threads; \
     bytes/job: allocated for each, including the 16 bytes that a job holds.",
];

/// Delays of jobs that do not run during the play: one to two hours.
const FAR_MS: std::ops::Range<u64> = 3_600_000..7_200_000;

/// Schedules all jobs of a ledger for one to two hours from now. Returns how many were refused.
pub(super) fn schedule_far_jobs<F: Facility>(facility: &F, jobs: &Arc<Ledger>, seed: u64) -> u64 {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let now = Instant::now();
    let mut refused = 0;
    for number in 0..jobs.len() as u32 {
        let due = now + Duration::from_millis(random.random_range(FAR_MS));
        refused += u64::from(facility.schedule(due, jobs.job(number)).is_none());
    }
    refused
}

/// The numbers of the jobs of each producer.
pub(super) fn shares(jobs: u32, producers: usize) -> impl Iterator<Item = Range<u32>> {
    let jobs = jobs as usize;
    let begin = move |number| (jobs / producers * number + (jobs % producers).min(number)) as u32;
    (0..producers).map(move |number| begin(number)..begin(number + 1))
}

/// Calls a closure with each item, on a thread for each. Returns the results of the threads that
/// did not panic.
pub(super) fn on_threads<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    call: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    thread::scope(|scope| {
        let call = &call;
        let spawn = |item| scope.spawn(move || call(item));
        let threads: Vec<_> = items.into_iter().map(spawn).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

pub(super) fn play<F: Facility>(facility: F, load: &Load) -> Result<Played> {
    let ledger = |jobs: Range<u32>| Ledger::new(Instant::now(), jobs.len());
    let ledgers: Vec<_> = shares(load.pending, load.producers).map(ledger).collect();
    let (before, cpu) = (allocated(), cpu_time());
    let begin = Instant::now();
    let schedule = |(seed, jobs)| schedule_far_jobs(&facility, jobs, load.seed + seed);
    let refused = on_threads((1..).zip(&ledgers), schedule);
    facility.settle(load.pending as usize)?;
    let (taken, used) = (begin.elapsed(), [cpu, cpu_time()]);
    let bytes = allocated().saturating_sub(before);
    let mut faults = Faults {
        panicked: load.producers - refused.len(),
        refused: refused.iter().sum(),
        ..Faults::default()
    };
    let pending: Vec<_> = ledgers.iter().map(|ledger| (ledger, ledger.len())).collect();
    faults.count(&facility, &pending)?;
    facility.stop();
    faults.ran = ledgers.iter().map(|ledger| ledger.runs()).sum();
    Ok(faults.verdict().map(|()| {
        let mut figures = vec![
            Figure::rate("jobs/s", load.pending.into(), taken.as_nanos() as f64),
            Figure::bytes("bytes/job", bytes, load.pending as usize),
        ];
        figures.extend(cpu_figure("CPU/job", used, load.pending.into()));
        figures
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_all_jobs() {
        assert_eq!(shares(10, 3).collect::<Vec<_>>(), [0..4, 4..7, 7..10]);
    }
}
