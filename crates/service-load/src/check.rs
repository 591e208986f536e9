//! The check of a play: each job must have run exactly as often as it should, and none before its
//! time. A play that fails has no figures. Moments are nanoseconds since the origin of the ledger.

use crate::facility::Facility;
use crate::figures::Distribution;
use crate::ledger::Ledger;
use anyhow::Result;
use std::sync::Arc;
use wheelhouse_present::units;

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

/// The jobs of a ledger with their expected ends.
pub(crate) struct Expectations<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) ends: Vec<Expected>,
}

impl Expectations<'_> {
    /// Returns `true` if every job that must run has run.
    pub(crate) fn have_run(&self) -> bool {
        let mut ends = self.ends.iter().enumerate();
        ends.all(|(number, end)| match end {
            Expected::Never | Expected::MayRun => true,
            _ => self.ledger.began(number).is_some(),
        })
    }
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
pub(crate) struct Faults {
    pub(crate) panicked: usize,
    pub(crate) refused: u64,
    pub(crate) too_late: u64,
    /// Runs in a play in which no job is to run.
    pub(crate) ran: u64,
    /// Cancelled jobs that the facility had not dropped.
    pub(crate) kept: usize,
    /// Pending jobs that it had dropped.
    pub(crate) lost: usize,
    /// By how much its own count of its jobs was wrong.
    pub(crate) miscounted: usize,
    pub(crate) missing: u64,
    pub(crate) early: u64,
    pub(crate) earliest: u64,
    pub(crate) cancelled: u64,
    pub(crate) repeated: u64,
}

impl Faults {
    /// Compares the jobs that a settled facility has with the pending jobs of each ledger. A job
    /// that is wrongly there or gone is not found by its runs if it is not to run.
    pub(crate) fn count<F: Facility>(
        &mut self,
        facility: &F,
        ledgers: &[(&Arc<Ledger>, usize)],
    ) -> Result<()> {
        let pending = ledgers.iter().map(|(_, pending)| pending).sum::<usize>();
        self.miscounted += facility.count()?.abs_diff(pending);
        for (ledger, pending) in ledgers {
            self.kept += ledger.live_jobs().saturating_sub(*pending);
            self.lost += pending.saturating_sub(ledger.live_jobs());
        }
        Ok(())
    }

    /// Compares the expected ends of jobs with their runs. The error says all faults.
    pub(crate) fn check(mut self, jobs: &[Expectations<'_>]) -> Result<Checked, String> {
        let mut checked = Checked { lateness: Distribution::fine(), ran_despite_request: 0 };
        for Expectations { ledger, ends } in jobs {
            self.repeated += ledger.repeated_runs();
            for (number, end) in ends.iter().enumerate() {
                judge(*end, ledger.began(number), &mut checked, &mut self);
            }
        }
        let all = units::count(jobs.iter().map(|its| its.ends.len() as u64).sum());
        self.verdict().map_err(|wrong| format!("of {all} jobs, {wrong}"))?;
        Ok(checked)
    }

    /// A sentence about all faults, if there are any.
    pub(crate) fn verdict(&self) -> Result<(), String> {
        let early = format!("began early (by up to {})", units::time(self.earliest as f64));
        let faults = [
            (self.panicked as u64, "producers panicked"),
            (self.refused, "jobs were refused"),
            (self.too_late, "cancellations or refreshes were reported as too late"),
            (self.ran, "jobs ran long before their time"),
            (self.kept as u64, "cancelled jobs were still there"),
            (self.lost as u64, "jobs were gone though pending"),
            (self.miscounted as u64, "jobs too many or too few by the facility's own count"),
            (self.missing, "did not run"),
            (self.early, &early),
            (self.cancelled, "ran though cancelled"),
            (self.repeated, "ran more than once"),
        ];
        let found = faults.iter().filter(|(n, _)| *n > 0);
        let found: Vec<_> = found.map(|(n, what)| format!("{} {what}", units::count(*n))).collect();
        if found.is_empty() { Ok(()) } else { Err(found.join(", ")) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// Runs some of three jobs two milliseconds after the origin, and checks them.
    fn check(run: &[u32], ends: impl FnOnce(u64) -> Vec<Expected>) -> Result<Checked, String> {
        let ledger = Ledger::new(Instant::now(), 3);
        std::thread::sleep(Duration::from_millis(2));
        run.iter().for_each(|&number| ledger.job(number).run());
        let ends = ends(ledger.now());
        Faults::default().check(&[Expectations { ledger: &ledger, ends }])
    }

    #[test]
    fn lateness_counts_from_the_expected_moment() {
        let refreshed = |now| Expected::MaybeRefreshed { due: now + 1_000_000_000, earliest: 500 };
        let checked = check(&[0, 1], |now| vec![Expected::Runs(500), refreshed(now)]).unwrap();
        assert_eq!((checked.lateness.len(), checked.ran_despite_request), (2, 1));
        assert!((2e6 - 500.0..1e9).contains(&checked.lateness.longest()), "{checked:?}");
        assert!(checked.lateness.quantile(0.0) >= 1.9e6, "{checked:?}");
    }

    #[test]
    fn a_job_without_a_lateness_must_run_or_may_run() {
        use Expected::{MayRun, Runs, RunsUnmeasured};
        let wrong = check(&[0, 1], |_| vec![Runs(0), RunsUnmeasured(0), RunsUnmeasured(0)]);
        assert_eq!(wrong.unwrap_err(), "of 3 jobs, 1 did not run");
        let checked = check(&[0, 1], |_| vec![RunsUnmeasured(0), MayRun, MayRun]).unwrap();
        assert_eq!((checked.ran_despite_request, checked.lateness.len()), (1, 0));
    }
}
