//! The rules of [`Change`], without a storage: the outcome of a change, and the row after it.
//!
//! For stores that read rows, decide, and write them back. A store whose server decides implements
//! the same rules in the server's language. The conformance suite compares both with its model,
//! which implements the rules independently.

use super::{
    Again, Change, ClaimLimit, Entry, Key, Kind, Lease, Leased, Outcome, Put, State, Timestamp,
    When,
};
use std::time::Duration;

/// The part of a row that changes depend on and modify. The rest is the job itself: key, kind,
/// payload and policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When this occurrence is due.
    pub due: Timestamp,
    /// When a claim may hand the job out.
    pub visible_at: Timestamp,
    /// The number of this scheduling.
    pub generation: u64,
    /// The number of the occurrence of a periodic job, from 0.
    pub occurrence: u64,
    /// The number of runs of this occurrence that have begun.
    pub attempt: u32,
    /// The state, with the lease if a worker has the job.
    pub state: State,
}

impl Row {
    /// Combines the row with its job.
    pub fn of(self, key: Key, kind: Kind, payload: Vec<u8>, policy: String) -> Entry {
        let Self { due, visible_at, generation, occurrence, attempt, state } = self;
        #[rustfmt::skip]
        let entry = Entry {
            key, kind, payload, policy, due, visible_at, generation, occurrence, attempt, state,
        };
        entry
    }

    /// Combines the row with the job of `entry`.
    pub fn with(self, entry: Entry) -> Entry {
        self.of(entry.key, entry.kind, entry.payload, entry.policy)
    }

    /// Returns `true` if `visible_at` agrees with the state: it is the end of the lease, if there
    /// is one, and in a replaced row not before the newer generation is due.
    fn is_sound(&self) -> bool {
        self.visible_at
            == match self.state {
                State::Pending => return true,
                State::Leased(lease) | State::Begun(lease) | State::Closed(lease) => lease.until,
                State::Replaced(lease) => lease.until.max(self.due),
            }
    }

    /// Returns `true` if a change that sets a row may turn this one into `after`: the generation
    /// stays, only a claim gives a token, and at most one attempt begins. A row that was read from
    /// a damaged file may be unsound, and stay so.
    fn may_become(&self, after: &Self) -> bool {
        let token = |row: &Self| row.state.lease().map(|lease| lease.token);
        self.generation == after.generation
            && (token(after).is_none() || token(after) == token(self))
            && after.attempt <= self.attempt.saturating_add(1)
            && (after.is_sound() || !self.is_sound())
    }
}

/// The present, rounded down and up.
type Present = (Timestamp, Timestamp);

/// The rows of a store, within one transaction. All calls return the errors of the storage.
pub trait Table {
    /// The errors of the storage.
    type Error;

    /// The row of a key.
    fn row(&mut self, key: &Key) -> Result<Option<Row>, Self::Error>;

    /// Draws a generation that was never drawn before.
    fn draw(&mut self) -> u64;

    /// Writes the row and the job under the job's key. A row that is there is replaced.
    fn put(&mut self, row: &Row, job: &Put) -> Result<(), Self::Error>;

    /// Updates the row of the key, which keeps its job.
    fn set(&mut self, key: &Key, row: &Row) -> Result<(), Self::Error>;

    /// Removes the row of the key, which is `row`.
    fn remove(&mut self, key: &Key, row: &Row) -> Result<(), Self::Error>;

    /// Turns the row of the key, which is `row`, into a dead letter.
    fn bury(&mut self, key: &Key, row: &Row, reason: &str) -> Result<(), Self::Error>;

    /// The job of the dead letter of a generation.
    fn dead(&mut self, generation: u64) -> Result<Option<Entry>, Self::Error>;

    /// Removes the dead letter of a generation. Returns `true` if there was one.
    fn forget(&mut self, generation: u64) -> Result<bool, Self::Error>;
}

