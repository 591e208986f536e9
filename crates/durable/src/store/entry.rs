//! The rows of a store, and leased jobs.

use super::key::{Key, Kind, PAUSE, Timestamp, Token};

/// A row of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the job.
    pub key: Key,
    /// The name of its handler.
    pub kind: Kind,
    /// The bytes for the handler.
    pub payload: Vec<u8>,
    /// Late policy, expiry and rule of repetition, as the scheduling program wrote them.
    pub policy: String,
    /// When this occurrence is due.
    pub due: Timestamp,
    /// When a claim may hand it out; see the [module](super).
    pub visible_at: Timestamp,
    /// The number of this scheduling; it grows.
    pub generation: u64,
    /// The number of the occurrence of a periodic job, from 0.
    pub occurrence: u64,
    /// The number of runs of this occurrence that have begun.
    pub attempt: u32,
    /// The state, with the lease if a worker has the job.
    pub state: State,
}

/// The kind of the row that holds the shard number of a store.
pub(crate) const SHARD: &str = "wheelhouse-shard/1";

impl Entry {
    /// The [paused](crate::Timers::pause) kind, if this row is a pause and not a job; empty if all
    /// kinds are paused.
    pub fn paused(&self) -> Option<&str> {
        self.kind.strip_prefix(PAUSE)
    }

    /// The shard number, such as `shard 1 of 2`, if this row holds it and is not a job: each of
    /// [several stores](crate::Builder::start_shards) has such a row.
    pub fn shard(&self) -> Option<String> {
        (&*self.kind == SHARD).then(|| String::from_utf8_lossy(&self.payload).into_owned())
    }
}

/// The lease of a job by a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker's token.
    pub token: Token,
    /// When it ends.
    pub until: Timestamp,
}

/// The state of a row, see the [module](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The job waits.
    Pending,
    /// A program has the job, and its run has not begun.
    Leased(Lease),
    /// A worker runs the job.
    Begun(Lease),
    /// A worker runs the job, and it was cancelled.
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

    /// The number by which stores keep the state, next to the lease. `Leased` has the number of
    /// `Pending`: cancels, moves, replacements and claims treat both alike.
    pub fn number(&self) -> u8 {
        match self {
            Self::Pending | Self::Leased(_) => 0,
            Self::Begun(_) => 1,
            Self::Closed(_) => 2,
            Self::Replaced(_) => 3,
        }
    }

    /// The state with a [number](Self::number), and its lease if it has one; `None` if there is no
    /// such state. Returns the errors of `lease`.
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

/// The bounds of a [claim](super::Store::claim).
///
/// ```
/// use wheelhouse_durable::store::ClaimLimit;
///
/// let limit = ClaimLimit { jobs: 10, bytes: 1 << 20, begin: 0 };
/// assert!(limit.allows(10, 1 << 20) && !limit.allows(10, (1 << 20) + 1));
/// assert!(limit.allows(1, 2 << 20), "a single job may be longer");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimLimit {
    /// The most jobs.
    pub jobs: usize,
    /// The most bytes in the payloads of all jobs together. One job may be leased in any case:
    /// otherwise a job that is longer would block all later ones.
    pub bytes: usize,
    /// The most runs that begin with the claim.
    pub begin: usize,
}

impl ClaimLimit {
    /// A limit to a number of jobs, whatever their payloads. No run begins.
    pub const fn jobs(jobs: usize) -> Self {
        Self { jobs, bytes: usize::MAX, begin: 0 }
    }

    /// Returns `true` if one claim may lease `jobs` jobs with this sum of payload bytes.
    pub const fn allows(self, jobs: usize, bytes: usize) -> bool {
        jobs <= self.jobs && (bytes <= self.bytes || jobs == 1)
    }

    /// Returns `true` if the claim begins the run of `job`, the next row that it meets: if it is
    /// the first attempt of a pending job without a policy, and the claim has begun all jobs
    /// before it. A closed row, which the claim removes, does not count. A store calls this once
    /// for each row, in order, before it changes the row.
    ///
    /// A program must read a policy before it decides whether the job runs. The first attempt is
    /// never a retry after a lost lease, so no job loses more than one attempt by claims whose
    /// answers are lost.
    pub fn begins(&mut self, job: &Entry) -> bool {
        if matches!(job.state, State::Closed(_)) {
            return false;
        }
        let is_first = job.state == State::Pending && job.attempt == 0;
        let begins = self.begin > 0 && is_first && job.policy.is_empty();
        self.begin = if begins { self.begin - 1 } else { 0 };
        begins
    }

    /// Returns how many more runs a claim may begin that has leased these jobs: for a store that
    /// claims in several steps.
    pub fn begin_after(self, leased: &[Leased]) -> usize {
        let begun = leased.iter().filter(|leased| leased.has_begun()).count();
        if begun < leased.len() { 0 } else { self.begin.saturating_sub(begun) }
    }
}

/// A job that a claim has handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leased {
    /// The row after the claim: [`Begun`](State::Begun), and its `attempt` counts this run, or
    /// [`Leased`](State::Leased), and its `attempt` counts the earlier runs.
    pub job: Entry,
    /// The token, by which the run is ended.
    pub token: Token,
    /// When the lease ends.
    pub until: Timestamp,
    /// `true` if the job had an earlier lease that was [lost](State::is_held): its holder was
    /// killed, cut off or stopped.
    pub was_lost: bool,
}

impl Leased {
    /// Returns `true` if the claim has begun the run.
    pub fn has_begun(&self) -> bool {
        matches!(self.job.state, State::Begun(_))
    }
}

/// When to claim from a store next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The store's present, rounded down.
    pub now: Timestamp,
    /// When the next job of the claimed kinds is visible, after this claim; `None` if there is
    /// none. It may be too early, for example because of a row that is to be removed, but never too
    /// late. It is in the future unless the limit has ended the claim.
    pub visible_at: Option<Timestamp>,
}

/// A dead letter: a job that is not retried. It is named by its generation, because a key may have
/// several dead letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dead {
    /// The last row of the job, without its lease: `Pending`, and `visible_at` is `due`.
    pub job: Entry,
    /// Why the job ended.
    pub reason: String,
    /// When the job ended.
    pub at: Timestamp,
}
