//! What a store has to do, and the types in which it is told so.
//!
//! # One row for each key
//!
//! A store holds a row for each key, and one index by `(visible_at, generation)` for each kind.
//! `visible_at` is the due time at first. A claim moves it to the end of the lease, so a job whose
//! holder died becomes visible again by itself: nothing searches for abandoned leases.
//!
//! ```text
//!            Put            claim           Begin            Ack
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
//! * **Pending**: waits for `visible_at`, which is its due time, or when it is tried again.
//! * **Leased**: a program has it until `visible_at`, and its run has not begun. If the lease is
//!   not extended or ended by then, a claim hands it out again with a newer token. A cancellation,
//!   move or replacement treats it as if it were pending: the lease is over, and the run that was
//!   to begin is refused.
//! * **Begun**: a worker runs it; the attempt is counted. If the lease ends, as above.
//! * **Closed**: cancelled while a worker runs it. The worker's ack counts; it is not handed out
//!   again. The row goes with the ack, or with the first claim after the end of the lease.
//! * **Replaced**: a newer generation was put under the key while a worker runs the older one. The
//!   row holds the newer one, which waits for its due time *and* for the end of the older run:
//!   until the older is acked, retried, released or buried, or its lease ends. So two generations
//!   of a key never run at a time, unless a lease was lost.
//!
//! # Numbers
//!
//! `generation` and [`Token`] are drawn from counters of the store (one or two) that only grow. A
//! generation is drawn by each `Put` and each `Revive`: no two schedulings under a key have the
//! same, however long ago the first was, so that idempotency keys made of it are unique. A token is
//! drawn by each claim of a job. To let them grow even if a server is emptied or restored from an
//! old copy, start from the microseconds of the store's clock: `max(last + 1, clock)`.
//!
//! # Time
//!
//! The store's clock alone decides. It is read once for each call: rounded up to a millisecond
//! where a delay is added to it, rounded down where it is compared with `visible_at`. So nothing is
//! handed out early. A test replaces the clock: the store takes time through one function.

mod change;
mod clock;
mod entry;
mod error;
mod key;
mod memory;
pub mod rules;

pub use change::{Again, Change, Outcome, Put, When};
pub use clock::StoreClock;
pub(crate) use entry::SHARD;
pub use entry::{Dead, Entry, Lease, Leased, Next, State};
pub use error::StoreError;
pub use key::{InvalidKey, Key, Kind, Kinds, Timestamp, Token};
pub(crate) use key::{PAUSE, SHARD_KEY, is_kind};
pub use memory::MemoryStore;

use std::time::Duration;

/// Called when a store has something visible earlier than it said.
pub use wheelhouse_service::Waker;

/// What keeps jobs. See the [module](self) for rows, states, numbers and time.
///
/// All calls are synchronous and in batches. One value is used by one thread at a time; a store
/// whose server can serve two connections at once gives a second by [`beside`](Self::beside).
pub trait Store: Send + 'static {
    /// Carries out all changes or none, in order: each sees what the one before has done. There is
    /// an [`Outcome`] for each.
    ///
    /// The changes are durable when it returns: they survive a crash of the process and a loss of
    /// power. A batch of nothing but [`Begin`](Change::Begin) need only survive the crash of the
    /// process. A store that leaves out the sync of such a batch syncs it with the next one.
    ///
    /// # Errors
    ///
    /// Then all of it has been done or nothing, and which one need not be known.
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError>;

    /// Leases up to `max` jobs of these kinds that are visible by the store's clock, in the order
    /// of `(visible_at, generation)`: each for as long as `visibility` says, which is at least a
    /// millisecond, with a fresh token. They are appended to `into`. The leases are durable when it
    /// returns. An attempt is counted by [`Change::Begin`], not here.
    ///
    /// Rows that are [closed](State::Closed) and whose lease has ended are removed on the way.
    ///
    /// The answer tells when to ask next. With a `max` of 0 nothing is leased.
    ///
    /// # Errors
    ///
    /// Then `into` is as it was. Jobs may have been leased; they become visible again.
    fn claim(
        &mut self,
        kinds: &Kinds,
        max: usize,
        visibility: Duration,
        into: &mut Vec<Leased>,
    ) -> Result<Next, StoreError>;

    /// The store's clock.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn now(&mut self) -> Result<Timestamp, StoreError> {
        // A claim of no jobs leases nothing.
        let none = self.claim(&Kinds::default(), 0, Duration::from_secs(1), &mut Vec::new())?;
        Ok(none.now)
    }

    /// Has `waker` called when a commit, of whomever, makes a job visible earlier than the last
    /// [`Next`] said, if it said something and the store can tell. It may be called too often. A
    /// store that cannot tell does nothing: it is asked once a second anyhow.
    fn wake_by(&mut self, waker: Waker);

    /// The row of a key.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError>;

    /// Rows in an order of the store's own that does not change, at most `max`, beginning after the
    /// row of `after`. For lists, counts and tests.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn scan(
        &mut self,
        after: Option<&Key>,
        max: usize,
        each: &mut dyn FnMut(&Entry),
    ) -> Result<(), StoreError>;

    /// Dead letters by generation, at most `max`, beginning after that of the generation `after`.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn dead(
        &mut self,
        after: Option<u64>,
        max: usize,
        each: &mut dyn FnMut(&Dead),
    ) -> Result<(), StoreError>;

    /// Each kind of which there is a row, and when the first of it is visible, in any order. It
    /// must not take time in proportion to the rows. Asked once a minute.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn kinds(&mut self, each: &mut dyn FnMut(&Kind, Timestamp)) -> Result<(), StoreError>;

    /// Figures of the storage for people who watch it, by names such as `wal_bytes`; none by
    /// default. Asked once a minute; must not take time in proportion to the rows.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn gauges(&mut self, _each: &mut dyn FnMut(&'static str, u64)) -> Result<(), StoreError> {
        Ok(())
    }

    /// A second connection to the same data, with which jobs are claimed while this one commits;
    /// `None` where there is one writer at a time anyhow, which is the default.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(None)
    }
}

impl Store for Box<dyn Store> {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        (**self).commit(changes)
    }

    fn claim(
        &mut self,
        kinds: &Kinds,
        max: usize,
        visibility: Duration,
        into: &mut Vec<Leased>,
    ) -> Result<Next, StoreError> {
        (**self).claim(kinds, max, visibility, into)
    }

    fn wake_by(&mut self, waker: Waker) {
        (**self).wake_by(waker);
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        (**self).find(key)
    }

    fn scan(
        &mut self,
        after: Option<&Key>,
        max: usize,
        each: &mut dyn FnMut(&Entry),
    ) -> Result<(), StoreError> {
        (**self).scan(after, max, each)
    }

    fn dead(
        &mut self,
        after: Option<u64>,
        max: usize,
        each: &mut dyn FnMut(&Dead),
    ) -> Result<(), StoreError> {
        (**self).dead(after, max, each)
    }

    fn kinds(&mut self, each: &mut dyn FnMut(&Kind, Timestamp)) -> Result<(), StoreError> {
        (**self).kinds(each)
    }

    fn gauges(&mut self, each: &mut dyn FnMut(&'static str, u64)) -> Result<(), StoreError> {
        (**self).gauges(each)
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        (**self).beside()
    }
}
