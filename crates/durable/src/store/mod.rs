//! The contract of a store, and its types.
//!
//! # One row for each key
//!
//! A store holds a row for each key, and one index by `(visible_at, generation)` for each kind.
//! `visible_at` is the due time at first. A claim moves it to the end of the lease. So a job whose
//! holder died becomes visible again without any search for abandoned leases.
//!
//! ```text
//!                      claim that begins the run
//!                     ┌────────────────────────────┐
//!            Put      │     claim           Begin  ▼        Ack
//!  (no row) ──────▶ Pending ──────▶ Leased ──────▶ Begun ──────────▶ (no row), or Pending with
//!                   ▲  ▲  ▲           │            │ │ │              the next occurrence
//!                   │  │  └───────────┘            │ │ └──────────────┐
//!                   │  │    Move, Put, Release     │ │ Cancel         │ Put, replacing
//!                   │  └───────────────────────────┘ ▼       Put      ▼
//!                   │         Retry, Release       Closed ────────▶ Replaced
//!                   │                                │   ◀────────    │
//!                   │                                ▼     Cancel     │ Ack, end of lease:
//!                   │             Ack, end of lease: no row           │ the new generation alone
//!                   └─────────────────────────────────────────────────┘
//! ```
//!
//! * **Pending**: the job waits for `visible_at`, which is its due time or the time of its retry.
//! * **Leased**: a program has the job until `visible_at`, and its run has not begun. If the lease
//!   is not extended or ended by then, a claim hands the job out again with a newer token. A
//!   cancel, move or replacement treats the job as pending: it ends the lease, and the `Begin` of
//!   the leased run is refused.
//! * **Begun**: a worker runs the job, and the attempt is counted. If the lease runs out, a claim
//!   hands the job out again, as above, and does not begin it.
//! * **Closed**: the job was cancelled while a worker runs it. The worker's ack counts, and the job
//!   is not handed out again. The row is removed when the run ends, or by the first claim after the
//!   end of the lease.
//! * **Replaced**: a newer generation was put under the key while a worker runs the older one. The
//!   row holds the newer one. It waits for its due time *and* for the end of the older run, which
//!   is an ack, retry, release or bury of the older generation, or the end of its lease. So two
//!   generations of a key never run at the same time, unless a lease was lost.
//!
//! # Numbers
//!
//! `generation` and [`Token`] are drawn from one or two counters of the store that only grow. Each
//! `Put` and each `Revive` draws a generation. So no two schedulings under a key have the same
//! generation, however far apart, and idempotency keys made of it are unique. Each claim of a job
//! draws a token. Both must grow even if a server is emptied or restored from an old copy: start
//! from the microseconds of the store's clock, `max(last + 1, clock)`.
//!
//! # Time
//!
//! The store's clock alone decides. A call reads it once. It is rounded up to a millisecond where a
//! delay is added to it, and rounded down where it is compared with `visible_at`, so nothing is
//! handed out early. A delay of zero is not added: the job is due at the present rounded down. A
//! store reads the time through one function, which a test can replace.

mod change;
mod entry;
mod key;
mod memory;
pub mod rules;

pub use change::{Again, Change, Outcome, Put, When};
pub(crate) use entry::SHARD;
pub use entry::{ClaimLimit, Dead, Entry, Lease, Leased, Next, State};
#[cfg(feature = "sim")]
pub(crate) use key::fnv_1a;
pub use key::{InvalidKey, Key, Kind, Kinds, StoreClock, Timestamp, Token};
pub(crate) use key::{PAUSE, SHARD_KEY, millis_up};
pub use memory::MemoryStore;

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;
use std::{fmt, io};
use wheelhouse_service::Backoff;

/// A callback for when a job is visible earlier than the last [`Next`] of the store said. It must
/// not block.
pub use wheelhouse_service::Waker;

/// The pauses between attempts to reach a server: from 10 ms to 1 s. With jitter, so that programs
/// that lost it together do not try again together.
pub fn reconnect_backoff() -> Backoff {
    Backoff::new(Duration::from_millis(10)).cap(Duration::from_secs(1)).jitter(0.5)
}

