//! A store in memory: for tests, and the simplest implementation of the rules' table.
//!
//! ```text
//!  rows    key  -> Entry
//!  order   kind -> { (visible_at, generation, key), ... }      one entry for each row
//!  dead    generation -> Dead
//! ```

use super::rules::{self, Row, Table};
use super::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Key, Kind, Kinds, Lease, Leased, Next, Outcome,
    Put, State, Store, StoreClock, StoreError, Timestamp, Token, Waker,
};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;
use std::mem::take;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

/// Jobs in memory. Clones are connections to the same jobs, like those of two machines to one
/// server. The jobs last until the last clone is dropped. All calls are O(log n) for each job they
/// touch.
///
/// ```
/// use wheelhouse_durable::store::{Change, Key, MemoryStore, Outcome, Store};
///
/// let mut store = MemoryStore::new();
/// let outcomes = store.commit(&[Change::Cancel { key: Key::new("order-17")? }])?;
/// assert_eq!(outcomes, [Outcome::Absent]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore {
    clock: StoreClock,
    inner: Arc<Mutex<Inner>>,
}

/// The rows of a kind, in the order of claims.
type Order = BTreeSet<Position>;

/// `visible_at`, generation and key of a row.
type Position = (Timestamp, u64, Key);

#[derive(Default)]
struct Inner {
    rows: BTreeMap<Key, Entry>,
    order: BTreeMap<Kind, Order>,
    dead: BTreeMap<u64, Dead>,
    /// The last generation or token that was drawn.
    last: u64,
    /// A row became the first of its kind, so waiting programs must be woken.
    earlier: bool,
    wakers: Vec<Waker>,
    /// The present of the current commit, rounded down.
    now: Timestamp,
}

impl MemoryStore {
    /// An empty store with the machine's wall clock.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store with the given clock.
    pub fn with_clock(clock: StoreClock) -> Self {
        Self { clock, inner: Arc::default() }
    }

    /// The number of rows. O(1).
    pub fn len(&self) -> usize {
        self.inner.lock().rows.len()
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let now = self.clock.now();
        let mut inner = self.inner.lock();
        inner.now = now.0;
        let outcomes = changes.iter().map(|change| {
            let Ok(outcome) = rules::apply(&mut *inner, change, now);
            outcome
        });
        let outcomes = outcomes.collect();
        let wakers = if take(&mut inner.earlier) { inner.wakers.clone() } else { Vec::new() };
        drop(inner);
        wakers.iter().for_each(|wake| wake());
        Ok(outcomes)
    }

    fn claim(&mut self, kinds: &Kinds, mut limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        let (now, now_up) = self.clock.now();
        let until = now_up.saturating_add(visibility);
        let mut inner = self.inner.lock();
        let (mut leased, mut bytes) = (Vec::new(), 0);
        while leased.len() < limit.jobs {
            let Some((visible_at, _, key)) = inner.first(kinds) else { break };
            if visible_at > now {
                break;
            }
            // A cancelled job is removed instead of leased, so it does not count.
            let row = inner.rows.get(&key).filter(|row| !matches!(row.state, State::Closed(_)));
            if let Some(row) = row {
                bytes += row.payload.len();
                if !limit.allows(leased.len() + 1, bytes) {
                    break;
                }
            }
            leased.extend(inner.lease(&key, until, &mut limit));
        }
        let next = inner.first(kinds).map(|(visible_at, ..)| visible_at);
        // A lease inserts its row at a later position than before, which may still be the first of
        // its kind. This claim returns that time, so no program must be woken for it.
        inner.earlier = false;
        Ok((leased, Next { now, visible_at: next }))
    }

    fn wake_by(&mut self, waker: Waker) {
        self.inner.lock().wakers.push(waker);
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        Ok(self.inner.lock().rows.get(key).cloned())
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let inner = self.inner.lock();
        let rows = inner.rows.range((from, Bound::Unbounded)).take(max);
        Ok(rows.map(|(_, row)| row.clone()).collect())
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let inner = self.inner.lock();
        let letters = inner.dead.range((from, Bound::Unbounded)).take(max);
        Ok(letters.map(|(_, dead)| dead.clone()).collect())
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        let inner = self.inner.lock();
        let first = |(kind, order): (&Kind, &Order)| Some((kind.clone(), order.first()?.0));
        Ok(inner.order.iter().filter_map(first).collect())
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(Some(Box::new(self.clone())))
    }
}

impl Inner {
    /// The position of the first row of these kinds. O(k log n).
    fn first(&self, kinds: &Kinds) -> Option<Position> {
        kinds.iter().filter_map(|kind| self.order.get(kind)?.first()).min().cloned()
    }

    /// Removes a row and its position in the order.
    fn take(&mut self, key: &Key) -> Option<Entry> {
        let row = self.rows.remove(key)?;
        let position = (row.visible_at, row.generation, row.key.clone());
        let order = self.order.get_mut(&row.kind);
        let is_last = order.and_then(|order| order.remove(&position).then_some(order.is_empty()));
        debug_assert!(is_last.is_some(), "each row has a position in the order: {row:?}");
        if is_last == Some(true) {
            self.order.remove(&row.kind);
        }
        Some(row)
    }

    fn insert(&mut self, row: Entry) {
        let position = (row.visible_at, row.generation, row.key.clone());
        let order = self.order.entry(row.kind.clone()).or_default();
        self.earlier |= order.first().is_none_or(|first| position < *first);
        order.insert(position);
        let before = self.rows.insert(row.key.clone(), row);
        debug_assert!(before.is_none(), "its position would stay in the order: {before:?}");
    }

    /// Leases a visible row, or removes it if it was cancelled.
    fn lease(&mut self, key: &Key, until: Timestamp, limit: &mut ClaimLimit) -> Option<Leased> {
        let (job, token) = (self.take(key)?, Token(self.draw()));
        let leased = rules::claim(job, Lease { token, until }, limit)?;
        self.insert(leased.job.clone());
        Some(leased)
    }
}

impl Table for Inner {
    type Error = Infallible;

    fn row(&mut self, key: &Key) -> Result<Option<Row>, Infallible> {
        Ok(self.rows.get(key).map(Row::from))
    }

    fn draw(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn put(&mut self, row: &Row, job: &Put) -> Result<(), Infallible> {
        self.take(&job.key);
        let Put { key, kind, payload, policy, .. } = job.clone();
        self.insert(row.of(key, kind, payload, policy));
        Ok(())
    }

    fn set(&mut self, key: &Key, row: &Row) -> Result<(), Infallible> {
        if let Some(before) = self.take(key) {
            // A row that keeps its position, for example when a run begins, wakes no program.
            let earlier = self.earlier || row.visible_at < before.visible_at;
            self.insert(row.with(before));
            self.earlier &= earlier;
        }
        Ok(())
    }

    fn remove(&mut self, key: &Key, _: &Row) -> Result<(), Infallible> {
        self.take(key);
        Ok(())
    }

    fn bury(&mut self, key: &Key, _: &Row, reason: &str) -> Result<(), Infallible> {
        if let Some(row) = self.take(key) {
            let job = Entry { visible_at: row.due, state: State::Pending, ..row };
            let dead = Dead { job, reason: reason.to_owned(), at: self.now };
            self.dead.insert(dead.job.generation, dead);
        }
        Ok(())
    }

    fn dead(&mut self, generation: u64) -> Result<Option<Entry>, Infallible> {
        Ok(self.dead.get(&generation).map(|dead| dead.job.clone()))
    }

    fn forget(&mut self, generation: u64) -> Result<bool, Infallible> {
        Ok(self.dead.remove(&generation).is_some())
    }
}
