//! What a store holds and hands out.

use super::key::{Key, Kind, PAUSE, Timestamp, Token};

/// A row of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub key: Key,
    /// Which handler runs it.
    pub kind: Kind,
    /// What the handler is given.
    pub payload: Vec<u8>,
    /// Late policy, expiry, rule of repetition, as the scheduling program wrote it.
    pub policy: String,
    /// When this occurrence was to begin.
    pub due: Timestamp,
    /// When a claim may hand it out; see the [module](super).
    pub visible_at: Timestamp,
    /// Which scheduling this is; grows.
    pub generation: u64,
    /// The number of the occurrence of a periodic job, from 0.
    pub occurrence: u64,
    /// How many runs of this occurrence have begun.
    pub attempt: u32,
    /// Whether a worker has it.
    pub state: State,
}

/// The kind of the row by which a store says that it is one of several.
pub(crate) const SHARD: &str = "wheelhouse-shard/1";

impl Entry {
    /// If this is no job, but the row that says that a kind is [paused](crate::Timers::pause): that
    /// kind; an empty one if all are.
    pub fn paused(&self) -> Option<&str> {
        self.kind.strip_prefix(PAUSE)
    }

    /// If this is no job, but the row by which a store of
    /// [several](crate::Builder::start_shards) says which one it is: `shard 1 of 2`.
    pub fn shard(&self) -> Option<String> {
        (&*self.kind == SHARD).then(|| String::from_utf8_lossy(&self.payload).into_owned())
    }
}

/// A worker's hold of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker's token.
    pub token: Token,
    /// When it ends.
    pub until: Timestamp,
}

/// What a row is, see the [module](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits.
    Pending,
    /// A program has it, and its run has not begun.
    Leased(Lease),
    /// A worker runs it.
    Begun(Lease),
    /// A worker runs it, and it was cancelled.
    Closed(Lease),
    /// A worker runs an older generation; the row is the newer one.
    Replaced(Lease),
}

impl State {
    /// The lease, if there is one.
    pub fn lease(&self) -> Option<Lease> {
        match self {
            Self::Pending => None,
            Self::Leased(lease)
            | Self::Begun(lease)
            | Self::Closed(lease)
            | Self::Replaced(lease) => Some(*lease),
        }
    }

    /// The lease of a run that has begun, if there is one.
    pub fn run(&self) -> Option<Lease> {
        self.lease().filter(|_| !matches!(self, Self::Leased(_)))
    }

    /// Returns `true` if the row's job has a lease. If such a row is claimed, that lease was lost:
    /// its holder neither ended nor renewed it.
    pub fn is_held(&self) -> bool {
        matches!(self, Self::Leased(_) | Self::Begun(_))
    }

    /// The number under which stores keep it, its lease beside. A job that is leased and has not
    /// begun has that of one that waits: to cancel, move, replace or claim it is the same. So a
    /// program of an older version, which knows only leases that have begun, does the right thing.
    pub fn number(&self) -> u8 {
        match self {
            Self::Pending | Self::Leased(_) => 0,
            Self::Begun(_) => 1,
            Self::Closed(_) => 2,
            Self::Replaced(_) => 3,
        }
    }

    /// The state of a [number](Self::number), with its lease if it has one; `None` if there is no
    /// such state.
    ///
    /// # Errors
    ///
    /// Those of reading the lease.
    pub fn of_number<E>(
        number: i64,
        lease: impl FnOnce() -> Result<Option<Lease>, E>,
    ) -> Result<Option<Self>, E> {
        let lease = lease()?;
        Ok(match number {
            0 => Some(lease.map_or(Self::Pending, Self::Leased)),
            1 => lease.map(Self::Begun),
            2 => lease.map(Self::Closed),
            3 => lease.map(Self::Replaced),
            _ => None,
        })
    }
}

/// A job that was handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leased {
    /// The row as it is now: [`Leased`](State::Leased). Its `attempt` counts the runs before.
    pub job: Entry,
    /// The token with which the run is ended.
    pub token: Token,
    /// When the lease ends.
    pub until: Timestamp,
    /// `true` if the job had a lease before that was [lost](State::is_held): its holder was killed,
    /// cut off or stopped.
    pub was_lost: bool,
}

/// When to ask a store again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The store's present, rounded down.
    pub now: Timestamp,
    /// When a job of the kinds that were asked for is visible next, as things are after the claim;
    /// `None` if there is none. May be earlier than that (a row that is to be removed, say), but
    /// not past unless `max` jobs were leased, and never later.
    pub visible_at: Option<Timestamp>,
}

/// A job that is not tried again, and why. Its generation names it: a key may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dead {
    /// The row as it was last, without its lease: `Pending`, and `visible_at` is `due`.
    pub job: Entry,
    /// Why.
    pub reason: String,
    /// When it died.
    pub at: Timestamp,
}
