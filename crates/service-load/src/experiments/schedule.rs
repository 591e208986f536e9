//! Scheduling alone, as fast as the producers can: jobs that are due in one to two hours.

use super::faults::Faults;
use crate::cpu;
use crate::facility::Facility;
use crate::ledger::Ledger;
use crate::load::Load;
use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::{Figure, Played};
use wheelhouse_machine::allocator::allocated;

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

/// The number of jobs of each producer.
pub(super) fn shares(jobs: u32, producers: usize) -> impl Iterator<Item = usize> {
    let jobs = jobs as usize;
    (0..producers).map(move |number| jobs / producers + usize::from(number < jobs % producers))
}

pub(super) fn play<F: Facility>(facility: F, load: &Load) -> Result<Played> {
    let ledger = |jobs| Ledger::new(Instant::now(), jobs);
    let ledgers: Vec<_> = shares(load.pending, load.producers).map(ledger).collect();
    let mut faults = Faults::default();
    let (before, used) = (allocated(), cpu::used());
    let begin = Instant::now();
    faults.refused = thread::scope(|scope| {
        let facility = &facility;
        let schedule =
            |(seed, jobs)| scope.spawn(move || schedule_far_jobs(facility, jobs, load.seed + seed));
        let threads: Vec<_> = (1..).zip(&ledgers).map(schedule).collect();
        // A producer that panicked counts as a refusal.
        threads.into_iter().map(|thread| thread.join().unwrap_or(1)).sum()
    });
    facility.settle(load.pending as usize)?;
    let (taken, used_then) = (begin.elapsed(), cpu::used());
    let bytes = allocated().saturating_sub(before);
    let pending: Vec<_> = ledgers.iter().map(|ledger| (ledger, ledger.len())).collect();
    faults.count(&facility, &pending)?;
    facility.stop();
    faults.ran = ledgers.iter().map(|ledger| ledger.runs()).sum();
    if let Some(wrong) = faults.sentence() {
        return Ok(Err(wrong));
    }
    let mut figures = vec![
        Figure::rate("jobs/s", load.pending.into(), taken.as_nanos() as f64),
        Figure::bytes("bytes/job", bytes, load.pending as usize),
    ];
    figures.extend(cpu::figure("CPU/job", used, used_then, load.pending.into()));
    Ok(Ok(figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_add_up_to_all_jobs() {
        assert_eq!(shares(10, 3).collect::<Vec<_>>(), [4, 3, 3]);
    }
}
