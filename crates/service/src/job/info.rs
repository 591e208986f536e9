//! The part of a job that its handles share. It outlives the job.

use super::{Key, Status};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Finished = 1,
    Cancelled,
    Stopped,
}

/// The name, key and outcome of a job. Written under the lock of its shard.
#[derive(Debug, Default)]
pub(crate) struct Info {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) key: Option<Key>,
    /// Zero until the job is over. Then four times the number of runs, plus an [`Ending`]. Until
    /// then the number of runs is in its [`JobState`](super::JobState).
    end: AtomicU64,
    /// The error of the last run that failed.
    #[expect(clippy::box_collection, reason = "few jobs have one, so it is to be one word")]
    error: Mutex<Option<Box<String>>>,
}

impl Info {
    pub(crate) fn new(name: Option<Arc<str>>, key: Option<Key>) -> Self {
        Self { name, key, ..Self::default() }
    }

    /// How many runs had begun when the job was over.
    pub(crate) fn runs(&self) -> u64 {
        self.end.load(Ordering::Acquire) / 4
    }

    /// A run has failed.
    pub(crate) fn fail(&self, error: String) {
        *self.error.lock() = Some(Box::new(error));
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        self.error.lock().as_deref().cloned()
    }

    /// The job is over, after this number of runs.
    pub(crate) fn end(&self, how: Ending, runs: u64) {
        debug_assert_eq!(self.end.load(Ordering::Relaxed), 0, "a job ends once");
        self.end.store(runs * 4 + how as u64, Ordering::Release);
    }

    /// How the job ended. `None` if it is not over.
    pub(crate) fn ending(&self) -> Option<Ending> {
        let endings = [Ending::Finished, Ending::Cancelled, Ending::Stopped];
        let end = self.end.load(Ordering::Acquire) % 4;
        endings.into_iter().find(|ending| *ending as u64 == end)
    }
}

impl From<Ending> for Status {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Finished => Self::Finished,
            Ending::Cancelled => Self::Cancelled,
            Ending::Stopped => Self::Stopped,
        }
    }
}
