//! The rules of [`Change`], without a storage: what an answer is, and what becomes of the row.
//!
//! For stores that read rows, decide, and write them back. A store whose server decides says the
//! same in the server's language; the model of the conformance suite says it another way, and both
//! are held against it.

use super::{Again, Change, Entry, Key, Kind, Lease, Outcome, Put, State, Timestamp, When};

/// The part of a row that changes go by and alter. The rest is the job itself: key, kind, payload
/// and policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When this occurrence was to begin.
    pub due: Timestamp,
    /// When a claim may hand it out.
    pub visible_at: Timestamp,
    /// Which scheduling this is.
    pub generation: u64,
    /// Which occurrence of a periodic job.
    pub occurrence: u64,
    /// How many runs of this occurrence have begun.
    pub attempt: u32,
    /// Whether a worker has it.
    pub state: State,
}

impl Row {
    /// The row, with its job.
    pub fn of(self, key: Key, kind: Kind, payload: Vec<u8>, policy: String) -> Entry {
        let Self { due, visible_at, generation, occurrence, attempt, state } = self;
        #[rustfmt::skip]
        let entry = Entry {
            key, kind, payload, policy, due, visible_at, generation, occurrence, attempt, state,
        };
        entry
    }

    /// The row, with the job of another.
    pub fn with(self, entry: Entry) -> Entry {
        self.of(entry.key, entry.kind, entry.payload, entry.policy)
    }

    /// Returns `true` if `visible_at` is as the state says: the end of the lease, if there is one,
    /// and of a replaced row not before the newer generation is due.
    fn is_sound(&self) -> bool {
        self.visible_at
            == match self.state {
                State::Pending => return true,
                State::Leased(lease) | State::Begun(lease) | State::Closed(lease) => lease.until,
                State::Replaced(lease) => lease.until.max(self.due),
            }
    }

    /// Returns `true` if a change that sets a row may make `after` of this one: the generation
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

/// The rows of a store, within a transaction of its own.
pub trait Table {
    /// What can go wrong in it.
    type Error;

    /// The row of a key.
    ///
    /// # Errors
    ///
    /// Those of the storage; so too below.
    fn row(&mut self, key: &Key) -> Result<Option<Row>, Self::Error>;

    /// A generation that was never drawn before.
    fn draw(&mut self) -> u64;

    /// The row of the job's key is this now, with this job.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn put(&mut self, row: &Row, job: &Put) -> Result<(), Self::Error>;

    /// The row of the key is this now, with the job it had.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn set(&mut self, key: &Key, row: &Row) -> Result<(), Self::Error>;

    /// The row of the key goes.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn remove(&mut self, key: &Key) -> Result<(), Self::Error>;

    /// The row of the key goes and becomes a dead letter.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn bury(&mut self, key: &Key, reason: &str) -> Result<(), Self::Error>;

    /// The dead letter of a generation: its job, with `when` and `replace` of no meaning, and its
    /// occurrence.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn dead(&mut self, generation: u64) -> Result<Option<(Put, u64)>, Self::Error>;

