//! The check of a play: each job must have run exactly as often as it should, and none before its
//! time. A play that fails has no figures. Moments are nanoseconds since the origin of the ledger.

use crate::distribution::Distribution;
use crate::ledger::Ledger;

/// The expected end of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It runs at this moment or later.
    Runs(u64),
    /// The same, but its lateness is not shown.
    RunsUnmeasured(u64),
    /// It runs at `due` or later. A run from `or` on is allowed too, because the facility does not
    /// report whether a refresh came in time.
    RunsLate {
        /// When it runs if its last refresh came in time.
        due: u64,
        /// When it may run if no refresh came in time.
        or: u64,
    },
    /// It does not run.
    Never,
    /// It may run or not: it was cancelled, and the facility does not report whether in time.
    Either,
}

impl Fate {
    /// Returns `true` if the job must run.
    pub fn is_to_run(&self) -> bool {
        matches!(self, Self::Runs(_) | Self::RunsUnmeasured(_) | Self::RunsLate { .. })
    }
}

/// Returns `true` if every job that must run has run.
pub fn all_ran(ledger: &Ledger, fates: &[Fate]) -> bool {
    fates
        .iter()
        .enumerate()
        .all(|(number, fate)| !fate.is_to_run() || ledger.began(number).is_some())
}

/// The result of a check without faults.
#[derive(Clone, Debug)]
pub struct Checked {
    /// How long after its time each run began.
    pub lateness: Distribution,
    /// Runs despite a cancellation, or at the time before a refresh, of facilities that do not
    /// report whether these came in time.
    pub in_spite: u64,
}

/// The number of each kind of fault.
#[derive(Default)]
struct Faults {
    missing: u64,
    early: u64,
    earliest: u64,
    cancelled: u64,
    again: u64,
}

/// Compares fates with the runs.
///
/// # Errors
///
/// A sentence that names the faults.
pub fn check<'a>(
    books: impl IntoIterator<Item = (&'a Ledger, &'a [Fate])>,
) -> Result<Checked, String> {
    let mut checked = Checked { lateness: Distribution::fine(), in_spite: 0 };
    let mut faults = Faults::default();
    let mut jobs = 0;
    for (ledger, fates) in books {
        faults.again += ledger.again();
        for (number, fate) in fates.iter().enumerate() {
            jobs += 1;
            judge(*fate, ledger.began(number), &mut checked, &mut faults);
        }
    }
    match faults.sentence(jobs) {
        None => Ok(checked),
        Some(sentence) => Err(sentence),
    }
}

fn judge(fate: Fate, began: Option<u64>, checked: &mut Checked, faults: &mut Faults) {
    let (due, allowed) = match fate {
        Fate::Runs(due) | Fate::RunsUnmeasured(due) => (due, due),
        Fate::RunsLate { due, or } => (due, or.min(due)),
        Fate::Never | Fate::Either => {
            let ran = u64::from(began.is_some());
            *if fate == Fate::Never { &mut faults.cancelled } else { &mut checked.in_spite } += ran;
            return;
        }
    };
    match began {
        None => faults.missing += 1,
        Some(began) if began < allowed => {
            faults.early += 1;
            faults.earliest = faults.earliest.max(allowed - began);
        }
        Some(_) if matches!(fate, Fate::RunsUnmeasured(_)) => {} // it has run
        // A run before `due` counts from the deadline before the last refresh.
        Some(began) => {
            checked.in_spite += u64::from(began < due);
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
            (self.again, "ran more than once"),
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
    fn lateness_is_counted_from_the_moment_that_was_meant() {
        let (ledger, now) = ledger(2, &[0, 1]);
        let fates = [Fate::Runs(500), Fate::RunsLate { due: now + 1_000_000_000, or: 500 }];
        let checked = check([(&*ledger, &fates[..])]).unwrap();
        let latest =
            [0, 1].map(|number| ledger.began(number).unwrap() - 500).into_iter().max().unwrap();
        assert_eq!(
            (checked.lateness.len(), checked.lateness.longest(), checked.in_spite),
            (2, latest as f64, 1)
        );
    }

    #[test]
    fn each_fault_is_counted() {
        let (ledger, now) = ledger(5, &[1, 2, 3, 3, 4]);
        let fates =
            [Fate::Runs(0), Fate::Runs(now + 1_000), Fate::Never, Fate::Runs(0), Fate::Either];
        let sentence = check([(&*ledger, &fates[..])]).unwrap_err();
        for part in [
            "5 jobs",
            "1 did not run",
            "1 began early",
            "1 ran though cancelled",
            "1 ran more than once",
        ] {
            assert!(sentence.contains(part), "{part}: {sentence}");
        }
    }

    #[test]
    fn a_job_whose_lateness_is_not_shown_must_still_run() {
        let (ledger, _) = ledger(3, &[0, 1]);
        let fates = [0, 0, 0].map(Fate::RunsUnmeasured);
        let checked = check([(&*ledger, &[Fate::Runs(0), fates[1]][..])]).unwrap();
        assert_eq!(checked.lateness.len(), 1);
        assert!(check([(&*ledger, &fates[..])]).unwrap_err().contains("1 did not run"));
    }

    #[test]
    fn a_cancelled_job_of_which_nothing_was_promised_is_only_counted() {
        let (ledger, _) = ledger(2, &[0]);
        let checked = check([(&*ledger, &[Fate::Either, Fate::Either][..])]).unwrap();
        assert_eq!((checked.in_spite, checked.lateness.len()), (1, 0));
    }
}
