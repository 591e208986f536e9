//! A burst: very many jobs due at one instant, such as a million orders that expire after half an
//! hour.

use super::end_of_play::{end_play, time_for, with_enough_time};
use super::prelude::*;
use super::schedule::{on_threads, shares};

pub(super) const NOTES: &[&str] = &[
    "scheduled: time until the facility had taken in all jobs; first, p50, p99, last: how long \
     after the instant a run began; runs/s: all runs over the time until the last one began.",
    "bytes/job: allocated for each pending job.",
];

pub(super) fn play<F: Facility>(start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
    let what = format!("{} jobs could not be scheduled", load.burst);
    with_enough_time(&what, time_for(load.burst), |ahead| attempt(start()?, load, ahead))
}

/// One play with the instant this far ahead. Returns `None` if that was too soon.
fn attempt<F: Facility>(facility: F, load: &Load, ahead: Duration) -> Result<Option<Played>> {
    let begin = Instant::now();
    let instant = begin + ahead;
    let ledgers: Vec<_> =
        shares(load.burst, load.producers).map(|jobs| Ledger::new(begin, jobs.len())).collect();
    let before = allocated();
    let called = Instant::now();
    let refused = on_threads(&ledgers, |ledger| produce(&facility, ledger, instant));
    facility.settle(load.burst as usize)?;
    let scheduled = called.elapsed();
    let bytes = allocated().saturating_sub(before);
    let mut faults = Faults {
        panicked: load.producers - refused.len(),
        refused: refused.iter().sum(),
        ..Faults::default()
    };
    faults.miscounted = facility.count()?.abs_diff(load.burst as usize);
    if Instant::now() >= instant {
        facility.stop();
        return Ok(None);
    }
    let due = Expected::Runs(ahead.as_nanos() as u64);
    let jobs = ledgers.iter().map(|ledger| Expectations { ledger, ends: vec![due; ledger.len()] });
    let jobs: Vec<_> = jobs.collect();
    let ended = end_play(facility, load, instant, &jobs, faults)?;
    Ok(Some(ended.map(|(checked, _)| figures(&checked.lateness, scheduled, bytes))))
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
