//! A store that lasts as long as the program: for tests, and the plainest reading of the rules.
//!
//! ```text
//!  rows    key  -> Entry
//!  order   kind -> { (visible_at, generation, key), ... }      one entry for each row
//!  dead    generation -> Dead
//! ```

use super::{
    Again, Change, Dead, Entry, Key, Kind, Kinds, Lease, Leased, Next, Outcome, Put, State, Store,
    StoreClock, StoreError, Timestamp, Token, Waker, When,
};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::mem::take;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

/// Jobs in memory. Clones are connections to the same jobs, as two machines have them to one
/// server; what was told to be durable lasts as long as one of them. All calls are O(log n) for
/// each job they touch.
///
/// ```
/// use wheelhouse_durable::store::{Change, Key, MemoryStore, Outcome, Store};
///
/// let mut store = MemoryStore::new();
/// let outcomes = store.commit(&[Change::Cancel { key: Key::new("order-17")? }])?;
/// assert_eq!(outcomes, [Outcome::Absent]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    clock: StoreClock,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    rows: BTreeMap<Key, Entry>,
    order: BTreeMap<Kind, BTreeSet<(Timestamp, u64, Key)>>,
    dead: BTreeMap<u64, Dead>,
    /// The last generation or token that was drawn.
    last: u64,
    /// Whether a row became the first of its kind, so that whoever waits may wait too long.
    earlier: bool,
    wakers: Vec<Waker>,
}

impl MemoryStore {
    /// An empty one, by the machine's wall clock.
    pub fn new() -> Self {
        Self::with_clock(StoreClock::default())
    }

    /// An empty one with a clock of its own.
    pub fn with_clock(clock: StoreClock) -> Self {
        Self { clock, inner: Arc::default() }
    }

    /// How many rows there are. O(1).
    pub fn len(&self) -> usize {
        self.inner.lock().rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
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
        let outcomes = changes.iter().map(|change| inner.apply(change, now)).collect();
        let wakers = if take(&mut inner.earlier) { inner.wakers.clone() } else { Vec::new() };
        drop(inner);
        wakers.iter().for_each(|wake| wake());
        Ok(outcomes)
    }

    fn claim(
        &mut self,
        kinds: &Kinds,
        max: usize,
        visibility: Duration,
        into: &mut Vec<Leased>,
    ) -> Result<Next, StoreError> {
        let (now, now_up) = self.clock.now();
        let until = now_up.saturating_add(visibility);
        let mut inner = self.inner.lock();
        let before = into.len();
        while into.len() - before < max {
            let Some((visible_at, _, key)) = inner.first(kinds) else { break };
            if visible_at > now {
                break;
            }
            into.extend(inner.lease(&key, until));
        }
        let next = inner.first(kinds).map(|(visible_at, ..)| visible_at);
        // Leases end later than what they were made of was due.
        inner.earlier = false;
        Ok(Next { now, visible_at: next })
    }

    fn wake_by(&mut self, waker: Waker) {
        self.inner.lock().wakers.push(waker);
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        Ok(self.inner.lock().rows.get(key).cloned())
    }

    fn scan(
        &mut self,
        after: Option<&Key>,
        max: usize,
        each: &mut dyn FnMut(&Entry),
    ) -> Result<(), StoreError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let inner = self.inner.lock();
        inner.rows.range((from, Bound::Unbounded)).take(max).for_each(|(_, row)| each(row));
        Ok(())
    }

    fn dead(
        &mut self,
        after: Option<u64>,
        max: usize,
        each: &mut dyn FnMut(&Dead),
    ) -> Result<(), StoreError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let inner = self.inner.lock();
        inner.dead.range((from, Bound::Unbounded)).take(max).for_each(|(_, dead)| each(dead));
        Ok(())
    }

    fn kinds(&mut self, each: &mut dyn FnMut(&Kind, Timestamp)) -> Result<(), StoreError> {
        let inner = self.inner.lock();
        for (kind, order) in &inner.order {
            order.first().iter().for_each(|(visible_at, ..)| each(kind, *visible_at));
        }
        Ok(())
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        Ok(Some(Box::new(self.clone())))
    }
}

