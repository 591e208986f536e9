//! Faults of a facility in plays in which no job is to run. Runs cannot reveal them, so the jobs
//! that it has are counted.

use crate::facility::Facility;
use crate::ledger::Ledger;
use anyhow::Result;
use std::sync::Arc;

/// The number of each kind of fault.
#[derive(Default)]
pub(super) struct Faults {
    pub(super) panicked: usize,
    pub(super) refused: u64,
    pub(super) too_late: u64,
    pub(super) ran: u64,
    /// By how much the facility's own count of its jobs was wrong.
    pub(super) miscounted: usize,
    /// Cancelled jobs that it had not dropped.
    pub(super) kept: usize,
    /// Pending jobs that it had dropped.
    pub(super) lost: usize,
}

impl Faults {
    /// Compares the jobs that a settled facility has with those that it should have.
    pub(super) fn count<F: Facility>(
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

    pub(super) fn sentence(&self) -> Option<String> {
        let faults = [
            (self.panicked as u64, "producers panicked"),
            (self.refused, "jobs were refused"),
            (self.too_late, "cancellations or refreshes were reported as too late"),
            (self.ran, "jobs ran long before their time"),
            (self.kept as u64, "cancelled jobs were still there"),
            (self.lost as u64, "jobs were gone though pending"),
            (self.miscounted as u64, "jobs too many or too few by the facility's own count"),
        ];
        let found: Vec<_> =
            faults.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        (!found.is_empty()).then(|| found.join(", "))
    }
}