/// Carries out one change. `now` is the store's present, rounded down and up. Returns the errors of
/// the table.
pub fn apply<T: Table>(table: &mut T, change: &Change, now: Present) -> Result<Outcome, T::Error> {
    let key = match (change, change.key()) {
        (Change::Put(new), _) => return put(table, new, 0, now),
        (Change::Revive { generation, when }, _) => {
            return revive(table, *generation, *when, now);
        }
        (Change::Forget { generation }, _) => {
            let done = table.forget(*generation)?;
            return Ok(if done { Outcome::Done } else { Outcome::Absent });
        }
        (_, key) => key.unwrap_or_else(|| unreachable!("the others are to a job")),
    };
    let Some(row) = table.row(key)? else { return Ok(Outcome::Absent) };
    let (outcome, step) = decide(change, &row, now);
    match step {
        Step::Keep => {}
        Step::Set(after) => {
            debug_assert!(row.may_become(&after), "{change:?}: {row:?} became {after:?}");
            table.set(key, &after)?;
        }
        Step::Remove => table.remove(key, &row)?,
        Step::Bury(reason) => table.bury(key, &row, reason)?,
    }
    Ok(outcome)
}

/// The job that a claim hands out with this lease, with its row after the claim; `None` if the
/// claim must remove the row, because it was cancelled. It also begins the run if its `limit`
/// [allows that](ClaimLimit::begins).
pub fn claim(job: Entry, lease: Lease, limit: &mut ClaimLimit) -> Option<Leased> {
    debug_assert!(
        job.state.lease().is_none_or(|before| before.token < lease.token),
        "tokens grow: {lease:?} follows {job:?}"
    );
    let (was_lost, begins) = (job.state.is_held(), limit.begins(&job));
    if matches!(job.state, State::Closed(_)) {
        return None;
    }
    let (Lease { token, until }, row) = (lease, Row::from(&job));
    let leased = Row { visible_at: until, state: State::Leased(lease), ..row };
    let claimed = if begins { begun(&leased, lease) } else { leased };
    Some(Leased { job: claimed.with(job), token, until, was_lost })
}

fn begun(row: &Row, lease: Lease) -> Row {
    Row { attempt: row.attempt.saturating_add(1), state: State::Begun(lease), ..*row }
}

/// The time that `when` means. The present rounded down is not early where no delay is added.
fn time(when: When, (now, now_up): Present) -> Timestamp {
    match when {
        When::After(Duration::ZERO) => now,
        when => when.from(now_up),
    }
}

enum Step<'a> {
    Keep,
    Set(Row),
    Remove,
    Bury(&'a str),
}

fn put<T: Table>(
    table: &mut T,
    new: &Put,
    occurrence: u64,
    now: Present,
) -> Result<Outcome, T::Error> {
    let state = table.row(&new.key)?.map(|row| row.state);
    let outcome = match state {
        None | Some(State::Closed(_)) => Outcome::Done,
        Some(_) if new.replace => Outcome::Replaced,
        Some(_) => return Ok(Outcome::Duplicate),
    };
    // A lease that has not begun ends here: its `Begin` finds no lease with its token, and is
    // refused.
    let lease = state.and_then(|state| state.run());
    let due = time(new.when, now);
    let row = Row {
        due,
        visible_at: lease.map_or(due, |lease| due.max(lease.until)),
        generation: table.draw(),
        occurrence,
        attempt: 0,
        state: lease.map_or(State::Pending, State::Replaced),
    };
    table.put(&row, new)?;
    Ok(outcome)
}

fn revive<T: Table>(
    table: &mut T,
    generation: u64,
    when: When,
    now: Present,
) -> Result<Outcome, T::Error> {
    let Some(dead) = table.dead(generation)? else { return Ok(Outcome::Absent) };
    let Entry { key, kind, payload, policy, occurrence, .. } = dead;
    let job = Put { key, kind, payload, policy, when, replace: false };
    let outcome = put(table, &job, occurrence, now)?;
    if outcome != Outcome::Duplicate {
        table.forget(generation)?;
    }
    Ok(outcome)
}

/// Why a change by token never reaches a pending row: `decide` has compared the token with that of
/// the lease.
const NO_LEASE: &str = "a pending row has no token";

