//! The committer: one thread that commits the changes of all other threads.
//!
//! ```text
//!  schedule ─┐                        one batch
//!  cancel   ─┼─▶ queue ──▶ committer ──────────▶ store ──▶ outcomes ──▶ waiting callers
//!  ack      ─┘     ▲                               │
//!                  └─── changes that arrive ◀──────┘  form the next batch
//! ```
//!
//! The committer never waits for a batch to grow. A caller that waits for its change commits it on
//! its own thread if the committer has nothing to do, so it has the latency of the store.
//!
//! If the store fails, waiting callers receive the error. No caller waits for the end of a run, so
//! the committer keeps that change and retries it: without its ack, a job that has succeeded would
//! run again. A failed commit may have taken effect. So if a retried end finds that its run has
//! already ended, and its lease has not run out, the failed commit has ended it. If the store
//! refuses an end for good, the committer gives it up, since the store would refuse each batch that
//! contains it. If the begin of a run fails, the job is released, and the committer keeps its
//! release in the same way.

mod queue;
mod ticket;

pub(crate) use queue::{MOST_IN_BATCH, Pending, Queue, Rank, Receives, SharedStore, carry_out};
pub use ticket::Commit;
pub(crate) use ticket::{AnswerOf, answered, random_key};

use queue::Batch;
use std::sync::Arc;
use std::time::Duration;

/// How often the ends of runs are retried when the program stops.
const LAST_TRIES: u32 = 3;

/// Returns the pause before the next call of a store after `failures` failures in a row.
pub(crate) fn pause(failures: u32) -> Duration {
    Duration::from_millis(25 << failures.min(6))
}

/// The state of the committer's thread. When it is dropped, the queue is closed: also if the thread
/// panics, no caller waits for it any more.
pub(crate) struct Committer {
    pub(crate) queue: Arc<Queue>,
    kept: Batch,
    /// The number of times in a row that a commit has failed.
    failures: u32,
    /// The number of failed commits since the queue was closed.
    last_tries: u32,
}

impl Committer {
    pub(crate) fn new(queue: Arc<Queue>) -> Self {
        Self { queue, kept: Batch::default(), failures: 0, last_tries: 0 }
    }

    pub(crate) fn run(mut self) {
        while self.step(self.pause()) {}
    }

    /// Returns the longest time until the next step. `None` if no changes are kept.
    pub(crate) fn pause(&self) -> Option<Duration> {
        (!self.kept.is_empty()).then(|| pause(self.failures))
    }

    /// Waits for changes, but for at most `patience` if it is given, and commits them together with
    /// those that are kept. Returns `false` when the thread is to end.
    pub(crate) fn step(&mut self, mut patience: Option<Duration>) -> bool {
        let batch = loop {
            let Some(batch) = self.queue.take(&mut self.kept, patience) else { return false };
            if self.kept.is_empty() {
                break batch;
            }
            // If changes are still kept, these are renewals, which are not retried. The kept
            // changes follow at once: renewals may arrive before each pause has ended. Not during
            // a stop, whose tries are few.
            let retried = commit(&self.queue, batch);
            debug_assert!(retried.is_empty(), "a renewal is not retried");
            if self.queue.is_closed() {
                return true;
            }
            patience = Some(Duration::ZERO);
        };
        self.kept = commit(&self.queue, batch);
        self.failures = if self.kept.is_empty() { 0 } else { self.failures + 1 };
        self.last_tries += u32::from(self.failures > 0 && self.queue.is_closed());
        self.last_tries <= LAST_TRIES
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.queue.end();
    }
}

/// Commits a batch, and passes on the outcomes. Returns the changes to retry.
fn commit(queue: &Queue, mut batch: Batch) -> Batch {
    let mut kept = Batch::default();
    match queue.commit(&batch.changes, None) {
        Ok(outcomes) => {
            for ((_, recipient), outcome) in batch.into_pairs().zip(outcomes) {
                recipient.tell(outcome);
            }
        }
        // The store refuses at least one change for good. Each half of the batch is committed by
        // itself, so that few commits find it.
        Err(error) if !error.is_transient() && batch.changes.len() > 1 => {
            kept = commit(queue, batch.split(batch.changes.len() / 2));
            kept.append(commit(queue, batch));
        }
        Err(error) => {
            let error = Arc::new(error);
            let retried = batch.into_pairs().filter_map(|(_, recipient)| recipient.fail(&error));
            retried.for_each(|pending| kept.push(pending));
        }
    }
    kept
}