/// The result of a [claim](Store::claim): the leased jobs, and when to claim next.
pub type ClaimResult = Result<(Vec<Leased>, Next), StoreError>;

/// Figures of the storage, by name.
pub type Gauges = BTreeMap<&'static str, u64>;

/// A store of jobs. See the [module](self) for rows, states, numbers and time.
///
/// All calls are synchronous and take batches. One thread at a time uses a value. If a store can
/// serve two connections at once, [`beside`](Self::beside) returns a second one. All calls return
/// the errors of the storage.
pub trait Store: Send + 'static {
    /// Carries out all changes or none, in order: each change sees the effect of the one before.
    /// Returns an [`Outcome`] for each. A store may divide a batch of more than 512 changes into
    /// parts, each of which is carried out completely or not at all, in order.
    ///
    /// The changes are durable when it returns: they survive a crash of the process and a loss of
    /// power. A batch of [`Begin`](Change::Begin) alone need only survive a crash of the process. A
    /// store that skips the sync of such a batch must sync it with the next one.
    ///
    /// # Errors
    ///
    /// After an error either all changes were carried out or none; of a divided batch, all or none
    /// of each part, and of no part after one that was not. The store need not know which.
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError>;

    /// Leases jobs of these kinds that are visible by the store's clock, in the order of
    /// `(visible_at, generation)`. Returns them, and when to claim next. It ends before the first
    /// job that would exceed `limit`: that job is not leased, and neither are later ones. Each
    /// lease has a new token and lasts for `visibility`, which is at least a millisecond. The
    /// leases are durable when it returns.
    ///
    /// It begins the runs of the first jobs that it leases, as a [`Change::Begin`] right after it
    /// would: the row becomes [`Begun`](State::Begun), and the attempt is counted. It begins at
    /// most `limit.begin` runs, and none from the first job on that
    /// [may not begin](ClaimLimit::begins) in this way. All later jobs are
    /// [`Leased`](State::Leased).
    ///
    /// Removes the [closed](State::Closed) rows that it meets whose lease has ended. With a limit
    /// of 0 jobs nothing is leased, and the answer still says when to claim next: this is called
    /// once a second, to look for pauses.
    ///
    /// # Errors
    ///
    /// After an error, jobs may have been leased; they become visible again at the end of the
    /// lease. Runs may have begun too: their attempts are counted.
    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult;

    /// The store's clock.
    fn now(&mut self) -> Result<Timestamp, StoreError> {
        let second = Duration::from_secs(1);
        Ok(self.claim(&Kinds::default(), ClaimLimit::jobs(0), second)?.1.now)
    }

    /// Registers `waker`. If a commit of any connection makes a job visible earlier than in the
    /// last [`Next`], the store calls it then, or later but before the job is visible. Spurious
    /// calls are allowed. A store that cannot notify does nothing: callers poll it once a second in
    /// any case.
    fn wake_by(&mut self, waker: Waker);

    /// The row of a key.
    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError>;

    /// A page of at most `max` rows, which begins after the row of `after`. The store chooses the
    /// order, which must not change between calls. If `after` was the last row of a page, it may be
    /// gone by now. Several lists may be read by turns. For lists, counts and tests.
    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError>;

    /// A page of at most `max` dead letters, ordered by generation, which begins after the
    /// generation `after`.
    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError>;

    /// Each kind that has a row, with the earliest `visible_at` of its rows, in any order. It must
    /// not take time in proportion to the rows. Called once a minute.
    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError>;

    /// Figures of the storage for monitoring, with names such as `wal_bytes`; none by default. It
    /// must not take time in proportion to the rows. Called once a minute.
    fn gauges(&mut self) -> Result<Gauges, StoreError> {
        Ok(Gauges::default())
    }

    /// A second connection to the same data, to claim jobs while this one commits. `None`, the
    /// default, if the store allows only one writer at a time.
    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(None)
    }
}