/// A clock's present, rounded down and up.
type Now = (Timestamp, Timestamp);

impl Inner {
    /// A number that was never drawn before.
    fn draw(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The first row of these kinds. O(k log n).
    fn first(&self, kinds: &Kinds) -> Option<(Timestamp, u64, Key)> {
        kinds.iter().filter_map(|kind| self.order.get(kind)?.first()).min().cloned()
    }

    /// Takes a row out, with its place in the order.
    fn take(&mut self, key: &Key) -> Option<Entry> {
        let row = self.rows.remove(key)?;
        if let Some(order) = self.order.get_mut(&row.kind) {
            order.remove(&(row.visible_at, row.generation, row.key.clone()));
            if order.is_empty() {
                self.order.remove(&row.kind);
            }
        }
        Some(row)
    }

    fn insert(&mut self, row: Entry) {
        let place = (row.visible_at, row.generation, row.key.clone());
        let order = self.order.entry(row.kind.clone()).or_default();
        self.earlier |= order.first().is_none_or(|first| place < *first);
        order.insert(place);
        self.rows.insert(row.key.clone(), row);
    }

    /// Hands a visible row out, or removes it if it was cancelled.
    fn lease(&mut self, key: &Key, until: Timestamp) -> Option<Leased> {
        let mut row = self.take(key)?;
        if matches!(row.state, State::Closed(_)) {
            return None;
        }
        let token = Token(self.draw());
        row.state = State::Leased(Lease { token, until });
        row.visible_at = until;
        row.attempt += 1;
        self.insert(row.clone());
        Some(Leased { job: row, token, until })
    }

    fn apply(&mut self, change: &Change, now: Now) -> Outcome {
        match change {
            Change::Put(put) => self.put(put, 0, now),
            Change::Move { key, when } => self.reschedule(key, when.from(now.1)),
            Change::Cancel { key } => self.cancel(key),
            Change::Ack { key, token, again } => self.ack(key, *token, *again, now),
            Change::Retry { key, token, when } => self.retry(key, *token, *when, now, 0),
            Change::Release { key, token, when } => self.retry(key, *token, *when, now, 1),
            Change::Extend { key, token, visibility } => {
                self.extend(key, *token, now.1.saturating_add(*visibility))
            }
            Change::Bury { key, token, reason } => self.bury(key, *token, reason, now),
            Change::Revive { generation, when } => self.revive(*generation, *when, now),
            Change::Forget { generation } => match self.dead.remove(generation) {
                Some(_) => Outcome::Done,
                None => Outcome::Absent,
            },
        }
    }

    fn put(&mut self, put: &Put, occurrence: u64, now: Now) -> Outcome {
        let state = self.rows.get(&put.key).map(|row| row.state);
        let outcome = match state {
            None | Some(State::Closed(_)) => Outcome::Done,
            Some(_) if put.replace => Outcome::Replaced,
            Some(_) => return Outcome::Duplicate,
        };
        self.take(&put.key);
        let lease = state.and_then(|state| state.lease());
        let due = put.when.from(now.1);
        let generation = self.draw();
        self.insert(Entry {
            key: put.key.clone(),
            kind: put.kind.clone(),
            payload: put.payload.clone(),
            policy: put.policy.clone(),
            due,
            visible_at: lease.map_or(due, |lease| due.max(lease.until)),
            generation,
            occurrence,
            attempt: 0,
            state: lease.map_or(State::Pending, State::Replaced),
        });
        outcome
    }

    fn reschedule(&mut self, key: &Key, due: Timestamp) -> Outcome {
        let visible_at = match self.rows.get(key).map(|row| row.state) {
            None => return Outcome::Absent,
            Some(State::Leased(_) | State::Closed(_)) => return Outcome::Running,
            Some(State::Pending) => due,
            Some(State::Replaced(lease)) => due.max(lease.until),
        };
        self.change(key, |row| (row.due, row.visible_at) = (due, visible_at));
        Outcome::Done
    }

    fn cancel(&mut self, key: &Key) -> Outcome {
        let Some(row) = self.rows.get(key) else { return Outcome::Absent };
        let Some(lease) = row.state.lease() else {
            self.take(key);
            return Outcome::Cancelled;
        };
        self.change(key, |row| {
            (row.state, row.visible_at) = (State::Closed(lease), lease.until);
        });
        Outcome::Running
    }

    /// The state of a row that has a lease with this token.
    fn held(&self, key: &Key, token: Token) -> Result<State, Outcome> {
        let row = self.rows.get(key).ok_or(Outcome::Absent)?;
        let held = row.state.lease().is_some_and(|lease| lease.token == token);
        held.then_some(row.state).ok_or(Outcome::Superseded)
    }

    fn change(&mut self, key: &Key, change: impl FnOnce(&mut Entry)) {
        if let Some(mut row) = self.take(key) {
            change(&mut row);
            self.insert(row);
        }
    }

    /// Ends the run of a generation that was cancelled or replaced.
    fn end_closed(&mut self, key: &Key) {
        let row = self.take(key);
        if let Some(row) = row.filter(|row| matches!(row.state, State::Replaced(_))) {
            self.insert(Entry { visible_at: row.due, state: State::Pending, ..row });
        }
    }

    fn ack(&mut self, key: &Key, token: Token, again: Option<Again>, now: Now) -> Outcome {
        match (self.held(key, token), again) {
            (Err(outcome), _) => return outcome,
            (Ok(State::Leased(_)), Some(again)) => self.change(key, |row| {
                row.due = again.when.from(now.1);
                row.visible_at = row.due;
                (row.occurrence, row.attempt, row.state) = (again.occurrence, 0, State::Pending);
            }),
            (Ok(_), _) => self.end_closed(key),
        }
        Outcome::Done
    }

    fn retry(&mut self, key: &Key, token: Token, when: When, now: Now, back: u32) -> Outcome {
        match self.held(key, token) {
            Err(outcome) => outcome,
            Ok(State::Leased(_)) => {
                self.change(key, |row| {
                    (row.visible_at, row.state) = (when.from(now.1), State::Pending);
                    row.attempt = row.attempt.saturating_sub(back);
                });
                Outcome::Done
            }
            Ok(_) => {
                self.end_closed(key);
                Outcome::Closed
            }
        }
    }

    fn extend(&mut self, key: &Key, token: Token, until: Timestamp) -> Outcome {
        let state = match self.held(key, token) {
            Err(outcome) => return outcome,
            Ok(state) => state,
        };
        let lease = Lease { token, until };
        self.change(key, |row| {
            (row.state, row.visible_at) = match state {
                State::Replaced(_) => (State::Replaced(lease), until.max(row.due)),
                State::Closed(_) => (State::Closed(lease), until),
                _ => (State::Leased(lease), until),
            };
        });
        if matches!(state, State::Leased(_)) { Outcome::Done } else { Outcome::Closed }
    }

    fn bury(&mut self, key: &Key, token: Token, reason: &str, now: Now) -> Outcome {
        match self.held(key, token) {
            Err(outcome) => outcome,
            Ok(State::Leased(_)) => {
                if let Some(row) = self.take(key) {
                    let job = Entry { visible_at: row.due, state: State::Pending, ..row };
                    let dead = Dead { job, reason: reason.to_owned(), at: now.0 };
                    self.dead.insert(dead.job.generation, dead);
                }
                Outcome::Done
            }
            Ok(_) => {
                self.end_closed(key);
                Outcome::Closed
            }
        }
    }

    fn revive(&mut self, generation: u64, when: When, now: Now) -> Outcome {
        let Some(dead) = self.dead.remove(&generation) else { return Outcome::Absent };
        let Entry { key, kind, payload, policy, occurrence, .. } = dead.job.clone();
        let put = Put { key, kind, payload, policy, when, replace: false };
        let outcome = self.put(&put, occurrence, now);
        if outcome == Outcome::Duplicate {
            self.dead.insert(generation, dead);
        }
        outcome
    }
}
