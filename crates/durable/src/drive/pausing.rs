//! The calls that pause and resume kinds.

use super::{Shared, Timers};
use crate::claim::Message;
use crate::commit::Commit;
use crate::error::Error;
use crate::store::{Change, Key, Outcome};

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
    /// paused.
    ///
    /// # Errors
    ///
    /// Those of [`pause`](Self::pause).
    pub fn resume(&self, kind: impl AsRef<str>) -> Result<bool, Error> {
        self.set_paused(Change::resume(Some(kind.as_ref()))?)
    }

    /// Prevents further runs of every kind. Returns `false` if all kinds are already paused.
    ///
    /// # Errors
    ///
    /// Those of [`pause`](Self::pause).
    pub fn pause_all(&self) -> Result<bool, Error> {
        self.set_paused(Change::pause(None)?)
    }

    /// Ends a [`pause_all`](Self::pause_all). Kinds that were [paused](Self::pause) one by one stay
    /// paused. Returns `false` if there was no `pause_all`.
    ///
    /// # Errors
    ///
    /// Those of [`pause`](Self::pause).
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
        let commits: Vec<Commit<bool>> = self.shards().iter().map(submit).collect();
        let mut is_new = false;
        for commit in commits {
            is_new |= commit.wait()?;
        }
        // The claimers of this program read it at once, those of other programs at their next poll.
        self.shards().iter().for_each(|shard| shard.flight.tell(Message::Watch));
        Ok(is_new)
    }
}
