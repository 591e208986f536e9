//! Commits on the calling thread.

use super::queue::Queue;
use crate::error::Error;
use crate::observe::{Reporter, count};
use crate::store::{Change, Key, Outcome, Store, StoreError};
use std::time::Instant;

impl Queue {
    /// Commits the change of a caller on its own thread. `None` if the committer has to do it.
    pub(crate) fn commit_alone(&self, change: &Change) -> Option<Result<Outcome, Error>> {
        let turn = self.lead()?;
        let changes = std::slice::from_ref(change);
        let committed = carry_out(&self.reporter, &mut **self.store.lock(), changes);
        // A callback for events may wait for the committer.
        drop(turn);
        let outcomes = self.settle(changes, committed);
        Some(outcomes.map(|outcomes| outcomes[0]).map_err(Error::from))
    }

    /// Commits changes of a caller on its own thread, all or none, without waiting for others.
    pub(crate) fn commit_together(&self, changes: &[Change]) -> Result<Vec<Outcome>, Error> {
        if self.is_closed() || self.is_forked() {
            return Err(Error::Stopped);
        }
        Ok(self.try_commit(changes)?)
    }

    /// Commits changes, and counts their effects or reports the failure.
    pub(super) fn try_commit(&self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        // The connection is free before an observer is called.
        let committed = carry_out(&self.reporter, &mut **self.store.lock(), changes);
        self.settle(changes, committed)
    }

    fn settle(
        &self,
        changes: &[Change],
        committed: Result<Vec<Outcome>, StoreError>,
    ) -> Result<Vec<Outcome>, StoreError> {
        let outcomes = committed.inspect_err(|error| self.reporter.report_failure(error))?;
        changes.iter().zip(&outcomes).for_each(|(change, outcome)| self.count(change, *outcome));
        Ok(outcomes)
    }

    /// Counts the effect of a change that was committed.
    fn count(&self, change: &Change, outcome: Outcome) {
        let counters = &self.reporter.counters;
        match (change, outcome) {
            // The row of a pause.
            _ if change.key().is_some_and(Key::is_reserved) => {}
            (Change::Put(put), Outcome::Done | Outcome::Replaced) => {
                count(&counters.of(&put.kind).counts.scheduled);
            }
            (Change::Cancel { .. }, Outcome::Cancelled | Outcome::Running) => {
                count(&counters.others.counts.cancelled);
            }
            (Change::Move { .. }, Outcome::Done) => count(&counters.others.counts.refreshed),
            _ => {}
        }
    }
}

/// Commits changes, and counts the commit. The caller reports an error.
pub(crate) fn carry_out(
    reporter: &Reporter,
    store: &mut dyn Store,
    changes: &[Change],
) -> Result<Vec<Outcome>, StoreError> {
    let counters = &reporter.counters;
    let begin = Instant::now();
    let committed = store.commit(changes);
    counters.commit_time.record_micros(begin.elapsed());
    counters.batch.record(u64::try_from(changes.len()).unwrap_or(u64::MAX));
    count(&counters.others.counts.commits);
    committed.and_then(|outcomes| match outcomes.len() == changes.len() {
        true => Ok(outcomes),
        false => Err(StoreError::Damaged("it returns no outcome for a change".to_owned())),
    })
}