    /// The dead letter of a generation goes; whether there was one.
    ///
    /// # Errors
    ///
    /// Those of the storage.
    fn forget(&mut self, generation: u64) -> Result<bool, Self::Error>;
}

/// Carries out one change; `now` is the store's present, rounded up.
///
/// # Errors
///
/// Those of the storage.
pub fn apply<T: Table>(
    table: &mut T,
    change: &Change,
    now: Timestamp,
) -> Result<Outcome, T::Error> {
    let key = match change {
        Change::Put(new) => return put(table, new, 0, now),
        Change::Revive { generation, when } => return revive(table, *generation, *when, now),
        Change::Forget { generation } => {
            let done = table.forget(*generation)?;
            return Ok(if done { Outcome::Done } else { Outcome::Absent });
        }
        Change::Move { key, .. }
        | Change::Cancel { key }
        | Change::Begin { key, .. }
        | Change::Ack { key, .. }
        | Change::Retry { key, .. }
        | Change::Release { key, .. }
        | Change::Extend { key, .. }
        | Change::Bury { key, .. } => key,
    };
    let Some(row) = table.row(key)? else { return Ok(Outcome::Absent) };
    let (outcome, step) = decide(change, &row, now);
    match step {
        Step::Keep => {}
        Step::Set(after) => {
            debug_assert!(row.may_become(&after), "{change:?}: {row:?} became {after:?}");
            table.set(key, &after)?;
        }
        Step::Remove => table.remove(key)?,
        Step::Bury(reason) => table.bury(key, reason)?,
    }
    Ok(outcome)
}

/// The row after a claim that hands it out until then, with this token; `None` if it is to go
/// instead, because it was cancelled.
pub fn claim(row: &Row, lease: Lease) -> Option<Row> {
    debug_assert!(
        row.state.lease().is_none_or(|before| before.token < lease.token),
        "tokens grow: {lease:?} follows {row:?}"
    );
    let leased = Row { visible_at: lease.until, state: State::Leased(lease), ..*row };
    (!matches!(row.state, State::Closed(_))).then_some(leased)
}

/// What is to be done to a row.
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
    now: Timestamp,
) -> Result<Outcome, T::Error> {
    let state = table.row(&new.key)?.map(|row| row.state);
    let outcome = match state {
        None | Some(State::Closed(_)) => Outcome::Done,
        Some(_) if new.replace => Outcome::Replaced,
        Some(_) => return Ok(Outcome::Duplicate),
    };
    // A lease that has not begun ends here: its `Begin` finds another row, and is refused.
    let lease = state.and_then(|state| state.run());
    let due = new.when.from(now);
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
    now: Timestamp,
) -> Result<Outcome, T::Error> {
    let Some((job, occurrence)) = table.dead(generation)? else { return Ok(Outcome::Absent) };
    let outcome = put(table, &Put { when, replace: false, ..job }, occurrence, now)?;
    if outcome != Outcome::Duplicate {
        table.forget(generation)?;
    }
    Ok(outcome)
}

/// Why a change by token never meets a row that waits: it was compared with the token of the lease.
const NO_LEASE: &str = "a row that waits has no token";

/// Decides about a change of a row that is there.
fn decide<'a>(change: &'a Change, row: &Row, now: Timestamp) -> (Outcome, Step<'a>) {
    let token = match change {
        Change::Begin { token, .. }
        | Change::Ack { token, .. }
        | Change::Retry { token, .. }
        | Change::Release { token, .. }
        | Change::Extend { token, .. }
        | Change::Bury { token, .. } => Some(*token),
        _ => None,
    };
    let held = row.state.lease().map(|lease| lease.token);
    if token.is_some() && token != held {
        return (Outcome::Superseded, Step::Keep);
    }
    match change {
        Change::Move { when, .. } => reschedule(row, when.from(now)),
        Change::Cancel { .. } => cancel(row),
        Change::Begin { .. } => begin(row),
        Change::Ack { again, .. } => ack(row, *again, now),
        Change::Retry { when, .. } => retry(row, when.from(now), 0),
        Change::Release { when, .. } => {
            let back = u32::from(matches!(row.state, State::Begun(_)));
            retry(row, when.from(now), back)
        }
        Change::Extend { token, visibility, .. } => {
            let until = now.saturating_add(*visibility);
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
        State::Leased(lease) => {
            let attempt = row.attempt.saturating_add(1);
            (Outcome::Done, Step::Set(Row { attempt, state: State::Begun(lease), ..*row }))
        }
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

/// Ends the run of a generation that was cancelled or replaced; of any other the row goes.
fn end(row: &Row) -> Step<'static> {
    match row.state {
        State::Replaced(_) => Step::Set(Row { visible_at: row.due, state: State::Pending, ..*row }),
        _ => Step::Remove,
    }
}

fn ack(row: &Row, again: Option<Again>, now: Timestamp) -> (Outcome, Step<'static>) {
    let step = match (row.state, again) {
        (State::Leased(_) | State::Begun(_), Some(Again { when, occurrence })) => {
            let due = when.from(now);
            let state = State::Pending;
            Step::Set(Row { due, visible_at: due, occurrence, attempt: 0, state, ..*row })
        }
        (State::Pending, _) => unreachable!("{NO_LEASE}"),
        _ => end(row),
    };
    (Outcome::Done, step)
}

/// `back`: the attempts that are taken back.
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
