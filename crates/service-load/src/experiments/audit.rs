//! A burst: very many jobs due at one instant, such as a million orders that expire after half an
//! hour.

use super::end_of_play::{check_runs, wait_for_runs, with_enough_time};
use super::schedule::shares;
use crate::check::{Checked, Expected};
use crate::distribution::Distribution;
use crate::facility::Facility;
use crate::ledger::Ledger;
use crate::load::Load;
use anyhow::Result;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::{Figure, Played};
use wheelhouse_machine::allocator::allocated;

pub(super) const NOTES: &[&str] = &[
    "scheduled: time until the facility had taken in all jobs; first, p50, p99, last: how long \
     after the instant a run began; runs/s: all runs over the time until the last one began.",
    "bytes/job: allocated for each pending job.",
];

/// The time allowed for scheduling at first. If it is too short, the play is repeated with twice
/// the time.
const FOR_EACH: Duration = Duration::from_micros(2);
const AT_LEAST: Duration = Duration::from_millis(100);

pub(super) fn play<F: Facility>(start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
    let ahead = (FOR_EACH * load.burst).max(AT_LEAST);
    let what = format!("{} jobs could not be scheduled", load.burst);
    with_enough_time(&what, ahead, |ahead| attempt(start()?, load, ahead))
}

/// One play with the instant this far ahead. Returns `None` if that was too soon.
fn attempt<F: Facility>(facility: F, load: &Load, ahead: Duration) -> Result<Option<Played>> {
    let begin = Instant::now();
    let instant = begin + ahead;
    let ledgers: Vec<_> =
        shares(load.burst, load.producers).map(|jobs| Ledger::new(begin, jobs)).collect();
    let before = allocated();
    let called = Instant::now();
    let refused: u64 = thread::scope(|scope| {
        let facility = &facility;
        let threads: Vec<_> = ledgers
            .iter()
            .map(|ledger| scope.spawn(move || produce(facility, ledger, instant)))
            .collect();
        // A producer that panicked counts as a refusal; the check also finds the missing runs.
        threads.into_iter().map(|thread| thread.join().unwrap_or(1)).sum()
    });
    facility.settle(load.burst as usize)?;
    let scheduled = called.elapsed();
    let bytes = allocated().saturating_sub(before);
    let taken_in = facility.count()?;
    if Instant::now() >= instant {
        facility.stop();
        return Ok(None);
    }
    let due = Expected::Runs(ahead.as_nanos() as u64);
    let expected: Vec<_> = ledgers.iter().map(|ledger| vec![due; ledger.len()]).collect();
    let ledgers_and_expected: Vec<_> =
        ledgers.iter().map(|ledger| &**ledger).zip(expected.iter().map(Vec::as_slice)).collect();
    wait_for_runs(&ledgers_and_expected, instant, load.patience);
    facility.settle(0)?;
    let left = facility.count()?;
    facility.stop();
    if refused > 0 {
        return Ok(Some(Err(format!("{refused} jobs were refused"))));
    }
    let all_pending = |checked: Checked| {
        let pending = taken_in == load.burst as usize;
        pending.then_some(checked).ok_or_else(|| {
            format!("{taken_in} were pending by the facility's own count, of {}", load.burst)
        })
    };
    let checked = check_runs(&ledgers_and_expected, left).and_then(all_pending);
    Ok(Some(checked.map(|checked| figures(&checked.lateness, scheduled, bytes))))
}

fn produce<F: Facility>(facility: &F, ledger: &Arc<Ledger>, instant: Instant) -> u64 {
    let schedule = |number| u64::from(facility.schedule(instant, ledger.job(number)).is_none());
    (0..ledger.len() as u32).map(schedule).sum()
}

fn figures(lateness: &Distribution, scheduled: Duration, bytes: usize) -> Vec<Figure> {
    vec![
        Figure::time("scheduled", scheduled.as_nanos() as f64),
        Figure::time("first", lateness.quantile(0.0)),
        Figure::time("p50", lateness.quantile(0.5)),
        Figure::time("p99", lateness.quantile(0.99)),
        Figure::time("last", lateness.longest()).worst(),
        Figure::rate("runs/s", lateness.len(), lateness.longest()),
        Figure::bytes("bytes/job", bytes, lateness.len() as usize),
    ]
}