/// Forwards the calls that only read to another store. The types of the calls must be in scope.
macro_rules! forward_reads {
    ($self:ident => $store:expr) => {
        fn find(&mut $self, key: &Key) -> Result<Option<Entry>, StoreError> {
            $store.find(key)
        }

        fn scan(&mut $self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
            $store.scan(after, max)
        }

        fn dead(&mut $self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
            $store.dead(after, max)
        }

        fn kinds(&mut $self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
            $store.kinds()
        }

        fn gauges(&mut $self) -> Result<Gauges, StoreError> {
            $store.gauges()
        }
    };
}
pub(crate) use forward_reads;

impl Store for Box<dyn Store> {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        (**self).commit(changes)
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        (**self).claim(kinds, limit, visibility)
    }

    fn wake_by(&mut self, waker: Waker) {
        (**self).wake_by(waker);
    }

    forward_reads!(self => (**self));

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        (**self).beside()
    }
}

/// Why a call of a store failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The storage failed: disk full, read-only, a failed write or sync. The message of the error
    /// names the remedy if the store knows one.
    Io(io::Error),
    /// The server or file cannot be reached at the moment, or is busy for too long. A retry may
    /// succeed.
    Unavailable(Box<dyn Error + Send + Sync>),
    /// The data were written by a newer version. They were not changed.
    Format {
        /// The format that was found.
        found: u32,
        /// The newest format that this version knows.
        known: u32,
    },
    /// The data are not those of such a store. They were not changed.
    Foreign(String),
    /// The stored data are inconsistent or cannot be read.
    Damaged(String),
    /// The store refuses the call by its configuration, or its settings do not ensure durability.
    /// The text names the remedy.
    Refused(String),
}

impl StoreError {
    /// The error of a store whose server accepts no connection, with the remedy. `why` is the text
    /// of the client's error, without a password.
    ///
    /// ```
    /// use wheelhouse_durable::store::StoreError;
    ///
    /// let error = StoreError::unreachable("connection refused");
    /// assert!(error.is_transient() && error.to_string().contains("start the server"));
    /// ```
    pub fn unreachable(why: impl fmt::Display) -> Self {
        Self::Unavailable(
            format!(
                "{why}: start the server, or check host and port in the URL; with `connect_later` \
                 a program starts without it"
            )
            .into(),
        )
    }

    /// Returns `true` if the same call may succeed later without human action.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Io(_) | Self::Unavailable(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => {
                write!(f, "the storage failed: {error}")?;
                write_sources(f, error)
            }
            Self::Unavailable(error) => {
                write!(f, "the store cannot be reached: {error}")?;
                write_sources(f, &**error)
            }
            Self::Format { found, known } => write!(
                f,
                "written in format {found} by a newer version, but this version knows formats up \
                 to {known}: run the newer version"
            ),
            Self::Foreign(what) => write!(f, "not a store of timers: {what}; name another one"),
            Self::Damaged(what) => write!(f, "damaged: {what}; restore it from a copy"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

/// Appends the sources of an error: clients of databases give the details only there. A source with
/// the text of the error above it is left out.
pub(crate) fn write_sources(f: &mut fmt::Formatter<'_>, error: &dyn Error) -> fmt::Result {
    let mut sources = std::iter::successors(error.source(), |error| (*error).source());
    let mut above = error.to_string();
    sources.try_for_each(|source| {
        let text = source.to_string();
        if text == above {
            return Ok(());
        }
        write!(f, ": {text}")?;
        above = text;
        Ok(())
    })
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Unavailable(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::StoreError;
    use std::fmt;
    use std::sync::Arc;

    /// An error that shows its source, as that of the client of Redis does.
    #[derive(Debug)]
    struct Shows(Arc<std::io::Error>);

    impl fmt::Display for Shows {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }

    impl std::error::Error for Shows {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_source_with_the_same_text_is_printed_once() {
        let error = Shows(Arc::new(std::io::Error::other("refused")));
        let error = StoreError::Unavailable(Box::new(error));
        assert_eq!(error.to_string(), "the store cannot be reached: refused");
    }
}
