//! Commits on the calling thread.

use super::queue::{Queue, Receives};
use crate::error::Error;
use crate::observe::{Reporter, count};
use crate::store::{Change, Outcome, Store, StoreError};
use parking_lot::FairMutex;
use std::sync::Arc;
use std::time::Instant;

/// A connection, used by one thread at a time, in the order of arrival. The order is fair so that a
/// committer with a full queue does not starve the claimer.
pub(crate) type SharedStore = Arc<FairMutex<Box<dyn Store>>>;

/// Commits the change of a caller on its own thread. `None` if the committer has to do it.
pub(crate) fn commit_alone<R: Receives>(
    queue: &Queue<R>,
    store: &SharedStore,
    reporter: &Reporter,
    change: &Change,
) -> Option<Result<Outcome, Error>> {
    let turn = queue.lead()?;
    let outcomes = carry_out(reporter, &mut **store.lock(), std::slice::from_ref(change));
    // A callback for events may wait for the committer.
    drop(turn);
    let outcome = outcomes.map(|outcomes| outcomes[0]);
    Some(match outcome {
        Ok(outcome) => {
            count_change(reporter, change, outcome);
            Ok(outcome)
        }
        Err(error) => {
            reporter.report_failure(&error);
            Err(Error::Store(Arc::new(error)))
        }
    })
}

/// Commits changes of a caller on its own thread, all or none, without waiting for others.
pub(crate) fn commit_together(
    store: &SharedStore,
    reporter: &Reporter,
    changes: &[Change],
) -> Result<Vec<Outcome>, Error> {
    let outcomes = try_commit(store, reporter, changes);
    let outcomes = outcomes.map_err(|error| Error::Store(Arc::new(error)))?;
    let each = changes.iter().zip(&outcomes);
    each.for_each(|(change, outcome)| count_change(reporter, change, *outcome));
    Ok(outcomes)
}

/// Commits changes, and reports a failure.
pub(super) fn try_commit(
    store: &SharedStore,
    reporter: &Reporter,
    changes: &[Change],
) -> Result<Vec<Outcome>, StoreError> {
    let committed = carry_out(reporter, &mut **store.lock(), changes);
    committed.inspect_err(|error| reporter.report_failure(error))
}

/// Commits changes, and counts the commit.
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
    let committed = committed.and_then(|outcomes| match outcomes.len() == changes.len() {
        true => Ok(outcomes),
        false => Err(StoreError::Damaged("it returns no outcome for a change".to_owned())),
    });
    if committed.is_err() {
        count(&counters.others.counts.store_errors);
    }
    committed
}

/// Counts the effect of a change that was committed.
pub(super) fn count_change(reporter: &Reporter, change: &Change, outcome: Outcome) {
    let (counters, counts) = (&reporter.counters, &reporter.counters.others.counts);
    match (change, outcome) {
        (Change::Put(put), Outcome::Done | Outcome::Replaced) => {
            count(&counters.of(&put.kind).counts.scheduled);
        }
        (Change::Cancel { .. }, Outcome::Cancelled | Outcome::Running) => count(&counts.cancelled),
        (Change::Move { .. }, Outcome::Done) => count(&counts.refreshed),
        _ => {}
    }
}