/// The outcome of a change to a row, and the step that carries it out.
fn decide<'a>(change: &'a Change, row: &Row, now: Present) -> (Outcome, Step<'a>) {
    let held = row.state.lease().map(|lease| lease.token);
    if change.token().is_some_and(|token| Some(token) != held) {
        return (Outcome::Superseded, Step::Keep);
    }
    match change {
        Change::Move { when, .. } => reschedule(row, time(*when, now)),
        Change::Cancel { .. } => cancel(row),
        Change::Begin { .. } => begin(row),
        Change::Ack { again, .. } => ack(row, *again, now),
        Change::Retry { when, .. } => retry(row, time(*when, now), 0),
        Change::Release { when, .. } => {
            let back = u32::from(matches!(row.state, State::Begun(_)));
            retry(row, time(*when, now), back)
        }
        Change::Extend { token, visibility, .. } => {
            let until = now.1.saturating_add(*visibility);
            extend(row, Lease { token: *token, until })
        }
        Change::Bury { reason, .. } => match row.state {
            State::Leased(_) | State::Begun(_) => (Outcome::Done, Step::Bury(reason)),
            State::Closed(_) | State::Replaced(_) => (Outcome::Closed, end(row)),
            State::Pending => unreachable!("{NO_LEASE}"),
        },
        Change::Put(_) | Change::Revive { .. } | Change::Forget { .. } => {
            unreachable!("`apply` carries it out")
        }
    }
}

fn reschedule(row: &Row, due: Timestamp) -> (Outcome, Step<'static>) {
    let (state, visible_at) = match row.state {
        State::Begun(_) | State::Closed(_) => return (Outcome::Running, Step::Keep),
        State::Pending | State::Leased(_) => (State::Pending, due),
        State::Replaced(lease) => (row.state, due.max(lease.until)),
    };
    (Outcome::Done, Step::Set(Row { due, visible_at, state, ..*row }))
}

fn begin(row: &Row) -> (Outcome, Step<'static>) {
    match row.state {
        State::Leased(lease) => (Outcome::Done, Step::Set(begun(row, lease))),
        State::Begun(_) => (Outcome::Done, Step::Keep),
        State::Pending => unreachable!("{NO_LEASE}"),
        State::Closed(_) | State::Replaced(_) => (Outcome::Closed, Step::Keep),
    }
}

fn cancel(row: &Row) -> (Outcome, Step<'static>) {
    let Some(lease) = row.state.run() else { return (Outcome::Cancelled, Step::Remove) };
    let state = State::Closed(lease);
    (Outcome::Running, Step::Set(Row { state, visible_at: lease.until, ..*row }))
}

/// Ends a run. A replaced row becomes pending with the newer generation; any other row is removed.
fn end(row: &Row) -> Step<'static> {
    match row.state {
        State::Replaced(_) => Step::Set(Row { visible_at: row.due, state: State::Pending, ..*row }),
        _ => Step::Remove,
    }
}

fn ack(row: &Row, again: Option<Again>, now: Present) -> (Outcome, Step<'static>) {
    let step = match (row.state, again) {
        (State::Leased(_) | State::Begun(_), Some(Again { when, occurrence })) => {
            let due = time(when, now);
            let state = State::Pending;
            Step::Set(Row { due, visible_at: due, occurrence, attempt: 0, state, ..*row })
        }
        (State::Pending, _) => unreachable!("{NO_LEASE}"),
        _ => end(row),
    };
    (Outcome::Done, step)
}

/// `back`: the number of attempts to subtract.
fn retry(row: &Row, visible_at: Timestamp, back: u32) -> (Outcome, Step<'static>) {
    debug_assert!(row.state != State::Pending, "{NO_LEASE}");
    if !row.state.is_held() {
        return (Outcome::Closed, end(row));
    }
    let attempt = row.attempt.saturating_sub(back);
    (Outcome::Done, Step::Set(Row { visible_at, attempt, state: State::Pending, ..*row }))
}

fn extend(row: &Row, lease: Lease) -> (Outcome, Step<'static>) {
    let (outcome, state, visible_at) = match row.state {
        State::Replaced(_) => (Outcome::Closed, State::Replaced(lease), lease.until.max(row.due)),
        State::Closed(_) => (Outcome::Closed, State::Closed(lease), lease.until),
        State::Begun(_) => (Outcome::Done, State::Begun(lease), lease.until),
        State::Leased(_) => (Outcome::Done, State::Leased(lease), lease.until),
        State::Pending => unreachable!("{NO_LEASE}"),
    };
    (outcome, Step::Set(Row { state, visible_at, ..*row }))
}

impl From<&Entry> for Row {
    fn from(entry: &Entry) -> Self {
        let Entry { due, visible_at, generation, occurrence, attempt, state, .. } = *entry;
        Self { due, visible_at, generation, occurrence, attempt, state }
    }
}
