//! The check of a play: each job must have run exactly as often as it should, and none before its
//! time. A play that fails has no figures. Moments are nanoseconds since the origin of the ledger.

use crate::distribution::Distribution;
use crate::ledger::Ledger;

/// The expected end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// It runs at this moment or later.
    Runs(u64),
    /// The same, but its lateness is not shown.
    RunsUnmeasured(u64),
    /// It runs at `due` or later. A run from `earliest` on is allowed too, because the facility
    /// does not report whether a refresh came in time.
    MaybeRefreshed {
        /// When it runs if its last refresh came in time.
        due: u64,
        /// When it may run if no refresh came in time.
        earliest: u64,
    },
    /// It does not run.
    Never,
    /// It may run or not: it was cancelled, and the facility does not report whether in time.
    MayRun,
}

impl Expected {
    /// Returns `true` if the job must run.
    pub(crate) fn must_run(&self) -> bool {
        matches!(self, Self::Runs(_) | Self::RunsUnmeasured(_) | Self::MaybeRefreshed { .. })
    }
}

/// Returns `true` if every job that must run has run.
pub(crate) fn all_ran(ledger: &Ledger, expected: &[Expected]) -> bool {
    expected
        .iter()
        .enumerate()
        .all(|(number, end)| !end.must_run() || ledger.began(number).is_some())
}

/// The result of a check without faults.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    /// How long after its time each run began.
    pub(crate) lateness: Distribution,
    /// Runs despite a cancellation, or at the time before a refresh, of facilities that do not
    /// report whether these came in time.
    pub(crate) ran_despite_request: u64,
}

/// The number of each kind of fault.
#[derive(Default)]
struct Faults {
    missing: u64,
    early: u64,
    earliest: u64,
    cancelled: u64,
    repeated: u64,
}

/// Compares the expected ends of jobs with their runs.
pub(crate) fn compare<'a>(
    ledgers: impl IntoIterator<Item = (&'a Ledger, &'a [Expected])>,
) -> Result<Checked, String> {
    let mut checked = Checked { lateness: Distribution::fine(), ran_despite_request: 0 };
    let mut faults = Faults::default();
    let mut jobs = 0;
    for (ledger, expected) in ledgers {
        faults.repeated += ledger.repeated_runs();
        for (number, end) in expected.iter().enumerate() {
            jobs += 1;
            judge(*end, ledger.began(number), &mut checked, &mut faults);
        }
    }
    match faults.sentence(jobs) {
        None => Ok(checked),
        Some(sentence) => Err(sentence),
    }
}

fn judge(end: Expected, began: Option<u64>, checked: &mut Checked, faults: &mut Faults) {
    let (due, allowed) = match end {
        Expected::Runs(due) | Expected::RunsUnmeasured(due) => (due, due),
        Expected::MaybeRefreshed { due, earliest } => (due, earliest.min(due)),
        Expected::Never | Expected::MayRun => {
            let ran = u64::from(began.is_some());
            *if end == Expected::Never {
                &mut faults.cancelled
            } else {
                &mut checked.ran_despite_request
            } += ran;
            return;
        }
    };
    match began {
        None => faults.missing += 1,
        Some(began) if began < allowed => {
            faults.early += 1;
            faults.earliest = faults.earliest.max(allowed - began);
        }
        Some(_) if matches!(end, Expected::RunsUnmeasured(_)) => {} // it has run
        // A run before `due` counts from the deadline before the last refresh.
        Some(began) => {
            checked.ran_despite_request += u64::from(began < due);
            checked.lateness.record(began - if began < due { allowed } else { due });
        }
    }
}

impl Faults {
    fn sentence(&self, jobs: u64) -> Option<String> {
        use wheelhouse_present::units::{count, time};
        let early = format!("began early (by up to {})", time(self.earliest as f64));
        let faults = [
            (self.missing, "did not run"),
            (self.early, early.as_str()),
            (self.cancelled, "ran though cancelled"),
            (self.repeated, "ran more than once"),
        ];
        let found: Vec<_> = faults
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{} {what}", count(*n)))
            .collect();
        (!found.is_empty()).then(|| format!("of {} jobs, {}", count(jobs), found.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Instant;

    /// Returns a ledger and the time now, after running some of its jobs a while after the origin.
    fn ledger(jobs: usize, run: &[u32]) -> (Arc<Ledger>, u64) {
        let ledger = Ledger::new(Instant::now(), jobs);
        std::thread::sleep(std::time::Duration::from_millis(2));
        run.iter().for_each(|&number| ledger.job(number).run());
        let now = ledger.now();
        (ledger, now)
    }

    #[test]
    fn lateness_counts_from_the_expected_moment() {
        let (ledger, now) = ledger(2, &[0, 1]);
        let expected = [
            Expected::Runs(500),
            Expected::MaybeRefreshed { due: now + 1_000_000_000, earliest: 500 },
        ];
        let checked = compare([(&*ledger, &expected[..])]).unwrap();
        let latest =
            [0, 1].map(|number| ledger.began(number).unwrap() - 500).into_iter().max().unwrap();
        assert_eq!(
            (checked.lateness.len(), checked.lateness.longest(), checked.ran_despite_request),
            (2, latest as f64, 1)
        );
    }

    #[test]
    fn a_job_without_a_lateness_must_run_or_may_run() {
        let (ledger, _) = ledger(3, &[0, 1]);
        let unmeasured = Expected::RunsUnmeasured(0);
        let ends = [Expected::Runs(0), unmeasured, unmeasured];
        assert!(compare([(&*ledger, &ends[..])]).unwrap_err().contains("1 did not run"));
        let ends = [unmeasured, Expected::MayRun, Expected::MayRun];
        let checked = compare([(&*ledger, &ends[..])]).unwrap();
        assert_eq!((checked.ran_despite_request, checked.lateness.len()), (1, 0));
    }
}
