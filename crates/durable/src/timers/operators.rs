//! For operators: lists of jobs, and pauses of kinds.

use super::{Shared, Timers};
use crate::commit::Commit;
use crate::error::Error;
use crate::lease::Message;
use crate::store::{
    Change, ClaimLimit, Entry, Key, Kind, Kinds, Outcome, PAUSE, State, Store, StoreError,
};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::time::Duration;

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
/// that are made while it runs. It ends after an error.
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
                Err(error) => {
                    self.shard = self.timers.shards.len();
                    return Some(Err(error));
                }
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

/// Pausing. The store keeps a pause, which applies to all programs, including those that start
/// later. A program reads it at each [poll](crate::Builder::poll), once a second by default, and
/// from then on does not begin jobs that it has leased. Runs in progress continue, and their ends
/// count; jobs are scheduled, cancelled and moved as before. Programs of older versions ignore a
/// pause. Each call waits until the change is durable.
///
/// # Errors
///
/// If the kind is empty or too long; [`Error::Store`], after which some of several stores may be
/// paused; [`Error::Stopped`].
impl Timers {
    /// Prevents further runs of a kind, in all stores. Returns `false` if it is paused already.
    ///
    /// ```
    /// # use wheelhouse_durable::store::MemoryStore;
    /// # use wheelhouse_durable::{Durable, Handlers};
    /// # let timers = Durable::start(MemoryStore::new(), Handlers::new())?;
    /// assert!(timers.pause("mail/1")?);
    /// assert!(timers.resume("mail/1")? && !timers.resume("mail/1")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pause(&self, kind: impl AsRef<str>) -> Result<bool, Error> {
        self.set_paused(Change::pause(Some(kind.as_ref()))?)
    }

    /// Allows runs of a kind again, unless all kinds are paused. Returns `false` if the kind is not
    /// paused.
    pub fn resume(&self, kind: impl AsRef<str>) -> Result<bool, Error> {
        self.set_paused(Change::resume(Some(kind.as_ref()))?)
    }

    /// Prevents further runs of every kind. Returns `false` if all kinds are already paused.
    pub fn pause_all(&self) -> Result<bool, Error> {
        self.set_paused(Change::pause(None)?)
    }

    /// Ends a [`pause_all`](Self::pause_all). Kinds that were [paused](Self::pause) one by one stay
    /// paused. Returns `false` if there was no `pause_all`.
    pub fn resume_all(&self) -> Result<bool, Error> {
        self.set_paused(Change::resume(None)?)
    }

    fn set_paused(&self, change: Change) -> Result<bool, Error> {
        let key = change.key().unwrap_or_else(|| unreachable!("a pause is put, or cancelled"));
        let answer = |outcome, _: &Key| Ok(matches!(outcome, Outcome::Done | Outcome::Cancelled));
        let submit = |shard: &Shared| {
            let (commit, promise) = Commit::new(key.clone(), answer);
            shard.queue_of_changes.put_patiently(change.clone(), promise);
            commit
        };
        let commits: Vec<Commit<bool>> = self.shards.iter().map(submit).collect();
        let mut is_new = false;
        for commit in commits {
            is_new |= commit.wait()?;
        }
        // The claimers of this program read it at once, those of other programs at their next poll.
        self.shards.iter().for_each(|shard| shard.flight.tell(Message::Watch));
        Ok(is_new)
    }
}

/// The paused kinds, as a store returns them. The empty kind means all kinds.
#[derive(Default)]
pub(crate) struct Paused(BTreeSet<Kind>);

impl Paused {
    /// The kinds of the rows that pause one of these kinds, or all kinds.
    pub(crate) fn rows<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Kinds {
        Kinds::new(kinds.map(|kind| format!("{PAUSE}{kind}")).chain([PAUSE.to_owned()]))
    }

    /// Reads the kinds that are paused. A claim of 0 jobs shows by one call whether any of `rows`
    /// is there. Only then each is looked up, by its key, which is the same as its kind.
    pub(crate) fn read(store: &mut dyn Store, rows: &Kinds) -> Result<Self, StoreError> {
        let mut paused = Self::default();
        let (_, next) = store.claim(rows, ClaimLimit::jobs(0), Duration::from_secs(1))?;
        for name in rows.iter().filter(|_| next.visible_at.is_some()) {
            // A kind that is too long for such a key cannot be paused.
            let Ok(key) = Key::new(name.as_bytes()) else { continue };
            let row = store.find(&key)?;
            paused.0.extend(row.iter().filter_map(|row| row.paused()).map(Kind::from));
        }
        Ok(paused)
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.0.contains(kind) || self.0.contains("")
    }

    /// Returns the kinds that are not paused.
    pub(crate) fn rest(&self, kinds: &Kinds) -> Kinds {
        match self.0.is_empty() {
            true => kinds.clone(),
            false => Kinds::new(kinds.iter().filter(|kind| !self.has(kind)).cloned()),
        }
    }
}
