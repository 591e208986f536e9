//! Lists jobs.

use super::Timers;
use crate::error::Error;
use crate::store::{Entry, Key, Kind, State};
use std::collections::VecDeque;
use std::fmt;

/// The number of rows in a page. Other calls of the store wait while a page is read.
const PAGE: usize = 32;

/// The state of a job, for [`Jobs::state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobState {
    /// It waits until it is due or retried, or for the end of an older run under its key.
    Pending,
    /// A program has leased it, and its run has not begun.
    Leased,
    /// A run under its key has begun. The job may have been cancelled or replaced since.
    Running,
}

impl JobState {
    fn is_that_of(self, state: State) -> bool {
        match self {
            Self::Pending => matches!(state, State::Pending | State::Replaced(_)),
            Self::Leased => matches!(state, State::Leased(_)),
            Self::Running => state.run().is_some(),
        }
    }
}

/// An iterator over the jobs of all stores, made by [`Timers::jobs`]. It reads pages of 32 rows
/// and returns those that match: O(n) in time, one page in memory. It may or may not see changes
/// that are made while it runs.
#[must_use = "nothing is read until it is iterated"]
pub struct Jobs<'t> {
    timers: &'t Timers,
    prefix: Vec<u8>,
    kind: Option<Kind>,
    state: Option<JobState>,
    shard: usize,
    after: Option<Key>,
    page: VecDeque<Entry>,
}

impl Timers {
    /// The jobs of all stores, to be filtered and iterated. For inspection and repairs: it reads
    /// every row, even if few match.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use wheelhouse_durable::store::MemoryStore;
    /// use wheelhouse_durable::JobState;
    /// # use wheelhouse_durable::{Durable, Handlers};
    /// # let timers = Durable::start(MemoryStore::new(), Handlers::new())?;
    /// timers.after(Duration::from_secs(9)).key("order-17").schedule_bytes("close/1", "")?;
    /// timers.after(Duration::from_secs(9)).key("user-3").schedule_bytes("close/1", "")?;
    /// for job in timers.jobs().prefix("order-").kind("close/1").state(JobState::Pending) {
    ///     timers.cancel(job?.key)?;
    /// }
    /// assert_eq!(timers.jobs().count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn jobs(&self) -> Jobs<'_> {
        let (prefix, page) = (Vec::new(), VecDeque::new());
        Jobs { timers: self, prefix, kind: None, state: None, shard: 0, after: None, page }
    }
}

impl Jobs<'_> {
    /// Keeps only jobs whose key begins with `prefix`.
    pub fn prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.prefix = prefix.as_ref().to_vec();
        self
    }

    /// Keeps only jobs of this kind.
    pub fn kind(mut self, kind: impl Into<Kind>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Keeps only jobs in this state.
    pub fn state(mut self, state: JobState) -> Self {
        self.state = Some(state);
        self
    }

    fn has(&self, job: &Entry) -> bool {
        job.key.as_bytes().starts_with(&self.prefix)
            && self.kind.as_ref().is_none_or(|kind| *kind == job.kind)
            && self.state.is_none_or(|state| state.is_that_of(job.state))
            && !job.key.is_reserved()
    }

    /// Reads the next page. Returns `false` if there is none.
    fn read(&mut self) -> Result<bool, Error> {
        let Some(shard) = self.timers.shards.get(self.shard) else { return Ok(false) };
        let page = shard.store.lock().scan(self.after.as_ref(), PAGE)?;
        self.after = page.last().map(|job| job.key.clone());
        self.shard += usize::from(page.is_empty());
        self.page = page.into_iter().filter(|job| self.has(job)).collect();
        Ok(true)
    }
}

/// After an error, the next call reads the same page again.
impl Iterator for Jobs<'_> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(job) = self.page.pop_front() {
                return Some(Ok(job));
            }
            match self.read() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl fmt::Debug for Jobs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, state, .. } = self;
        f.debug_struct("Jobs").field("kind", kind).field("state", state).finish_non_exhaustive()
    }
}
