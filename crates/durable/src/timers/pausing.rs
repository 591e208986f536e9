//! Pauses of kinds.

use super::{Shared, Timers};
use crate::commit::Commit;
use crate::error::Error;
use crate::lease::Message;
use crate::store::{Change, ClaimLimit, Key, Kind, Kinds, Outcome, PAUSE, Store, StoreError};
use std::collections::BTreeSet;
use std::time::Duration;

/// Pausing. The store keeps a pause, which applies to all programs, including those that start
/// later. A program reads it at each [poll](crate::Builder::poll), once a second by default, and
/// from then on does not begin jobs that it has leased. Runs in progress continue, and their ends
/// count; jobs are scheduled, cancelled and moved as before. Programs of older versions ignore a
/// pause.
impl Timers {
    /// Prevents further runs of a kind, in all stores, and waits until the change is durable.
    /// Returns `false` if the kind is paused already.
    ///
    /// ```
    /// # use wheelhouse_durable::store::MemoryStore;
    /// # use wheelhouse_durable::{Durable, Handlers};
    /// # let timers = Durable::start(MemoryStore::new(), Handlers::new())?;
    /// assert!(timers.pause("mail/1")?);
    /// assert!(timers.resume("mail/1")? && !timers.resume("mail/1")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the kind is empty or too long; [`Error::Store`], after which some of several stores may
    /// be paused; [`Error::Stopped`].
    pub fn pause(&self, kind: impl AsRef<str>) -> Result<bool, Error> {
        self.set_paused(Change::pause(Some(kind.as_ref()))?)
    }

    /// Allows runs of a kind again, unless all kinds are paused. Returns `false` if the kind is not
    /// paused. The errors are those of [`pause`](Self::pause).
    pub fn resume(&self, kind: impl AsRef<str>) -> Result<bool, Error> {
        self.set_paused(Change::resume(Some(kind.as_ref()))?)
    }

    /// Prevents further runs of every kind. Returns `false` if all kinds are already paused. The
    /// errors are those of [`pause`](Self::pause).
    pub fn pause_all(&self) -> Result<bool, Error> {
        self.set_paused(Change::pause(None)?)
    }

    /// Ends a [`pause_all`](Self::pause_all). Kinds that were [paused](Self::pause) one by one stay
    /// paused. Returns `false` if there was no `pause_all`. The errors are those of
    /// [`pause`](Self::pause).
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
